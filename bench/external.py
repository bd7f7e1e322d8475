#!/usr/bin/env python3
"""Compares `zerohop align --engine E` with the same aligner by itself, on simulated pairs of E. coli: wall time, CPU
time and peak memory, arms interleaved.

    python3 bench/external.py                      # bwa
    python3 bench/external.py --engine bwa,minimap2 --pairs 400000 --repeats 5

Arms, all with N threads on N CPUs:
    alone        the aligner with -t N, SAM to a file
    parts        N processes of the aligner with one thread each, on N parts of the reads that were made before
    zerohop      zerohop align --engine E -t N
    instances    zerohop align --engine E -t N --replicas N: N instances of one thread
    alone-bam    the aligner | samtools view -b
    zerohop-bam  zerohop align --engine E -t N, BAM
Each arm must have a record of every read. Results go to bench/runs/DATE-HOST-external/.
"""

import argparse
import datetime
import itertools
import json
import os
import platform
import shlex
import statistics
import sys
from pathlib import Path
from types import SimpleNamespace

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from compare import (ECOLI, ROOT, Failure, call, describe_run, machine, make, measure, output_of, shown, unpack,
    zerohop_commit)

# The aligner by itself, and the file by which its index is known to be there.
ALONE = {
    "bwa": (["bwa", "mem", "-t", "{t}", "ref.fa", "r1.fq", "r2.fq"], "ref.fa.sa"),
    "minimap2": (["minimap2", "-ax", "sr", "-t", "{t}", "ref.fa.sr.mmi", "r1.fq", "r2.fq"], "ref.fa.sr.mmi"),
    "bowtie2": (["bowtie2-align-s", "--wrapper", "basic-0", "-p", "{t}", "--reorder", "-x", "ref.fa", "-1", "r1.fq",
    "-2", "r2.fq"], "ref.fa.rev.2.bt2"),
    "hisat2": (["hisat2-align-s", "--wrapper", "basic-0", "-p", "{t}", "--reorder", "-x", "ref.fa", "-1", "r1.fq", "-2",
    "r2.fq"], "ref.fa.8.ht2"),
}
ARMS = ["instances", "alone", "zerohop", "parts", "zerohop-bam", "alone-bam"]
# Whose time each arm's is divided by.
BASE = {"zerohop": ["alone"], "instances": ["alone", "parts"], "parts": ["alone"], "zerohop-bam": ["alone-bam"]}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", type=lambda text: text.split(","), default=["bwa"], help="of: " + ", ".join(ALONE))
    parser.add_argument("--arms", type=lambda text: text.split(","), default=ARMS, help="of: " + ", ".join(ARMS))
    parser.add_argument("--pairs", type=int, default=150_000, help="simulated pairs (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="(default: all CPUs)")
    parser.add_argument("--repeats", type=int, default=7, help="counted runs of each arm (default: %(default)s)")
    parser.add_argument("--out", type=Path,
        default=ROOT / "bench/runs" / f"{datetime.date.today()}-{platform.node()}-external")
    options = parser.parse_args()
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    options.zerohop, options.simulate = target / "release/zerohop", target / "release/simulate"
    options.work = (target / "bench-work" / f"external-{options.pairs}").resolve()
    return options


def prepare(options, engine):
    options.work.mkdir(parents=True, exist_ok=True)
    make(options, ["ref.fa"], lambda names: unpack(ECOLI, names[0], 1))
    make(options, ["r1.fq", "r2.fq"], lambda names: call([
        options.simulate, "pairs", "--reference", options.work / "ref.fa", "--pairs", options.pairs, "--length", "150",
        "--insert", "400",
        "--sd", "50", "--error", "0.002", "--snp", "0.001", "--seed", "2", "--out1", names[0], "--out2", names[1]]))
    for mate in "12":
        names = [part_name(options, part, mate) for part in range(options.threads)]
        make(options, names, lambda names: split(options, mate, names))
    if not (options.work / ALONE[engine][1]).exists():
        (options.work / "none.fq").write_text("")
        call([options.zerohop, "align", "--engine", engine, "--build-index", "-o", "/dev/null", "ref.fa", "none.fq"],
            cwd=options.work)


def part_name(options, part, mate):
    """A run with another number of parts must not take the files of this one. (The folder is that of these pairs.)"""
    return f"part{part}of{options.threads}.r{mate}.fq"


def split(options, mate, names):
    """Writes as many pairs to each of the files; the last may get fewer."""
    lines = 4 * -(-options.pairs // len(names))
    with open(options.work / f"r{mate}.fq", "rb") as reads:
        for name in names:
            with open(name, "wb") as part:
                part.writelines(itertools.islice(reads, lines))


def parts(options, engine):
    """One shell that starts all and waits for all."""
    def one(part):
        files = {f"r{mate}.fq": part_name(options, part, mate) for mate in "12"}
        words = [files.get(word, word.format(t=1)) for word in ALONE[engine][0]]
        return f"{shlex.join(words)} > part{part}.sam & pids=\"$pids $!\""
    return ["sh", "-c", "\n".join([*map(one, range(options.threads)),
        "for pid in $pids; do wait $pid || exit 1; done"])]


def pipeline(options, engine, arm):
    alone = [word.format(t=options.threads) for word in ALONE[engine][0]]
    zerohop = [str(options.zerohop), "align", "--engine", engine, "-t", str(options.threads)]
    return {
        "alone": [["sh", "-c", 'exec "$@" > out.sam', "sh", *alone]],
        "zerohop": [[*zerohop, "-o", "out.sam", "ref.fa", "r1.fq", "r2.fq"]],
        "parts": [parts(options, engine)],
        "instances": [[*zerohop, "--replicas", str(options.threads), "-o", "out.sam", "ref.fa", "r1.fq", "r2.fq"]],
        "alone-bam": [alone, ["samtools", "view", "-b", "-o", "out.bam", "-"]],
        "zerohop-bam": [[*zerohop, "-o", "out.bam", "ref.fa", "r1.fq", "r2.fq"]],
    }[arm]


def reads_in_output(options, arm):
    """Reads that have a record in the output of an arm."""
    names = {"parts": [f"part{part}.sam" for part in range(options.threads)]}
    files = names.get(arm, ["out.bam" if arm.endswith("-bam") else "out.sam"])
    # secondary and supplementary records depend on the batches of an aligner; each read has one record beside them
    counts = [output_of("samtools", "view", "-c", "-F", "0x900", options.work / file) for file in files]
    if not all(count.isdigit() for count in counts):
        raise Failure(f"{arm}: samtools cannot read {', '.join(files)}")
    return sum(map(int, counts))


def run(options, raw):
    results = []
    for engine in options.engine:
        prepare(options, engine)
        for repetition in range(options.repeats + 1):  # number 0 warms up and does not count
            shift = repetition % len(options.arms)
            for arm in options.arms[shift:] + options.arms[:shift]:
                commands = pipeline(options, engine, arm)
                result = {"engine": engine, "arm": arm, "repetition": repetition, **measure(commands, options,
                    options.work / "stderr.log")}
                result["command"] = " | ".join(shown(command) for command in commands)
                if repetition == 0:
                    result["reads"] = reads_in_output(options, arm)
                    if result["reads"] != 2 * options.pairs:
                        raise Failure(f"{engine}, {arm}: {result['reads']} of {2 * options.pairs} reads have records")
                raw.write(json.dumps(result) + "\n")
                raw.flush()
                results.append(result)
                print(f"{engine:10} {arm:12} run {repetition}: {result['wall_s']:8.2f} s", file=sys.stderr)
    return results


def ratio(ours, theirs, *keys):
    """The median over the repetitions of the ratio within one repetition: a machine that slows down for a while slows
    both."""
    of = lambda results: {result["repetition"]: sum(result[key] for key in keys) for result in results}
    ours, theirs = of(ours), of(theirs)
    return statistics.median(ours[repetition] / theirs[repetition] for repetition in ours)


def summary(results):
    rows = [["engine", "arm", "wall s: median (range)", "of the time of (median of ratios)", "CPU s", "of its CPU"],
        ["---"] * 6]
    counted = [result for result in results if result["repetition"]]
    for engine, arm in dict.fromkeys((result["engine"], result["arm"])
            for result in sorted(results, key=lambda r: ARMS.index(r["arm"]))):
        of = lambda which: [result for result in counted if (result["engine"], result["arm"]) == (engine, which)]
        cpu = lambda which: statistics.median(result["user_s"] + result["sys_s"] for result in of(which))
        walls, bases = [result["wall_s"] for result in of(arm)], [base for base in BASE.get(arm, []) if of(base)]
        compared = lambda keys, text: ", ".join(text.format(ratio(of(arm), of(base), *keys), base) for base in bases)
        rows.append([engine, arm, f"{statistics.median(walls):.2f} ({min(walls):.2f}-{max(walls):.2f})",
            compared(["wall_s"], "{:.3f}x of {}"),
                     f"{cpu(arm):.2f}", compared(["user_s", "sys_s"], "{:.3f}x of {}")])
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def write_readme(options):
    versions = [zerohop_commit(), output_of("samtools", "--version").split("\n")[0]]
    versions += [" ".join(line.split()[:2]) for line in output_of(options.zerohop, "engines").split("\n\n")[0].split(
        "\n") if line.split()[0] in options.engine]
    text = ["# `zerohop align --engine` and the aligner by itself", "",
        f"Options of `bench/external.py`: `{' '.join(sys.argv[1:]) or '(defaults)'}`", "",
            f"{options.pairs} simulated pairs of 2x150 bases of E. coli K-12; {options.threads} threads on "
            f"{options.threads} CPUs, {options.repeats} counted",
            "runs of each arm after one that warms up, arms in turn. `raw.jsonl` has one line a run; the head of the "
            "script says what the arms are.", ""]
    describe_run(options.out, text, Versions=versions, Machine=machine())


def main():
    options = parse_arguments()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])  # and so that of all arms
    options.out.mkdir(parents=True, exist_ok=True)
    write_readme(options)
    with open(options.out / "raw.jsonl", "w") as raw:
        text = summary(run(options, raw))
    (options.out / "summary.md").write_text(text)
    print(text)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"external.py: {failure}")
