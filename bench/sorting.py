#!/usr/bin/env python3
"""Many made-up records, sorted with little memory: zerohop beside `samtools sort` and `sambamba sort`.

    cargo build --release -p zerohop-bench --bins
    python3 bench/sorting.py                     # 100 million records of 100 bases, 1 GiB
    python3 bench/sorting.py --records 4M --memory 64 --repeats 3

Reads get random places at no cost (the program `scattered`: zerohop's runtime and sort, without an aligner). Arms, in
turn, with the same number of threads and the same memory for records:

    unsorted  scattered: from FASTQ to BAM
    sorted    scattered --sort-memory: from FASTQ to sorted BAM, with its index
    samtools  samtools sort of what 'unsorted' wrote
    sambamba  sambamba sort of the same

What is sorted is counted as it is in BAM before compression. The records of all sorted files are compared with those
of samtools (sambamba has another order for reads at one place: only their number is compared). Results go to
bench/runs/DATE-HOST-sorting/.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from running import (TARGET, Failure, cpu_seconds, describe_run, make_pairs, make_reference, measure, median, output_of,
    parser_of, raw_data, run_script, samtools_version, table, with_programs, words, write_summary, zerohop_commit)

ARMS = ["unsorted", "sorted", "samtools", "sambamba"]
REFERENCE = "sim100M.fa"
LENGTH = 100
#: Reads in one file: it is read several times, each time with other places.
FILE_READS = 5_000_000


def number(text):
    units = {"K": 10**3, "M": 10**6, "G": 10**9}
    return int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text)


def parse_arguments():
    parser = parser_of(__doc__, results="sorting", threads=0, repeats=1, of="runs of each arm")
    parser.add_argument("--records", type=number, default=100_000_000, help="(default: 100M)")
    parser.add_argument("--memory", type=int, default=1024, metavar="MIB", help="for records (default: %(default)s)")
    parser.add_argument("--arms", type=words, default=ARMS, help="(default: all)")
    options = with_programs(parser.parse_args())
    if shutil.which("sambamba") is None and "sambamba" in options.arms:
        print("sambamba is not on the PATH: left out", file=sys.stderr)
        options.arms.remove("sambamba")
    return options


def prepare(options):
    """The files of reads, each as often as it is to be read."""
    reads = min(FILE_READS, options.records)
    make_reference(options, REFERENCE, "100M")
    files = [f"sorting_{reads}_{mate}.fq" for mate in (1, 2)]
    make_pairs(options, REFERENCE, files, reads, LENGTH)
    return [files[lane % 2] for lane in range(options.records // reads)]


def command(options, arm, lanes):
    threads, out = str(options.threads), f"sorting-{arm}.bam"
    scattered = [str(TARGET / "release" / "scattered"), "-t", threads, "-o", out]
    return {
        "unsorted": [*scattered, REFERENCE, *lanes],
        "sorted": [*scattered, "--sort-memory", str(options.memory), REFERENCE, *lanes],
        "samtools": ["samtools", "sort", "-@", threads, "-m", f"{options.memory // options.threads}M", "-T",
            "sorting-tmp", "-o", out, "sorting-unsorted.bam"],
        "sambamba": ["sambamba", "sort", "-q", "-t", threads, "-m", f"{options.memory}M", "--tmpdir", "sorting-tmpdir",
            "-o", out, "sorting-unsorted.bam"],
    }[arm]


def digest(options, arm):
    """Stands for the records, in their order; and how many there are."""
    view = subprocess.Popen(["samtools", "view", "-@", str(options.threads), f"sorting-{arm}.bam"], cwd=options.work,
        stdout=subprocess.PIPE)
    found, lines = hashlib.blake2b(digest_size=8), 0
    while block := view.stdout.read(1 << 24):
        found.update(block)
        lines += block.count(b"\n")
    if view.wait():
        raise Failure(f"samtools cannot read the file of {arm}")
    return found.hexdigest(), lines


def count(options, arm):
    return int(output_of("samtools", "view", "-c", "-@", str(options.threads), options.work / f"sorting-{arm}.bam"))


def inflated_bytes(path):
    """Bytes in the blocks of a BGZF file."""
    total, at, size = 0, 0, path.stat().st_size
    with open(path, "rb") as file:
        while at < size:
            file.seek(at + 16)
            at += int.from_bytes(file.read(2), "little") + 1
            file.seek(at - 4)
            total += int.from_bytes(file.read(4), "little")
    return total


def run(options, arm, lanes):
    for path in options.work.glob(f"sorting-{arm}.bam*"):
        path.unlink()
    found = measure([command(options, arm, lanes)], options, options.work / "sorting.log")
    log = (options.work / "sorting.log").read_text(errors="replace").splitlines()
    return {**found, "bytes": (options.work / f"sorting-{arm}.bam").stat().st_size,
        "said": [line for line in log if line.startswith("sorted")]}


def summary(results, in_bam):
    rows = [["arm", "wall s", "MB/s", "CPU s", "peak MiB", "MB of output"]]
    for arm, runs in results.items():
        wall = median(runs, "wall_s")
        rows.append([arm, f"{wall:.1f}", f"{in_bam / wall / 1e6:.1f}", f"{median(runs, cpu_seconds):.1f}",
            f"{median(runs, 'peak_rss_kib') / 1024:.0f}", f"{runs[0]['bytes'] / 1e6:.0f}"])
    return table(rows)


def main():
    options = parse_arguments()
    lanes = prepare(options)
    (options.work / "sorting-tmpdir").mkdir(exist_ok=True)
    results, digests, in_bam = {arm: [] for arm in options.arms}, {}, 0
    with raw_data(options.out) as tell:
        for repeat in range(options.repeats):
            for arm in options.arms:
                found = run(options, arm, lanes)
                print(f"{arm:9} run {repeat}: {found['wall_s']:8.2f} s", flush=True)
                tell({"arm": arm, "repeat": repeat, **found})
                results[arm].append(found)
        in_bam = inflated_bytes(options.work / "sorting-unsorted.bam")
        for arm in [arm for arm in options.arms if arm != "unsorted"]:
            digests[arm] = digest(options, arm) if arm != "sambamba" else (None, count(options, arm))
            tell({"arm": arm, "digest": digests[arm][0], "records": digests[arm][1]})
    if len({records for _, records in digests.values()}) > 1 or digests.get("sorted") != digests.get("samtools"):
        raise Failure(f"other records: {digests}")
    describe_run(options.out, "Many made-up records, sorted with little memory", [
        f"{len(lanes)} lanes, {options.threads} threads, {options.memory} MiB for records, {options.repeats} runs of",
        f"each arm; {in_bam} bytes in BAM before compression. The head of the script says what the arms are."],
        [zerohop_commit(), samtools_version(),
            f"sambamba {output_of('dpkg-query', '-W', '-f', '${Version}', 'sambamba')}"])
    write_summary(options.out, summary(results, in_bam))
    for path in options.work.glob("sorting-*.bam*"):
        path.unlink()


if __name__ == "__main__":
    run_script(main)
