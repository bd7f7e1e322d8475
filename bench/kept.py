#!/usr/bin/env python3
"""An index that stays in memory (`index --keep`), beside one that every run loads: how long a run takes to start, what
mapping costs, and whether the records are the same. For root: /dev/shm is one of its own.

    cargo build --release -p zerohop-cli -p zerohop-bench --bins
    sudo python3 bench/kept.py                             # 100 Mb simulated
    sudo python3 bench/kept.py --reference sim1G --pairs 300000

Arms, in turn, indexes made before and in the page cache:

    loaded  no copy is kept
    small   one is, on small pages, as by a kernel before Linux 6.1: madvise(2) refuses to move it
    huge    one is, on huge pages

Each runs twice: with one pair, for the time that the index takes, as --json tells it; and with --pairs, for mapping:
user seconds less those of the run with one pair. (System time is mostly that of new pages, which are cleared, and
varies.) Results go to bench/runs/DATE-HOST-kept/.
"""

import ctypes
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from running import (Failure, call, cpu_seconds, describe_run, make_pairs, make_reference, measure, median,
    median_and_range, parser_of, raw_data, run_script, seconds, table, with_programs, words, write_summary,
    zerohop_commit)

KEPT = ["small", "huge"]
ARMS = ["loaded", *KEPT]
CLONE_NEWNS = 0x20000
#: A program with this in LD_PRELOAD cannot move pages to huge ones (MADV_COLLAPSE is 25).
NO_COLLAPSE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
int madvise(void *start, size_t bytes, int advice) {
    if (advice == 25) { errno = EINVAL; return -1; }
    return ((int (*)(void *, size_t, int))dlsym(RTLD_NEXT, "madvise"))(start, bytes, advice);
}
"""


def parse_arguments():
    parser = parser_of(__doc__, results="kept", threads=2, repeats=9)
    parser.add_argument("--engine", type=words, default=["bwa-mem"], help="(default: bwa-mem)")
    parser.add_argument("--reference", default="sim100M", help="sim and a size (default: %(default)s)")
    parser.add_argument("--arms", type=words, default=ARMS, help="of these (default: all)")
    parser.add_argument("--engine-args", help="arguments for the engine")
    parser.add_argument("--pairs", default="100000", help="simulated pairs (default: %(default)s)")
    parser.add_argument("--zerohop", type=Path, default=None, help="(default: in the target folder)")
    parser.add_argument("--work", type=Path, help="folder for large files")
    return with_programs(parser.parse_args())


def mount(*arguments):
    call(["mount", *arguments])


def own_shm(options):
    """A /dev/shm of our own, and another place in memory for each arm with a copy."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS):
        raise Failure(f"no namespace of our own: {os.strerror(ctypes.get_errno())}: run it as root")
    mount("--make-rprivate", "/")
    mount("-t", "tmpfs", "tmpfs", "/dev/shm")
    for arm in KEPT:
        place = options.work / f"shm-{arm}"
        place.mkdir(exist_ok=True)
        mount("-t", "tmpfs", "-o", "size=90%", "tmpfs", place)


class Shm:
    """The /dev/shm of an arm."""

    def __init__(self, options, arm):
        self.place = options.work / f"shm-{arm}" if arm in KEPT else None

    def __enter__(self):
        if self.place:
            mount("--bind", self.place, "/dev/shm")

    def __exit__(self, *_):
        if self.place:
            call(["umount", "/dev/shm"])


def command(options, engine, name, *more):
    arguments = [f"--engine-args={options.engine_args}"] if options.engine_args else []
    return [str(word) for word in [options.zerohop, name, "-q", "--engine", engine, *arguments, *more]]


def run(options, engine, arm, reads):
    fasta, threads = f"{options.reference}.fa", options.threads
    align = command(options, engine, "align", "-t", threads, "--json", "kept.json", "-o", "kept.sam", fasta, *reads)
    with Shm(options, arm):
        found = measure([align], options, options.work / "kept.log")
    told = json.loads((options.work / "kept.json").read_text())
    if told["index"]["origin"]["file"].startswith("/dev/shm/") != (arm in KEPT):
        raise Failure(f"{arm}: the index came from {told['index']['origin']['file']}")
    digest = hashlib.sha256()
    with open(options.work / "kept.sam", "rb") as sam:
        for line in sam:
            digest.update(b"" if line.startswith(b"@PG") else line)
    huge = [replica["census"]["huge"] / max(replica["census"]["present"], 1) for replica in told["replicas"]]
    return {**found, "index_s": seconds(told["index"]["time"]), "records": digest.hexdigest()[:16], "huge": huge}


def keep(options, engine, arm):
    preload = []
    if arm == "small":
        (options.work / "no_collapse.c").write_text(NO_COLLAPSE)
        call(["cc", "-shared", "-fPIC", "-o", "no_collapse.so", "no_collapse.c", "-ldl"], cwd=options.work)
        preload = ["env", f"LD_PRELOAD={options.work}/no_collapse.so"]
    index = command(options, engine, "index", "--keep", "-t", options.threads, f"{options.reference}.fa")
    with Shm(options, arm):
        made = measure([preload + index], options, options.work / "kept.log")
        return {**made, "bytes": sum(file.stat().st_size for file in Path("/dev/shm").glob("zerohop-*/*/*"))}


def summary(results, made):
    text = ""
    for engine, arms in results.items():
        rows = [["arm", "index, ms: median (range)", "a run with one pair: wall s", "CPU s",
            "mapping, user s: median (range)", "of that of the first arm, of pairs", "whole run: wall s", "CPU s",
            "on huge pages"]]

        base = next(iter(arms))

        def mapping(arm):
            start = median(arms[arm]["short"], "user_s")
            return [one["user_s"] - start for one in arms[arm]["long"]]

        for arm, runs in arms.items():
            short, long = runs["short"], runs["long"]
            ratios = (own / other for own, other in zip(mapping(arm), mapping(base)))
            rows.append([arm, median_and_range(1000 * one["index_s"] for one in short + long),
                median_and_range(one["wall_s"] for one in short), f"{median(short, cpu_seconds):.2f}",
                median_and_range(mapping(arm)), median_and_range(ratios),
                median_and_range(one["wall_s"] for one in long), f"{median(long, cpu_seconds):.2f}",
                f"{100 * long[0]['huge'][0]:.0f} %"])
        text += f"## {engine}\n\n{table(rows)}\n"
        for arm, one in made[engine].items():
            text += f"{arm}: {one['bytes'] / 1e6:.1f} MB, kept after {one['wall_s']:.2f} s\n\n"
    return text


def main():
    options = parse_arguments()
    reads = [f"kept-{options.reference}-{options.pairs}_{mate}.fq" for mate in (1, 2)]
    one = [f"kept-{options.reference}-1_{mate}.fq" for mate in (1, 2)]
    fasta = f"{options.reference}.fa"
    make_reference(options, fasta, options.reference.removeprefix("sim"))
    make_pairs(options, fasta, reads, options.pairs)
    make_pairs(options, fasta, one, "1")
    own_shm(options)
    results, made = {}, {}
    with raw_data(options.out) as tell:
        for engine in options.engine:
            made[engine] = {arm: keep(options, engine, arm) for arm in options.arms if arm in KEPT}
            results[engine] = {arm: {"short": [], "long": []} for arm in options.arms}
            seen = {"short": set(), "long": set()}
            for round in range(options.repeats + 1):
                for arm in options.arms:
                    for length, files in (("short", one), ("long", reads)):
                        found = run(options, engine, arm, files)
                        tell({"engine": engine, "arm": arm, "length": length, "round": round, **found})
                        seen[length].add(found["records"])
                        # the first round warms up
                        if round:
                            results[engine][arm][length].append(found)
            if any(len(records) != 1 for records in seen.values()):
                raise Failure(f"{engine}: other records with a copy that was kept: {seen}")
    describe_run(options.out, "An index that stays in memory", ["What is measured: the head of bench/kept.py. The "
        "records of all arms are the same."], [zerohop_commit()])
    write_summary(options.out, summary(results, made))


if __name__ == "__main__":
    run_script(main)
