#!/usr/bin/env python3
"""The runtime alone: `zerohop align --engine null`, which maps nothing.

    python3 bench/serial.py [--pairs 1000000] [--repeats 5] [--threads N] [--out FOLDER]

Prints and records, for plain, BGZF and gzip input to SAM in a file, to SAM in a pipe and to BAM: GB of FASTQ per
second, and the SERIAL time per pair, in which only one thread can make progress: cutting the input into chunks, and
putting the output in order (on a pipe also writing it). From that the number of workers at which input or output
saturates for an engine of 30 microseconds per pair: 30 us / serial time; computed, not measured. Results go to
bench/runs/DATE-HOST-serial/ unless --out says otherwise.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from compare import prepare
from running import median, output_of, parser_of, raw_data, run_script, seconds, table, with_programs, write_summary

ENGINE_SECONDS_PER_PAIR = 30e-6


def run_once(options, reads, output):
    """One run; returns its figures."""
    report = options.work / "serial.json"
    command = [options.zerohop, "align", "-q", "--engine", "null", "-t", str(options.threads), "--json", report]
    path = options.work / ("serial.bam" if output == "bam" else "serial.sam")
    command += [] if output == "pipe" else ["-o", path]
    command += [options.work / "sim1M.fa"] + [options.work / name for name in reads]
    if output == "pipe":
        run = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE)
        sink = subprocess.run(["cat"], stdin=run.stdout, stdout=subprocess.DEVNULL, check=True)
        run.stdout.close()
        if run.wait() or sink.returncode:
            raise SystemExit(f"failed: {command}")
    else:
        subprocess.run(list(map(str, command)), check=True)
    run = json.loads(report.read_text())["run"]
    pairs = run["tally"]["fragments"]
    return {
        "pairs": pairs,
        "wall_s": seconds(run["wall"]),
        "cut_ns_per_pair": seconds(run["serial"]["cut"]) * 1e9 / pairs,
        "order_ns_per_pair": seconds(run["serial"]["order"]) * 1e9 / pairs,
    }


def main():
    parser = parser_of(__doc__, results="serial", threads=0, repeats=5)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    options = with_programs(parser.parse_args())
    options.input, options.arms = ["plain", "gz", "bgzf"], []
    inputs = prepare(options, "sim1M")
    fastq_bytes = sum((options.work / name).stat().st_size for name in inputs["plain"])

    cases = [(kind, output) for kind in inputs for output in ("sam", "pipe", "bam")]
    runs = {case: [] for case in cases}
    with raw_data(options.out) as tell:
        for repeat in range(options.repeats + 1):  # the first one warms up
            for kind, output in cases:
                figures = run_once(options, inputs[kind], output)
                tell({"input": kind, "output": output, "repeat": repeat, **figures})
                if repeat:
                    runs[kind, output].append(figures)

    rows = [["input", "output", "FASTQ GB/s", "serial: cutting, ns/pair", "serial: order, ns/pair",
        "workers at which it saturates (computed)"]]
    for (kind, output), figures in runs.items():
        cut, order = median(figures, "cut_ns_per_pair"), median(figures, "order_ns_per_pair")
        workers = ENGINE_SECONDS_PER_PAIR * 1e9 / max(cut, order)
        rows.append([kind, output, f"{fastq_bytes / median(figures, 'wall_s') / 1e9:.2f}", f"{cut:.1f}",
            f"{order:.1f}", f"{workers:,.0f}"])
    command = f"python3 bench/serial.py --pairs {options.pairs} --repeats {options.repeats} --threads {options.threads}"
    commit, version = output_of("git", "describe", "--always", "--dirty"), output_of(options.zerohop, "--version")
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    (options.out / "README.md").write_text(
        f"# The runtime alone (null engine)\n\n    {command}\n\n{version}, commit {commit}; {cpu}, {os.cpu_count()} "
        f"CPUs, Linux {platform.release()}.\n`summary.md` has the medians, `raw.jsonl` every run. What is measured: "
        f"the head of bench/serial.py.\nThe last column is computed from the serial time and an engine of 30 us per "
        f"pair.\n")
    write_summary(options.out, f"Medians of {options.repeats} runs.\n\n{table(rows)}")


if __name__ == "__main__":
    run_script(main)
