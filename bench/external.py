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

import itertools
import shlex
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from running import (ECOLI, Failure, call, cpu_seconds, describe_run, make, make_pairs, measure, median,
    median_and_range, median_ratio, output_of, parser_of, raw_data, run_script, samtools_version, shown, stay_on_cpus,
    table, unpack, with_programs, words, write_summary, zerohop_commit)

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
    parser = parser_of(__doc__, results="external", threads=0, repeats=7)
    parser.add_argument("--engine", type=words, default=["bwa"], help="of: " + ", ".join(ALONE))
    parser.add_argument("--arms", type=words, default=ARMS, help="of: " + ", ".join(ARMS))
    parser.add_argument("--pairs", type=int, default=150_000, help="simulated pairs (default: %(default)s)")
    options = parser.parse_args()
    return with_programs(options, f"external-{options.pairs}")


def prepare(options, engine):
    make(options, ["ref.fa"], lambda names: unpack(ECOLI, names[0], 1))
    make_pairs(options, "ref.fa", ["r1.fq", "r2.fq"], options.pairs)
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
        command = [files.get(word, word.format(t=1)) for word in ALONE[engine][0]]
        return f"{shlex.join(command)} > part{part}.sam & pids=\"$pids $!\""
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


def run(options, tell):
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
                tell(result)
                results.append(result)
                print(f"{engine:10} {arm:12} run {repetition}: {result['wall_s']:8.2f} s", file=sys.stderr)
    return results


def summary(results):
    rows = [["engine", "arm", "wall s: median (range)", "of the time of (median of ratios)", "CPU s", "of its CPU"]]
    counted = [{**result, "cpu_s": cpu_seconds(result)} for result in results if result["repetition"]]
    for engine, arm in dict.fromkeys((result["engine"], result["arm"])
            for result in sorted(results, key=lambda r: ARMS.index(r["arm"]))):
        of = lambda which: [result for result in counted if (result["engine"], result["arm"]) == (engine, which)]
        bases = [base for base in BASE.get(arm, []) if of(base)]
        compared = lambda key: ", ".join(f"{median_ratio(of(arm), of(base), key):.3f}x of {base}" for base in bases)
        rows.append([engine, arm, median_and_range(result["wall_s"] for result in of(arm)), compared("wall_s"),
            f"{median(of(arm), 'cpu_s'):.2f}", compared("cpu_s")])
    return table(rows)


def describe(options):
    versions = [zerohop_commit(), samtools_version()]
    versions += [" ".join(line.split()[:2]) for line in output_of(options.zerohop, "engines").split("\n\n")[0].split(
        "\n") if line.split()[0] in options.engine]
    describe_run(options.out, "`zerohop align --engine` and the aligner by itself", [
        f"{options.pairs} simulated pairs of 2x150 bases of E. coli K-12; {options.threads} threads on "
        f"{options.threads} CPUs, {options.repeats} counted",
        "runs of each arm after one that warms up, arms in turn. `raw.jsonl` has one line a run; the head of the "
        "script says what the arms are."], versions)


def main():
    options = parse_arguments()
    stay_on_cpus(options)
    with raw_data(options.out) as tell:
        describe(options)
        results = run(options, tell)
    write_summary(options.out, summary(results))


if __name__ == "__main__":
    run_script(main)
