#!/bin/bash
# Makes what pip installs, in target/dist: a wheel of zerohop for each TARGET, its source distribution, and the plugin
# for MultiQC. scripts/dist.sh runs this after it has compiled the programs; so cargo has nothing left to compile.
#
#   scripts/wheel.sh TARGET...      such as x86_64-unknown-linux-gnu
#
# maturin refuses to tag a program that needs more than glibc 2.31 and the libraries of every Linux (manylinux_2_31).
set -euo pipefail
source "$(dirname "$0")/env.sh"
BUILD=$TARGET/dist-build
package=$ROOT/packaging/python

# What a command says is shown only when it fails.
quietly() {
    local said
    said=$("$@" 2>&1) || { echo "$said" >&2; return 1; }
}

trap 'rm -f "$package/LICENCES.txt"' EXIT
for target in "$@"; do
    cargo xtask licences "$target" > "$package/LICENCES.txt"
    cargo xtask sbom "$target" > "$BUILD/zerohop.cdx.json"
    # What cargo is told must be what it was told for the programs: stripped they are already.
    quietly scripts/portable.sh "$target" "$BUILD" env -C "$package" "$PYTHON_TOOLS/maturin" build --release --locked \
        --strip false --target "$target" --target-dir "$BUILD" --compatibility manylinux_2_31 \
        --sbom-include "$BUILD/zerohop.cdx.json" -o "$DIST"
done
quietly env -C "$package" "$PYTHON_TOOLS/maturin" sdist -o "$DIST"
"$PYTHON_TOOLS/pip" -q --disable-pip-version-check wheel --no-index --no-deps --no-build-isolation -w "$DIST" \
    packaging/multiqc_zerohop
