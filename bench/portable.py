#!/usr/bin/env python3
"""The portable programs of `make dist` beside a native build: size, time to start, and time of `zerohop align`.

    cargo build --release --locked -p zerohop-cli
    make dist
    python3 bench/portable.py                     # E. coli, real pairs of tests/data, repeated 20 times

Arms take turns. `start` is `zerohop --version`; `strobealign` and `bwa-mem` align with an index made beforehand and
write SAM to /dev/null. Run 0 warms up. Results go to bench/runs/DATE-HOST-dist/.
"""

import platform
import sys
import tarfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from running import (DATA, ECOLI, TARGET, call, describe_run, make, measure, median, median_ratio, parser_of, raw_data,
    run_script, table, unpack, with_programs, write_summary, zerohop_commit)

STARTS_PER_RUN = 20


def parse_arguments():
    parser = parser_of(__doc__, results="dist", threads=0, repeats=7)
    parser.add_argument("--times", type=int, default=20, help="how often the pairs are repeated (default: %(default)s)")
    parser.add_argument("--native", type=Path, help="another native build")
    options = with_programs(parser.parse_args())
    options.native, options.dist = (options.native or options.zerohop).resolve(), TARGET / "dist"
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
    make(options, ["ecoli.fa"], lambda names: unpack(ECOLI, names[0], 1))
    reads = [f"ecoli_x{options.times}_{mate}.fq" for mate in (1, 2)]
    for mate, name in zip((1, 2), reads):
        make(options, [name], lambda names: unpack(DATA / f"ecoli/ecoli_150_{mate}.fq.gz", names[0], options.times))
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
    return {**runs[0], "wall_s": median(runs, "wall_s")}


def summary(options, results, programs):
    rows = [["what", "arm", "wall s", "user s", "peak MiB"]]
    for (what, arm), runs in results.items():
        rows.append([what, arm, f"{median(runs, 'wall_s'):.4f}", f"{median(runs, 'user_s'):.2f}",
            f"{median(runs, 'peak_rss_kib') / 1024:.0f}"])
    lines = [table(rows)]
    for what in ("start", "strobealign", "bwa-mem"):
        for key in ("wall_s",) if what == "start" else ("wall_s", "user_s"):
            ratio = median_ratio(results[what, "portable"], results[what, "native"], key)
            lines.append(f"{what}, {key}: portable / native {ratio:.3f} (median of the pairs)  ")
    files = [[f"program, {name}", path.stat().st_size] for name, path in programs.items()]
    files += [[path.name, path.stat().st_size]
        for path in sorted(options.dist.glob("*.tar.gz")) + sorted(options.dist.glob("*.deb"))]
    return "\n".join([*lines, "", table([["file", "bytes"], *files])])


def main():
    options = parse_arguments()
    reads = prepare(options)
    programs = {"native": options.native, "portable": portable(options)}
    results = {}
    with raw_data(options.out) as tell:
        for repeat in range(options.repeats + 1):
            order = list(programs) if repeat % 2 else list(programs)[::-1]
            for what in ("start", "strobealign", "bwa-mem"):
                for arm in order:
                    found = run(options, what, commands(options, programs[arm], reads)[what])
                    tell({"what": what, "arm": arm, "repeat": repeat, **found})
                    if repeat:
                        results.setdefault((what, arm), []).append(found)
    describe_run(options.out, "Portable programs beside a native build", [
        f"10,000 real pairs of 150 bases, repeated {options.times} times, on E. coli K-12; {options.threads} threads,",
        f"{options.repeats} runs of each arm after one. A start is the median of {STARTS_PER_RUN}."],
        [zerohop_commit()])
    write_summary(options.out, summary(options, results, programs))


if __name__ == "__main__":
    run_script(main)
