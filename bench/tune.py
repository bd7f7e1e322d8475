#!/usr/bin/env python3
"""Does `zerohop tune` find what a full run of all choices finds, and for how much of its time?

    python3 bench/tune.py                            # the built-in engine and bwa, simulated pairs of E. coli

For each engine: `zerohop tune --full --repeat N`, every choice over all reads to the end, N times, in rounds; and
`zerohop tune`, short trials that end early. Both on the same reads, one after the other. What is asked: how much
slower, within the rounds of the full run, is the choice that the trials found than the best of the full run; and what
part of the full run's time did the trials take? Results go to bench/runs/DATE-HOST-tune/.
"""

import json
import statistics
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from running import (ECOLI, call, machine, make, make_pairs, output_of, parser_of, run_script, table, unpack,
    with_programs, words, write_summary)

ENGINES = {
    # Small batches: trials on part of so few reads need several of them for each instance.
    "bwa": ["--engine", "bwa", "--engine-args", "-K 250000"],
    "strobealign": [],
}


def parse_arguments():
    parser = parser_of(__doc__, results="tune")
    parser.add_argument("--engine", type=words, default=list(ENGINES), help="of: " + ", ".join(ENGINES))
    parser.add_argument("--pairs", type=int, default=30_000, help="simulated pairs for bwa (default: %(default)s)")
    parser.add_argument("--times", type=int, default=4,
        help="so many times as many for strobealign (default: %(default)s)")
    parser.add_argument("--repeat", type=int, default=10, help="rounds of the full run (default: %(default)s)")
    options = parser.parse_args()
    return with_programs(options, f"tune-{options.pairs}")


def tune(options, engine, pairs, *more):
    """Runs it in a folder without earlier trials; gives what it wrote."""
    name = "full" if "--full" in more else "trials"
    runs = options.work / f"{engine}-{name}"
    if (runs / "trials.jsonl").exists():
        (runs / "trials.jsonl").unlink()
    command = [options.zerohop, "tune", "ref.fa", "r1.fq", "r2.fq", *ENGINES[engine], "--first", pairs, "--no-keep",
        "--runs", runs.name, *more]
    command = [str(word) for word in command]
    print(" ".join(command[1:]), flush=True)
    call(command, stdout=options.out / f"{engine}-{name}.txt", cwd=options.work)
    tuning = json.loads((runs / "tuning.json").read_text())
    (options.out / f"{engine}-{name}.json").write_text(json.dumps(tuning, indent=1) + "\n")
    return tuning


def key(choice):
    return json.dumps(choice, sort_keys=True)


def in_words(choice):
    each = choice["threads"] / choice["copies"]
    return f"{choice['copies']} x {each:g}, {choice['pages']}{', farm' if choice['farm'] else ''}"


def main():
    options = parse_arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    make(options, ["ref.fa"], lambda names: unpack(ECOLI, names[0], 1))
    make_pairs(options, "ref.fa", ["r1.fq", "r2.fq"], options.pairs * options.times)
    if "bwa" in options.engine and not (options.work / "ref.fa.sa").exists():
        call(["bwa", "index", "ref.fa"], cwd=options.work)
    rows = []
    for engine in options.engine:
        pairs = options.pairs * (options.times if engine == "strobealign" else 1)
        full = tune(options, engine, pairs, "--full", "--repeat", str(options.repeat))
        trials = tune(options, engine, pairs)
        times = {}
        for t in sorted(full["trials"], key=lambda t: t["round"]):
            times.setdefault(key(t["choice"]), []).append(t["load_s"] + t["map_s"])
        found = trials["findings"][0]["choice"]
        # Within rounds, for a machine that gets slower gets slower for all of them.
        ratios = {c: statistics.median(f / t for f, t in zip(times[key(found)], series)) for c, series in times.items()}
        best_choice = json.loads(max(ratios, key=ratios.get))
        errors = [f["relative_error"] for f in full["findings"] if f["relative_error"]]
        row = {
            "engine": engine, "pairs": pairs, "choices": len(times), "found": in_words(found),
            "best": in_words(best_choice),
            "slower": max(ratios.values()), "means": statistics.mean(times[key(found)]) / min(map(statistics.mean,
            times.values())), "part_of_time": trials["took_s"] / full["took_s"], "trials_s": trials["took_s"],
            "full_s": full["took_s"], "error": sum(errors) / len(errors),
        }
        rows.append(row)
        print(json.dumps(row), flush=True)
    (options.out / "summary.json").write_text(json.dumps({"machine": machine(), "commit": output_of("git", "rev-parse",
        "HEAD"), "rows": rows}, indent=1) + "\n")
    lines = [["engine", "pairs", "choices of the full run", "best of the full run", "found by trials",
        "its time over the best, median within rounds", "its mean over the best mean", "trials, s", "full, s",
        "part of the time", "mean relative error of the full run"]]
    for r in rows:
        lines.append([r["engine"], f"{r['pairs']:,}", r["choices"], r["best"], r["found"], f"{r['slower']:.3f}",
            f"{r['means']:.3f}", f"{r['trials_s']:.0f}", f"{r['full_s']:.0f}", f"{100 * r['part_of_time']:.1f} %",
            f"{100 * r['error']:.1f} %"])
    write_summary(options.out, "# Tuning by trials and in full\n\nCommand: `python3 bench/tune.py "
        f"{' '.join(sys.argv[1:])}`\n\n{table(lines)}")


if __name__ == "__main__":
    run_script(main)
