#!/usr/bin/env python3
"""Sorted, marked and indexed BAM in one step, beside the pipe of samtools, and beside zerohop without sorting.

    cargo build --release -p zerohop-cli -p zerohop-bench --bins
    python3 bench/sort.py                                  # E. coli (real reads) and 100 Mb simulated
    python3 bench/sort.py --reference sim100M --pairs 1000000

Arms, in turn, with the same number of threads, indexes made before, BAM of the same level (--level), CRAM of level 6:

    unsorted  zerohop align -o out.bam
    sorted    zerohop align --sort -o out.bam
    marked    zerohop align --sort --mark-duplicates -o out.bam
    spilled   the same with --sort-memory 64M
    pipe      strobealign | samtools fixmate -m | samtools sort | samtools markdup: without an index
    pipe-u    the same with -u: what goes through the pipes is not compressed
    pipe-ui   the same with its index (markdup --write-index), which those of zerohop have
    picard    zerohop align --sort --mark-duplicates=picard -o out.bam
    cram      zerohop align --sort --mark-duplicates -o out.cram, of version 3.0
    cram-3.1  the same of version 3.1
    cram-pipe strobealign and the pipe with -u, to CRAM 3.0
    bwa-mem   zerohop align --engine bwa-mem --sort --mark-duplicates
    bwa-pipe  bwa mem, and the pipe
    durable   zerohop align --sort --mark-duplicates --durable: sorted records are kept until they are merged
    snap      zerohop align --engine snap --sort --mark-duplicates
    snap-own  SNAP by itself, which sorts, marks and indexes

Duplicates are compared, by name and mate: those of all arms but 'picard' with each other, those of 'bwa-mem' with those
of 'bwa-pipe'. (SNAP marks by other rules.) Results go to bench/runs/DATE-HOST-sort/.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from compare import prepare
from running import (ROOT, Failure, call, cpu_seconds, describe_run, measure, median, median_and_range, output_of,
    parser_of, raw_data, run_script, samtools_version, table, with_programs, words, write_summary, zerohop_commit)

ARMS = ["unsorted", "sorted", "marked", "spilled", "pipe", "pipe-u", "pipe-ui", "picard", "cram", "cram-3.1",
    "cram-pipe", "bwa-mem", "bwa-pipe", "durable", "snap", "snap-own"]
#: Which arms must have the same duplicates.
ALIKE = [("marked", "spilled", "durable", "pipe", "pipe-u", "pipe-ui", "cram", "cram-3.1", "cram-pipe"),
    ("bwa-mem", "bwa-pipe")]


def parse_arguments():
    parser = parser_of(__doc__, results="sort", threads=0, repeats=5)
    parser.add_argument("--reference", type=words, default=["ecoli", "sim100M"], help="as in compare.py")
    parser.add_argument("--sort-arms", type=words, default=ARMS[:11], help="(default: the first eleven)")
    parser.add_argument("--pairs", type=int, default=500_000, help="simulated pairs (default: %(default)s)")
    parser.add_argument("--indels", action="store_true", help="as in compare.py")
    parser.add_argument("--level", default="1",
        help="compression of BAM in the end, or 'own': what each does by itself (default: %(default)s)")
    parser.add_argument("--zerohop", default=None, help="(default: in the target folder)")
    parser.add_argument("--strobealign", default=ROOT / "target/strobealign/bin/strobealign")
    parser.add_argument("--bwa", default="bwa")
    options = with_programs(parser.parse_args())
    options.input = ["plain"]
    # What compare.py makes indexes for.
    wanted = {"bwa-mem": "bwa-mem", "bwa-pipe": "bwa"}
    wanted |= dict.fromkeys(["pipe", "pipe-u", "pipe-ui", "cram-pipe"], "strobealign")
    options.arms = sorted({wanted.get(arm, "zerohop") for arm in options.sort_arms})
    return options


def output(arm):
    return f"sort-{arm}.cram" if arm.startswith("cram") else f"sort-{arm}.bam"


def commands(options, arm, fasta, reads):
    """The commands of a pipeline; the last writes the output of the arm."""
    threads, out = str(options.threads), output(arm)
    level = "6" if arm.startswith("cram") else options.level
    own = [options.zerohop, "align", "-q", "-t", threads, *([] if level == "own" else ["--level", level]), "-o", out]
    snap = ["snap-aligner", "paired", f"{fasta}.snap", *reads, "-R", "@RG\\tID:a\\tSM:s", "-b-", "-t", threads]
    marked = ["--sort", "--mark-duplicates"]
    plain = ["-u"] if arm in ("pipe-u", "pipe-ui", "cram-pipe") else []
    to_cram = ["-O", "cram,level=6", "--reference", fasta]
    to_bam = [] if options.level == "own" else ["-O", f"bam,level={options.level}"]
    last = to_cram if arm == "cram-pipe" else to_bam
    indexed = ["--write-index"] if arm == "pipe-ui" else []
    samtools = [
        ["samtools", "fixmate", "-@", threads, *plain, "-m", "-", "-"],
        ["samtools", "sort", "-@", threads, *plain, "-T", "sort-tmp", "-"],
        ["samtools", "markdup", "-@", threads, *indexed, *last, "-", out],
    ]
    return {
        "unsorted": [[*own, fasta, *reads]],
        "sorted": [[*own, "--sort", fasta, *reads]],
        "marked": [[*own, *marked, fasta, *reads]],
        "spilled": [[*own, *marked, "--sort-memory", "64M", fasta, *reads]],
        "durable": [[*own, *marked, "--durable", fasta, *reads]],
        "pipe": [[options.strobealign, "-t", threads, "--use-index", fasta, *reads], *samtools],
        "pipe-u": [[options.strobealign, "-t", threads, "--use-index", fasta, *reads], *samtools],
        "pipe-ui": [[options.strobealign, "-t", threads, "--use-index", fasta, *reads], *samtools],
        "picard": [[*own, "--sort", "--mark-duplicates=picard", fasta, *reads]],
        "cram": [[*own, *marked, fasta, *reads]],
        "cram-3.1": [[*own, *marked, "--cram-version", "3.1", fasta, *reads]],
        "cram-pipe": [[options.strobealign, "-t", threads, "--use-index", fasta, *reads], *samtools],
        "bwa-mem": [[*own, *marked, "--engine", "bwa-mem", fasta, *reads]],
        "snap": [[*own, *marked, "--engine", "snap", "-R", "@RG\\tID:a\\tSM:s", fasta, *reads]],
        "snap-own": [[*snap, "-so", "-o", out]],
        "bwa-pipe": [[options.bwa, "mem", "-K", "10000000", "-t", threads, fasta, *reads], *samtools],
    }[arm]


def run(options, arm, fasta, reads):
    for suffix in ("", ".bai", ".csi", ".crai"):
        (options.work / (output(arm) + suffix)).unlink(missing_ok=True)
    pipeline = [[str(word) for word in command] for command in commands(options, arm, fasta, reads)]
    found = measure(pipeline, options, options.work / "sort.log")
    return {**found, "bytes": (options.work / output(arm)).stat().st_size}


def duplicates(options, arm, fasta):
    """Stands for which records of which reads are duplicates, and how many are."""
    view = subprocess.Popen(["samtools", "view", "-T", fasta, "-f", "1024", output(arm)], cwd=options.work,
        stdout=subprocess.PIPE)
    found = []
    for line in view.stdout:
        name, flags, _ = line.split(b"\t", 2)
        found.append(name + b" %d" % (int(flags) & 0xBC0))
    if view.wait():
        raise Failure(f"samtools cannot read {output(arm)}")
    return hashlib.sha256(b"\n".join(sorted(found))).hexdigest()[:16], len(found)


def summary(results):
    text = ""
    for reference, arms in results.items():
        rows = [["arm", "wall s: median (range)", "CPU s", "peak MiB", "MB of output", "wall / first arm"]]
        base = median(next(iter(arms.values())), "wall_s")
        for arm, runs in arms.items():
            rows.append([arm, median_and_range(run["wall_s"] for run in runs), f"{median(runs, cpu_seconds):.2f}",
                f"{median(runs, 'peak_rss_kib') / 1024:.0f}", f"{runs[0]['bytes'] / 1e6:.1f}",
                f"{median(runs, 'wall_s') / base:.2f}"])
        text += f"## {reference}\n\n{table(rows)}\n"
    return text


def main():
    options = parse_arguments()
    results = {}
    with raw_data(options.out) as tell:
        for reference in options.reference:
            reads, fasta = prepare(options, reference)["plain"], f"{reference}.fa"
            if {"snap", "snap-own"} & set(options.sort_arms):
                call([options.zerohop, "align", "-q", "--engine", "snap", "--build-index", "--first", "100", "-o",
                    "sort-snap.bam", fasta, *reads], cwd=options.work)
            arms = results[reference] = {arm: [] for arm in options.sort_arms}
            for repeat in range(options.repeats + 1):
                for arm in options.sort_arms:
                    found = run(options, arm, fasta, reads)
                    print(f"{reference:8} {arm:9} run {repeat}: {found['wall_s']:8.2f} s", flush=True)
                    tell({"reference": reference, "arm": arm, "repeat": repeat, **found})
                    if repeat:
                        arms[arm].append(found)
            for alike in ALIKE:
                marks = {arm: duplicates(options, arm, fasta) for arm in alike if arm in arms}
                if len(set(marks.values())) > 1:
                    raise Failure(f"{reference}: other duplicates: {marks}")
                for arm, (digest, count) in marks.items():
                    tell({"reference": reference, "arm": arm, "duplicates": count, "digest": digest})
    describe_run(options.out, "Sorted and marked BAM in one step", [
        f"{options.threads} threads, {options.repeats} counted runs of each arm after one that warms up, arms in turn;",
        "the head of the script says what they are. Peak memory of a pipe is the sum of its programs' peaks."],
        [zerohop_commit(), samtools_version(), f"strobealign {output_of(options.strobealign, '--version')}"])
    write_summary(options.out, summary(results))


if __name__ == "__main__":
    run_script(main)
