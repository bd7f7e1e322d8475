#!/usr/bin/env python3
"""Where the time of an embedded engine goes: instructions and cache lines for each read, beside what the machine can
do.

    cargo build --release -p zerohop-cli -p zerohop-bench --bins
    python3 bench/roofline.py                        # valgrind must be there
    python3 bench/roofline.py --engines strobealign --reference sim1G

For each engine two runs, of `--pairs` pairs (of long reads 100 bases for each) and of three times as many; what is
told is the difference, for each pair or thousand bases of long reads, so loading the index does not count:

- CPU time and output in SAM, of real runs of `--threads` threads on 20 times as many reads; the median of `--repeats`.
- Instructions, and lines that are not in the last cache, counted by cachegrind with a last cache as large as the
  machine's and one thread. It knows nothing of prefetching, so a line that was asked for before counts as well: what
  is counted is how many come from memory, not how long anyone waits. It has no AVX-512: where the engine uses that,
  there are fewer instructions in truth. Where valgrind does not know an instruction, nothing is counted ("-").
- What a line costs: `lines` (bench/src/bin/lines.rs), on a block as large as the index, by lines that are asked for
  ahead.

Results go to bench/runs/DATE-HOST-roofline/.
"""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from compare import INDELS
from running import (TARGET, Failure, call, cpu_seconds, describe_run, make, make_pairs, make_reference, measure,
    median, output_of, parser_of, raw_data, run_script, table, with_programs, words, write_summary, zerohop_commit)
from truth import make_long_reads

ENGINES = {"strobealign": ["-r", "150"], "bwa-mem": ["--engine", "bwa-mem"],
    "rammap": ["--engine", "rammap", "--engine-args", "-x map-ont"]}
#: Real runs have so many times the reads of counted ones.
LONGER = 20
#: Thousands of bases of long reads for each pair.
LONG = 0.1


def parse_arguments():
    parser = parser_of(__doc__, results="roofline", threads=0, repeats=5)
    parser.add_argument("--engines", type=words, default=list(ENGINES), help="(default: all)")
    parser.add_argument("--reference", default="sim100M", help="simSIZE (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=5000, help="(default: %(default)s)")
    parser.add_argument("--zerohop", default=None, help="(default: in the target folder)")
    return with_programs(parser.parse_args())


def reads_of(options, engine, times):
    """Files of so many times the reads, and how many pairs or thousand bases they are."""
    fasta, count = f"{options.reference}.fa", options.pairs * times
    if engine == "rammap":
        count = int(count * LONG)
        name = f"{options.reference}_{count}_ont.fq"
        make(options, [name], lambda new: make_long_reads(options.work / fasta, "ont", 1000 * count, new[0]))
        return [name], count
    names = [f"{options.reference}_{count}_indels_{mate}.fq" for mate in (1, 2)]
    make_pairs(options, fasta, names, count, **INDELS)
    return names, count


def align(options, engine, files, threads, out):
    fasta = f"{options.reference}.fa"
    return [str(options.zerohop), "align", "-q", "-t", str(threads), *ENGINES[engine], "-o", str(out), fasta, *files]


def real(options, engine, times):
    """CPU seconds and bytes of output of a real run, and its reads."""
    files, count = reads_of(options, engine, times * LONGER)
    command, out = align(options, engine, files, options.threads, "roofline.sam"), options.work / "roofline.sam"
    runs = [measure([command], options, options.work / "roofline.log") for _ in range(options.repeats + 1)][1:]
    size = out.stat().st_size
    out.unlink()
    return {"engine": engine, "reads": count, "cpu_s": median(runs, cpu_seconds), "bytes": size, "runs": runs}


def counted(options, engine, times, last_cache):
    """Instructions and lines from memory of a run in cachegrind, and its reads."""
    files, count = reads_of(options, engine, times)
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", f"--LL={last_cache},16,64",
        "--cachegrind-out-file=/dev/null"]
    command = [*valgrind, *align(options, engine, files, 1, "/dev/null")]
    run = subprocess.run(command, cwd=options.work, capture_output=True, text=True, errors="replace")
    if run.returncode == -signal.SIGILL:
        return {"engine": engine, "reads": count, "instructions": None, "lines": None}
    if run.returncode:
        raise Failure(f"{' '.join(command)}: exit status {run.returncode}\n{run.stderr[-2000:]}")
    number = lambda name: int(re.search(rf"{name}:\s+([\d,]+)", run.stderr)[1].replace(",", ""))
    return {"engine": engine, "reads": count, "instructions": number(r"I\s+refs"), "lines": number("LLd misses"),
        "last_cache": last_cache}


def last_cache_bytes():
    """The last cache, as a power of two, which cachegrind wants."""
    found = re.search(r"L3 cache:\s+(\d+)", output_of("lscpu", "--bytes") or "")
    return 1 << (int(found[1]).bit_length() - 1) if found else 32 << 20


def per_read(runs, name):
    """What one more read takes."""
    small, large = runs
    return (large[name] - small[name]) / (large["reads"] - small["reads"])


def main():
    options = parse_arguments()
    make_reference(options, f"{options.reference}.fa", options.reference[3:])
    rows = [["engine", "index MiB", "CPU ns", "cycles", "instructions", "of them in a cycle", "lines from memory",
        "ns if each is waited for", "ns if many are asked for", "bytes out"]]
    with raw_data(options.out) as tell:
        for engine in options.engines:
            index = subprocess.run([str(options.zerohop), "index", *ENGINES[engine], f"{options.reference}.fa"],
                cwd=options.work, capture_output=True, text=True)
            if index.returncode:
                raise Failure(index.stderr)
            runs = [real(options, engine, times) for times in (1, 3)]
            counts = [counted(options, engine, times, last_cache_bytes()) for times in (1, 3)]
            mib = index_mib(options, engine)
            lines = [json.loads(line) for line in
                output_of(TARGET / "release" / "lines", "--mib", mib, "--threads", options.threads).splitlines()]
            for result in [*runs, *counts, *lines]:
                tell(result)
            costs, cycle = {line["ahead"]: line["ns"] for line in lines if "ns" in line}, lines[-1]["cycle_ns"]
            time, counted_ones = per_read(runs, "cpu_s") * 1e9, ["-"] * 5
            if counts[0]["lines"] is not None:
                instructions, missed = per_read(counts, "instructions"), per_read(counts, "lines")
                counted_ones[:2] = [f"{instructions:,.0f}", f"{instructions * cycle / time:.2f}"]
                # Where loading the index takes a number that changes from run to run, few reads say nothing.
                if missed > 0:
                    counted_ones[2:] = [f"{missed:,.1f}", f"{missed * costs[0]:,.0f}",
                        f"{missed * min(costs.values()):,.0f}"]
            rows.append([engine, mib, f"{time:,.0f}", f"{time / cycle:,.0f}", *counted_ones,
                f"{per_read(runs, 'bytes'):,.0f}"])
    about = [f"{options.threads} threads, {options.reference}; for each pair of reads of 150 bases, or thousand bases"
        " of long reads. What each column is: the head of the script."]
    describe_run(options.out, "Instructions and cache lines of the engines", about,
        [zerohop_commit(), output_of("valgrind", "--version")])
    write_summary(options.out, table(rows))


def index_mib(options, engine):
    """The size of the index in memory, as the summary tells it."""
    files, _ = reads_of(options, engine, 1)
    command = [word for word in align(options, engine, files, options.threads, "/dev/null") if word != "-q"]
    call([*command, "--json", "roofline.json"], cwd=options.work)
    return json.loads((options.work / "roofline.json").read_text())["index"]["bytes"] >> 20


run_script(main)
