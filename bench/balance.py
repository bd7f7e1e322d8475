#!/usr/bin/env python3
"""How evenly long reads load the workers: a simulation of the runtime's rule for finished chunks.

    python3 bench/balance.py                    # 64 and 128 workers, three kinds of reads
    python3 bench/balance.py --workers 1,2,4,8

Reads have lengths of a log-normal distribution, and take time by their bases; a few may take ten seconds. Chunks close
with the read that takes them to a million bases; simulated.py says how workers take them and when they wait. Efficiency
is the time of all reads over that of all workers. Nothing is measured here: the time of a base is an argument.
"""
import argparse
import math
import random
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from simulated import Chunk, efficiency


def chunks(options, n50, slow_one_in, seconds_of_workers):
    """Chunks that take so long together."""
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
            made.append(Chunk(seconds, bases * options.bytes_per_base))
            bases, seconds = 0, 0.0
    return made


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
            of = [efficiency(made, workers, most_bytes=held * 2**20) for held in (0, options.held_mib)]
            any_order = efficiency(made, workers, in_order=False)
            print(f"| {workers} | {words} | {of[0]:.3f} | {of[1]:.3f} | {any_order:.3f} |")


if __name__ == "__main__":
    main()
