#!/bin/bash
# The crates that have nothing of Linux alone and no C library below them compile for macOS on ARM: what a program
# needs to read plans and reports of zerohop. process, topology, memory, runtime and ranks call Linux (affinity, NUMA,
# /proc, prctl); bgzf, cram, sort, duplicates, input, output and the engines have C libraries below them, for which a
# compiler for macOS is needed, and Debian has none.
source "$(dirname "$0")/lib.sh"
cd "$ROOT"
rustup target list --installed 2> /dev/null | grep -qx aarch64-apple-darwin ||
    skip "no Rust for aarch64-apple-darwin (scripts/setup.sh dist)"
crates=(model plan report)
cargo check -q --locked --target aarch64-apple-darwin --target-dir "${CARGO_TARGET_DIR:-target}/macos" \
    "${crates[@]/#/-pzerohop-}"
echo "for macOS: ${crates[*]}"
