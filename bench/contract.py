#!/usr/bin/env python3
"""The identity contract of each external aligner, tested: `zerohop align --compare-with original` on real reads, under
plans that cut the input differently. Counts, no times.

    python3 bench/contract.py --data FOLDER       # FOLDER as ZEROHOP_DATA; default: the sets in tests/data

Results go to bench/runs/DATE-HOST-contract/; docs/engines.md has the table. The exit status is 1 if a run failed.
"""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from running import (ROOT, Failure, describe_run, output_of, parser_of, raw_data, run_script, table, with_programs,
    words, write_summary, zerohop_commit)

# name: reference, reads, in tests/data or in --data
SETS = {
    "ecoli_150": ("ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz", "ecoli/ecoli_150_1.fq.gz",
    "ecoli/ecoli_150_2.fq.gz"),
    "lambda": ("lambda/lambda_virus.fa.gz", "lambda/reads_1.fq.gz", "lambda/reads_2.fq.gz"),
    "fly_48": ("fly/dm6.small.fa", "fly/rnaseq_sample1.tiny_R1.fastq.gz", "fly/rnaseq_sample1.tiny_R2.fastq.gz"),
    "human_148": ("human_chr20/grch38.chr20_and_21_10M.fa.gz",
    "human_chr20/HG002_NIST_150bp_downsampled_30x.chr20.10_10p1mb_R1.fq.gz",
                  "human_chr20/HG002_NIST_150bp_downsampled_30x.chr20.10_10p1mb_R2.fq.gz"),
}
ENGINES = ["bwa", "bowtie2", "bowtie", "hisat2", "hisat2 --dna", "snap", "minimap2", "minibwa", "bwa-mem2",
    "gem3", "strobealign-program"]
PLANS = {"1x2": ["-t", "2"], "2x1": ["-t", "2", "--replicas", "2"], "4x1": ["-t", "4", "--replicas", "4"],
    "farm": ["-t", "3", "--farm"]}
# Small batches, so that several instances have several each: by default all reads of these sets are one or two batches.
EXTRA = {name: ["--engine-args", "-K 1000000"] for name in ("bwa", "bwa-mem2", "minibwa")}
COUNTS = ["records", "same", "ties", "other_score", "other_pairing", "other_fields", "unmatched"]


def parse_arguments():
    parser = parser_of(__doc__, results="contract")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("ZEROHOP_DATA", ROOT / "tests/data")))
    parser.add_argument("--engine", type=words, default=ENGINES, help="of: " + ", ".join(ENGINES))
    parser.add_argument("--zerohop", type=Path, default=None, help="(default: in the target folder)")
    parser.add_argument("--work", type=Path, default=None,
        help="folder for large files (default: bench-work/contract in the target folder)")
    return with_programs(parser.parse_args(), "contract")


def reference(options, name):
    """Unpacked once: not every indexer takes gzip."""
    source, target = options.data / SETS[name][0], options.work / f"{name}.fa"
    if not target.exists():
        open_it = gzip.open if source.suffix == ".gz" else open
        with open_it(source, "rb") as packed:
            target.write_bytes(packed.read())
    return target


def compare(options, engine, name, layout, plan):
    reads = [options.data / file for file in SETS[name][1:]][: 2 if layout == "paired" else 1]
    chosen = engine.split()
    command = [options.zerohop, "align", "-q", "--engine", *chosen, "--build-index", *PLANS[plan],
        *EXTRA.get(chosen[0], []), "--compare-with", "original", "--json", options.work / "run.json", "-o",
        options.work / "out.sam", reference(options, name), *reads]
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode:
        return {"failed": result.stderr.strip().split("\n")[0]}
    run = json.loads((options.work / "run.json").read_text())
    return {"version": run["engine"][1], **{count: run["comparison"][count] for count in ["fragments", *COUNTS]}}


def main():
    options = parse_arguments()
    found = [entry for entry in json.loads(output_of(options.zerohop, "engines", "--json")) if entry["found"]]
    here = {entry["name"] for entry in found}
    share = {entry["name"] for entry in found if entry["sharing"]["how"] != "none"}
    engines = [engine for engine in options.engine if engine.split()[0] in here]
    sets = [name for name in SETS if all((options.data / file).exists() for file in SETS[name])]
    if not engines or not sets:
        raise Failure(f"there is nothing to compare: {len(engines)} aligners, {len(sets)} sets in {options.data}")
    results = []
    with raw_data(options.out) as tell:
        for engine in engines:
            for name in sets:
                for layout in ("paired", "single"):
                    # zerohop refuses --farm where an aligner cannot share its index
                    for plan in (plan for plan in PLANS if plan != "farm" or engine.split()[0] in share):
                        result = {"engine": engine, "set": name, "layout": layout, "plan": plan,
                            **compare(options, engine, name, layout, plan)}
                        tell(result)
                        results.append(result)
                        print(result, file=sys.stderr)
    describe(options, here, sets)
    write_summary(options.out, summary(results))
    failures = sum("failed" in result for result in results)
    if failures:
        raise Failure(f"{failures} of {len(results)} runs failed: the table says which")


def summary(results):
    rows = [["aligner", "layout", "plan", "failed sets", *COUNTS]]
    for key in dict.fromkeys((r["engine"], r["layout"], r["plan"]) for r in results):
        of = [r for r in results if (r["engine"], r["layout"], r["plan"]) == key]
        failed = [r["set"] for r in of if "failed" in r]
        counts = [""] * len(COUNTS) if len(failed) == len(of) else [str(sum(r.get(count, 0) for r in of))
            for count in COUNTS]
        rows.append([*key, ", ".join(failed) or "none", *counts])
    failures = [f"- {r['engine']}, {r['layout']}, {r['plan']}, {r['set']}: {r['failed'].removeprefix('error: ')}\n"
        for r in results if "failed" in r]
    return table(rows) + ("\nFailed, and not in the counts:\n\n" + "".join(failures) if failures else "")


def describe(options, here, sets):
    versions = [zerohop_commit()]
    versions += [" ".join(line.split()[:2]) for line in output_of(options.zerohop, "engines").split("\n\n")[0].split(
        "\n") if line.split()[0] in here]
    describe_run(options.out, "The identity contract of external aligners", [
        f"Aligners: {', '.join(options.engine)}; sets: {', '.join(sets)}", "",
        "Plans: " + "; ".join(f"{plan}: `{' '.join(given)}`" for plan, given in PLANS.items())
            + " (of aligners that can share their index)",
        "bwa, bwa-mem2 and minibwa have `-K 1000000` on both sides, so that every instance has several batches. "
        "Counts are of records, over the sets that did not fail."], versions)


if __name__ == "__main__":
    run_script(main)
