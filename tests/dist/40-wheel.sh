#!/bin/bash
# What `pip install zerohop` brings: the wheels keep to manylinux_2_31; one is installed into a fresh environment, and
# the tests of the module are run there, with the types that it declares; the wheel for arm64 aligns under QEMU; the
# source distribution becomes a wheel without a network, from crates that cargo has.
source "$(dirname "$0")/lib.sh"
[ -x "$PYTHON_TOOLS/auditwheel" ] || skip "no auditwheel (scripts/setup.sh dist installs it)"
here=$(artefact "zerohop-*-manylinux_*_$(uname -m).whl")
few_reads "$WORK"
strobealign -t 1 "$WORK/ref.fa" "$WORK/1.fq" "$WORK/2.fq" > "$WORK/expected.sam"

# environment NAME WORDS...: a fresh environment $WORK/NAME, in which pip installs WORDS
environment() {
    local name=$1; shift
    python3 -m venv "$WORK/$name"
    "$WORK/$name/bin/pip" -q --disable-pip-version-check --retries 10 install "$@"
}

# aligns PROGRAM...: the records are those of strobealign
aligns() {
    "$@" align -q -o "$WORK/out.sam" "$WORK/ref.fa" "$WORK/1.fq" "$WORK/2.fq" || fail "exit status $?: $*"
    same_alignments "$WORK/out.sam" "$WORK/expected.sam"
}

policy() {
    local wheel told file
    for wheel in "$DIST"/zerohop-*.whl; do
        told=$("$PYTHON_TOOLS/auditwheel" show "$wheel" | tr '\n' ' ')
        # the oldest glibc that would do is told; 2.31 is the newest that may be needed
        told=$(sed -n 's/.*consistent with the following platform tag: "manylinux_2_\([0-9]*\)_.*/\1/p' <<< "$told")
        [ -n "$told" ] && [ "$told" -le 31 ] || fail "${wheel##*/}: auditwheel finds glibc 2.${told:-?}"
        python3 -m zipfile -l "$wheel" > "$WORK/list"
        for file in licenses/LICENSE licenses/LICENCES.txt zerohop/py.typed; do
            grep -q "$file " "$WORK/list" || fail "${wheel##*/} has no $file: $(cat "$WORK/list")"
        done
        echo "${wheel##*/}: glibc 2.$told"
    done
}

installed() {
    # it needs no other package
    environment fresh --no-index "$here"
    aligns "$WORK/fresh/bin/zerohop"
    "$WORK/fresh/bin/pip" -q --disable-pip-version-check install "pytest==$("$PYTHON_TOOLS/pytest" --version |
        awk '{ print $2 }')" pandas
    # no other zerohop is to be found
    (cd "$WORK" && PATH=/usr/bin:/bin "$WORK/fresh/bin/pytest" -q -rs -p no:cacheprovider --basetemp "$WORK/pytest" \
        "$ROOT/packaging/python/tests")
    "$WORK/fresh/bin/python" -c 'import sys, zerohop; assert str(zerohop.program()).startswith(sys.prefix)'
    (cd "$WORK" && "$PYTHON_TOOLS/mypy" --strict --cache-dir "$WORK/mypy" \
        --python-executable "$WORK/fresh/bin/python" "$ROOT/packaging/python/tests")
}

arm64() {
    command -v qemu-aarch64-static > /dev/null || skip "no qemu-aarch64-static (scripts/setup.sh dist installs it)"
    local wheel; wheel=$(artefact 'zerohop-*-manylinux_*_aarch64.whl')
    python3 -m zipfile -e "$wheel" "$WORK/arm64"
    chmod +x "$WORK"/arm64/zerohop-*.data/scripts/zerohop
    aligns qemu-aarch64-static -L "$DEBIAN_11/arm64" "$WORK"/arm64/zerohop-*.data/scripts/zerohop
}

# In the profile of the tests, for an optimised program takes much longer.
source_distribution() {
    local sdist; sdist=$(artefact "zerohop-$(workspace_version).tar.gz")
    CARGO_NET_OFFLINE=true MATURIN_PEP517_ARGS="--profile dev" \
        CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$ROOT/target}/sdist" \
        PATH="$PYTHON_TOOLS:$PATH" "$PYTHON_TOOLS/pip" -q --disable-pip-version-check wheel --no-index --no-deps \
        --no-build-isolation -w "$WORK/built" "$sdist"
    environment from_source --no-index "$WORK"/built/zerohop-*.whl
    aligns "$WORK/from_source/bin/zerohop"
    "$WORK/from_source/bin/python" -c 'import zerohop; print(len(zerohop.topology().nodes()), "nodes")'
}

for part in policy installed source_distribution arm64; do
    [[ $part =~ ${PART-} ]] || continue
    part $part
    echo "$part: as it should be"
done
