#!/usr/bin/env python3
"""Fails on links of the Markdown files that lead to no file, or to no heading, on runs (bench/runs) that a page or a
comment cites and that are not there, and on pages of docs/ that the site's contents (docs/SUMMARY.md) do not have.
Links to other sites are not looked at; raw data (bench/runs) are exempt."""
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.M | re.S)
RUN = "bench/runs/20[a-z0-9-]+"
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)")


def anchors(page):
    """Of its headings, as GitHub and mdBook make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    for heading in re.findall(r"^#+ +(.*?) *#*$", text, re.M):
        heading = re.sub(r"\]\([^)]*\)", "", heading).lower()
        yield re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def wrong_links(page):
    for target in LINK.findall(BLOCK.sub("", page.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        linked = (page.parent / unquote(name)).resolve() if name else page
        if not linked.exists():
            yield f"{target}: no such file"
        elif anchor and anchor not in anchors(linked):
            yield f"{target}: no such heading"


def missing_runs():
    cited = subprocess.run(["git", "grep", "-oE", "--untracked", RUN, "--", ".",
                            ":!bench/runs"], cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE)
    for line in cited.stdout.splitlines():
        page, _, run = line.partition(":")
        if not (ROOT / run).is_dir():
            yield f"{page}: {run}: no such run"


def main():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, check=True, text=True,
                            stdout=subprocess.PIPE).stdout.splitlines()
    pages = [ROOT / name for name in listed if not name.startswith("bench/runs/") and (ROOT / name).exists()]
    wrong = [f"{page.relative_to(ROOT)}: {said}" for page in pages for said in wrong_links(page)]
    wrong += missing_runs()
    contents = LINK.findall((ROOT / "docs/SUMMARY.md").read_text())
    in_docs = [page.relative_to(ROOT / "docs").as_posix() for page in pages if page.is_relative_to(ROOT / "docs")]
    wrong += [f"docs/SUMMARY.md: {name} is missing" for name in in_docs
              if name != "SUMMARY.md" and name not in contents]
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(bool(wrong))


main()
