#!/usr/bin/env python3
"""What the exchange costs a real search: the time of two ranks, less that of the slower one's searches.

    python3 bench/exchange.py --data FOLDER [--variants two-sided,master,flush,fence,pscw] [--repeats 5] [--ranks 2]

The proteome of E. coli (4,298 queries) with diamond against all other proteins of FOLDER/protein, one thread per rank,
OpenMPI and MPICH, arms in turn. The exchange is what is left of a rank's time from the first batch to the last when
the sum of its searches is taken away, for the rank with the longest sum: waiting for slower ranks is no cost of it,
and what overlaps a search costs nothing. Results go to bench/runs/DATE-HOST-exchange/.
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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import compare  # noqa: E402  (call, machine, versions)
import parts  # noqa: E402  (prepare)
import ranks  # noqa: E402  (LAUNCHERS)

NAMES = ["put", "wait", "merge", "get", "write"]


def run_once(options, queries, mpi, variant):
    out, report, record = (options.work / name for name in ["hits.tsv", "report.json", "record.json"])
    command = ranks.LAUNCHERS[mpi] + ["-n", options.ranks, options.zerohop, "search", "--ranks", "-q", "-t", 1, "--db",
        options.work / f"db{options.ranks}"]
    command += ["--mpi", options.work / f"{mpi}.so", "--variant", variant, "--json", report, "--record", record, "-o",
        out, queries]
    subprocess.run([str(word) for word in command], check=True, stdin=subprocess.DEVNULL)
    searches = [sum(batch["search_s"] for batch in batches) for batches in json.loads(record.read_text())["ranks"]]
    told = json.loads(report.read_text())["ranks"]
    slowest = max(range(options.ranks), key=lambda rank: searches[rank])
    seconds = lambda time: time["secs"] + time["nanos"] * 1e-9
    times = {name: seconds(told[slowest]["times"][name]) for name in NAMES}
    digest = subprocess.run(["md5sum", out], capture_output=True, text=True, check=True).stdout.split()[0]
    out.unlink()
    return {"mpi": mpi, "variant": variant, "searches_s": searches, "wall_s": seconds(told[slowest]["wall"]),
        "slowest": slowest, **times, "digest": digest}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--variants", default="two-sided,master,flush,fence,pscw")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=2)
    options = parser.parse_args()
    target = Path(os.environ.get("CARGO_TARGET_DIR", compare.ROOT / "target")).resolve()
    options.arms, options.step = ["zerohop"], 1
    options.zerohop = Path(os.environ.get("ZEROHOP", target / "release" / "zerohop"))
    options.work = target / "bench-work" / "exchange"
    queries, subjects = parts.prepare(options)
    database = options.work / f"db{options.ranks}"
    if not database.exists():
        compare.call([options.zerohop, "db", "build", "-q", "--engine", "diamond", "--partitions", options.ranks, "-o",
            database, subjects])
    mpis = [name for name, launcher in ranks.LAUNCHERS.items() if shutil.which(launcher[0])]
    for name in mpis:
        compare.call([options.zerohop, "mpi", "--compiler", f"mpicc.{name}", "-o", options.work / f"{name}.so"])
    arms = [(mpi, variant) for variant in options.variants.split(",") for mpi in mpis]
    out = compare.ROOT / "bench" / "runs" / f"{datetime.date.today()}-{platform.node()}-exchange"
    out.mkdir(parents=True, exist_ok=True)
    runs = {arm: [] for arm in arms}
    with open(out / "raw.jsonl", "w") as raw:
        for repeat in range(options.repeats + 1):  # the first one warms up
            for arm in arms[repeat % len(arms):] + arms[:repeat % len(arms)]:
                figures = {"repeat": repeat, **run_once(options, queries, *arm)}
                raw.write(json.dumps(figures) + "\n")
                raw.flush()
                if repeat:
                    runs[arm].append(figures)
    report(options, out, runs)


def report(options, out, runs):
    lines = [f"diamond, the proteome of E. coli, {options.ranks} ranks of one thread; medians of {options.repeats} "
             f"rounds, of the rank with the longest searches.", "",
             "| MPI | variant | wall s | searches s | exchange, % of wall | put | wait | merge | get | write |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for (mpi, variant), figures in runs.items():
        share = statistics.median(100 * (run["wall_s"] - max(run["searches_s"])) / run["wall_s"] for run in figures)
        median = lambda name: statistics.median(run[name] for run in figures)
        search = statistics.median(max(run["searches_s"]) for run in figures)
        times = " | ".join(f"{median(name):.3f}" for name in NAMES)
        lines.append(f"| {mpi} | {variant} | {median('wall_s'):.2f} | {search:.2f} | {share:.2f} | {times} |")
    digests = {run["digest"] for figures in runs.values() for run in figures}
    lines += ["", "The results of all runs are the same." if len(digests) == 1
        else f"DIFFERENT RESULTS: {len(digests)} digests"]
    (out / "summary.md").write_text("\n".join(lines) + "\n")
    about = [f"# What the exchange costs\n\n    python3 bench/exchange.py --data FOLDER --repeats {options.repeats} "
             f"--ranks {options.ranks}\n\nWhat is measured: the head of bench/exchange.py.\n"]
    about += [f"- {line}" for line in compare.versions(options) + compare.machine()]
    (out / "README.md").write_text("\n".join(about) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
