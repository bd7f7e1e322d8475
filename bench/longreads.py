#!/usr/bin/env python3
"""Long reads: `zerohop align --engine rammap` beside minimap2, and beside the pipe from unaligned BAM to sorted BAM.

    cargo build --release -p zerohop-cli -p zerohop-bench --bins
    python3 bench/longreads.py --reference human.fa --minimap2 minimap2
    python3 bench/longreads.py --sets ont --only minimap2,zerohop

Reads are simulated: `--bases` of them from all of the reference, for the set ont with 6 % errors and N50 of some 25 kb,
for hifi of 10 to 20 kb with 0.3 % (truth.py). Arms, indexes made before:

    minimap2  minimap2 -a -x PRESET -t T REF.mmi reads.fq
    zerohop   zerohop align --engine rammap -t T, SAM to a file as well
    pipe      samtools fastq -T '*' reads.bam | minimap2 -y -a -x PRESET -t T | samtools sort -@ T, with its index
    sorted    zerohop align --engine rammap -t T --sort reads.bam
    loaded-1  minimap2 of the first arm, and
    loaded-2  zerohop of the second, with a read of a hundred bases: what loading the index takes

The records of both are compared byte for byte, but for @PG, at the end. Of zerohop's runs with all reads the time that
its workers map is kept as well, from its summary: the rest is what could be saved beside the aligner. Every round
runs all arms, so runs of a round are pairs: ratios are of these. Results go to bench/runs/DATE-HOST-long-reads/.
"""

import json
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from running import (Failure, call, describe_run, make, measure, median, output_of, parser_of, raw_data,
    run_script, seconds, summary_of_pairs, with_programs, words, write_summary, zerohop_commit)
from truth import make_long_reads

PRESETS = {"ont": "map-ont", "hifi": "map-hifi"}
ARMS = ["minimap2", "zerohop", "pipe", "sorted", "loaded-1", "loaded-2"]


def parse_arguments():
    parser = parser_of(__doc__, results="long-reads", threads=0, repeats=9)
    parser.add_argument("--sets", type=words, default=list(PRESETS), help="(default: all)")
    parser.add_argument("--only", type=words, default=ARMS, help="only these arms")
    parser.add_argument("--reference", type=Path, required=True, help="FASTA, not compressed")
    parser.add_argument("--bases", type=int, default=60_000_000, help="of all reads (default: %(default)s)")
    parser.add_argument("--zerohop", default=None, help="(default: in the target folder)")
    parser.add_argument("--minimap2", default="minimap2")
    options = with_programs(parser.parse_args())
    options.reference = options.reference.resolve()
    return options


def command(options, arm, name):
    """A line of shell that does all of an arm."""
    preset, threads, reference = PRESETS[name], options.threads, options.reference
    minimap2 = f"{options.minimap2} -a -x {preset} -t {threads}"
    zerohop = f"{options.zerohop} align -q --json run.json --engine rammap --engine-args '-x {preset}' -t {threads}"
    return {
        "minimap2": f"{minimap2} {name}.mmi {name}.fq > {name}-minimap2.sam 2> long.log",
        "zerohop": f"{zerohop} -o {name}-zerohop.sam {reference} {name}.fq",
        "pipe": f"samtools fastq -T '*' {name}.bam 2> long.log | {minimap2} -y {name}.mmi - 2> long.log |"
            f" samtools sort -@ {threads} -o {name}-pipe.bam - 2> long.log && samtools index {name}-pipe.bam",
        "sorted": f"{zerohop} --sort -o {name}-sorted.bam {reference} {name}.bam",
        "loaded-1": f"{minimap2} {name}.mmi one.fq > one-minimap2.sam 2> long.log",
        "loaded-2": f"{zerohop} -o one-zerohop.sam {reference} one.fq",
    }[arm]


def shown_command(options, arm):
    """The same without the folders of this machine."""
    line = command(options, arm, "ont").replace(str(options.reference), "REF.fa")
    for program in (options.zerohop, options.minimap2):
        line = line.replace(str(program), Path(program).name)
    return line


def check(options, name):
    """Refuses records that differ."""
    of = [f"{name}-{program}.sam" for program in ("minimap2", "zerohop")]
    line = f"cmp <(grep -v '^@PG' {of[0]}) <(grep -v '^@PG' {of[1]}) && grep -vc '^@' {of[0]}"
    found = subprocess.run(["bash", "-c", line], cwd=options.work, capture_output=True, text=True)
    if found.returncode:
        raise Failure(f"{name}: records differ: {found.stdout}{found.stderr}")
    return int(found.stdout)


def mapping_seconds(options):
    """How long a worker of the last run mapped: the mean of all."""
    workers = json.loads((options.work / "run.json").read_text())["run"]["workers"]
    return sum(seconds(worker["map"]) for worker in workers) / len(workers)


def limit(name, arms):
    """What sorted output could gain beside the pipe if all but mapping took no time."""
    pipe, wall = median(arms["pipe"], "wall_s"), median(arms["sorted"], "wall_s")
    mapping = median(arms["sorted"], "mapping_s")
    return f"{name}: workers of `sorted` map for {mapping:.2f} s of {wall:.2f} s. If all else took no time, it would " \
        f"be {pipe / mapping:.2f} times as fast as the pipe; it is {pipe / wall:.2f} times as fast (medians)."


def main():
    options = parse_arguments()
    results, records, limits = {}, {}, []
    with raw_data(options.out) as tell:
        (options.work / "one.fq").write_text(f"@one\n{'ACGT' * 25}\n+\n{'I' * 100}\n")
        for name in options.sets:
            preset = PRESETS[name]
            make(options, [f"{name}.fq"], lambda new: make_long_reads(options.reference, name, options.bases, *new))
            call(["samtools", "import", "-0", f"{name}.fq", "-o", f"{name}.bam"], cwd=options.work)
            call([options.minimap2, "-x", preset, "-d", f"{name}.mmi", options.reference], cwd=options.work)
            call([options.zerohop, "index", "-q", "--engine", "rammap", "--engine-args", f"-x {preset}",
                options.reference])
            arms = results[name] = {arm: [] for arm in ARMS if arm in options.only}
            for repeat in range(options.repeats + 1):
                for arm in arms:
                    line = ["bash", "-o", "pipefail", "-c", command(options, arm, name)]
                    found = measure([line], options, options.work / "long.log")
                    if arm in ("zerohop", "sorted"):
                        found["mapping_s"] = mapping_seconds(options)
                    print(f"{name:5} {arm:9} run {repeat}: {found['wall_s']:8.2f} s", flush=True)
                    tell({"set": name, "arm": arm, "repetition": repeat, **found})
                    if repeat > 0:
                        arms[arm].append(found)
            if {"minimap2", "zerohop"} <= arms.keys():
                records[name] = check(options, name)
            if {"pipe", "sorted"} <= arms.keys():
                limits.append(limit(name, arms))
    write_summary(options.out, summary_of_pairs(results))
    describe_run(options.out, "Long reads", [
        f"{options.threads} threads, {options.bases // 10**6} Mb of reads on {options.reference.name},",
        f"{options.repeats} counted runs of each arm after one that warms up, arms in turn; the head of the script",
        "says what they are. Ratios are of runs of the same round. Records of minimap2 and zerohop were the same:",
        ", ".join(f"{count} of {name}" for name, count in records.items()) + ".",
        *(line for text in limits for line in ("", text))],
        [zerohop_commit(), f"minimap2 {output_of(options.minimap2, '--version')}",
            *(f"`{shown_command(options, arm)}`" for arm in options.only)])


if __name__ == "__main__":
    run_script(main)
