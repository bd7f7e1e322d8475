#!/bin/bash
# What can go wrong with aligners that are programs of their own: they fail, die, hang, write what they should not, or
# zerohop itself is killed. The run ends soon, with one message that names the instance, how it ended and what it said
# last; no output, no process, no index copy and no temporary file is left.
source "$(dirname "$0")/lib.sh"

cd "$WORK"
export TMPDIR=$WORK/tmp PATH="$(dirname "$STROBEALIGN"):$PATH" ZEROHOP_TEST_MARK=$WORK
mkdir tmp out
ulimit -c 0
for mate in 1 2; do
    gzip -cd "$DATA/ecoli/ecoli_150_$mate.fq.gz" > long_$mate.fq
    head -n 4000 long_$mate.fq > $mate.fq
done
cp "$DATA/viral/NC_045512.2.fasta" r.fa
gzip -cd "$DATA/viral/sarscov2_251_1.fq.gz" > v.fq
touch r.fa.fake

# An aligner for single reads whose every record is unmapped. $FAKE says what is wrong with it.
cat > fake.py <<'END'
import os, signal, subprocess, sys, time
what = os.environ.get('FAKE', '')
say = lambda words: print(words, file=sys.stderr, flush=True)
say(f'fake begins, {what}')
if what == 'warn':
    for i in range(8): say(f'Warning: odd index {i % 7}\n[M::main] batch {i}')
    say('WARNING: \x1b[1;31mred\x1b[0m \x07')
if what == 'exit': say('no licence was found'); sys.exit(3)
if what == 'deaf': time.sleep(300)
if what.startswith('child'):
    alone, elsewhere = 'stdout' not in what, 'elsewhere' in what
    subprocess.Popen(['sleep', '300'], close_fds=alone, start_new_session=elsewhere,
                     **(dict(stdout=subprocess.DEVNULL) if alone else {}))
out = sys.stdout
if what == 'garbage': out.write('welcome to fake\n')
contig = 'c'
if what == 'contigs':
    try: os.mkdir('first')
    except FileExistsError: contig = 'd'
if what != 'headless': out.write(f'@SQ\tSN:{contig}\tLN:1000\n@PG\tID:fake\tPN:fake\n')
out.flush()
lines, number, held = open('/dev/fd/3'), 0, ''
def end_of_pipe():
    while lines.read(1 << 20): pass
for name in lines:
    seq, _, qual = next(lines), next(lines), next(lines)
    number += 1
    name = name[1:].split()[0]
    fields = [name, '4', '*', '0', '0', '*', '*', '0', '0', seq.strip(), qual.strip()]
    mapped = lambda contig, cigar: [name, '0', contig, '1', '9', cigar, '*', '0', '0', seq.strip(), qual.strip()]
    if number == 500:
        out.flush()
        if what == 'signal': say('a fault is near'); os.kill(os.getpid(), signal.SIGSEGV)
        if what == 'childexit': say('a parent goes'); sys.exit(7)
        if what == 'early': sys.exit(0)
        if what == 'short': end_of_pipe(); sys.exit(0)
        if what == 'stop': time.sleep(300)
        if what == 'cigar': fields = mapped('c', '150Q')
        if what == 'length': fields = mapped('c', '7M')
        if what == 'contig': fields = mapped('elsewhere', '150M')
        if what == 'fields': fields = fields[:9]
        if what == 'number': fields[3] = 'x'
        if what == 'tag': fields.append('AS:i:many')
        if what == 'words': fields = ['something', 'is', 'wrong']
        if what == 'stranger': fields[0] = 'nobody'
        if what == 'drop': continue
        if what == 'twice': out.write('\t'.join(fields) + '\n')
        if what == 'swap': held = '\t'.join(fields) + '\n'; continue
        if what == 'nul': fields[0] = name[:-1] + chr(1)
    out.write('\t'.join(fields) + '\n' + held)
    held = ''
if what == 'mute': time.sleep(300)
if what == 'cut':
    out.flush()
    out.write('nobody\t4\t*\t0'); out.flush()
out.flush()
if what == 'lasting': os.close(1); time.sleep(300)
if what == 'late': sys.exit(9)
END
python=$(python3 -c 'import sys; print(sys.executable)')
python_aligner fake
sed 's/"fake"/"loose"/; s/"always"/"never"/' fake.toml > loose.toml
FAKES="--engine-file fake.toml --engine-file loose.toml"

engines=
"$ZEROHOP" engines > engines.txt
for E in bwa bowtie2 bowtie hisat2 snap minimap2 minibwa strobealign-program bwa-mem2 gem3; do
    grep "^$E " engines.txt | grep -q "not on the PATH" && skip_part "$E is not on the PATH" || engines+=" $E"
done

# attempt SECONDS ARGUMENTS...: within SECONDS, or it is killed (137); exit status in rc, words in stderr
attempt() {
    local limit=$1; shift
    rc=0
    timeout -s KILL "$limit" "$ZEROHOP" align -q "$@" 2> stderr || rc=$?
}

# what is in our places: processes but for $WRITER (a writer of ours), files, copies, segments of bwa
what_is_left() {
    local pid file
    for pid in $(marked); do [ "$pid" = "${WRITER-}" ] || echo "process $(ps -o pid=,args= -p "$pid")"; done
    find tmp out -mindepth 1
    grep -lsF "$WORK" /dev/shm/zerohop-"$(id -u)"/*.json
    for file in /dev/shm/bwaidx-zerohop-* /dev/shm/zerohop-"$(id -u)"/links-*; do
        [ ! -e "$file" ] || [ -e "/proc/$(sed 's/.*\(zerohop\|links\)-\([0-9]*\).*/\2/' <<< "$file")" ] || echo "$file"
    done
    return 0
}

# nothing_left NAME: within 10 s
nothing_left() {
    local i left
    for i in $(seq 50); do
        left=$(what_is_left)
        [ -n "$left" ] || return 0
        sleep 0.2
    done
    fail "$1: left behind: $left"
}

# failed NAME WORDS [SAID]: exit status 1, one error that names the instance and says WORDS (a regular expression),
# with the last words SAID, and where the log is kept; and nothing is left
failed() {
    local name=$1 words=$2 said=${3-} logs
    [ $rc = 1 ] || fail "$name: exit status $rc, $(head -c 600 stderr)"
    [ "$(grep -c '^error: ' stderr)" = 1 ] && head -n 1 stderr | grep -qE "^error: .*$words" ||
        fail "$name: no '$words' in: $(head -c 900 stderr)"
    [ -z "$said" ] || grep -qF -- "$said" stderr || fail "$name: its last words are not told: $(head -c 900 stderr)"
    logs=$(sed -n 's/^(all it said is in \(.*\))$/\1/p' stderr)
    if [ -n "$logs" ] || grep -q "^error: instance " stderr; then
        [[ $logs == $WORK/tmp/zerohop-* ]] && [ -n "$(ls "$logs")" ] || fail "$name: the log is not kept: $(cat stderr)"
        [ -z "$said" ] || grep -rqF -- "$said" "$logs" || fail "$name: the log does not have '$said': $(cat "$logs"/*)"
        rm -r "$logs"
    fi
    nothing_left "$name"
}

# fake WHAT WORDS [SAID] [ARGUMENTS...]
fake() {
    local what=$1 words=$2 said=$3; shift 3
    FAKE=$what attempt 60 --engine fake $FAKES -o out/x.sam "$@" r.fa 1.fq
    failed "$what $*" "$words" "$said"
}

sound() {
    FAKE=child attempt 60 --engine fake $FAKES -t 2 --replicas 2 -o out/x.sam r.fa long_1.fq
    [ $rc = 0 ] || fail "a sound run: $rc, $(cat stderr)"
    [ "$(grep -vc '^@' out/x.sam)" = 10000 ] || fail "$(grep -vc '^@' out/x.sam) records"
    rm out/x.sam
    nothing_left "an aligner that leaves a child behind"
    # in whatever order: put back
    FAKE=swap attempt 60 --engine loose $FAKES -t 2 -o out/x.sam r.fa 1.fq
    [ $rc = 0 ] || fail "other order where none is promised: $rc, $(cat stderr)"
    cmp <(awk 'NR % 4 == 1 { print substr($1, 2) }' 1.fq) <(grep -v '^@' out/x.sam | cut -f 1) ||
        fail "the order is not put back"
    rm out/x.sam
    # what it warns of is told, once for all instances
    FAKE=warn attempt 60 --engine fake $FAKES -t 2 --replicas 2 -o out/x.sam r.fa long_1.fq
    rm out/x.sam
    [ "$rc $(grep -c '^note: fake says: ' stderr)" = "0 5" ] && ! grep -q "M::main" stderr ||
        fail "warnings: $rc, $(cat stderr)"
    [ "$(grep -xc 'note: fake says: Warning: odd index [0-4]' stderr)" = 5 ] || fail "warnings: $(cat stderr)"
    grep -qx "note: fake has 6 further lines of warnings: --logs DIR keeps all that it says." stderr ||
        fail "warnings: $(cat stderr)"
    nothing_left "warnings"
    # logs where the user wants them
    FAKE=exit attempt 60 --engine fake $FAKES --logs logs -o out/x.sam r.fa 1.fq
    [ $rc = 1 ] && grep -q "no licence" logs/fake.0.log || fail "--logs: $(cat stderr)"
    nothing_left "--logs"
}

deaths() {
    local instances
    for instances in "-t 1" "-t 2 --replicas 2" "-t 2 --format bam"; do
        fake exit "instance [01] of fake ended with exit status 3" "no licence was found" $instances
        fake signal "instance [01] of fake was killed by signal 11" "a fault is near" $instances
        fake early "instance [01] of fake ended (with exit status 0, but|before it was given all)" "" $instances
        fake short \
            "instance [01] of fake ended with exit status 0, but 50[0-9] of 1000 reads .* did not come back.* 'HISEQ" \
            "" $instances
        fake late "instance [01] of fake ended with exit status 9" "fake begins, late" $instances
        fake childexit "instance [01] of fake ended with exit status 7" "a parent goes" $instances
    done
}

hangs() {
    fake deaf "instance 0 of fake hangs: for 2 s it took no reads" "fake begins, deaf" --hang-limit 2
    fake mute "instance 0 of fake hangs: for 2 s" "" --hang-limit 2 -t 1
    fake stop "instance [01] of fake hangs: for 2 s" "" --hang-limit 2 -t 2 --replicas 2
    fake lasting "instance 0 of fake hangs: it has closed its output" "" --hang-limit 2
    fake childstdout "instance 0 of fake" "" --hang-limit 2
    # in a process group of its own
    fake childstdoutelsewhere "instance 0 of fake" "" --hang-limit 2
}

damage() {
    local what where=("-t 1" "-t 2 --format bam") i=0 args
    for what in "cigar;CIGAR" "length;(CIGAR|length|bases)" "contig;elsewhere" "fields;" "number;" \
        "tag;(AS|tag|field)" "words;(something|not a SAM record)" "nul;"; do
        args=${where[i++ % 2]}
        FAKE=${what%%;*} attempt 60 --engine fake $FAKES $args -o out/x r.fa 1.fq
        failed "damaged record: $what" "${what#*;}"
        head -n 1 stderr | grep -qE "instance 0|HISEQ|record|SAM" || fail "damaged record, $what: $(cat stderr)"
        echo "    ${what%%;*}: $(head -n 1 stderr | cut -c 1-150)"
    done
    fake drop "instance 0 of fake wrote a record of read '.*' where one of '.*' was due" "" -t 1
    fake twice "instance 0 of fake wrote a (second primary )?record of read" "" -t 1
    fake swap "instance 0 of fake wrote a record of read '.*' where one of '.*' was due" "" -t 2
    fake stranger "instance 0 of fake wrote a record of read 'nobody'" "" -t 2
    fake cut "instance [01] of fake (ended in the middle of a line|wrote)" "" -t 2 --replicas 2
    # where no order is promised, all must come back all the same
    FAKE=drop attempt 60 --engine loose $FAKES -t 2 -o out/x.sam r.fa 1.fq
    failed "drop, in any order" \
        "of loose ended with exit status 0, but 1 of 1000 reads .* did not come back, the first of them 'HISEQ"
    FAKE=stranger attempt 60 --engine loose $FAKES -t 2 -o out/x.sam r.fa 1.fq
    failed "stranger, in any order" "instance 0 of loose wrote a record of read 'nobody', which it was not given"
}

headers() {
    rm -rf first
    FAKE=headless attempt 60 --engine fake $FAKES -o out/x.sam r.fa 1.fq
    failed "no header" "(no header|header)"
    FAKE=garbage attempt 60 --engine fake $FAKES -t 1 -o out/x.sam r.fa 1.fq
    failed "garbage before the header" "(no header|header|not a SAM record)"
    FAKE=contigs attempt 60 --engine fake $FAKES -t 2 --replicas 2 -o out/x.sam r.fa long_1.fq
    rmdir first
    failed "different contigs" "instance [01].* wrote another header"
}

# --- real aligners --------------------------------------------------------------------------------------------------

make_indexes() {
    [ ! -e indexes ] || return 0
    for E in $engines; do
        attempt 60 --engine "$E" --build-index -o whole.$E.sam r.fa v.fq
        [ $rc = 0 ] || fail "the index of $E: $(cat stderr)"
    done
    touch indexes
}

# The child of process $1 that aligns, when there is one
child_of() {
    local i pid
    for i in $(seq 1200); do
        for pid in $(pgrep -P "$1"); do
            # it aligns: it is not the reaper, nor one that is asked for its version, nor one that makes a copy
            { tr '\0' ' ' < "/proc/$pid/cmdline"; } 2>/dev/null | grep -v "reaper\|^$ZEROHOP\|^[^ ]* shm " |
                grep -qE "( [^ ]+){3}" && { echo "$pid"; return; }
        done
        kill -0 "$1" 2> /dev/null || return 0
        sleep 0.05
    done
}

# begin ARGUMENTS...: in the background, fed from the pipe `slow` by a writer that goes on for long; zerohop in run, the
# writer in WRITER
begin() {
    rm -f slow; mkfifo slow
    { cat v.fq; exec sleep 60; } > slow & WRITER=$!
    eval 'set -m; "$ZEROHOP" align -q "$@" > /dev/null 2> stderr & run=$!; set +m'
}

finish() { end $WRITER; WRITER=; rm -f slow; }

# rc of zerohop, which must end within SECONDS
await() {
    local i
    for i in $(seq $(($1 * 20))); do kill -0 $run 2>/dev/null || break; sleep 0.05; done
    ! kill -0 $run 2>/dev/null || { kill -9 $run; fail "it does not end: $2"; }
    rc=0
    wait $run 2>/dev/null || rc=$?
}

# stopped_child LIMIT: zerohop in run with --hang-limit LIMIT, its child stopped, in child; the input ends soon
stopped_child() {
    local i
    rm -f slow stopped; mkfifo slow
    { cat v.fq; for i in $(seq 1200); do [ -e stopped ] && break; sleep 0.05; done; sleep 0.3; } > slow &
    eval 'set -m
        "$ZEROHOP" align -q --engine $E --hang-limit $1 -t 2 -o out/x.sam r.fa slow 2> stderr & run=$!; set +m'
    child=$(child_of $run)
    sleep 0.2
    kill -STOP $child || fail "$E: no child to stop"
    touch stopped
}

killed_children() {
    local child args
    make_indexes
    for E in $engines; do
        for args in "-t 1" "-t 2 --replicas 2"; do
            begin --engine $E $args -o out/x.sam r.fa slow
            child=$(child_of $run)
            [ -n "$child" ] || fail "$E: no child: $(cat stderr)"
            sleep 0.2
            kill -9 $child || fail "$E: no child to kill"
            await 20 "$E, a killed child"
            failed "$E: kill -9 of the child" "instance [01] of $E was killed \(signal 9\)"
            finish
        done
        stopped_child 1
        await 30 "$E, a stopped child"
        failed "$E: SIGSTOP of the child" "instance 0 of $E hangs: for 1 s"
    done
}

# A job that a scheduler suspends as a whole for longer than --hang-limit goes on.
suspended() {
    local child
    make_indexes
    for E in $engines; do break; done
    stopped_child 3
    sleep 0.5
    kill -STOP $run
    sleep 5
    kill -CONT $run
    sleep 0.5
    kill -CONT $child
    await 60 "a suspended job"
    [ $rc = 0 ] || fail "a suspended job: $rc, $(cat stderr)"
    rm out/x.sam
}

truncated_indexes() {
    local file
    make_indexes
    for E in $engines; do
        cp r.fa t.fa
        attempt 60 --engine $E --build-index -o out/x.sam t.fa v.fq
        [ $rc = 0 ] || fail "$E: $(cat stderr)"
        rm out/x.sam
        # the largest file of the index
        file=$(find . -path './t.fa*' -type f ! -name t.fa -printf '%s %p\n' | sort -rn | sed -n '1s/[0-9]* //p')
        truncate -s $(($(stat -c %s "$file") / 2)) "$file"
        attempt 60 --engine $E -o out/x.sam t.fa v.fq
        if [ $rc = 0 ]; then
            # minimap2 takes half an index for a smaller one, ends well and says nothing
            [ $E = minimap2 ] || fail "$E: with half an index ($file) it ends well"
            echo "    note: $E does not notice that half its index is missing:" \
                "$(samtools view -c -F 4 out/x.sam 2>/dev/null) reads are mapped," \
                "not $(samtools view -c -F 4 whole.$E.sam 2>/dev/null)"
            rm -rf t.fa* out/x.sam
            continue
        fi
        failed "$E: half of $file" "instance [01] of $E (ended with exit status|was killed by signal)"
        rm -rf t.fa*
    done
}

# --- zerohop itself -------------------------------------------------------------------------------------------------

# killed NAME ARGUMENTS...: by each signal in turn, while children are at work
killed() {
    local name=$1 signal child; shift
    for signal in KILL TERM INT HUP QUIT USR1 USR2 XCPU ALRM; do
        # what clears away is the same after all of them: the less usual ones are tried once
        [[ $signal =~ KILL|TERM|INT ]] || [ "$name" = "bwa, farm" ] || continue
        begin "$@" r.fa slow
        child=$(child_of $run)
        [ -n "$child" ] || fail "$name: no child: $(cat stderr)"
        sleep 0.3
        kill -$signal $run
        await 10 "$name, SIG$signal"
        [ $rc = $((128 + $(kill -l $signal))) ] || fail "$name, SIG$signal: exit status $rc"
        [ ! -e out/x.sam ] || fail "$name, SIG$signal: an output under its name"
        nothing_left "$name, SIG$signal"
        finish
    done
}

killed_itself() {
    make_indexes
    export FAKE
    for FAKE in stop childstdout childelsewhere; do
        killed "fake, $FAKE" --engine fake $FAKES -t 2 --replicas 2 -o out/x.sam
    done
    unset FAKE
    for E in bwa bowtie2; do
        [[ " $engines " == *" $E "* ]] || continue
        killed "$E, shards" --engine $E -t 2 --shards 2 -o out/x.bam
        killed "$E, farm" --engine $E -t 3 --farm --replicas 2 --pages local -o out/x.sam
    done
}

# what clears away gets the signal as well, as from a scheduler that sends it to all processes of a job
killed_job() {
    local signal child all
    make_indexes
    for E in bwa bowtie2; do
        [[ " $engines " == *" $E "* ]] || continue
        for signal in TERM INT USR1 QUIT; do
            begin --engine $E -t 2 --farm -o out/x.sam r.fa slow
            child=$(child_of $run)
            [ -n "$child" ] || fail "$E: no child: $(cat stderr)"
            sleep 0.2
            all=$(pgrep -P $run)
            kill -$signal $run $all
            await 10 "$E, SIG$signal to all"
            nothing_left "$E, SIG$signal to all"
            finish
        done
    done
}

# nobody is left to clear away: `zerohop cache` does it, and the next run
killed_reaper() {
    local child reaper segment next
    make_indexes
    [[ " $engines " == *" bwa "* ]] || return 0
    for next in cache run; do
        begin --engine bwa -t 2 --farm -o out/x.sam r.fa slow
        child=$(child_of $run)
        [ -n "$child" ] || fail "no child: $(cat stderr)"
        segment=$(basename /dev/shm/bwaidx-zerohop-$run-*)
        "$ZEROHOP" cache > list
        grep -qE "^/dev/shm/$segment  .*[0-9] [KMGi]*B of r.fa  in use$" list || fail "a segment in use: $(cat list)"
        "$ZEROHOP" cache --clear --all > list
        [ -e /dev/shm/$segment ] && ! grep $segment list || fail "a segment in use is removed"
        reaper=$(pgrep -P $run -f reaper)
        kill -9 $reaper $run
        await 10 "killed with its reaper"
        finish
        [ -e /dev/shm/$segment ] || fail "it is gone: nothing is tested"
        "$ZEROHOP" cache | grep -qE "^/dev/shm/$segment  .* of r.fa  not in use$" ||
            fail "a segment that is left: $("$ZEROHOP" cache)"
        "$ZEROHOP" cache --json | python3 -c "
import json, sys
[c] = [c for c in json.load(sys.stdin) if c['segment'] == '/dev/shm/$segment']
assert not c['in_use'] and c['manifest']['engine'] == 'bwa' and c['manifest']['source'] == 'r.fa', c" ||
    fail "cache --json"
        case $next in
            cache) "$ZEROHOP" cache --clear | grep -qx "removed /dev/shm/$segment" ||
                fail "cache --clear does not say it";;
            run) attempt 60 --engine bwa -t 2 --farm -o out/y.sam r.fa v.fq; [ $rc = 0 ] ||
                fail "the next run: $(cat stderr)"; rm out/y.sam;;
        esac
        [ ! -e /dev/shm/$segment ] || fail "$next leaves it"
        ! grep -q $segment /dev/shm/bwactl 2> /dev/null || fail "$next leaves its entry in the list"
        # what else was left: the output and the logs
        rm -rf out/.x* out/x* tmp/zerohop-*
        nothing_left "after $next"
    done
}

# /dev/shm without room: one line, before anything is copied; and nothing is left there
small_shm() {
    local E
    unshare -m true 2> /dev/null ||
        { skip_part "small /dev/shm: no mount namespace can be made here"; return 0; }
    make_indexes
    for E in bwa bowtie2; do
        [[ " $engines " == *" $E "* ]] || continue
        rc=0
        timeout -s KILL 60 unshare -m sh -c 'mount -t tmpfs -o size=100k none /dev/shm && "$@"; rc=$?
            ls -A /dev/shm/zerohop-* /dev/shm/bwa* > left 2> /dev/null; exit $rc' sh \
            "$ZEROHOP" align -q --engine $E -t 2 --farm -o out/x.sam r.fa v.fq 2> stderr || rc=$?
        [ $rc = 1 ] && [ "$(wc -l < stderr)" = 1 ] || fail "$E, small /dev/shm: exit status $rc, $(cat stderr)"
        grep -qE "^error: /dev/shm is too small .*: copies need [0-9.]+ [KMG]iB, and [0-9.]+ [KMG]iB are free" stderr ||
            fail "$E, small /dev/shm: $(cat stderr)"
        [ -z "$(grep -v ':$' left)" ] || fail "$E, small /dev/shm: left $(cat left)"
        nothing_left "$E, small /dev/shm"
    done
}

# a byte that is no UTF-8 in every path
odd_paths() {
    local E odd=$'odd\xff' kind
    make_indexes
    mkdir -p "$odd/tmp" "$odd/logs"
    for E in bwa bowtie2; do
        [[ " $engines " == *" $E "* ]] || continue
        cp r.fa "$odd/r$odd.fa"; cp v.fq "$odd/v$odd.fq"
        for kind in "-t 2 --build-index" "-t 2 --replicas 2" "-t 2 --farm" "-t 2 --farm --keep-copies" "-t 2 --farm" \
            "-t 1 --compare-with original"; do
            TMPDIR="$WORK/$odd/tmp" attempt 60 --engine $E $kind --logs "$odd/logs" -o "$odd/x$odd.sam" \
                --json "$odd/x$odd.json" "$odd/r$odd.fa" "$odd/v$odd.fq"
            [ $rc = 0 ] || fail "$E $kind, odd paths: $rc, $(cat stderr)"
            cmp <(grep -v '^@' "$odd/x$odd.sam") <(grep -v '^@' whole.$E.sam) ||
                fail "$E $kind, odd paths: other records"
            [ -s "$odd/x$odd.json" ] && [ -e "$odd/logs/$E.0.log" ] && [ -z "$(ls -A "$odd/tmp")" ] ||
                fail "$E $kind: $(ls -A "$odd" "$odd"/*)"
        done
        "$ZEROHOP" cache --clear --all > /dev/null
        rm -f "$odd"/*.*
        nothing_left "$E, odd paths"
    done
}

# while the aligner runs by itself to be compared with
killed_comparison() {
    local i
    export FAKE=
    rm -f once
    # the second run of the program is the one by itself
    sed -e 's/^program = .*/program = ["'"${WORK//\//\\/}"'\/second.sh"]/; s/^arguments = .*/arguments = []/' \
        -e 's/^single = .*/single = ["{reads_1}"]\nplain_single = ["plain"]/; s/"fake"/"second"/' \
        fake.toml > second.toml
    printf '#!/bin/sh\n[ "$1" != plain ] || { touch %s/once; sleep 300; }\nexec %s -S %s/fake.py "$@"\n' "$WORK" \
        "$python" "$WORK" > second.sh
    chmod +x second.sh
    cp r.fa.fake r.fa.second
    sed -i 's/".fake"/".second"/' second.toml
    eval 'set -m
        "$ZEROHOP" align -q --engine second --engine-file second.toml --compare-with original -o c.sam r.fa 1.fq \
            2> stderr & run=$!; set +m'
    for i in $(seq 1200); do [ -e once ] && break; kill -0 $run 2>/dev/null || break; sleep 0.05; done
    [ -e once ] || fail "the aligner by itself does not start: $(cat stderr)"
    kill -9 $run
    wait $run 2>/dev/null || true
    rm -f c.sam
    nothing_left "killed while it compares"
}

# no output is written over what the aligner reads, which is known only when its index is found
kept_inputs() {
    local option file
    make_indexes
    for option in -o --json --mqc; do
        # an empty file of an index is of no other kind
        attempt 60 --engine fake $FAKES --format sam $option r.fa.fake r.fa 1.fq > /dev/null
        [ $rc = 2 ] && [ ! -s r.fa.fake ] && grep -q "^error: r.fa.fake is an input and cannot be the output" stderr ||
            fail "$option: $rc, $(cat stderr)"
    done
    mkdir linked; ln -s ../r.fa.fake linked/fake.0.log
    attempt 60 --engine fake $FAKES --logs linked r.fa 1.fq > /dev/null
    [ $rc = 2 ] && [ ! -s r.fa.fake ] && grep -q "^error: linked/fake.0.log is an input" stderr ||
        fail "--logs: $rc, $(cat stderr)"
    for file in $(ls r.fa.bwt r.fa.sa r.fa.*.bt2 r.fa.*.mmi 2> /dev/null); do
        case $file in *.bt2) E=bowtie2;; *.mmi) E=minimap2;; *) E=bwa;; esac
        cp $file before
        for option in -o --json --mqc --logs; do
            attempt 60 --engine $E $option $file r.fa v.fq > /dev/null
            [ $rc != 0 ] && cmp -s $file before || fail "$option $file: $rc, $(cat stderr)"
        done
    done
    nothing_left "outputs that are inputs"
}

# --- inputs and outputs ---------------------------------------------------------------------------------------------

outputs() {
    local E file full="cannot write: No space left on device \(os error 28\)" some="fake"
    make_indexes
    [[ "$engines " != *" bowtie2 "* ]] || some+=" bowtie2"
    for E in $some; do
        attempt 60 --engine $E $FAKES -t 2 --replicas 2 -o /dev/full r.fa long_1.fq
        failed "$E: /dev/full" "/dev/full: $full"
        attempt 60 --engine $E $FAKES -t 2 --format bam r.fa long_1.fq > /dev/full
        failed "$E: standard output is full" "standard output: $full"
        # a reader that goes away is no failure
        set +e
        timeout -s KILL 60 "$ZEROHOP" align -q --engine $E $FAKES -t 2 --replicas 2 r.fa long_1.fq 2> stderr |
            head -n 1 > first.line
        rc=${PIPESTATUS[0]}
        set -e
        [ $rc = 0 ] && [ ! -s stderr ] && grep -q '^@' first.line || fail "$E: a closed pipe: $rc, $(cat stderr)"
        nothing_left "$E: a closed pipe"
        # also while the input stands still
        begin --engine $E $FAKES -t 2 -o /dev/full r.fa long_1.fq --reads slow
        await 20 "$E, a full output and a slow input"
        failed "$E: a full output and a slow input" "/dev/full: $full"
        finish
    done
    attempt 60 --engine fake $FAKES -o no/such/folder/x.sam r.fa 1.fq
    failed "no folder" "no/such/folder/x.sam: cannot"
}

full_disks() {
    local E
    mkdir -p disk
    [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=1m zerohop-full disk 2>/dev/null ||
        { echo "full disks: not tested, a small tmpfs cannot be mounted"; return 0; }
    at_exit 'umount "$WORK/disk"'
    make_indexes
    for E in fake $(grep -ow bowtie2 <<< "$engines" | head -n 1); do
        for file in x.sam "x.bam --level 0"; do
            attempt 60 --engine $E $FAKES -t 2 --replicas 2 -o disk/$file r.fa long_1.fq
            failed "$E: a full disk" "disk/${file%% *}: cannot write: No space left on device"
            [ -z "$(ls -A disk)" ] || fail "left on the full disk: $(ls -A disk)"
        done
    done
    # no room for logs
    head -c 2000000 /dev/zero > disk/zeros 2>/dev/null || true
    TMPDIR=$WORK/disk attempt 60 --engine fake $FAKES -o out/x.sam r.fa 1.fq
    [ $rc != 137 ] || fail "no room for logs: it hangs"
    rm -f out/x.sam disk/zeros
    rm -rf disk/zerohop-*
    nothing_left "no room for logs"
}

damaged_reads() {
    local E
    # read 700 has a quality too few, behind a first chunk that was given already
    awk 'NR == 24000 { print substr($0, 2); next } { print }' long_1.fq > bad.fq
    local read byte
    read=$(sed -n 23997p bad.fq | cut -d ' ' -f 1 | tr -d @)
    byte=$(head -n 23996 bad.fq | wc -c)
    make_indexes
    for E in fake $engines; do
        attempt 60 --engine $E $FAKES --build-index -t 2 --replicas 2 -o out/x.sam r.fa bad.fq
        [ "$(wc -l < stderr)" = 1 ] || fail "$E: a damaged read: $(cat stderr)"
        failed "$E: a damaged read" "bad.fq.*$read"
        grep -q "record 6000\b" stderr && grep -qE "byte (${byte::-3}[0-9]{3})" stderr ||
            fail "$E: a damaged read (record 6000 at byte $byte): $(cat stderr)"
    done
    attempt 60 --engine fake $FAKES -o out/x.sam r.fa <(head -c 300000 long_1.fq)
    failed "truncated reads" "/dev/fd/"
    E=$(grep -ow "bwa\|bowtie2\|minimap2" <<< "$engines" | head -n 1) || true
    [ -n "$E" ] || return 0
    attempt 60 --engine $E -t 2 -o out/x.sam r.fa 1.fq <(head -n 3996 2.fq)
    failed "$E: a mate is missing" "read"
}

for part in sound deaths hangs damage headers killed_children suspended truncated_indexes killed_itself killed_job \
    killed_reaper small_shm odd_paths killed_comparison kept_inputs outputs full_disks damaged_reads; do
    [[ $part =~ ${PART-} ]] || continue
    part $part
    echo "$part: as it should be"
done
