#!/usr/bin/env python3
"""Search over the parts of a database against one search of the whole by the program itself: which lines differ, of
all queries.

    python3 bench/parts.py --data FOLDER [--engine blastp] [--parts 1,2,4,8] [--step 1]

FOLDER/protein has FASTA (*.faa): the proteins of E. coli are the queries (every STEP-th), all others the database.
Hours for blastp: what is done stays in the work folder, and the same command goes on. Times are kept, but runs are not
interleaved: they compare nothing. Results go to bench/runs/DATE-HOST-parts-ENGINE/.
"""

import collections
import difflib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from compare import versions
from running import (call, describe_command, folder_of_run, output_of, parser_of, raw_data, run_script, table,
    with_programs, words, write_summary)

ECOLI = "ecoli_K12_MG1655.faa"
WHOLE = {
    "diamond": (["diamond", "makedb", "--quiet", "--in", "{subjects}", "-d", "{work}/whole"],
                ["diamond", "blastp", "--no-ranking", "--quiet", "-d", "{work}/whole", "-q", "{queries}", "-p",
                "{threads}", "-o", "{out}"]),
    "blastp": (["makeblastdb", "-in", "{subjects}", "-dbtype", "prot", "-out", "{work}/whole"],
               ["blastp", "-db", "{work}/whole", "-query", "{queries}", "-num_threads", "{threads}", "-outfmt", "6",
               "-out", "{out}"]),
}


def records(path):
    """The records of a FASTA file, without the first `>`."""
    return ("\n" + path.read_text()).split("\n>")[1:]


def write(path, texts):
    path.write_text("".join(f">{text.rstrip()}\n" for text in texts))


def prepare(options):
    folder, work = options.data / "protein", options.work
    others = sorted(path for path in folder.glob("*.faa") if path.name != ECOLI)
    queries, subjects = work / "queries.faa", work / "subjects.faa"
    write(queries, records(folder / ECOLI)[:: options.step])
    write(subjects, [record for path in others for record in records(path)])
    return queries, subjects


def timed(command, log):
    started = time.monotonic()
    subprocess.run([str(word) for word in command], check=True, stdin=subprocess.DEVNULL, stderr=log)
    return time.monotonic() - started


def whole(options, _, queries, subjects, out, log):
    given = {"subjects": subjects, "queries": queries, "work": options.work, "threads": options.threads, "out": out}
    make, search = ([word.format(**given) for word in command] for command in WHOLE[options.engine])
    subprocess.run(make, check=True, stdout=subprocess.DEVNULL, stderr=log)
    return timed(search, log)


def parted(options, parts, queries, subjects, out, log):
    database = options.work / f"db{parts}"
    if not database.exists():
        call([options.zerohop, "db", "build", "-q", "--engine", options.engine, "--partitions", parts, "-o",
            database, subjects])
    command = [options.zerohop, "search", "-q", "--db", database, "-t", options.threads, "-o", out, queries]
    return timed(command, log)


def by_query(path):
    lines = collections.defaultdict(list)
    for line in path.read_text().splitlines():
        lines[line.split("\t", 1)[0]].append(line)
    return lines


def differences(expected, got):
    """Queries whose lines differ, with the lines that only one side has."""
    found = {}
    for query in sorted(expected.keys() | got.keys()):
        old, new = expected.get(query, []), got.get(query, [])
        if old != new:
            found[query] = [line for line in difflib.unified_diff(old, new, lineterm="", n=0)][2:]
    return found


def main():
    parser = parser_of(__doc__, threads=2)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--engine", choices=WHOLE, default="blastp")
    parser.add_argument("--parts", type=words, default=["1", "2", "4", "8"], help="(default: 1,2,4,8)")
    parser.add_argument("--step", type=int, default=1)
    options = parser.parse_args()
    options.zerohop = os.environ.get("ZEROHOP")
    with_programs(options, f"parts-{options.engine}-{options.step}")
    queries, subjects = prepare(options)
    arms = ["whole"] + [int(parts) for parts in options.parts]
    rows, differing = [], {}
    with open(options.work / "log", "a") as log:
        for arm in arms:
            out, done = options.work / f"{arm}.tsv", options.work / f"{arm}.json"
            if not done.exists():
                run = whole if arm == "whole" else parted
                done.write_text(json.dumps({"arm": arm, "wall_s": run(options, arm, queries, subjects, out, log)}))
            row = json.loads(done.read_text())
            lines = by_query(out)
            expected = by_query(options.work / "whole.tsv")
            found = differences(expected, lines)
            row |= {"queries_with_hits": len(lines), "lines": sum(map(len, lines.values())),
                "queries_that_differ": len(found),
                    "lines_that_differ": sum(len(diff) for diff in found.values()), "same_bytes": out.read_bytes() == (
                    options.work / "whole.tsv").read_bytes()}
            rows.append(row)
            differing[arm] = found
            print(row, flush=True)
    report(options, queries, rows, differing)


def report(options, queries, rows, differing):
    out = folder_of_run(f"parts-{options.engine}")
    with raw_data(out) as tell:
        for row in rows:
            tell(row)
    (out / "differences.json").write_text(json.dumps({str(arm): found for arm, found in differing.items() if found},
        indent=1) + "\n")
    lines = [["search", "lines", "queries with hits", "queries that differ", "lines that differ", "same bytes"]]
    for row in rows:
        name = f"{options.engine} itself" if row["arm"] == "whole" else f"zerohop, parts: {row['arm']}"
        lines.append([name, f"{row['lines']:,}", f"{row['queries_with_hits']:,}", row["queries_that_differ"],
            row["lines_that_differ"], "yes" if row["same_bytes"] else "no"])
    version = output_of(options.engine, "version" if options.engine == "diamond" else "-version").splitlines()[0]
    command = (f"python3 bench/parts.py --data FOLDER --engine {options.engine} --parts {','.join(options.parts)} "
        f"--step {options.step} --threads {options.threads}")
    describe_command(out, "Parts against the whole", command, [*versions(options, ["zerohop"]), version],
        " differences.json has the lines that only one side has.")
    write_summary(out, f"{len(records(queries)):,} proteins of E. coli against all others of the data, "
        f"{options.engine}'s own settings, tabular.\n\n{table(lines)}")


if __name__ == "__main__":
    run_script(main)
