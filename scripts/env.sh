# What every script here needs to know. Sourced by bash from anywhere; it changes to the root of the checkout.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT=$PWD
TARGET=${CARGO_TARGET_DIR:-$ROOT/target}
case $TARGET in /*) ;; *) TARGET=$ROOT/$TARGET;; esac
# a cargo of the distribution may be too old: the one that rustup installed comes first
export PATH="$ROOT/.tools/bin:${CARGO_HOME:-${HOME:-/root}/.cargo}/bin:$PATH"

STROBEALIGN_VERSION=0.19.1
MULTIQC_VERSION=1.35
PYSAM_VERSION=0.24.1
MAPPY_VERSION=2.31
CARGO_FUZZ_VERSION=0.13.1
MDBOOK_VERSION=0.5.4
PYTEST_VERSION=9.2.0
MYPY_VERSION=2.4.1
FLIT_CORE_VERSION=4.2.0
MATURIN_VERSION=1.16.0
AUDITWHEEL_VERSION=6.8.2
CARGO_DENY_VERSION=0.20.2
CARGO_BUNDLE_LICENSES_VERSION=5.0.0
HADOLINT_VERSION=2.15.1
CARGO_SEMVER_CHECKS_VERSION=0.51.0
ZIGLANG_VERSION=0.17.1
CARGO_ZIGBUILD_VERSION=0.24.1
# What runs the files in pipelines/. Of the versions of Nextflow this is the newest that Maven Central has whole.
NEXTFLOW_VERSION=24.10.0
NF_CORE_VERSION=4.2.1
SNAKEMAKE_VERSION=9.27.1
SNAKEFMT_VERSION=2.1.0
BLACK_VERSION=26.10.1
CWLTOOL_VERSION=3.3.20260925135507
PLANEMO_VERSION=0.75.47

# For the end-to-end tests and the demo
export ZEROHOP="${ZEROHOP:-$TARGET/release/zerohop}"
export STROBEALIGN="$TARGET/strobealign/bin/strobealign"
export MULTIQC="$ROOT/.tools/multiqc/bin/multiqc"
export PYTHON_WITH_PYSAM="$ROOT/.tools/multiqc/bin/python"
# What makes and tests the packages in packaging/python and packaging/multiqc_zerohop
export PYTHON_TOOLS="$ROOT/.tools/python/bin"
# What compiles for macOS
export ZIG_TOOLS="$ROOT/.tools/zig/bin"
export HADOLINT="$ROOT/.tools/hadolint/bin/hadolint"
export DATA="$ROOT/tests/data"
# What `make dist` makes, and tests/dist tests
export DIST="$TARGET/dist"
# The glibc that portable programs are linked with, and the root in which packages are tried
export DEBIAN_11="$ROOT/.tools/debian-11"
export DEBIAN_12="$ROOT/.tools/debian-12"
export NUMA_LAB="$ROOT/tests/numa-lab/numa-lab"

# A registry that is not to be reached for a moment is no failure.
export CARGO_NET_RETRY=${CARGO_NET_RETRY:-10}

# Whether rustup has a nightly toolchain
has_nightly() { command -v rustup >/dev/null && rustup toolchain list 2>/dev/null | grep -q '^nightly'; }
