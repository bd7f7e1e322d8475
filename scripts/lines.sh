#!/bin/bash
# Fails on lines of more than 120 characters in the tracked Markdown, shell, Python, Rust and TOML files, and on
# headings of doc comments with text behind them, which rustdoc takes for one long heading. Raw data (bench/runs) are
# exempt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

git ls-files '*.md' '*.sh' '*.py' '*.rs' '*.toml' Makefile bench/placement tests/numa-lab/numa-lab |
    { grep -vxE 'bench/runs/.*' || true; } |
    { LC_ALL=C.UTF-8 xargs -d '\n' grep -anHE '^.{121}' || true; } |
    cut -d : -f 1,2 | sed 's/$/: more than 120 characters/' | { ! grep .; }

git ls-files '*.rs' | { xargs -d '\n' grep -nHE '//[/!] # (Errors|Panics|Safety) .' || true; } |
    sed 's/$/: the text of this heading belongs on the next line/' | { ! grep .; }
