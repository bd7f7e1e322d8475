#!/usr/bin/env python3
"""Reads in BAM beside the same reads in FASTQ, and beside `samtools fastq` in front of zerohop.

    cargo build --release -p zerohop-cli -p zerohop-bench --bins
    python3 bench/reads.py                                # 1,000,000 pairs of 100 Mb, 5 runs of each arm
    python3 bench/reads.py --engine null --arms fastq,bam,bgzip

Arms, in turn, with the same number of threads, index made before, SAM to a file:

    fastq    two files, compressed by bgzip
    bam      the same reads in BAM, made by `samtools import`: whole records in blocks
    bgzip    the same, compressed anew by bgzip: records lie across blocks
    cram     the same in CRAM 3.0
    pipe     samtools fastq of the BAM, and zerohop -p on standard input

Records of all arms are compared, read groups aside. Results go to bench/runs/DATE-HOST-reads/.
"""

import hashlib
import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from running import (Failure, call, cpu_seconds, describe_run, make, make_pairs, make_reference, measure, median,
    median_ratio, parser_of, raw_data, run_script, samtools_version, seconds, table, with_programs, words,
    write_summary, zerohop_commit)

ARMS = ["fastq", "bam", "bgzip", "cram", "pipe"]
REFERENCE = "sim100M.fa"
LENGTH = 150


def parse_arguments():
    parser = parser_of(__doc__, results="reads", threads=0, repeats=5, of="runs of each arm")
    parser.add_argument("--pairs", type=int, default=1_000_000, help="(default: %(default)s)")
    parser.add_argument("--engine", type=words, default=["strobealign", "null"],
        help="(default: strobealign,null; null maps nothing)")
    parser.add_argument("--arms", type=words, default=ARMS, help="(default: all)")
    return with_programs(parser.parse_args())


def prepare(options):
    """The same reads in every form."""
    work, stem = options.work, f"reads_{options.pairs}"
    make_reference(options, REFERENCE, "100M")
    plain = [f"{stem}_{mate}.fq" for mate in (1, 2)]
    make_pairs(options, REFERENCE, plain, options.pairs, LENGTH)
    for name in plain:
        make(options, [f"{name}.gz"], lambda names: call(["bgzip", "-c", work / name], stdout=names[0]))
    bam, cut, cram = (f"{stem}.{kind}" for kind in ("bam", "cut.bam", "cram"))
    make(options, [bam], lambda names: call(["samtools", "import", "-O", "BAM", "-R", "g", "-1", work / plain[0], "-2",
        work / plain[1], "-o", names[0]]))
    make(options, [f"{stem}.raw"], lambda names: call(["bgzip", "-dc", work / bam], stdout=names[0]))
    make(options, [cut], lambda names: call(["bgzip", "-c", work / f"{stem}.raw"], stdout=names[0]))
    make(options, [cram], lambda names: call(["samtools", "view", "-C", "-o", names[0], work / bam]))
    call([options.zerohop, "index", "-q", "-r", LENGTH, work / REFERENCE])
    return {"fastq": [f"{name}.gz" for name in plain], "bam": [bam], "bgzip": [cut], "cram": [cram], "pipe": [bam]}


def commands(options, engine, arm, reads):
    align = [str(options.zerohop), "align", "-q", "-t", str(options.threads), "-r", str(LENGTH),
        "--engine", engine, "--json", f"reads-{arm}.json", "-o", f"reads-{arm}.sam"]
    if arm == "pipe":
        return [["samtools", "fastq", "-n", "-@", str(options.threads), *reads], [*align, "-p", REFERENCE, "-"]]
    return [[*align, REFERENCE, *reads]]


def digest(path):
    """Stands for the records without their read groups."""
    found = hashlib.blake2b(digest_size=8)
    with open(path, "rb") as lines:
        for line in lines:
            if not line.startswith(b"@"):
                found.update(re.sub(rb"\tRG:Z:[^\t\n]*", b"", line))
    return found.hexdigest()


def run(options, engine, arm, reads):
    found = measure(commands(options, engine, arm, reads), options, options.work / "reads.log")
    report = json.loads((options.work / f"reads-{arm}.json").read_text())["run"]
    return {**found, "serial_s": report["serial"], "digest": digest(options.work / f"reads-{arm}.sam")}


def serial_nanos(options, run):
    """Nanoseconds per pair in which only one thread could deal."""
    return seconds(run["serial_s"]["cut"]) * 1e9 / options.pairs


def summary(options, results):
    rows = [["engine", "arm", "wall s", "/ fastq", "CPU s", "peak MiB", "serial ns/pair"]]
    for (engine, arm), runs in results.items():
        beside = median_ratio(runs, results[engine, options.arms[0]])
        rows.append([engine, arm, f"{median(runs, 'wall_s'):.2f}", f"{beside:.2f}", f"{median(runs, cpu_seconds):.2f}",
            f"{median(runs, 'peak_rss_kib') / 1024:.0f}",
            f"{median(runs, lambda run: serial_nanos(options, run)):.1f}"])
    return table(rows)


def main():
    options = parse_arguments()
    inputs = prepare(options)
    results = {}
    with raw_data(options.out) as tell:
        for repeat in range(options.repeats):
            for engine in options.engine:
                for arm in options.arms:
                    found = run(options, engine, arm, inputs[arm])
                    print(f"{engine:11} {arm:6} run {repeat}: {found['wall_s']:8.2f} s", flush=True)
                    tell({"engine": engine, "arm": arm, "repeat": repeat, **found})
                    results.setdefault((engine, arm), []).append(found)
    for engine in options.engine:
        digests = {run["digest"] for arm in options.arms for run in results[engine, arm]}
        if len(digests) > 1:
            raise Failure(f"{engine}: other records: {digests}")
    describe_run(options.out, "Reads in BAM", [
        f"{options.pairs} pairs of {LENGTH} bases, {options.threads} threads, {options.repeats} runs of each arm. The",
        "head of the script says what the arms are. Records were the same in all runs of an engine."],
        [zerohop_commit(), samtools_version()])
    write_summary(options.out, summary(options, results))


if __name__ == "__main__":
    run_script(main)
