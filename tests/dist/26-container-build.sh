#!/bin/bash
# The first stage of the Dockerfile, in a bare Debian 12: what it installs is all that zerohop needs to be compiled. The
# image has Rust in /usr/local; here that is the one of this machine. The last stage gets what the first one made, and
# aligns. The Apptainer definition has the same commands. Without fat link-time optimisation, which would only cost
# time.
source "$(dirname "$0")/lib.sh"
rust=${RUSTUP_HOME:-$HOME/.rustup} cargo=${CARGO_HOME:-$HOME/.cargo}
[ -x "$cargo/bin/rustup" ] || skip "no rustup here"
debian_12

# commands_of STAGE: the commands of a stage of the Dockerfile, one per line
commands_of() {
    awk -v stage="$1" '/^FROM / { is_in = / AS build$/ ? stage == "build" : stage == "final" } is_in' \
        "$ROOT/packaging/container/Dockerfile" | sed -e ':a; /\\$/ { N; s/ *\\\n */ /; ba }' | sed -n 's/^RUN //p'
}
of_definition() {
    awk '/^Stage: / { is_in = $2 == "build" } is_in' "$ROOT/packaging/container/zerohop.def" |
        sed -n '/^%post/,/^$/{s/^    //p}' | grep -v '^cd '
}
diff <(commands_of build | sed 's/ && /\n/g') <(of_definition) || fail "the first stages of both differ"

mkdir -p "$SYSTEM/zerohop" "$SYSTEM/usr/local/rustup" "$SYSTEM/usr/local/cargo"
git -C "$ROOT" archive HEAD | tar -x -C "$SYSTEM/zerohop"
mount --bind "$rust" "$SYSTEM/usr/local/rustup"
mount --bind "$cargo" "$SYSTEM/usr/local/cargo"
inside env PATH=/usr/local/cargo/bin:/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin RUSTUP_HOME=/usr/local/rustup \
    CARGO_HOME=/usr/local/cargo CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    sh -ec "cd /zerohop; $(commands_of build)"
built=$SYSTEM/zerohop/target
[ -s "$built/LICENCES.txt" ] || fail "no licences of the crates"

new_system
inside env WITH_ALIGNERS=no sh -ec "$(commands_of final)"
cp "$built/release/zerohop" "$SYSTEM/usr/local/bin/"
few_reads "$SYSTEM/data"
inside chown -R zerohop /data
inside su zerohop -s /bin/sh -c "cd /data && zerohop align -q -o out.bam ref.fa 1.fq 2.fq"
samtools quickcheck "$SYSTEM/data/out.bam"
