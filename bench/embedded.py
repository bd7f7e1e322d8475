#!/usr/bin/env python3
"""What zerohop takes around the library of its embedded bwa mem, and the memory of each worker.

    cargo build --release -p zerohop-cli -p zerohop-bench --bins
    cargo build --release -p zerohop-engine-bwa-mem --example library_alone
    python3 bench/embedded.py                     # 100 Mb simulated, 200,000 pairs

1. Time, arms in turn: `library_alone` (crates/engines/bwa-mem/examples) maps the pairs that lie in its memory, whole
   cohorts in each thread, and counts records without making text of any; `zerohop align --engine bwa-mem` reads them
   from a file and writes SAM to /dev/null. Loading the index counts for neither: of zerohop, it is the time of the run
   by its own account (--json), in which the accounting of workers is checked by bench/accounting.py. What the library
   has read before with one thread is told, too.
2. Memory: the peak of `zerohop align` and of `bwa mem -K 10000000` with 1 to 16 threads.

Results go to bench/runs/DATE-HOST-embedded/.
"""

import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from running import (TARGET, Failure, call, describe_run, make_pairs, make_reference, measure, median_and_range,
    parser_of, raw_data, run_script, seconds, stay_on_cpus, table, with_programs, write_summary, zerohop_commit)

REFERENCE = "sim100M.fa"
THREADS = [1, 2, 4, 8, 16]
STAGES = ["parse", "map", "encode", "commit"]


def parse_arguments():
    parser = parser_of(__doc__, results="embedded", threads=0, repeats=9)
    parser.add_argument("--pairs", type=int, default=200_000, help="simulated pairs (default: %(default)s)")
    parser.add_argument("--memory-repeats", type=int, default=3,
        help="runs of zerohop for each number of threads (default: %(default)s)")
    parser.add_argument("--bwa", default="bwa")
    options = with_programs(parser.parse_args())
    options.alone = TARGET / "release/examples/library_alone"
    return options


def prepare(options):
    """The files of compare.py, which are made the same way."""
    make_reference(options, REFERENCE, "100M")
    reads = [f"sim100M_{options.pairs}_{mate}.fq" for mate in (1, 2)]
    make_pairs(options, REFERENCE, reads, options.pairs)
    call([options.zerohop, "index", "--engine", "bwa-mem", REFERENCE], cwd=options.work)
    if not (options.work / f"{REFERENCE}.bwt").exists():
        call([options.bwa, "index", REFERENCE], cwd=options.work)
    return reads


def alone(options, reads):
    command = [options.alone, options.threads, REFERENCE, *reads]
    said = subprocess.run([str(word) for word in command], cwd=options.work, capture_output=True, text=True)
    found = re.match(r"([\d.]+) s, ([\d.]+) s of all threads, (\d+) records, ([\d.]+) s of reading before", said.stdout)
    if said.returncode or not found:
        raise Failure(f"library_alone: exit status {said.returncode}\n{said.stderr[-2000:]}")
    return {"wall_s": float(found[1]), "worker_s": float(found[2]), "records": int(found[3]),
        "reading_s": float(found[4]), "both_s": float(found[1]) + float(found[4])}


def zerohop(options, reads):
    path = options.work / "embedded.json"
    call([options.zerohop, "align", "-q", "--engine", "bwa-mem", "-t", options.threads, "--json", path, "-o",
        "/dev/null", REFERENCE, *reads], cwd=options.work)
    run = json.loads(path.read_text())["run"]
    of_workers = {stage: sum(seconds(worker[stage]) for worker in run["workers"]) for stage in STAGES}
    tally = run["tally"]
    return {"wall_s": seconds(run["wall"]), "both_s": seconds(run["wall"]), "worker_s": sum(of_workers.values()),
        "map_s": of_workers["map"], "stages": of_workers, "records": tally["primary_records"] + tally["other_records"]}


def time(options, reads, tell):
    for repetition in range(options.repeats + 1):  # number 0 warms up and does not count
        arms = [("library", alone), ("zerohop", zerohop)]
        for name, arm in arms if repetition % 2 else arms[::-1]:
            result = {"arm": name, "repetition": repetition, **arm(options, reads)}
            print(f"{name:10} run {repetition}: {result['wall_s']:.2f} s", file=sys.stderr)
            tell(result)


def memory(options, reads, tell):
    for repetition in range(options.memory_repeats):
        for threads in THREADS:
            commands = {
                "zerohop": [str(options.zerohop), "align", "-q", "--engine", "bwa-mem", "-t", str(threads), "-o",
                    "/dev/null", REFERENCE, *reads],
                "bwa": [options.bwa, "mem", "-v", "1", "-K", "10000000", "-t", str(threads), "-o", "/dev/null",
                    REFERENCE, *reads],
            }
            if repetition:
                del commands["bwa"]  # once: it takes ten times as long
            for name, command in commands.items():
                result = measure([command], options, options.work / "stderr.log")
                tell({"memory_of": name, "threads": threads, **result})
                print(f"{name:10} -t {threads}: {result['peak_rss_kib'] / 1024:.0f} MiB", file=sys.stderr)


def summary(options, results):
    counted = [result for result in results if result.get("repetition")]
    of = lambda arm, key: {result["repetition"]: result[key] for result in counted if result["arm"] == arm}
    median = statistics.median
    rows = [["arm", "wall s: median (range)", "seconds of all workers", "records"]]
    for arm in ("library", "zerohop"):
        records = {result["records"] for result in counted if result["arm"] == arm}
        rows.append([arm, median_and_range(of(arm, "wall_s").values()), f"{median(of(arm, 'worker_s').values()):.2f}",
            ", ".join(map(str, records))])
    ratio = lambda key: median([of("zerohop", key)[n] / of("library", key)[n] for n in of("zerohop", key)])
    stages = [result["stages"] for result in counted if result["arm"] == "zerohop"]
    share = lambda stage: 100 * median([of_run[stage] / sum(of_run.values()) for of_run in stages])
    shares = ", ".join(f"{stage} {share(stage):.1f} %" for stage in STAGES)
    mapping = median([of("zerohop", "map_s")[n] / of("library", "worker_s")[n] for n in of("zerohop", "map_s")])
    lines = [table(rows), "zerohop by the library, medians of the ratios within one repetition:", "",
        f"- {mapping:.3f}x in the calls of the library, {ratio('worker_s'):.3f}x in all that workers do with reads "
        f"({shares});",
        f"- {ratio('wall_s'):.3f}x wall, though the library by itself reads nothing and writes nothing meanwhile;",
        f"- {ratio('both_s'):.3f}x wall, if what it has read before counts.", ""]
    if not options.memory_repeats:
        return "\n".join(lines)
    peak = lambda name, threads: median([result["peak_rss_kib"] / 1024 for result in results
        if (result.get("memory_of"), result.get("threads")) == (name, threads)])
    lines.append(table([["threads", "zerohop: peak MiB", "bwa mem: peak MiB"], *[[threads,
        *[f"{peak(name, threads):.0f}" for name in ("zerohop", "bwa")]] for threads in THREADS]]))
    per_worker = {name: (peak(name, THREADS[-1]) - peak(name, THREADS[1])) / (THREADS[-1] - THREADS[1])
        for name in ("zerohop", "bwa")}
    lines += ["From 2 to 16 threads each one takes " +
        ", ".join(f"{mib:.0f} MiB ({name})" for name, mib in per_worker.items()) + ".", ""]
    return "\n".join(lines)


def main():
    options = parse_arguments()
    stay_on_cpus(options)
    reads = prepare(options)
    results = []
    with raw_data(options.out) as write:
        describe_run(options.out, "The embedded bwa mem and its library by itself", [
            f"{options.pairs} simulated pairs of 2x150 bases of a simulated 100 Mb reference, {options.threads} "
            f"threads, {options.repeats} counted runs of each arm",
            "after one that warms up, arms in turn. `raw.jsonl` has one line a run; the head of the script says what "
            "the arms are."], [zerohop_commit(), "bwa-mem3-sys 0.4.4"])

        def tell(result):
            write(result)
            results.append(result)
        time(options, reads, tell)
        memory(options, reads, tell)
    write_summary(options.out, summary(options, results))


if __name__ == "__main__":
    run_script(main)
