#!/usr/bin/env python3
"""Tables of measured and simulated times of the exchange.

    python3 bench/exchange-model.py FOLDER        # with results of exchange-model.sh
"""

import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from running import parser_of, run_script, table


def read(folder):
    """The predictions, by transport and number of ranks."""
    runs = {}
    for path in folder.glob("*-*.predictions.json"):
        if found := re.fullmatch(r"(\w+)-(\d+)\.predictions\.json", path.name):
            runs[found[1], int(found[2])] = json.loads(path.read_text())["predictions"]
    return runs


def here(runs, name, ranks, variant):
    """What was measured."""
    return next((p for p in runs[name, ranks] if p["variant"] == variant and "measured_wall_s" in p), None)


def measured(runs, name, ranks, variant):
    p = here(runs, name, ranks, variant)
    return (f"{p['measured_wall_s']:.3f} / {p['simulated_wall_s']:.3f} ({p['error_percent']:+.0f})" if p
        else "not run")


def foretold(runs, name, ranks, variant):
    """From calls that were timed over two ranks."""
    p = here(runs, name, ranks, variant)
    if not p:
        return "not run"
    simulated = [other for other in runs[name, 2] if other["variant"] == variant and "measured_wall_s" not in other
        and other["ranks"] == ranks][0]
    return f"{100 * (simulated['simulated_wall_s'] / p['measured_wall_s'] - 1):+.0f}"


def rows(cell, runs, name, sizes):
    variants = [p["variant"] for p in runs["twin", 2] if "measured_wall_s" in p]
    return [["variant", *[f"{ranks} ranks" for ranks in sizes]],
        *[[variant, *[cell(runs, name, ranks, variant) for ranks in sizes]] for variant in variants]]


def main():
    parser = parser_of(__doc__)
    parser.add_argument("folder", type=Path)
    runs = read(parser.parse_args().folder)
    for name in ("twin", "openmpi", "mpich"):
        sizes = sorted(ranks for other, ranks in runs if other == name)
        if not sizes:
            continue
        print(f"\n### {name}: measured s / simulated s from calls timed over the same ranks (error %)\n")
        print(table(rows(measured, runs, name, sizes)), end="")
        print(f"\n{name}: simulated from calls timed over 2 ranks, against what was measured with more (error %)\n")
        print(table(rows(foretold, runs, name, [ranks for ranks in sizes if ranks > 2])), end="")


if __name__ == "__main__":
    run_script(main)
