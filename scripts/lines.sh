#!/bin/bash
# Fails on lines of more than 120 characters in the tracked Markdown, shell, Python, Rust and TOML files. Raw data
# (bench/runs) are exempt, and so are the files of `wide`, which still have longer lines: wrap them, then remove them
# here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

wide='(crates|fuzz|bench/src)/.*\.rs
scripts/test\.sh
tests/e2e/(40-bad-input|45-blocked|55-tune|62-files|70-memory|80-external|90-bench|95-report|96-search)\.sh
tests/e2e/(98-align-ranks|lib)\.sh
tests/hosts/(10-search|20-align)\.sh
tests/lab/(10-placement|20-external|30-farm)\.sh'

git ls-files '*.md' '*.sh' '*.py' '*.rs' '*.toml' bench/placement tests/numa-lab/numa-lab |
    { grep -vxE "bench/runs/.*|${wide//$'\n'/|}" || true; } |
    { LC_ALL=C.UTF-8 xargs -d '\n' grep -anHE '^.{121}' || true; } |
    cut -d : -f 1,2 | sed 's/$/: more than 120 characters/' | { ! grep .; }
