#!/bin/bash
# The files that commands write: complete or not there, whatever ends the run; devices, FIFOs and links stay what they
# are; what cannot be written is found before the work begins. And words: nobody need be there to read them.
source "$(dirname "$0")/lib.sh"

cd "$WORK"
mkdir out
cp "$DATA/phix/phix.fasta" ref.fa
cp "$DATA/phix/phix.1.fastq" 1.fq
cp "$DATA/phix/phix.2.fastq" 2.fq
for _ in $(seq 20); do cat 1.fq; done > many.fq  # more than are looked at for the read length
zerohop align -t 1 -o expected.sam ref.fa 1.fq 2.fq
mkfifo never

# faults.so: fsync(2) of a file fails with the error number in FAIL_SYNC, of a folder with that in FAIL_SYNC_FOLDER, the
# Nth rename(2) with that in FAIL_RENAME=N:CODE
cat > faults.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
static int fails(const char *name) {
    const char *code = getenv(name);
    if (code) errno = atoi(code);
    return code != NULL;
}
int fsync(int fd) {
    struct stat there;
    if (!fstat(fd, &there) && fails(S_ISREG(there.st_mode) ? "FAIL_SYNC" : "FAIL_SYNC_FOLDER")) return -1;
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}
int rename(const char *from, const char *to) {
    static int calls;
    int number, code;
    const char *text = getenv("FAIL_RENAME");
    if (text && sscanf(text, "%d:%d", &number, &code) == 2 && ++calls == number) { errno = code; return -1; }
    return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(from, to);
}
C
cc -shared -fPIC -o faults.so faults.c -ldl

# attempt ARGUMENTS...: exit status in rc, words in stderr
attempt() {
    rc=0
    timeout -s KILL 60 "$ZEROHOP" "$@" > stdout 2> stderr < /dev/null || rc=$?
}

# refused STATUS WORDS ARGUMENTS...: ends so, with these words in its first line, and leaves nothing in out
refused() {
    local status=$1 words=$2; shift 2
    attempt "$@"
    [ $rc = $status ] || fail "exit status $rc, not $status: $*: $(head -n 3 stderr)"
    [[ "$(head -n 1 stderr)" == "error: "*"$words"* ]] ||
        fail "$*"$'\n'"  wanted: $words"$'\n'"  got:    $(head -n 1 stderr)"
    [ -z "$(ls -A out)" ] || fail "left $(ls -A out): $*"
}

# A file system that tells only at the end that it could not write (NFS, quota).
synced() {
    export LD_PRELOAD=$WORK/faults.so
    local eio="cannot write: Input/output error (os error 5)"
    FAIL_SYNC=5 refused 1 "out/x.sam: $eio" align -t 2 -o out/x.sam ref.fa 1.fq 2.fq
    FAIL_SYNC=5 refused 1 "out/x.bam: $eio" align -t 2 -o out/x.bam ref.fa 1.fq 2.fq
    FAIL_SYNC=122 refused 1 "Disk quota exceeded" align -t 2 --shards 3 -o out/x.sam ref.fa 1.fq 2.fq
    FAIL_SYNC=5 refused 1 "out/run.json: $eio" align -q -t 1 -o /dev/null --json out/run.json ref.fa 1.fq
    FAIL_SYNC=5 refused 1 "out/plan.json: $eio" plan --index-size 1M -o out/plan.json
    ZEROHOP=$ZEROHOP_LAB FAIL_SYNC=5 refused 1 "$eio" block -o out/x.fq 1.fq
    FAIL_SYNC=5 refused 1 "Input/output error" index -q ref.fa
    [ ! -e ref.fa.r50.zhi ] && [ -z "$(ls | grep zhi)" ] || fail "an index that was not synced"
    FAIL_RENAME=2:13 refused 1 "out/x.2.sam: cannot write: Permission denied" align --shards 3 -o out/x.sam ref.fa 1.fq
    # The records are there, and on the disk: only their name may not be.
    local code
    for code in 5 95; do
        FAIL_SYNC_FOLDER=$code attempt align -q -t 1 -o out/x.sam ref.fa 1.fq 2.fq
        [ $rc = 0 ] && same_alignments out/x.sam expected.sam || fail "a folder that is not synced: $rc, $(cat stderr)"
        [ $code = 95 ] && [ ! -s stderr ] || grep -q '^note: .*/out: .*loss of power: Input/output' stderr ||
            fail "a folder that is not synced: $(cat stderr)"
    done
    FAIL_SYNC_FOLDER=95 attempt align -q -t 1 --durable --sort --sort-memory 20K -o out/x.sam ref.fa 1.fq 2.fq
    [ $rc = 0 ] || fail "--durable, a folder that cannot be synced: $rc, $(cat stderr)"
    rm out/x.sam
    unset LD_PRELOAD
}

# The first process of a container is not ended by the default actions of signals.
first_process() {
    local zerohop writer
    unshare -fp true 2> /dev/null || { echo "first process: not tested, no namespace can be made here"; return; }
    { cat many.fq; exec sleep 60; } > never & writer=$!
    unshare -fp --kill-child "$ZEROHOP" align -q -t 2 -o out/x.sam ref.fa never 2> stderr & pid=$!
    until ls out | grep -q partial; do
        kill -0 $pid 2> /dev/null || fail "the first process has ended: $(cat stderr)"
        sleep 0.02
    done
    zerohop=$(pgrep -P $pid)
    kill -s TERM $zerohop
    rc=0
    wait $pid || rc=$?
    end $writer
    [ $rc = 143 ] || fail "the first process: exit status $rc after SIGTERM"
    [ -z "$(ls -A out)" ] || fail "left by the first process: $(ls -A out)"
}

# Who ignores SIGCHLD hands that on to what it starts.
children_ignored() {
    rc=0
    python3 -c 'if True:
        import os, signal, sys
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        os.execv(sys.argv[1], sys.argv[1:])' "$ZEROHOP" run -q -- sh -c 'exit 3' 2> stderr || rc=$?
    [ $rc = 3 ] || fail "SIGCHLD ignored: $rc, $(cat stderr)"
}

# Every signal that ends a process, while the output is open: from a reader that never ends.
signals() {
    local signal pid writer left
    for signal in HUP INT QUIT USR1 USR2 TERM ALRM XCPU ABRT SEGV; do
        { cat many.fq; exec sleep 60; } > never & writer=$!
        (ulimit -c 0; exec env --default-signal=INT,QUIT "$ZEROHOP" align -q -t 2 --shards 2 -o out/x.sam ref.fa 1.fq \
            --reads never) 2> stderr & pid=$!
        until [ "$(ls -A out | grep -c partial)" = 2 ]; do
            kill -0 $pid 2> /dev/null || fail "it has ended before SIG$signal: $(cat stderr)"
            sleep 0.02
        done
        kill -s $signal $pid
        rc=0
        wait $pid 2> /dev/null || rc=$?
        end $writer
        [ $rc = $((128 + $(kill -l $signal))) ] || fail "exit status $rc after SIG$signal"
        [ -z "$(ls -A out)" ] || fail "left after SIG$signal: $(ls -A out)"
    done
    # Nobody can do anything about SIGKILL; the next run of the same output clears away what it left.
    { cat many.fq; exec sleep 60; } > never & writer=$!
    "$ZEROHOP" align -q -o out/x.sam ref.fa never 2> stderr & pid=$!
    until ls out | grep -q partial; do sleep 0.02; done
    echo > out/x.sam.partial-of-mine
    kill -s KILL $pid
    { wait $pid || true; } 2> /dev/null
    end $writer
    zerohop align -o out/x.sam ref.fa 1.fq 2.fq
    [ "$(ls -A out | tr '\n' ' ')" = "x.sam x.sam.partial-of-mine " ] || fail "left after SIGKILL: $(ls -A out)"
    rm out/*
}

# A limit on the size of files is told as a full disk is.
size_limit() {
    rc=0
    (ulimit -f 8; exec "$ZEROHOP" align -q -o out/x.sam ref.fa 1.fq 2.fq) 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "out/x.sam: cannot write: File too large" stderr ||
        fail "file size limit: $rc, $(cat stderr)"
    [ -z "$(ls -A out)" ] || fail "left: $(ls -A out)"
}

# writers FILE: each command that writes a file beside its records, told to write FILE
writers() {
    local file=$1
    # What is there of another kind would be refused.
    to() { [ ! -f "$file" ] || : > "$file"; zerohop "$@" > /dev/null; }
    to align -q -o /dev/null --json "$file" ref.fa 1.fq
    to align -q -o /dev/null --mqc "$file" ref.fa 1.fq
    to plan --index-size 1M -o "$file"
    to run -q --json "$file" -- true
    ZEROHOP=$ZEROHOP_LAB to exchange -o "$file" -t 2 --repeats 1 --batches 1 --variants two-sided --search-ms 0
    to report -o "$file" run.json
    to align -q -o "$file" --format sam ref.fa 1.fq
}

what_files_are() {
    local reader
    zerohop align -q -o /dev/null --json run.json ref.fa 1.fq
    mknod null c 1 3 2> /dev/null && mknod full c 1 7 && {
        if echo 2> /dev/null > null; then writers null; else echo "devices: not tested, they cannot be used here"; fi
        [ -c null ] || fail "a device was replaced: $(ls -l null)"
        rm -f null full
    } || echo "devices: not tested, none can be made here"
    echo old > target
    chmod 600 target
    ln -s target link
    writers link
    [ -L link ] && [ -s target ] && [ "$(stat -c %a target)" = 600 ] || fail "a link was replaced: $(ls -l link target)"
    mkfifo pipe
    while cat pipe; do :; done > read 2> /dev/null & reader=$!
    writers pipe
    kill $reader
    [ -p pipe ] || fail "a FIFO was replaced: $(ls -l pipe)"
    (umask 027; writers new; [ "$(stat -c %a new)" = 640 ] || fail "the umask was not followed: $(ls -l new)")
    rm -f link target pipe new
}

# What cannot be written is found before anything is read.
before_the_work() {
    local option
    for option in -o --json --mqc --logs; do
        refused 1 "out/none/x" align $option out/none/x.sam ref.fa 1.fq
        refused 1 "out/none/x" align $option out/none/x.sam no-such-ref.fa 1.fq
        [ ! -e out/none ] || fail "$option made a folder"
    done
    mkdir read-only.sam
    refused 1 "read-only.sam: cannot write: Is a directory" align -o read-only.sam ref.fa 1.fq
    refused 1 "out/none/p.json: cannot write" tune -o out/none/p.json no-such-ref.fa 1.fq
    refused 1 "out/none/p.json: cannot write" run --json out/none/p.json -- touch out/started
}

# A name must not promise what is not written.
suffixes() {
    local name
    for name in x.crai x.bam.gz x.bam.bai x.txt; do
        refused 2 "out/$name: zerohop writes SAM, BAM and CRAM" align -o out/$name ref.fa 1.fq
    done
    refused 2 "out/x.sam.gz: SAM is not written compressed: name the file .bam" align -o out/x.sam.gz ref.fa 1.fq
    for name in x.SAM x; do zerohop align -o out/$name ref.fa 1.fq 2.fq; same_alignments out/$name expected.sam; done
    zerohop align --format sam -o out/x.txt ref.fa 1.fq 2.fq
    rm out/*
}

# Standard error that is closed, a pipe that nobody reads, a terminal that has gone away.
words() {
    local closed
    "$ZEROHOP" align -o out/x.sam ref.fa 1.fq 2.fq 2>&- || fail "standard error closed: $?"
    same_alignments out/x.sam expected.sam "standard error closed"
    "$ZEROHOP" align -o out/x.sam --no-such-option ref.fa 2>&- && fail "a wrong option"
    mkfifo words
    { exec 3< words; } & exec 4> words; wait $!
    "$ZEROHOP" align -o out/y.sam ref.fa 1.fq 2.fq 2>&4 || fail "nobody reads standard error: $?"
    same_alignments out/y.sam expected.sam "nobody reads standard error"
    exec 4>&-
    rm words out/*
    # The terminal is the slave of a pseudo-terminal whose master is closed while the run waits for its reads.
    python3 - "$ZEROHOP" <<'PY' || fail "a terminal that has gone away: $?"
import os, pty, subprocess, sys, time
master, slave = pty.openpty()
run = subprocess.Popen([sys.argv[1], "align", "-t", "2", "-o", "out/x.sam", "ref.fa", "-"], stdin=subprocess.PIPE,
                       stderr=slave, preexec_fn=lambda: os.setsid())
os.close(slave)
reads = open("many.fq", "rb").read()
run.stdin.write(reads)
run.stdin.flush()
os.read(master, 1)  # the first progress line
os.close(master)
run.stdin.close()
sys.exit(run.wait(60))
PY
    zerohop align -t 2 ref.fa many.fq > single.sam
    same_alignments out/x.sam single.sam "a terminal that has gone away"
    rm out/*
}

# An index speaks of the records beside it: one that is older than these goes
old_indexes() {
    local format options
    for format in bam cram; do
        for options in "" "--sort=name" "--sort --no-write-index"; do
            zerohop align -q -t 2 --sort -o "out/x.$format" ref.fa 1.fq 2.fq
            [ "$(ls out | wc -l)" = 2 ] || fail "files: $(ls out)"
            zerohop align -q -t 2 $options -o "out/x.$format" ref.fa 1.fq 2.fq
            [ "$(ls out)" = "x.$format" ] || fail "$options left $(ls out)"
        done
        rm out/*
    done
    # a run that fails takes nothing away
    zerohop align -q -t 2 --sort -o out/x.bam ref.fa 1.fq 2.fq
    ! "$ZEROHOP" align -q -o out/x.bam ref.fa 1.fq many.fq 2> said || fail "files of other lengths were aligned"
    [ "$(ls out | wc -l)" = 2 ] || fail "files after a failure: $(ls out)"
    rm out/*
    # nor is one left by a run that ends while it gives names
    zerohop align -q -t 2 --sort --index csi -o out/x.bam ref.fa 1.fq 2.fq
    LD_PRELOAD=$PWD/faults.so FAIL_RENAME=1:13 attempt align -q -t 2 --sort --durable -o out/x.bam ref.fa 1.fq
    [ $rc = 1 ] || fail "a name that cannot be given: $rc, $(cat stderr)"
    zerohop align -q -t 2 --sort --durable -o out/x.bam ref.fa 1.fq
    [ "$(ls out | tr '\n' ' ')" = "x.bam x.bam.bai " ] || fail "an index of other records, after a failure: $(ls out)"
    rm out/*
    # of each shard, and of nothing that is not written
    zerohop align -q -t 2 --sort -o out/x.1.bam ref.fa 1.fq 2.fq
    cp out/x.1.bam out/x.bam; cp out/x.1.bam.bai out/x.bam.bai
    zerohop align -q -t 2 --shards 2 -o out/x.bam ref.fa 1.fq 2.fq
    [ "$(ls out | tr '\n' ' ')" = "x.1.bam x.2.bam x.bam x.bam.bai " ] || fail "indexes of shards: $(ls out)"
    cp out/x.bam.bai out/y.bai; echo mine > out/y.v2.bai; mkdir out/y.v2.csi
    zerohop align -q -t 2 --format bam -o out/y.v2 ref.fa 1.fq 2.fq
    [ "$(cat out/y.v2.bai)" = mine ] && [ -e out/y.bai ] || fail "a file that is no index of it is gone: $(ls out)"
    rm -r out/*
}

# What is written to an open file comes behind what is there; and one file does not take two outputs.
open_files() {
    local name
    for name in - /dev/stdout /dev/fd/1 /proc/self/fd/1; do
        "$ZEROHOP" align -q -t 1 -o $name ref.fa 1.fq 2.fq > out/all.sam
        "$ZEROHOP" align -q -t 1 -o $name ref.fa 1.fq 2.fq >> out/all.sam
        cmp <(cat expected.sam expected.sam | grep -v '^@PG') <(grep -v '^@PG' out/all.sam) || fail ">> to $name"
    done
    for name in - /dev/stdout; do
        "$ZEROHOP" align -q -t 1 --json $name -o out/x.sam ref.fa 1.fq > out/runs.json
        "$ZEROHOP" align -q -t 1 --json $name -o out/x.sam ref.fa 1.fq >> out/runs.json
        [ "$(grep -c '"schema_version"' out/runs.json)" = 2 ] || fail "two summaries to $name"
        rm out/*
        refused 2 "$name is standard output, which is an output already" align --json $name ref.fa 1.fq
        rc=0
        "$ZEROHOP" align -q --json $name ref.fa 1.fq 2> stderr | cat > out/mixed || rc=$?
        [ $rc = 2 ] && [ ! -s out/mixed ] || fail "records and --json $name into one pipe: $rc"
        rm out/mixed
    done
    refused 2 "--shards needs an output file" align --shards 2 -o - ref.fa 1.fq
    for name in "-o -" "-o /dev/stdout" "-o out/x.sam --json -"; do
        rc=0
        "$ZEROHOP" align -q $name ref.fa 1.fq >&- 2> stderr || rc=$?
        [ $rc = 1 ] && grep -q "standard output is closed" stderr || fail "$name, closed: $rc, $(cat stderr)"
        [ -z "$(ls out)" ] || fail "$name, closed: left $(ls out)"
    done
    (ulimit -Sn 40; zerohop align -q -t 2 --shards 60 -o out/x.sam ref.fa 1.fq)
    rm out/*
}

part synced
part first_process
part children_ignored
part open_files
part signals
part old_indexes
part size_limit
part what_files_are
part before_the_work
part suffixes
part words
