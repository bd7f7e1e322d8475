#!/usr/bin/env python3
"""The portable programs of `make dist` beside a native build: size, time to start, and time of `zerohop align`.

    cargo build --release --locked -p zerohop-cli
    make dist
    python3 bench/portable.py                     # E. coli, real pairs of tests/data, repeated 20 times

Arms take turns. `start` is `zerohop --version`; `strobealign` and `bwa-mem` align with an index made beforehand and
write SAM to /dev/null. Run 0 warms up. Results go to bench/runs/DATE-HOST-dist/.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import sys
import tarfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from compare import ROOT, Failure, call, describe_run, machine, make, measure, unpack, zerohop_commit

ECOLI = ROOT / "tests/data/ecoli"
STARTS_PER_RUN = 20


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="(default: all CPUs)")
    parser.add_argument("--repeats", type=int, default=7, help="counted runs of each arm (default: %(default)s)")
    parser.add_argument("--times", type=int, default=20, help="how often the pairs are repeated (default: %(default)s)")
    parser.add_argument("--native", type=Path, help="another native build")
    parser.add_argument("--out", type=Path,
        default=ROOT / "bench/runs" / f"{datetime.date.today()}-{platform.node()}-dist")
    options = parser.parse_args()
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    options.native = (options.native or target / "release/zerohop").resolve()
    options.dist, options.work = target / "dist", (target / "bench-work").resolve()
    return options


def portable(options):
    """The program of this machine's architecture, out of its archive."""
    archive, = options.dist.glob(f"zerohop-*-{platform.machine()}-unknown-linux-gnu.tar.gz")
    with tarfile.open(archive) as files:
        member, = [member for member in files if member.name.endswith("/bin/zerohop")]
        member.name = "portable-zerohop"
        files.extract(member, options.work)
    return options.work / "portable-zerohop"


def prepare(options):
    options.work.mkdir(parents=True, exist_ok=True)
    make(options, ["ecoli.fa"],
        lambda names: unpack(ECOLI / "GCF_000005845.2_ASM584v2_genomic.fna.gz", names[0], 1))
    reads = [f"ecoli_x{options.times}_{mate}.fq" for mate in (1, 2)]
    for mate, name in zip((1, 2), reads):
        make(options, [name], lambda names: unpack(ECOLI / f"ecoli_150_{mate}.fq.gz", names[0], options.times))
    for engine in ("strobealign", "bwa-mem"):
        call([options.native, "index", "-q", "--engine", engine, "ecoli.fa"], cwd=options.work)
    return reads


def commands(options, program, reads):
    align = [str(program), "align", "-q", "-t", str(options.threads), "-o", "/dev/null", "--format", "sam"]
    return {
        "start": [str(program), "--version"],
        "strobealign": [*align, "ecoli.fa", *reads],
        "bwa-mem": [*align, "--engine", "bwa-mem", "ecoli.fa", *reads],
    }


def run(options, what, command):
    if what != "start":
        return measure([command], options, options.work / "portable.log")
    runs = [measure([command], options, options.work / "portable.log") for _ in range(STARTS_PER_RUN)]
    return {**runs[0], "wall_s": statistics.median(run["wall_s"] for run in runs)}


def summary(options, results, programs):
    lines = ["| what | arm | wall s | user s | peak MiB |", "|---|---|---|---|---|"]
    for (what, arm), runs in results.items():
        median = lambda key: statistics.median(run[key] for run in runs)
        lines.append(f"| {what} | {arm} | {median('wall_s'):.4f} | {median('user_s'):.2f} | "
            f"{median('peak_rss_kib') / 1024:.0f} |")
    lines.append("")
    for what in ("start", "strobealign", "bwa-mem"):
        pairs = list(zip(results[what, "portable"], results[what, "native"]))
        for key in ("wall_s",) if what == "start" else ("wall_s", "user_s"):
            ratio = statistics.median(one[key] / other[key] for one, other in pairs)
            lines.append(f"{what}, {key}: portable / native {ratio:.3f} (median of the pairs)  ")
    lines += ["", "| file | bytes |", "|---|---|"]
    for name, path in programs.items():
        lines.append(f"| program, {name} | {path.stat().st_size} |")
    for path in sorted(options.dist.glob("*.tar.gz")) + sorted(options.dist.glob("*.deb")):
        lines.append(f"| {path.name} | {path.stat().st_size} |")
    return "\n".join(lines) + "\n"


def main():
    options = parse_arguments()
    reads = prepare(options)
    programs = {"native": options.native, "portable": portable(options)}
    options.out.mkdir(parents=True, exist_ok=True)
    results = {}
    with open(options.out / "raw.jsonl", "w") as raw:
        for repeat in range(options.repeats + 1):
            order = list(programs) if repeat % 2 else list(programs)[::-1]
            for what in ("start", "strobealign", "bwa-mem"):
                for arm in order:
                    found = run(options, what, commands(options, programs[arm], reads)[what])
                    raw.write(json.dumps({"what": what, "arm": arm, "repeat": repeat, **found}) + "\n")
                    if repeat:
                        results.setdefault((what, arm), []).append(found)
    describe_run(options.out, ["# Portable programs beside a native build", "",
        f"Options of `bench/portable.py`: `{' '.join(sys.argv[1:]) or 'none'}`", "",
        f"10,000 real pairs of 150 bases, repeated {options.times} times, on E. coli K-12; {options.threads} threads,",
        f"{options.repeats} runs of each arm after one. A start is the median of {STARTS_PER_RUN}.", ""],
        Versions=[zerohop_commit()], Machine=machine())
    text = summary(options, results, programs)
    (options.out / "summary.md").write_text(text)
    print(text)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"error: {failure}")
