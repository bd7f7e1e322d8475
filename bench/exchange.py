#!/usr/bin/env python3
"""What the exchange costs a real search: the time of two ranks, less that of the slower one's searches.

    python3 bench/exchange.py --data FOLDER [--repeats 5] [--ranks 2]

The proteome of E. coli (4,298 queries) with diamond against all other proteins of FOLDER/protein, one thread per rank,
OpenMPI and MPICH in turn. The exchange is what is left of a rank's time from the first batch to the last when
the sum of its searches is taken away, for the rank with the longest sum: waiting for slower ranks is no cost of it,
and what overlaps a search costs nothing. Results go to bench/runs/DATE-HOST-exchange/.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import parts
import ranks
from compare import versions
from running import (call, describe_command, median, parser_of, raw_data, run_script, seconds, table, with_programs,
    write_summary)

NAMES = ["put", "wait", "merge", "get", "write"]


def run_once(options, queries, mpi):
    out, report, record = (options.work / name for name in ["hits.tsv", "report.json", "record.json"])
    command = ranks.LAUNCHERS[mpi] + ["-n", options.ranks, options.zerohop, "search", "--ranks", "-q", "-t", 1, "--db",
        options.work / f"db{options.ranks}"]
    command += ["--mpi", options.work / f"{mpi}.so", "--json", report, "--record", record, "-o", out, queries]
    subprocess.run([str(word) for word in command], check=True, stdin=subprocess.DEVNULL)
    searches = [sum(batch["search_s"] for batch in batches) for batches in json.loads(record.read_text())["ranks"]]
    told = json.loads(report.read_text())["ranks"]
    slowest = max(range(options.ranks), key=lambda rank: searches[rank])
    times = {name: seconds(told[slowest]["times"][name]) for name in NAMES}
    digest = subprocess.run(["md5sum", out], capture_output=True, text=True, check=True).stdout.split()[0]
    out.unlink()
    return {"mpi": mpi, "searches_s": searches, "wall_s": seconds(told[slowest]["wall"]),
        "slowest": slowest, **times, "digest": digest}


def main():
    parser = parser_of(__doc__, results="exchange", repeats=5, of="counted rounds")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--ranks", type=int, default=2)
    options = parser.parse_args()
    options.zerohop, options.step = os.environ.get("ZEROHOP"), 1
    with_programs(options, "exchange")
    queries, subjects = parts.prepare(options)
    database = options.work / f"db{options.ranks}"
    if not database.exists():
        call([options.zerohop, "db", "build", "-q", "--engine", "diamond", "--partitions", options.ranks, "-o",
            database, subjects])
    mpis = [name for name, launcher in ranks.LAUNCHERS.items() if shutil.which(launcher[0])]
    for name in mpis:
        call([options.zerohop, "mpi", "--compiler", f"mpicc.{name}", "-o", options.work / f"{name}.so"])
    runs = {mpi: [] for mpi in mpis}
    with raw_data(options.out) as tell:
        for repeat in range(options.repeats + 1):  # the first one warms up
            for mpi in mpis[repeat % len(mpis):] + mpis[:repeat % len(mpis)]:
                figures = {"repeat": repeat, **run_once(options, queries, mpi)}
                tell(figures)
                if repeat:
                    runs[mpi].append(figures)
    report(options, runs)


def report(options, runs):
    rows = [["MPI", "wall s", "searches s", "exchange, % of wall", *NAMES]]
    searches = lambda run: max(run["searches_s"])
    for mpi, figures in runs.items():
        share = median(figures, lambda run: 100 * (run["wall_s"] - searches(run)) / run["wall_s"])
        rows.append([mpi, f"{median(figures, 'wall_s'):.2f}", f"{median(figures, searches):.2f}",
            f"{share:.2f}", *[f"{median(figures, name):.3f}" for name in NAMES]])
    digests = {run["digest"] for figures in runs.values() for run in figures}
    same = ("The results of all runs are the same." if len(digests) == 1
        else f"DIFFERENT RESULTS: {len(digests)} digests")
    describe_command(options.out, "What the exchange costs", "python3 bench/exchange.py --data FOLDER "
        f"--repeats {options.repeats} --ranks {options.ranks}", versions(options, ["zerohop"]))
    write_summary(options.out, f"diamond, the proteome of E. coli, {options.ranks} ranks of one thread; medians of "
        f"{options.repeats} rounds, of the rank with the longest searches.\n\n{table(rows)}\n{same}\n")


if __name__ == "__main__":
    run_script(main)
