#!/bin/bash
# packaging/bioconda/build.sh, as conda-build runs it: in a copy of the sources, with a PREFIX that has zlib; then the
# commands that meta.yaml tests, in a folder that has the source_files. Without fat link-time optimisation, which would
# only cost time.
source "$(dirname "$0")/lib.sh"
cargo bundle-licenses --version > /dev/null 2>&1 ||
    skip "no cargo-bundle-licenses here (scripts/setup.sh dist installs it)"
cd "$WORK"
mkdir sources prefix prefix/include prefix/lib
git -C "$ROOT" archive HEAD | tar -x -C sources
cp /usr/include/zlib.h /usr/include/zconf.h prefix/include/ 2> /dev/null ||
    cp /usr/include/zlib.h /usr/include/*/zconf.h prefix/include/
cp -L "$(cc -print-file-name=libz.so)" prefix/lib/

(cd sources && PREFIX=$WORK/prefix CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$ROOT/target}/bioconda \
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    bash "$ROOT/packaging/bioconda/build.sh" > "$WORK/log" 2>&1) || { tail -n 40 log >&2; fail "build.sh"; }
[ -s sources/THIRDPARTY.yml ] || fail "no licences of the crates"
sed -n '/^  commands:/,/^about:/s/^    - //p' "$ROOT/packaging/bioconda/meta.yaml" > commands
[ -s commands ] || fail "meta.yaml tests nothing"
mkdir -p test_tmp/tests/data
cp -rL "$ROOT/tests/data/phix" test_tmp/tests/data/
while IFS= read -r command; do
    (cd test_tmp && PATH=$WORK/prefix/bin:$PATH bash -c "$command") > log 2>&1 || { cat log >&2; fail "$command"; }
done < commands
