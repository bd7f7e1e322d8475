#!/usr/bin/env python3
"""What ranks cost: one process with N threads against N ranks with one thread each, on one machine, arms in turn, and
another one first each round. Two more arms are one process with an index copy for each thread, and one process that
keeps its progress safe on the disk, for ranks do both: what these cost is not the ranks' own.

    python3 bench/ranks.py [--pairs 700000] [--repeats 5] [--reference sim100M] [--ranks 2] [--out FOLDER]

Wall and CPU time of the whole command, loading the index and starting MPI included, to SAM in a file; the records must
be the same. Results go to bench/runs/DATE-HOST-ranks/ unless --out says otherwise.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from compare import prepare, versions
from running import (call, describe_command, median, median_ratio, parser_of, raw_data, run_script, table,
    with_programs, words, write_summary)

# name: (what one process is told, in words)
ALONE = {
    "one": ([], "one process, {} threads"),
    "copies": (["--replicas", "{}"], "the same with {} index copies"),
    "durable": (["--durable"], "the same with --durable"),
}
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"],
    "mpich": ["mpirun.mpich"],
}


def digest(path):
    """Of the records and the header, but for the command lines in it."""
    command = f"grep -v '^@PG' {path} | md5sum"
    return subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout.split()[0]


def run_once(options, arm, reads):
    out = options.work / "ranks.sam"
    align = [options.zerohop, "align", "-q", "-o", out]
    if arm in ALONE:
        command = align + ["-t", options.ranks] + [word.format(options.ranks) for word in ALONE[arm][0]]
    else:
        command = LAUNCHERS[arm] + ["-n", options.ranks] + align + ["--ranks", "-t", 1, "--mpi",
            options.work / f"{arm}.so"]
    command = [str(word) for word in command + [options.work / f"{options.reference}.fa", *reads]]
    before, started = os.times(), time.monotonic()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    wall, after = time.monotonic() - started, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    system = after.children_system - before.children_system
    figures = {"arm": arm, "wall_s": wall, "cpu_s": cpu, "system_s": system, "digest": digest(out)}
    out.unlink()
    return figures


def parse_arguments():
    parser = parser_of(__doc__, results="ranks", repeats=5, of="counted rounds")
    parser.add_argument("--pairs", type=int, default=700_000)
    parser.add_argument("--reference", default="sim100M")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--only", type=words, default=[*ALONE, *LAUNCHERS],
        help="these arms; 'one' must be one of them")
    options = with_programs(parser.parse_args())
    if "one" not in options.only or set(options.only) - {*ALONE, *LAUNCHERS}:
        parser.error(f"--only: 'one' and others of {', '.join([*ALONE, *LAUNCHERS])}")
    options.input, options.arms, options.threads = ["plain"], ["zerohop"], options.ranks
    return options


def main():
    options = parse_arguments()
    reads = [options.work / name for name in prepare(options, options.reference)["plain"]]
    launchers = [name for name, launcher in LAUNCHERS.items() if shutil.which(launcher[0])]
    arms = [arm for arm in [*ALONE, *launchers] if arm in options.only]
    for name in set(launchers) & set(arms):
        call([options.zerohop, "mpi", "--compiler", f"mpicc.{name}", "-o", options.work / f"{name}.so"])
    runs = {arm: [] for arm in arms}
    with raw_data(options.out) as tell:
        for repeat in range(options.repeats + 1):  # the first one warms up
            # Who is first changes: memory that was let go of long ago costs more than what was in use a moment ago.
            for arm in arms[repeat % len(arms):] + arms[:repeat % len(arms)]:
                figures = {"repeat": repeat, **run_once(options, arm, reads)}
                tell(figures)
                if repeat:
                    runs[arm].append(figures)
    command = (f"python3 bench/ranks.py --pairs {options.pairs} --repeats {options.repeats} "
        f"--reference {options.reference} --ranks {options.ranks} --only {','.join(arms)}")
    describe_command(options.out, "What ranks cost", command, versions(options, ["zerohop"]))
    write_summary(options.out, summary(options, runs))


def summary(options, runs):
    rows = [["arm", "wall s", "CPU s", "of it in the kernel", "wall, times one process"]]
    for arm, own in runs.items():
        name = ALONE[arm][1].format(options.ranks) if arm in ALONE else f"{options.ranks} ranks x 1 thread, {arm}"
        # Of each round by itself: the machine's speed drifts.
        rows.append([name, *[f"{median(own, key):.2f}" for key in ("wall_s", "cpu_s", "system_s")],
            f"{median_ratio(own, runs['one']):.3f}"])
    digests = {run["digest"] for own in runs.values() for run in own}
    same = ("The records of all runs are the same." if len(digests) == 1
        else f"DIFFERENT RECORDS: {len(digests)} digests")
    return (f"{options.pairs:,} pairs of 150 bases, {options.reference}, SAM; medians of {options.repeats} rounds, "
        f"arms in turn.\n\n{table(rows)}\n{same}\n")


if __name__ == "__main__":
    run_script(main)
