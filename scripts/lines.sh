#!/bin/bash
# Fails on lines of more than 120 characters in the tracked Markdown, shell, Python, Rust and TOML files. Raw data
# (bench/runs) are exempt, and so are the files of `wide`, which still have longer lines: wrap them, then remove them
# here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

wide='bench/src/bin/readers.rs
crates/engines/external/src/error.rs
crates/engines/strobealign/src/seeds.rs
crates/lab/src/exchange/model/engine.rs
crates/lab/src/exchange/model/tests.rs
crates/lab/src/process.rs
crates/plan/src/pilots.rs
crates/input/src/blocked/tests.rs
crates/input/src/cutter.rs
crates/report/src/multiqc.rs
crates/report/src/page.rs
crates/runtime/tests/made_up/mod.rs
crates/search/src/collect.rs
crates/search/src/cuts.rs
crates/search/src/written/pairwise.rs
tests/e2e/(40-bad-input|45-blocked|80-external|95-report|96-search|lib)\.sh
tests/(hosts/10-search|hosts/20-align|lab/10-placement|lab/30-farm)\.sh'

git ls-files '*.md' '*.sh' '*.py' '*.rs' '*.toml' bench/placement tests/numa-lab/numa-lab |
    { grep -vxE "bench/runs/.*|${wide//$'\n'/|}" || true; } |
    { LC_ALL=C.UTF-8 xargs -d '\n' grep -anHE '^.{121}' || true; } |
    cut -d : -f 1,2 | sed 's/$/: more than 120 characters/' | { ! grep .; }
