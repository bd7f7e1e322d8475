#!/usr/bin/env python3
"""What the reports of --qc cost, beside the same run without them, and beside the programs that read the file again.

    cargo build --release -p zerohop-cli -p zerohop-bench --bins
    python3 bench/qc.py                                    # E. coli (real reads) and 100 Mb simulated
    python3 bench/qc.py --reference sim100M --qc-arms marked,qc --repeats 15

Arms, in turn, with the same number of threads and indexes made before:

    marked    zerohop align --sort --mark-duplicates
    qc        the same with --qc
    per-base  the same with --qc --mosdepth "--fast-mode --by 500": the depth of all places, too
    exact     the same with --qc --mosdepth "--no-per-base --by 500": mates that overlap count once
    picard    the same with --qc --picard-metrics
    tools     marked; then samtools stats, flagstat, idxstats and coverage, and mosdepth --no-per-base --fast-mode
              --by 500, all at once, each with one thread
    bwa-mem   zerohop align --engine bwa-mem --sort --mark-duplicates --qc
    bwa-pipe  bwa mem | samtools fixmate -m | sort | markdup; samtools index; and the tools

Every round runs all arms, so runs of a round are pairs: ratios are of these. Results go to bench/runs/DATE-HOST-qc/.
"""

import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from compare import prepare
from running import (ROOT, describe_run, measure, output_of, parser_of, raw_data, run_script, samtools_version,
    summary_of_pairs, with_programs, words, write_summary, zerohop_commit)

ARMS = ["marked", "qc", "per-base", "exact", "picard", "tools", "bwa-mem", "bwa-pipe"]


def parse_arguments():
    parser = parser_of(__doc__, results="qc", threads=0, repeats=9)
    parser.add_argument("--reference", type=words, default=["ecoli", "sim100M"], help="as in compare.py")
    parser.add_argument("--qc-arms", type=words, default=ARMS[:6], help="(default: the first six)")
    parser.add_argument("--pairs", type=int, default=500_000, help="simulated pairs (default: %(default)s)")
    parser.add_argument("--engine", default="strobealign", help="of the arms before bwa-mem (default: %(default)s)")
    parser.add_argument("--zerohop", default=None, help="(default: in the target folder)")
    parser.add_argument("--strobealign", default=ROOT / "target/strobealign/bin/strobealign")
    parser.add_argument("--bwa", default="bwa")
    parser.add_argument("--mosdepth", default="mosdepth")
    options = with_programs(parser.parse_args())
    options.input = ["plain"]
    # What compare.py makes indexes for.
    wanted = {"bwa-mem": "bwa-mem", "bwa-pipe": "bwa"}
    of_engine = "bwa-mem" if options.engine == "bwa-mem" else "zerohop"
    options.arms = sorted({wanted.get(arm, of_engine) for arm in options.qc_arms})
    return options


def command(options, arm, fasta, reads):
    """A line of shell that does all of an arm."""
    threads, out = options.threads, f"qc-{arm}.bam"
    files = " ".join([fasta, *reads])
    align = f"{options.zerohop} align -q -t {threads} -o {out} --sort --mark-duplicates"
    own = f"{align} --engine {options.engine}"
    samtools = [f"samtools {name} {out} > {out}.{name}" for name in ("stats", "flagstat", "idxstats", "coverage")]
    tools = " & ".join([*samtools, f"{options.mosdepth} -n --fast-mode --by 500 qc-{arm} {out}", "wait"])
    pipe = (f"{options.bwa} mem -K 10000000 -t {threads} {files} | samtools fixmate -u -@ {threads} -m - - |"
        f" samtools sort -u -@ {threads} -T qc-tmp - | samtools markdup -@ {threads} - {out} &&"
        f" samtools index -@ {threads} {out}")
    return {
        "marked": f"{own} {files}",
        "qc": f"{own} --qc {files}",
        "per-base": f"{own} --qc --mosdepth '--fast-mode --by 500' {files}",
        "exact": f"{own} --qc --mosdepth '--no-per-base --by 500' {files}",
        "picard": f"{own} --qc --picard-metrics {files}",
        "tools": f"{own} {files} && {{ {tools}; }}",
        "bwa-mem": f"{align} --engine bwa-mem --qc {files}",
        "bwa-pipe": f"{pipe} && {{ {tools}; }}",
    }[arm]


def shown_command(options, arm):
    """The same without the folders of this machine."""
    line = command(options, arm, "REF.fa", ["R1", "R2"])
    for program in (options.zerohop, options.bwa, options.mosdepth):
        line = line.replace(str(program), Path(program).name)
    return line


def run(options, arm, fasta, reads):
    for old in options.work.glob(f"qc-{arm}.*"):
        old.unlink()
    line = ["bash", "-o", "pipefail", "-c", command(options, arm, fasta, reads)]
    return measure([line], options, options.work / "qc.log")


def main():
    options = parse_arguments()
    # Debian's mosdepth looks for the name that only the package for developers has.
    names = [line.split()[-1] for line in output_of("ldconfig", "-p").splitlines() if "libhts.so.3" in line]
    folder = options.work / "lib"
    folder.mkdir(parents=True, exist_ok=True)
    if names and not (folder / "libhts.so").exists():
        (folder / "libhts.so").symlink_to(names[0])
    os.environ["LD_LIBRARY_PATH"] = str(folder)
    results = {}
    with raw_data(options.out) as tell:
        for reference in options.reference:
            reads, fasta = prepare(options, reference)["plain"], f"{reference}.fa"
            arms = results[reference] = {arm: [] for arm in options.qc_arms}
            for repeat in range(options.repeats + 1):
                for arm in options.qc_arms:
                    found = run(options, arm, fasta, reads)
                    print(f"{reference:8} {arm:9} run {repeat}: {found['wall_s']:8.2f} s", flush=True)
                    tell({"reference": reference, "arm": arm, "repetition": repeat, **found})
                    if repeat > 0:
                        arms[arm].append(found)
    write_summary(options.out, summary_of_pairs(results))
    describe_run(options.out, "What reports cost", [
        f"{options.threads} threads, {options.repeats} counted runs of each arm after one that warms up, arms in turn;",
        "the head of the script says what they are. Ratios are of runs of the same round."],
        [zerohop_commit(), samtools_version(), output_of(options.mosdepth, "--version"),
            *(f"`{shown_command(options, arm)}`" for arm in options.qc_arms)])


if __name__ == "__main__":
    run_script(main)
