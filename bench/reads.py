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

import argparse
import datetime
import hashlib
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from compare import ROOT, Failure, call, describe_run, machine, make, measure, output_of, zerohop_commit

ARMS = ["fastq", "bam", "bgzip", "cram", "pipe"]
REFERENCE = "sim100M.fa"
LENGTH = 150


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000, help="(default: %(default)s)")
    parser.add_argument("--engine", type=lambda text: text.split(","), default=["strobealign", "null"],
        help="(default: strobealign,null; null maps nothing)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="(default: all CPUs)")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each arm (default: %(default)s)")
    parser.add_argument("--arms", type=lambda text: text.split(","), default=ARMS, help="(default: all)")
    parser.add_argument("--out", type=Path,
        default=ROOT / "bench/runs" / f"{datetime.date.today()}-{platform.node()}-reads")
    options = parser.parse_args()
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    options.work, options.programs = (target / "bench-work").resolve(), target / "release"
    return options


def prepare(options):
    """The same reads in every form."""
    options.work.mkdir(parents=True, exist_ok=True)
    work, simulate, stem = options.work, options.programs / "simulate", f"reads_{options.pairs}"
    make(options, [REFERENCE], lambda names: call([simulate, "reference", "--bases", "100M", "--out", names[0]]))
    plain = [f"{stem}_{mate}.fq" for mate in (1, 2)]
    make(options, plain, lambda names: call([simulate, "pairs", "--reference", work / REFERENCE, "--pairs",
        options.pairs, "--length", LENGTH, "--out1", names[0], "--out2", names[1]]))
    for name in plain:
        make(options, [f"{name}.gz"], lambda names: call(["bgzip", "-c", work / name], stdout=names[0]))
    bam, cut, cram = (f"{stem}.{kind}" for kind in ("bam", "cut.bam", "cram"))
    make(options, [bam], lambda names: call(["samtools", "import", "-O", "BAM", "-R", "g", "-1", work / plain[0], "-2",
        work / plain[1], "-o", names[0]]))
    make(options, [f"{stem}.raw"], lambda names: call(["bgzip", "-dc", work / bam], stdout=names[0]))
    make(options, [cut], lambda names: call(["bgzip", "-c", work / f"{stem}.raw"], stdout=names[0]))
    make(options, [cram], lambda names: call(["samtools", "view", "-C", "-o", names[0], work / bam]))
    call([options.programs / "zerohop", "index", "-q", "-r", LENGTH, work / REFERENCE])
    return {"fastq": [f"{name}.gz" for name in plain], "bam": [bam], "bgzip": [cut], "cram": [cram], "pipe": [bam]}


def commands(options, engine, arm, reads):
    align = [str(options.programs / "zerohop"), "align", "-q", "-t", str(options.threads), "-r", str(LENGTH),
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
    duration = run["serial_s"]["cut"]
    return (duration["secs"] * 1e9 + duration["nanos"]) / options.pairs


def write_summary(options, results):
    lines = ["| engine | arm | wall s | / fastq | CPU s | peak MiB | serial ns/pair |",
        "| --- | --- | --- | --- | --- | --- | --- |"]
    for (engine, arm), runs in results.items():
        median = lambda value: statistics.median(value(run) for run in runs)
        beside = [own["wall_s"] / other["wall_s"] for own, other in zip(runs, results[engine, options.arms[0]])]
        lines.append(f"| {engine} | {arm} | {median(lambda r: r['wall_s']):.2f} | {statistics.median(beside):.2f} | "
            f"{median(lambda r: r['user_s'] + r['sys_s']):.2f} | {median(lambda r: r['peak_rss_kib']) / 1024:.0f} | "
            f"{median(lambda r: serial_nanos(options, r)):.1f} |")
    text = "\n".join(lines) + "\n"
    (options.out / "summary.md").write_text(text)
    print(text)


def main():
    options = parse_arguments()
    inputs = prepare(options)
    options.out.mkdir(parents=True, exist_ok=True)
    results = {}
    with open(options.out / "raw.jsonl", "w") as raw:
        for repeat in range(options.repeats):
            for engine in options.engine:
                for arm in options.arms:
                    found = run(options, engine, arm, inputs[arm])
                    print(f"{engine:11} {arm:6} run {repeat}: {found['wall_s']:8.2f} s", flush=True)
                    raw.write(json.dumps({"engine": engine, "arm": arm, "repeat": repeat, **found}) + "\n")
                    results.setdefault((engine, arm), []).append(found)
    for engine in options.engine:
        digests = {run["digest"] for arm in options.arms for run in results[engine, arm]}
        if len(digests) > 1:
            raise Failure(f"{engine}: other records: {digests}")
    describe_run(options.out, ["# Reads in BAM", "", f"Options of `bench/reads.py`: `{' '.join(sys.argv[1:])}`", "",
        f"{options.pairs} pairs of {LENGTH} bases, {options.threads} threads, {options.repeats} runs of each arm. The",
        "head of the script says what the arms are. Records were the same in all runs of an engine.", ""],
        Versions=[zerohop_commit(), output_of("samtools", "--version").splitlines()[0]], Machine=machine())
    write_summary(options, results)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"error: {failure}")
