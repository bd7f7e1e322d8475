#!/bin/bash
# `zerohop run` (any program under a plan) and `zerohop cache` (index copies in /dev/shm).
source "$(dirname "$0")/lib.sh"

cd "$WORK"
export TMPDIR=$WORK/tmp
mkdir tmp
export ZEROHOP_TEST_MARK=$WORK

# attempt ARGUMENTS...: within 30 s; exit status in rc, words in stdout and stderr
attempt() {
    rc=0
    timeout -s KILL 30 "$ZEROHOP" "$@" > stdout 2> stderr || rc=$?
}

no_process_left() {
    local i
    for i in $(seq 50); do
        [ -n "$(marked)" ] || return 0
        sleep 0.1
    done
    fail "$1: left running: $(ps -o pid,args -p "$(marked | paste -sd, )")"
}

# --- run ------------------------------------------------------------------------------------------------------------

placeholders() {
    attempt run -q -t 2 --replicas 2 --logs logs --json r.json -- sh -c \
        'echo i={instance} n={instances} t={threads} c={cpus} nodes={nodes} other={other}; echo err {instance} >&2'
    [ $rc = 0 ] || fail "run: $rc, $(cat stderr)"
    [ "$(echo logs/*)" = "logs/0.err logs/0.out logs/1.err logs/1.out" ] || fail "logs: $(echo logs/*)"
    for i in 0 1; do
        grep -qxE "i=$i n=2 t=1 c=[0-9]+ nodes=[0-9,-]+ other=\{other\}" logs/$i.out ||
            fail "placeholders: $(cat logs/$i.out)"
        [ "$(cat logs/$i.err)" = "err $i" ] || fail "standard error in the log: $(cat logs/$i.err)"
    done
    [ ! -s stdout ] && [ ! -s stderr ] || fail "--quiet: $(cat stdout stderr)"
    python3 -c '
import json
r = json.load(open("r.json"))
assert len(r) == 2 and all(i["plan"]["threads"] == 1 and i["pid"] > 0 for i in r), r
assert r[1]["command"][-1].startswith("echo i=1 n=2"), r[1]["command"]' || fail "--json"
    # without logs to ours; one instance reads our standard input
    echo hello > in
    attempt run -q -t 1 -- cat in
    [ $rc = 0 ] && [ "$(cat stdout)" = hello ] || fail "standard output: $rc, $(cat stdout stderr)"
    [ "$(timeout 30 "$ZEROHOP" run -q -t 1 -- cat < in)" = hello ] || fail "standard input of one instance"
    attempt run -t 1 -- true
    [ $rc = 0 ] && grep -q "^instance 0 " stderr || fail "what it says: $(cat stderr)"
    # with more threads than CPUs nothing is pinned: the CPUs are those that may be used
    attempt run -q -t 64 --replicas 2 --logs logs -- sh -c 'grep Cpus_allowed_list /proc/self/status; echo cpus {cpus}'
    for i in 0 1; do
        [ "$(sed -n 's/^Cpus_allowed_list:\t//p' logs/$i.out)" = "$(sed -n 's/^cpus //p' logs/$i.out)" ] ||
            fail "CPUs: $(cat logs/$i.out)"
    done
    # words are bytes
    attempt run -q -- printf '%s' $'\xff{instance}'
    [ $rc = 0 ] && cmp -s stdout <(printf '\xff0') || fail "words that are no UTF-8: $rc $(cat stderr)"
    attempt run -q -t 2 --replicas 3 -- touch ran
    [ $rc = 2 ] && [ ! -e ran ] && grep -q "^error: --replicas 3 needs 3 threads .* and -t 2 gives fewer" stderr ||
        fail "more instances than threads: $rc $(cat stderr)"
    no_process_left placeholders
}

# each instance runs on the CPUs that the plan names, with all its threads
pinned() {
    local cpus i
    attempt run -q -t 2 --replicas 2 --logs logs --json r.json --pages local -- sh -c \
        'grep Cpus_allowed_list /proc/self/status; taskset -pc $$; echo cpus {cpus}'
    [ $rc = 0 ] || fail "pinned: $(cat stderr)"
    for i in 0 1; do
        cpus=$(sed -n 's/^cpus //p' logs/$i.out)
        [ "$(sed -n 's/^Cpus_allowed_list:\t//p' logs/$i.out)" = "$cpus" ] ||
            fail "CPUs of instance $i: $(cat logs/$i.out)"
        ! command -v taskset > /dev/null || grep -q "list: $cpus$" logs/$i.out ||
            fail "taskset of instance $i: $(cat logs/$i.out)"
    done
    # no CPU beyond those that we may use
    taskset -c "$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')" "$ZEROHOP" run -q --logs logs -- sh -c \
        'grep Cpus_allowed_list /proc/self/status' || fail "run on one CPU"
    grep -qE $'^Cpus_allowed_list:\t[0-9]+$' logs/0.out || fail "it leaves the CPUs that it may use: $(cat logs/0.out)"
}

# one that fails ends the others; the first failure is told, and is our exit status
failing() {
    local how words status
    for how in "3 exit 3;ended with exit status 3" "137 kill -9 \$\$;was killed (signal 9)" \
        "143 kill -15 \$\$;was killed by signal 15"; do
        words=${how#*;}; status=${how%% *}; how=${how#* }
        attempt run -q -- sh -c "${how%%;*}"
        [ $rc = $status ] && grep -qF "instance 0 of sh $words" stderr || fail "one that fails: $rc, $(cat stderr)"
        attempt run -q -t 2 --replicas 2 --logs logs -- sh -c \
            "echo words of {instance} >&2; [ {instance} = 0 ] || { sleep 0.3; ${how%%;*}; }; sleep 60 & sleep 60"
        [ $rc = $status ] && grep -qF "instance 1 of sh $words" stderr || fail "a failing instance: $rc, $(cat stderr)"
        grep -q "words of 1" stderr || fail "its last words are not told: $(cat stderr)"
        no_process_left "after a failure"
    done
    # of several that fail, the first by its number
    attempt run -q -t 3 --replicas 3 --logs logs -- sh -c 'touch up.{instance}
        until [ -e up.0 ] && [ -e up.1 ] && [ -e up.2 ]; do sleep 0.05; done
        trap "exit 1{instance}" TERM; sleep 0.3 & wait; exit 1{instance}'
    [[ $rc = 1[012] ]] && grep -q "instance ${rc#1} of sh ended with exit status $rc" stderr ||
        fail "several that fail: $rc, $(cat stderr)"
    # who is asked to end has time for it
    attempt run -q -t 2 --replicas 2 --logs logs -- sh -c '
        if [ {instance} = 1 ]; then until [ -e ready ]; do sleep 0.05; done; exit 5; fi
        trap "sleep 0.5; touch tidied; exit 0" TERM; touch ready; sleep 60 & wait'
    [ $rc = 5 ] && [ -e tidied ] || fail "the others have no time to end: $rc, $(cat stderr)"
    no_process_left "a failure, and others that end"
    attempt run -q -- no-such-program
    [ $rc = 1 ] && grep -q "no-such-program.*cannot be started" stderr || fail "no program: $rc, $(cat stderr)"
    attempt run
    [ $rc = 2 ] || fail "no command: $rc"
    attempt run -q --replicas 100000 -- true
    [ $rc != 0 ] || fail "100000 instances"
}

# begin_run OPTIONS... -- SCRIPT: zerohop in the background, in pid, when all its instances have made started.N
begin_run() {
    local i
    rm -f started.*
    eval 'set -m; "$ZEROHOP" run -q "$@" 2> stderr & pid=$!; set +m'
    for i in $(seq 1200); do
        [ -e started.0 ] && { [ "$count" = 1 ] || [ -e started.1 ]; } && return
        kill -0 $pid 2> /dev/null || break
        sleep 0.05
    done
    fail "the instances do not start: $(cat stderr)"
}

# signals go on to the programs, which do with them what they like
passed_on() {
    local signal number pid count rc script i
    # the program's own handler is waited for, and its status is ours; one in our group, or two in groups of their own
    script='trap "echo got >> got.{instance}; sleep 0.3; touch tidied.{instance}; exit 1{instance}" NAME
        touch started.{instance}; while :; do sleep 0.1; done'
    for signal in TERM INT HUP QUIT USR1 USR2; do
        for count in 1 2; do
            rm -f got.* tidied.*
            begin_run -t $count --replicas $count -- sh -c "${script/NAME/$signal}"
            kill -$signal $pid
            rc=0; wait $pid 2> /dev/null || rc=$?
            [ $rc = 10 ] || fail "SIG$signal to $count: exit status $rc, $(cat stderr)"
            for i in $(seq 0 $((count - 1))); do
                [ -e tidied.$i ] && [ "$(cat got.$i)" = got ] || fail "SIG$signal to $count: $(ls; cat got.*)"
            done
            no_process_left "SIG$signal to $count"
        done
    done
    # one that is no reason to end
    count=1
    begin_run -- sh -c 'trap "touch told" USR1; touch started.0; until [ -e told ]; do sleep 0.1; done; exit 0'
    kill -USR1 $pid
    rc=0; wait $pid || rc=$?
    [ $rc = 0 ] && [ -e told ] || fail "SIGUSR1 ends a run: $rc, $(cat stderr)"
    # what a program has started has time, too
    begin_run -t 2 --logs logs -- sh -c '
        sh -c "trap \"sleep 0.4; touch child\" TERM; touch started.0; sleep 60 & wait"; :'
    kill -TERM $pid
    rc=0; wait $pid 2> /dev/null || rc=$?
    [ $rc = 143 ] && [ -e child ] || fail "the child of a program has no time: $rc"
    no_process_left "the child of a program"
    # what nobody handles
    for signal in TERM INT QUIT USR1 USR2 HUP; do
        number=$(kill -l $signal)
        begin_run -- sh -c 'ulimit -c 0; touch started.0; exec sleep 60'
        kill -$signal $pid
        rc=0; wait $pid 2> /dev/null || rc=$?
        [ $rc = $((128 + number)) ] || fail "SIG$signal that nobody handles: $rc"
    done
}

# a signal to zerohop ends all, grandchildren too
signals() {
    local signal pid rc instances
    # several, in groups of their own; one, in ours. What leaves its group is found all the same.
    for instances in "-t 2 --replicas 2 --logs logs" "-t 1"; do
        for signal in TERM XFSZ XCPU ALRM KILL; do
            eval 'set -m; "$ZEROHOP" run -q $instances -- sh -c "sleep 300 & setsid sleep 300 & timeout 300 sleep 300 &
                touch started.{instance}; sleep 300; :" 2> /dev/null & pid=$!; set +m'
            for i in $(seq 1200); do
                [ -e started.0 ] && { [ -e started.1 ] || [ "$instances" = "-t 1" ]; } && break
                kill -0 $pid 2> /dev/null || fail "the instances do not start"
                sleep 0.05
            done
            rm started.*
            sleep 0.1
            kill -$signal $pid
            rc=0
            wait $pid 2>/dev/null || rc=$?
            [ $rc = $((128 + $(kill -l $signal))) ] || fail "SIG$signal: exit status $rc"
            no_process_left "$instances, SIG$signal"
        done
    done
}

# --- cache ----------------------------------------------------------------------------------------------------------

need() { command -v bowtie2 > /dev/null && return; skip_part "bowtie2 is not on the PATH"; return 1; }

prepare() {
    [ ! -e r.fa ] || return 0
    cp "$DATA/viral/NC_045512.2.fasta" r.fa
    bowtie2-build -q r.fa r.fa > /dev/null
    for mate in 1 2; do gzip -cd "$DATA/viral/sarscov2_251_$mate.fq.gz" | head -n 8000 > $mate.fq; done
    bowtie2 -p 2 --reorder -x r.fa -1 1.fq -2 2.fq 2>/dev/null | grep -v '^@' > expected
}

farm() {
    attempt align --engine bowtie2 -t 2 --farm -o o.sam "$@" r.fa 1.fq 2.fq
    [ $rc = 0 ] || fail "farm: $rc, $(cat stderr)"
    cmp <(grep -v '^@' o.sam) expected || fail "records of the farm"
}

# our copies: other runs on this machine may have theirs
copies() { "$ZEROHOP" cache --json | python3 -c "
import json, sys
for c in json.load(sys.stdin):
    if c['manifest'] and '$WORK' in c['manifest']['source']:
        print(c['folder'], 'in-use' if c['in_use'] else 'kept' if c['manifest']['keep'] else 'left')"; }
copy() { copies | awk '{ print $1 }'; }
reused() { grep -q "Index copies that were in /dev/shm already were used" stderr; }

kept_copies() {
    need || return 0
    prepare
    farm
    [ -z "$(copies)" ] || fail "copies stay: $(copies)"
    farm --keep-copies
    ! reused || fail "it says that copies were there"
    [ "$(copies | awk '{ print $2 }')" = kept ] || fail "cache --json: $(copies)"
    zerohop cache > list
    grep -F "$(copy)" list | grep -qE "[0-9.]+ [KMGTi]*B of $WORK/r\.fa +kept" || fail "cache: $(cat list)"
    farm
    reused || fail "a kept copy is not used: $(cat stderr)"
    farm --keep-copies -q --json j.json
    python3 -c 'import json; assert any("/dev/shm already" in note for note in json.load(open("j.json"))["notes"])' ||
        fail "notes"
    zerohop cache --clear > list
    [ -d "$(copy)" ] || fail "cache --clear removes what is to be kept"
    zerohop cache --clear --all > list
    grep -q "^removed /dev/shm/zerohop-.*/bowtie2-" list || fail "cache --clear --all says $(cat list)"
    [ -z "$(copies)" ] || fail "cache --clear --all leaves $(copies)"
    attempt cache --all
    [ $rc = 2 ] || fail "--all without --clear"
}

# several runs make, use and keep the same copy at the same time
copies_at_once() {
    need || return 0
    prepare
    local round i pids
    for round in 1 2; do
        pids=
        for i in $(seq 6); do
            timeout -s KILL 120 "$ZEROHOP" align -q --engine bowtie2 -t 1 --farm --keep-copies -o at.$i.sam \
                r.fa 1.fq 2.fq 2> at.$i.err & pids+=" $!"
        done
        i=0
        for pid in $pids; do
            i=$((i + 1))
            wait $pid || fail "one of several that keep a copy: $(cat at.$i.err)"
            cmp <(grep -v '^@' at.$i.sam) expected || fail "records of one of several"
        done
        [ "$(copies | awk '{ print $2 }')" = kept ] || fail "copies: $(copies)"
        [ -z "$(find "$(copy)" -name '.*' -type f)" ] || fail "left in the copy: $(ls -A "$(copy)")"
        # the second time it is there
    done
    zerohop cache --clear --all > /dev/null
    [ -z "$(copies)" ] || fail "copies: $(copies)"
}

# an index that has changed, and a copy that is damaged
stale_copies() {
    need || return 0
    prepare
    local folder file
    farm --keep-copies
    folder=$(copy)
    touch r.fa.1.bt2
    farm --keep-copies
    ! reused || fail "the copy of a file that was touched is used"
    farm --keep-copies
    reused || fail "the new copy is not used"
    # the same time and size, but another content of the copy
    file=$folder/r.fa.rev.1.bt2
    python3 -c '
import os, sys
with open(sys.argv[1], "r+b") as f:
    f.seek(5000); byte = f.read(1); f.seek(5000); f.write(bytes([byte[0] ^ 4]))' "$file"
    farm --keep-copies
    ! reused || fail "a damaged copy is used"
    cmp "$file" r.fa.rev.1.bt2 || fail "a damaged copy stays"
    truncate -s -1 "$file"
    farm --keep-copies
    ! reused || fail "a truncated copy is used"
    rm "$folder.json"
    farm --keep-copies
    ! reused || fail "a copy without its description is used"
    echo '{' > "$folder.json"
    farm --keep-copies
    ! reused || fail "a copy with a damaged description is used"
    # another index under the same name
    cp r.fa old.fa
    awk 'NR % 100 || /^>/' old.fa > r.fa
    bowtie2-build -q r.fa r.fa > /dev/null
    cp expected expected.old
    bowtie2 -p 2 --reorder -x r.fa -1 1.fq -2 2.fq 2>/dev/null | grep -v '^@' > expected
    ! cmp -s expected expected.old || fail "the other index gives the same records"
    farm
    ! reused || fail "the copy of an old index is used"
    cp old.fa r.fa
    bowtie2-build -q r.fa r.fa > /dev/null
    mv expected.old expected
    zerohop cache --clear --all > /dev/null
    [ -z "$(copies)" ] || fail "left: $(copies)"
}

# what a run uses is not removed; another run uses it too
copies_in_use() {
    need || return 0
    prepare
    local run i other
    mkfifo slow
    { head -n 4000 1.fq; for i in $(seq 500); do [ -e go ] && break; sleep 0.1; done; tail -n +4001 1.fq; } > slow &
    timeout 60 "$ZEROHOP" align -q --engine bowtie2 -t 2 --farm -o slow.sam r.fa slow 2.fq 2> slow.err & run=$!
    for i in $(seq 600); do [[ "$(copies)" == *in-use ]] && break; sleep 0.05; done
    [[ "$(copies)" == *in-use ]] || fail "no copy in use: $(copies)"
    zerohop cache | grep -F "$(copy)" | grep -q "in use$" || fail "cache does not say that it is in use"
    zerohop cache --clear --all > /dev/null
    [ -d "$(copy)" ] || fail "a copy in use is removed"
    farm --hang-limit 20
    reused || fail "a copy in use is not shared"
    kill -0 $run 2>/dev/null || fail "the slow run has ended: nothing was tested"
    [ -d "$(copy)" ] || fail "the end of another run removed a copy in use"
    touch go
    wait $run || fail "the slow run: $(cat slow.err)"
    cmp <(grep -v '^@' slow.sam) expected || fail "records of the slow run"
    [ -z "$(copies)" ] || fail "left: $(copies)"
    rm slow
    # two copies of one index on one node are one
    farm --replicas 2 --pages local
    # a run that was killed leaves no copy, once its processes are gone
    mkfifo slow
    { head -n 4000 1.fq; exec sleep 20; } > slow & other=$!
    "$ZEROHOP" align -q --engine bowtie2 -t 2 --farm -o slow.sam r.fa slow 2.fq 2> slow.err & run=$!
    for i in $(seq 600); do [[ "$(copies)" == *in-use ]] && break; sleep 0.05; done
    [[ "$(copies)" == *in-use ]] || fail "no copy in use: $(cat slow.err)"
    kill -9 $run
    wait $run 2>/dev/null || true
    for i in $(seq 100); do [ -z "$(copies)" ] && break; sleep 0.1; done
    [ -z "$(copies)" ] || fail "a killed run leaves $(copies)"
    end $other
    no_process_left "a killed run"
}

for part in placeholders pinned failing passed_on signals kept_copies copies_at_once stale_copies copies_in_use; do
    [[ $part =~ ${PART-} ]] || continue
    part $part
    echo "$part: as it should be"
done
