#!/bin/bash
# Fails on lines of more than 120 characters in tracked text and source files. Exempt: raw data (bench/runs), and files
# that are listed here until their lines are wrapped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

exempt='^(bench/runs/|crates/.*\.rs$|fuzz/.*\.rs$|bench/src/)'

git ls-files -z '*.md' '*.sh' '*.py' '*.rs' '*.toml' bench/placement tests/numa-lab/numa-lab |
    { grep -zvE "$exempt" || true; } |
    LC_ALL=C.UTF-8 xargs -0 grep -nHE '^.{121}' | sed 's/^\([^:]*:[0-9]*\):.*/\1: more than 120 characters/' |
    { ! grep .; }
