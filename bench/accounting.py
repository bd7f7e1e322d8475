#!/usr/bin/env python3
"""Checks zerohop's own accounting of a worker's time (claim, parse, map, encode, commit) against perf's samples.

    python3 bench/accounting.py --zerohop target/release/zerohop --out bench/runs/DATE-HOST-accounting \\
        ref.fa reads_1.fq reads_2.fq

Each format (SAM, BAM) is aligned with one worker under `perf record`. A sample counts for the stage whose function is
in its call chain. Needs perf and a zerohop with line tables, as `make build` makes it.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from running import output_of, parser_of, raw_data, run_script, seconds, write_summary

# The functions that a worker calls, one for each stage. A chain may be cut off, where the stack is deep: all that is
# strobealign's belongs to map.
STAGES = [
    ("map", re.compile(r"mapper::Mapper>::map|strobealign::|\bsw_|ssw")),
    ("encode", re.compile(r"(Sam|Bam)Encoder.*::(begin|encode|finish)|BlockCompressor")),
    ("commit", re.compile(r"Committer.*::(commit|write_held|finish)|FileSink.*::write_at")),
    ("parse", re.compile(r"Intake.*::parse|Parser.*::parse|::parse::")),
    ("claim", re.compile(r"Intake|Survey|survey::")),
]


def parse_arguments():
    parser = parser_of(__doc__)
    parser.add_argument("--zerohop", required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder for results")
    parser.add_argument("--frequency", default="299", help="samples per second (default: %(default)s)")
    parser.add_argument("reference")
    parser.add_argument("reads", nargs="+")
    return parser.parse_args()


def own_account(path):
    """Seconds of each stage, as the run summary has them, over all workers."""
    workers = json.loads(Path(path).read_text())["run"]["workers"]
    return {name: sum(seconds(worker[name]) for worker in workers) for name, _ in STAGES}


def samples(data):
    """Samples of each stage in threads called `worker`; those of no stage under `else`."""
    script = subprocess.run(["perf", "script", "-i", data, "-F", "comm,ip,sym"], capture_output=True, text=True,
        check=True).stdout
    counts = {name: 0 for name, _ in STAGES} | {"else": 0}
    for sample in script.split("\n\n"):
        head, _, chain = sample.strip().partition("\n")
        if not head.startswith("worker"):
            continue
        counts[next((name for name, function in STAGES if function.search(chain)), "else")] += 1
    return counts


def main():
    options = parse_arguments()
    lines = ["# The accounting of a worker's time, against perf", "",
        f"{output_of(options.zerohop, '--version')}, one worker, `perf record -F {options.frequency} --call-graph "
        f"dwarf`. Shares of the time in these five stages, in %.", ""]
    with raw_data(options.out) as tell:
        for output in ("sam", "bam"):
            with tempfile.TemporaryDirectory() as work:
                data, report = f"{work}/perf.data", f"{work}/run.json"
                subprocess.run(["perf", "record", "-q", "-F", options.frequency, "--call-graph", "dwarf,16384", "-o",
                    data, options.zerohop, "align", "-q", "-t", "1", "--plan", "rule", "--json", report, "-o",
                    f"{work}/out.{output}", options.reference, *options.reads], check=True,
                    stderr=subprocess.DEVNULL)
                own, counted = own_account(report), samples(data)
            tell({"format": output, "seconds": own, "samples": counted})
            known = sum(counted[name] for name, _ in STAGES)
            lines += [f"## {output.upper()} ({known} samples, {counted['else']} in none of the stages)", ""]
            for name, _ in STAGES:
                share = 100 * own[name] / sum(own.values())
                lines.append(f"- {name}: zerohop {share:.1f}, perf {100 * counted[name] / max(known, 1):.1f}")
            lines.append("")
    write_summary(options.out, "\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    run_script(main)
