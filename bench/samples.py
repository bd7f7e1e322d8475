#!/usr/bin/env python3
"""Many samples on one index beside a run for each sample.

    cargo build --release -p zerohop-cli -p zerohop-bench --bins
    python3 bench/samples.py                      # 50 samples of 20,000 pairs, 1 Gb, 3 runs of each arm
    python3 bench/samples.py --reference 100M --samples 10

Arms, in turn, with the same number of threads, the index made before and in the page cache, BAM out:

    sheet    zerohop align --samples: all in one run
    runs     zerohop align for each sample
    before   the same with another zerohop (--before PROGRAM)

Records of each sample are compared. Results go to bench/runs/DATE-HOST-samples/.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from running import (Failure, call, cpu_seconds, describe_run, make, make_pairs, make_reference, measure, median,
    median_ratio, parser_of, raw_data, run_script, table, with_programs, write_summary, zerohop_commit)

LENGTH = 150


def parse_arguments():
    parser = parser_of(__doc__, results="samples", threads=0, repeats=3, of="runs of each arm")
    parser.add_argument("--reference", default="1G", help="bases (default: %(default)s)")
    parser.add_argument("--samples", type=int, default=50, help="(default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=20_000, help="of each sample (default: %(default)s)")
    parser.add_argument("--before", type=Path, help="another zerohop, for runs of its own")
    return with_programs(parser.parse_args())


def prepare(options):
    """Reference, index, reads of each sample, and the sheet."""
    work, reference, all_pairs = options.work, f"sim{options.reference}.fa", options.samples * options.pairs
    make_reference(options, reference, options.reference)
    stem = f"samples_{options.reference}_{all_pairs}"
    both = [f"{stem}_{mate}.fq" for mate in (1, 2)]
    make_pairs(options, reference, both, all_pairs, LENGTH)
    rows = []
    for sample in range(options.samples):
        files = [f"{stem}_{options.samples}_{sample}_{mate}.fq" for mate in (1, 2)]
        for name, whole in zip(files, both):
            make(options, [name], lambda names: cut(work / whole, sample * options.pairs, options.pairs, names[0]))
        rows.append((f"s{sample}", *files))
    sheet = "\n".join(["sample,fastq_1,fastq_2", *(",".join(row) for row in rows)])
    (work / "sheet.csv").write_text(sheet + "\n")
    call([options.zerohop, "index", "-q", "-r", LENGTH, work / reference])
    return reference, rows


def cut(path, first, count, out):
    """`count` records of FASTQ from number `first` on."""
    with open(path, "rb") as lines, open(out, "wb") as written:
        for number, line in enumerate(lines):
            if number >= 4 * (first + count):
                break
            if number >= 4 * first:
                written.write(line)


def commands(options, arm, reference, rows):
    """One after the other."""
    program = options.before if arm == "before" else options.zerohop
    align = [str(program), "align", "-q", "-t", str(options.threads), "-r", str(LENGTH)]
    if arm == "sheet":
        return [[*align, "--samples", "sheet.csv", "--output-dir", "samples-sheet", reference]]
    group = lambda name: f"@RG\\tID:{name}\\tSM:{name}\\tLB:{name}"
    return [[*align, "-R", group(name), "-o", f"samples-{arm}/{name}.bam", "--json", f"samples-{arm}/{name}.json",
        reference, *files] for name, *files in rows]


def run(options, arm, reference, rows):
    folder = options.work / f"samples-{arm}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    parts = [measure([command], options, options.work / "samples.log") for command in
        commands(options, arm, reference, rows)]
    sums = {key: sum(part[key] for part in parts) for key in ("wall_s", "user_s", "sys_s")}
    return {**sums, "peak_rss_kib": max(part["peak_rss_kib"] for part in parts), "digest": digest(folder, rows)}


def digest(folder, rows):
    found = hashlib.blake2b(digest_size=8)
    for name, *_ in rows:
        view = ["samtools", "view", folder / f"{name}.bam"]
        found.update(subprocess.run(view, check=True, capture_output=True).stdout)
    return found.hexdigest()


def summary(results):
    rows = [["arm", "wall s", "CPU s", "peak MiB"]]
    for arm, runs in results.items():
        rows.append([arm, f"{median(runs, 'wall_s'):.1f}", f"{median(runs, cpu_seconds):.1f}",
            f"{median(runs, 'peak_rss_kib') / 1024:.0f}"])
    ratios = [f"{arm} / sheet: {median_ratio(results[arm], results['sheet']):.2f} (median of the pairs)\n"
        for arm in list(results)[1:]]
    return table(rows) + "\n" + "".join(ratios)


def main():
    options = parse_arguments()
    reference, rows = prepare(options)
    results = {"sheet": [], "runs": [], **({"before": []} if options.before else {})}
    with raw_data(options.out) as tell:
        for repeat in range(options.repeats):
            for arm, runs in results.items():
                found = run(options, arm, reference, rows)
                print(f"{arm:6} run {repeat}: {found['wall_s']:8.2f} s", flush=True)
                tell({"arm": arm, "repeat": repeat, **found})
                runs.append(found)
    digests = {run["digest"] for runs in results.values() for run in runs}
    if len(digests) > 1:
        raise Failure(f"other records: {digests}")
    describe_run(options.out, "Many samples on one index", [
        f"{options.samples} samples of {options.pairs} pairs of {LENGTH} bases, a reference of {options.reference},",
        f"{options.threads} threads, {options.repeats} runs of each arm. Records were the same in all runs."],
        [zerohop_commit()])
    write_summary(options.out, summary(results))


if __name__ == "__main__":
    run_script(main)
