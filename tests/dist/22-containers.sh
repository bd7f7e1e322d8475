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
    [ "$name" != Dockerfile ] || for_owner
    [ "$with_aligners" = yes ] || ! chroot "$SYSTEM" sh -c 'command -v bwa' || fail "there is a bwa"
}

aligns() {
    local user=$1 engine=$2; shift 2
    inside su "$user" -s /bin/sh -c "cd /data && zerohop align -q --engine $engine $* -o $engine.bam ref.fa 1.fq 2.fq"
    samtools quickcheck "$SYSTEM/data/$engine.bam"
}

# As `docker run --user` does it: for the owner of the folder, whom the image does not know. Docker makes / the home.
for_owner() {
    inside chown -R 4321:4321 /data
    inside setpriv --reuid=4321 --regid=4321 --clear-groups env HOME=/ \
        sh -c 'cd /data && zerohop align -q --sort -o owner.bam ref.fa 1.fq 2.fq'
    samtools quickcheck "$SYSTEM/data/owner.bam"
}

# What docs/pipelines.md adds to the image for searches: diamond and BLAST of Debian
search_image() {
    local step; step=$(sed -n 's/^RUN \(.*ncbi-blast+\)$/\1/p' "$ROOT/docs/pipelines.md")
    [ -n "$step" ] || fail "docs/pipelines.md has no image for searches"
    inside sh -ec "$step"
    cp "$DATA"/protein/{subjects,queries}.faa "$SYSTEM/data"
    for engine in diamond blastp; do
        inside sh -ec "cd /data && zerohop db build -q --engine $engine -o $engine subjects.faa &&
            zerohop search -q --db $engine -o $engine.tsv queries.faa"
        [ -s "$SYSTEM/data/$engine.tsv" ] || fail "$engine finds nothing in the image for searches"
    done
}

tar -xzf "$(artefact "zerohop-*-x86_64-unknown-linux-gnu.tar.gz")" -C "$WORK"
for with_aligners in no yes; do
    new_system
    of_dockerfile > "$WORK/steps"
    try Dockerfile $with_aligners zerohop
    [ $with_aligners = yes ] || search_image
    new_system
    of_definition $with_aligners > "$WORK/steps"
    try zerohop.def $with_aligners user
done
