#!/usr/bin/env python3
"""How far threads scale: a simulation from times of one thread, beside what was measured.

    python3 bench/threads.py --threads 1,2 --out FOLDER
    python3 bench/cores.py FOLDER                    # its error, then 64, 128 and 384 cores
    python3 bench/cores.py FOLDER --files 16 --spread 0.3

Each arm of zerohop in FOLDER/raw.jsonl is simulated from the times per pair of its fastest run with the fewest threads:
a worker claims, parses, maps and encodes, and writes while its file is locked; simulated.py has the rules. The merge of
sorted records is a second round of the same kind, whose parts go into one file. Two predictions are checked, for every
number of threads that was measured. "From one thread" assumes that cores do not disturb each other. "Work as measured"
takes the time of work from the run that is predicted: so what is wrong with it is the rules alone, and what differs
between the two is the machine: caches, memory, clocks, other tenants.

A prediction assumes as many cores as workers, each as fast as one alone, and copies of the index near to them. It
leaves out loading the index, the limit of finished chunks (balance.py has that), and files that are slower than memory.
"""
import argparse
import json
import math
import random
import sys
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from running import table
from simulated import Chunk, Run

PAIR_BASES = 300
# Bases of a chunk (of bwa-mem a piece of a cohort), and pairs of a part of sorted records: 1 MiB before compression
CHUNK_BASES = {"bwa-mem": 500_000, "bwa-marked": 500_000}
OTHER_CHUNK_BASES = 1_000_000
PART_PAIRS = 1_600
WORK = ["claim", "parse", "map", "encode"]


@dataclass
class Times:
    """Seconds per pair."""
    work: float  # of claiming, but for cutting, parsing, mapping, encoding
    cut: float
    write: float  # into a file of records
    merge: float
    merge_write: float
    wall: float  # of both rounds
    pairs: int  # of the run
    pairs_of_chunk: float
    files: int


def times_of(runs):
    """`Times` of runs of one arm with the same number of threads: of the fastest, for others disturb the others."""
    wall = lambda own: own["wall"] + own.get("sorted", {}).get("wall", 0)
    fastest = min(runs, key=lambda run: wall(run["zerohop"]))
    per_pair = lambda get: get(fastest["zerohop"]) / fastest["pairs"]
    arm = runs[0]["arm"]
    cut = per_pair(lambda own: own["serial"]["cut"])
    work = per_pair(lambda own: sum(own["workers"][stage] for stage in WORK)) - cut
    write = per_pair(lambda own: own["workers"]["commit"])
    merging = lambda part: per_pair(lambda own: own.get("sorted", {}).get(part, 0))
    if merging("wall"):  # each worker has runs of its own
        work, write = work + write, 0
    return Times(work, cut, write, merging("making"), merging("writing"),
        per_pair(wall), runs[0]["pairs"],
        CHUNK_BASES.get(arm, OTHER_CHUNK_BASES) / PAIR_BASES, runs[0]["threads"] if arm == "shards" else 1)


def simulate(times, workers, pairs, files, spread):
    """Seconds that `pairs` take."""
    generator = random.Random(1)
    factor = lambda: math.exp(spread * generator.gauss(0, 1) - spread * spread / 2)
    made = lambda count, work, write: [Chunk(work * factor(), write=write) for _ in range(max(round(count), 1))]
    each = times.pairs_of_chunk
    chunks = made(pairs / each, times.work * each, times.write * each)
    seconds = Run(chunks, workers, cut=times.cut * each, files=files).makespan()
    if times.merge:
        parts = made(pairs / PART_PAIRS, times.merge * PART_PAIRS, times.merge_write * PART_PAIRS)
        seconds += Run(parts, workers).makespan()
    return seconds


def checked(arm, all_times, options):
    """Rows of what was measured, and what the simulation says."""
    fewest = all_times[min(all_times)]
    for threads, measured in sorted(all_times.items()):
        row = [arm, threads, f"{1 / measured.wall:,.0f}"]
        for times in (fewest, replace(fewest, work=measured.work, merge=measured.merge)):
            predicted = measured.pairs / simulate(times, threads, measured.pairs, measured.files, options.spread)
            row += [f"{predicted:,.0f}", f"{100 * (predicted * measured.wall - 1):+.0f} %"]
        yield row


def predicted(arm, times, options):
    """Rows for machines that there are not."""
    alone = times.work + times.write + times.merge + times.merge_write
    for workers in options.workers:
        for files in options.files if times.write else [1]:
            pairs = options.pairs * workers
            seconds = simulate(times, workers, pairs, files, options.spread)
            # With so many workers somebody waits all the time where only one can be (Denning and Buzen, 1978).
            full = (times.work + times.write) / max(times.write / files, times.cut)
            if times.merge:
                full = min(full, (times.merge + times.merge_write) / times.merge_write)
            yield [arm, workers, files, f"{pairs / seconds / 1e6:.2f}",
                f"{100 * pairs * alone / workers / seconds:.0f} %", f"{full:,.0f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="of threads.py")
    numbers = lambda text: [int(word) for word in text.split(",")]
    parser.add_argument("--workers", type=numbers, default=[64, 128, 384], help="(default: 64,128,384)")
    parser.add_argument("--files", type=numbers, default=[1, 16], help="of --shards (default: 1,16)")
    parser.add_argument("--pairs", type=int, default=200_000, help="of each worker (default: %(default)s)")
    parser.add_argument("--spread", type=float, default=0.2,
        help="standard deviation of the logarithm of a chunk's time (default: %(default)s)")
    options = parser.parse_args()
    runs = defaultdict(lambda: defaultdict(list))
    for line in open(options.folder / "raw.jsonl"):
        run = json.loads(line)
        if run["repeat"] and "zerohop" in run:
            runs[f"{run['set']}: {run['arm']}"][run["threads"]].append(run)
    arms = {arm: {threads: times_of(same) for threads, same in of.items()} for arm, of in runs.items()}
    rows = [["arm", "threads", "measured: pairs/s", "from one thread", "error", "work as measured", "error"]]
    print(table(rows + [row for arm, times in arms.items() if min(times) == 1 for row in checked(arm, times, options)]))
    rows = [["arm", "cores", "files", "million pairs/s, simulated", "work, of the cores' time",
        "cores from which the file is the limit"]]
    print(table(rows + [row for arm, times in arms.items() if min(times) == 1
        for row in predicted(arm, times[1], options)]))


if __name__ == "__main__":
    main()
