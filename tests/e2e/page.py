#!/usr/bin/env python3
"""The commands of a page in docs/, and what the page shows of their output.

    page.py script PAGE        writes a bash script that runs the blocks marked `sh` and `diff`; block N writes N.out
    page.py compare PAGE       compares N.out with the block marked `text` that follows block N, if there is one
    page.py fill PAGE          puts N.out there: for who changes a page

Of a `diff`, first the lines with - are run, then those with +. Lines that begin with sudo or sbatch are left out: who
runs a test has installed the packages, and 97-slurm.sh submits the jobs. Long lines of output may be broken.

compare --same-machine is for a page whose summaries come from a machine like the one that wrote N.out: then lines
about plan and index copies are compared, too, numbers aside.
"""
import argparse
import difflib
import re
import shlex
import sys
import textwrap
from pathlib import Path

# A block of commands, and the block of output behind it
BLOCKS = re.compile(r"^```(sh|diff)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)
# Lines of a run's summary that depend on the machine
OF_MACHINE = {"zerohop", "index", "plan", "copy", "workers", "time", "sorted", "memory", "note",
              "instance", "feeders"}
# A summary has its words from this column on: what begins there goes on with the line before
WORDS_AT = 11


def commands_of(kind, text):
    if kind == "diff":
        lines = text.splitlines(keepends=True)
        text = "".join(line[1:] for sign in "-+" for line in lines if line[0] == sign)
    return re.sub(r"^(sudo|sbatch) .*\n", "", text, flags=re.M)


def script(page):
    print(f"set -euo pipefail\nout={shlex.quote(str(Path.cwd()))}")
    for number, (kind, text, _) in enumerate(BLOCKS.findall(page)):
        text = commands_of(kind, text)
        print(f"echo {shlex.quote(text)} > \"$out/now\"\n{{\n:\n{text}}} > \"$out/{number}.out\" 2>&1")


def broken(line):
    """Its further lines begin where its last column does."""
    if len(line) <= 100:
        return line
    column = max((spaces.end() for spaces in re.finditer(" {2,}", line)), default=WORDS_AT)
    return textwrap.fill(line, 100, subsequent_indent=" " * column, break_long_words=False, break_on_hyphens=False)


def comparable(text, same_machine):
    """Lines without times, and without what only this machine says."""
    for line in re.sub(rf"\n {{{WORDS_AT},}}(?=\S)", " ", text).splitlines():
        word = line.split(" ")[0]
        if word in OF_MACHINE and not same_machine:
            continue
        line = re.sub(r"\d[\d,.]* s\b", "N s", line)
        if same_machine:
            line = re.sub(r"\d[\d,.]*", "N", line)
        yield re.sub(" +", " ", line)


def compare(page, same_machine):
    shown = 0
    for number, (_, commands, text) in enumerate(BLOCKS.findall(page)):
        if not text:
            continue
        wanted, found = (list(comparable(of, same_machine)) for of in (text, Path(f"{number}.out").read_text()))
        if wanted != found:
            print(commands, *difflib.unified_diff(wanted, found, "the page", "now", lineterm=""), sep="\n")
            sys.exit(1)
        shown += 1
    print(f"{shown} outputs are as shown")


def fill(path, page):
    outputs = (Path(f"{number}.out") for number in range(page.count("```")))

    def filled(block):
        output = next(outputs)
        if block[3] is None:
            return block[0]
        lines = "\n".join(broken(line) for line in output.read_text().splitlines())
        return f"```{block[1]}\n{block[2]}```\n\n```text\n{lines}\n```\n"

    path.write_text(BLOCKS.sub(filled, page))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["script", "compare", "fill"])
    parser.add_argument("page", type=Path)
    parser.add_argument("--same-machine", action="store_true")
    arguments = parser.parse_args()
    page = arguments.page.read_text()
    left = [line for line in BLOCKS.sub("", page).splitlines() if line.lstrip().startswith("```")]
    if left:
        sys.exit(f"{arguments.page}: a block that would not be run, or not be compared: {left[0]}")
    if arguments.what == "script":
        script(page)
    elif arguments.what == "compare":
        compare(page, arguments.same_machine)
    else:
        fill(arguments.page, page)


main()
