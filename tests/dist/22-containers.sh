#!/bin/bash
# What the Dockerfile and the Apptainer definition install in their last stage, run in a bare Debian 12, with the
# portable program in place of the one of the first stage: it aligns as an unprivileged user, with a program of its own
# where the aligners are wanted. No container is built here, for that takes a daemon or setuid programs, and images.
source "$(dirname "$0")/lib.sh"
debian_12

# of_dockerfile: the RUN command of the last stage, as a shell script
of_dockerfile() {
    sed -n '/^# BEGIN install/,/^# END install/p' "$ROOT/packaging/container/Dockerfile" | sed '/^#/d; s/^RUN //'
}

# of_definition WITH_ALIGNERS: %post of the last stage
of_definition() {
    awk '/^Stage: / { last = $2 == "final" } last' "$ROOT/packaging/container/zerohop.def" |
        sed -n '/^%post/,/^%runscript/p' | sed "/^%/d; s/{{ with_aligners }}/$1/"
}

# try NAME WITH_ALIGNERS USER
try() {
    local name=$1 with_aligners=$2 user=$3
    echo "--- $name, aligners: $with_aligners"
    inside env WITH_ALIGNERS="$with_aligners" sh -ec "$(cat "$WORK/steps")"
    [ "$user" = zerohop ] || inside useradd "$user"
    cp "$WORK"/*/bin/zerohop "$SYSTEM/usr/local/bin/"
    few_reads "$SYSTEM/data"
    inside chown -R "$user" /data
    aligns "$user" strobealign
    [ "$with_aligners" = no ] || aligns "$user" bwa --build-index
    [ "$with_aligners" = yes ] || ! chroot "$SYSTEM" sh -c 'command -v bwa' || fail "there is a bwa"
}

aligns() {
    local user=$1 engine=$2; shift 2
    inside su "$user" -s /bin/sh -c "cd /data && zerohop align -q --engine $engine $* -o $engine.bam ref.fa 1.fq 2.fq"
    samtools quickcheck "$SYSTEM/data/$engine.bam"
}

tar -xzf "$(artefact "zerohop-*-x86_64-unknown-linux-gnu.tar.gz")" -C "$WORK"
for with_aligners in no yes; do
    new_system
    of_dockerfile > "$WORK/steps"
    try Dockerfile $with_aligners zerohop
    new_system
    of_definition $with_aligners > "$WORK/steps"
    try zerohop.def $with_aligners user
done
