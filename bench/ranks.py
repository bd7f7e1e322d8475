#!/usr/bin/env python3
"""What ranks cost: one process with N threads against N ranks with one thread each, on one machine, arms in turn, and
another one first each round. Two more arms are one process with an index copy for each thread, and one process that
keeps its progress safe on the disk, for ranks do both: what these cost is not the ranks' own.

    python3 bench/ranks.py [--pairs 700000] [--repeats 5] [--reference sim100M] [--ranks 2] [--out FOLDER]

Wall and CPU time of the whole command, loading the index and starting MPI included, to SAM in a file; the records must
be the same. Results go to bench/runs/DATE-HOST-ranks/ unless --out says otherwise.
"""

import argparse
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import compare  # noqa: E402  (prepare, machine, versions)

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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=700_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--reference", default="sim100M")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[*ALONE, *LAUNCHERS],
        help="these arms; 'one' must be one of them")
    parser.add_argument("--out", type=Path,
        default=compare.ROOT / "bench/runs" / f"{datetime.date.today()}-{platform.node()}-ranks")
    options = parser.parse_args()
    if "one" not in options.only or (unknown := set(options.only) - {*ALONE, *LAUNCHERS}):
        parser.error(f"--only: 'one' and others of {', '.join([*ALONE, *LAUNCHERS])}")
    target = Path(os.environ.get("CARGO_TARGET_DIR", compare.ROOT / "target"))
    options.work = (target / "bench-work").resolve()
    options.zerohop, options.simulate = target / "release" / "zerohop", target / "release" / "simulate"
    options.input, options.arms, options.threads = ["plain"], ["zerohop"], options.ranks
    reads = [options.work / name for name in compare.prepare(options, options.reference)["plain"]]
    launchers = [name for name, launcher in LAUNCHERS.items() if shutil.which(launcher[0])]
    arms = [arm for arm in [*ALONE, *launchers] if arm in options.only]
    for name in set(launchers) & set(arms):
        compare.call([options.zerohop, "mpi", "--compiler", f"mpicc.{name}", "-o", options.work / f"{name}.so"])
    out = options.out
    out.mkdir(parents=True, exist_ok=True)
    runs = {arm: [] for arm in arms}
    with open(out / "raw.jsonl", "w") as raw:
        for repeat in range(options.repeats + 1):  # the first one warms up
            # Who is first changes: memory that was let go of long ago costs more than what was in use a moment ago.
            for arm in arms[repeat % len(arms):] + arms[:repeat % len(arms)]:
                figures = {"repeat": repeat, **run_once(options, arm, reads)}
                raw.write(json.dumps(figures) + "\n")
                raw.flush()
                if repeat:
                    runs[arm].append(figures)
    digests = {run["digest"] for figures in runs.values() for run in figures}
    median = lambda arm, name: statistics.median(run[name] for run in runs[arm])
    lines = [f"{options.pairs:,} pairs of 150 bases, {options.reference}, SAM; medians of {options.repeats} rounds, "
             f"arms in turn.", "",
             "| arm | wall s | CPU s | of it in the kernel | wall, times one process |", "|---|---|---|---|---|"]
    for arm in arms:
        name = ALONE[arm][1].format(options.ranks) if arm in ALONE else f"{options.ranks} ranks x 1 thread, {arm}"
        # Of each round by itself: the machine's speed drifts.
        ratio = statistics.median(run["wall_s"] / one["wall_s"] for run, one in zip(runs[arm], runs["one"]))
        lines.append(
            f"| {name} | {median(arm, 'wall_s'):.2f} | {median(arm, 'cpu_s'):.2f} | {median(arm, 'system_s'):.2f} | "
            f"{ratio:.3f} |")
    lines += ["", "The records of all runs are the same." if len(digests) == 1
        else f"DIFFERENT RECORDS: {len(digests)} digests"]
    (out / "summary.md").write_text("\n".join(lines) + "\n")
    command = (f"python3 bench/ranks.py --pairs {options.pairs} --repeats {options.repeats} "
        f"--reference {options.reference} --ranks {options.ranks} --only {','.join(arms)}")
    about = [f"# What ranks cost\n\n    {command}\n\nWhat is measured: the head of bench/ranks.py.\n"]
    about += [f"- {line}" for line in compare.versions(options) + compare.machine()]
    (out / "README.md").write_text("\n".join(about) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
