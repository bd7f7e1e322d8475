#!/usr/bin/env python3
"""How evenly long reads load the workers: a simulation of the runtime's rule for finished chunks.

    python3 bench/balance.py                    # 64 and 128 workers, three kinds of reads
    python3 bench/balance.py --workers 1,2,4,8

Reads have lengths of a log-normal distribution, and take time by their bases; a few may take ten seconds. Chunks close
with the read that takes them to a million bases, and workers take them in order. A finished chunk waits in its worker
until all before it are finished. A worker waits when it has more than 8 of them with more bytes than it may hold
(crates/runtime/src/output.rs: HELD_PER_WORKER, HELD_BYTES_PER_WORKER), until its first one can be written. Efficiency
is the time of all reads over that of all workers. Nothing is measured here: the time of a base is an argument.
"""
import argparse
import heapq
import math
import random

HELD_CHUNKS = 8


def chunks(options, n50, slow_one_in, seconds_of_workers):
    """Lists of the bases and seconds of chunks."""
    generator = random.Random(1)
    sigma = 0.9
    # Half of the bases are in reads above the median of the length-weighted distribution.
    mu = math.log(n50) - sigma * sigma
    total, bases, seconds, made = 0.0, 0, 0.0, []
    while total < seconds_of_workers:
        length = min(generator.lognormvariate(mu, sigma), 4e6)
        took = length * options.seconds_per_mb / 1e6
        if slow_one_in and generator.random() < 1 / slow_one_in:
            took += 10
        bases, seconds, total = bases + length, seconds + took, total + took
        if bases >= 1e6:
            made.append((bases, seconds))
            bases, seconds = 0, 0.0
    return made


def efficiency(made, workers, most_bytes, bytes_per_base, in_order=True):
    finished = [False] * len(made)
    first_open = 0
    held = [[] for _ in range(workers)]
    held_bytes = [0.0] * workers
    waiting = {}
    ready = [(0.0, worker, None) for worker in range(workers)]
    heapq.heapify(ready)
    given, end = 0, 0.0
    while ready:
        now, worker, chunk = heapq.heappop(ready)
        if chunk is not None:
            finished[chunk] = True
            end = now
            if in_order:
                held[worker].append(chunk)
                held_bytes[worker] += made[chunk][0] * bytes_per_base
                before = first_open
                while first_open < len(made) and finished[first_open]:
                    first_open += 1
                if first_open != before:
                    for other in [other for other in waiting if held[other][0] < first_open]:
                        del waiting[other]
                        heapq.heappush(ready, (now, other, None))
        if in_order:
            while held[worker] and held[worker][0] < first_open:
                held_bytes[worker] -= made[held[worker].pop(0)][0] * bytes_per_base
            if len(held[worker]) > HELD_CHUNKS and held_bytes[worker] > most_bytes:
                waiting[worker] = True
                continue
        if given < len(made):
            heapq.heappush(ready, (now + made[given][1], worker, given))
            given += 1
    return sum(seconds for _, seconds in made) / (workers * end)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workers", default="64,128", help="(default: %(default)s)")
    parser.add_argument("--held-mib", type=float, default=64, help="of a worker (default: %(default)s)")
    parser.add_argument("--bytes-per-base", type=float, default=2.2, help="of records (default: SAM, %(default)s)")
    parser.add_argument("--seconds-per-mb", type=float, default=0.4, help="of mapping (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=600, help="of each worker (default: %(default)s)")
    options = parser.parse_args()
    print("| workers | reads | 8 chunks | "
          f"8 chunks or {options.held_mib:.0f} MiB | in any order |\n|---|---|---|---|---|")
    for workers in map(int, options.workers.split(",")):
        for words, n50, slow in [("N50 30 kb", 30e3, 0), ("N50 100 kb", 100e3, 0),
                                 ("N50 30 kb, one in 20,000 takes 10 s", 30e3, 20_000)]:
            made = chunks(options, n50, slow, options.seconds * workers)
            of = [efficiency(made, workers, held * 2**20, options.bytes_per_base) for held in (0, options.held_mib)]
            any_order = efficiency(made, workers, 0, options.bytes_per_base, in_order=False)
            print(f"| {workers} | {words} | {of[0]:.3f} | {of[1]:.3f} | {any_order:.3f} |")


if __name__ == "__main__":
    main()
