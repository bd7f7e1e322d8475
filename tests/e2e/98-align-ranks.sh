#!/bin/bash
# zerohop align over ranks: the same bytes as one process, with OpenMPI and MPICH, embedded and external engines,
# plain, BGZF and gzip input, SAM and BAM, one file or shards, and the reads that were not aligned. What was interrupted
# is finished by the same command, wherever it was killed; another job, streams, missing folders, too few ranks and too
# little memory are refused, in words that are said once. LONG=1: every part with both MPIs, every number of ranks with
# every compression, more shards, more reads to be killed in, and every call to be killed at instead of every fourth.
source "$(dirname "$0")/lib.sh"
cd "$WORK"
[ -n "$(mpis)" ] || skip "neither OpenMPI nor MPICH is here"
# a reference, and pairs of different lengths, of more than one chunk
python3 - <<'END'
import gzip, random
random.seed(7)
genome = ''.join(random.choice('ACGT') for _ in range(300_000))
with open('ref.fa', 'w') as f:
    f.write('>a\n' + genome[:200_000] + '\n>b\n' + genome[200_000:] + '\n')
complement = str.maketrans('ACGT', 'TGCA')
with open('1.fq', 'w') as one, open('2.fq', 'w') as two:
    for i in range(30_000):
        at, insert = random.randrange(299_000), random.randrange(250, 450)
        fragment = genome[at:at + insert]
        first, second = fragment[:random.choice((100, 120, 150))], fragment[::-1].translate(complement)[:140]
        if i % 1500 == 0: second = ''.join(random.choice('ACGT') for _ in second)
        one.write(f'@r{i} c\n{first}\n+\n{"I" * len(first)}\n')
        two.write(f'@r{i} c\n{second}\n+\n{"H" * len(second)}\n')
    one.write('\n\n')
for n in '12':
    with open(n + '.fq', 'rb') as f, gzip.open(n + '.fq.gz', 'wb', 1) as out: out.write(f.read())
END
for n in 1 2; do bgzip -c $n.fq > $n.bgz || skip "bgzip is not on the PATH"; done
records() { samtools view --no-PG -h "$1" | grep -v '^@PG'; }
# aligns with one process: ARGUMENTS..., to one.sam
one() { zerohop align -q -t 2 -o "$@"; }
# beside FILE: options for pairs of which a mate was not aligned
beside() { echo "--unaligned $1.fq.gz --unaligned-mates any"; }
# same_beside OURS THEIRS: those pairs of both files
same_beside() { cmp <(gzip -cd "$1.fq.gz") <(gzip -cd "$2.fq.gz") || fail "$1: other reads that were not aligned"; }

# Lines RANKS FIRST SECOND: a number of ranks, and the files that they read
ways() {
    printf '%s\n' "1 1.fq 2.fq" "2 1.bgz 2.bgz" "3 1.fq.gz 2.fq.gz" "4 1.fq 2.fq"
    [ -z "${LONG-}" ] || printf '%s\n' "1 1.bgz 2.bgz" "1 1.fq.gz 2.fq.gz" "2 1.fq 2.fq" "2 1.fq.gz 2.fq.gz" \
        "3 1.fq 2.fq" "3 1.bgz 2.bgz" "4 1.bgz 2.bgz" "4 1.fq.gz 2.fq.gz"
}

same() {
    one one.sam $(beside one.sam) ref.fa 1.fq 2.fq
    one one.bam ref.fa 1.fq 2.fq --reads 1.bgz
    [ "$(gzip -cd one.sam.fq.gz | wc -l)" -ge 160 ] || fail "too few reads that were not aligned"
    local name compiler launch n nodes input
    while read -r name compiler launch; do
        zerohop mpi --compiler "$compiler" -o "$WORK/$name.so" > /dev/null
        export ZEROHOP_MPI="$WORK/$name.so"
        while read -r n input; do
            timeout -k 5 120 $launch -n $n "$ZEROHOP" align --ranks=$n -t 1 -o r.sam $(beside r.sam) --json r.json \
                ref.fa $input > log 2>&1 < /dev/null || { cat log >&2; fail "$name, $n ranks, $input"; }
            cmp <(records one.sam) <(records r.sam) || fail "$name, $n ranks, $input: other records"
            same_beside r.sam one.sam
            [ ! -e r.sam.progress ] || fail "progress is left"
            rm r.sam r.sam.fq.gz
            [ $n = 1 ] || python3 - $n <<'END' || { cat log >&2; fail "the report of $n ranks"; }
import json, sys
report = json.load(open('r.json'))
assert len(report['ranks']) == int(sys.argv[1]), report['ranks']
assert sum(rank['tally']['reads'] for rank in report['ranks']) == report['run']['tally']['reads'] == 60_000
END
            nodes=$(find /sys/devices/system/node -maxdepth 1 -name 'node[0-9]*' | wc -l)
            [ $n -le "$nodes" ] || grep -q "$n ranks on .* hold an index of their own" log || { cat log >&2
            fail "more copies than nodes are not told"; }
        done < <(ways)
        timeout -k 5 120 $launch -n 3 "$ZEROHOP" align --ranks -q -t 1 -o r.bam ref.fa 1.fq 2.fq --reads 1.bgz > log \
            2>&1 < /dev/null ||
            { cat log >&2; fail "$name, BAM"; }
        samtools quickcheck r.bam || fail "$name: the BAM is damaged"
        cmp <(records one.bam) <(records r.bam) || fail "$name, two lanes, BAM: other records"
        rm r.bam
        echo "$name: 1 to 4 ranks give the records of one process"
    done < <(mpis)
}

# a file for each rank, with more files than ranks, and with more than there are chunks; embedded and external. (bwa's
# records depend on which process had the reads, says its descriptor.)
shards() {
    local name compiler launch n shards engine i options table="strobealign 2 40
minimap2 2 3"
    [ -z "${LONG-}" ] || table+="
strobealign 3 3
minimap2 3 40"
    for engine in strobealign minimap2; do
        command -v $engine > /dev/null || [ $engine = strobealign ] || { skip_part "$engine is not on the PATH"
        continue; }
        [ $engine = strobealign ] && options= || options=--build-index
        for shards in $(grep "^$engine " <<< "$table" | cut -d ' ' -f 3); do
            one $engine-$shards.bam $options --engine $engine --shards $shards ref.fa 1.fq 2.fq
        done
    done
    while read -r name compiler launch; do
        export ZEROHOP_MPI="$WORK/$name.so"
        [ -e "$ZEROHOP_MPI" ] || zerohop mpi --compiler "$compiler" -o "$ZEROHOP_MPI" > /dev/null
        while read -r engine n shards; do
            [ -e $engine-$shards.1.bam ] || continue
            timeout -k 5 120 $launch -n $n "$ZEROHOP" align --ranks -q -t 1 --engine $engine --shards $shards -o r.bam \
                ref.fa 1.fq 2.fq > log 2>&1 < /dev/null ||
                { cat log >&2; fail "$name, $engine, $n ranks, $shards shards"; }
            for i in $(seq $shards); do
                samtools quickcheck r.$i.bam || fail "$name, $engine: shard $i of $shards is damaged"
                cmp <(records $engine-$shards.$i.bam) <(records r.$i.bam) ||
                    fail "$name, $engine, $n ranks, shard $i of $shards: other records"
            done
            rm r.*.bam
            [ ! -e r.bam ] && [ ! -e r.bam.progress ] || fail "something is left"
        done <<< "$table"
        echo "$name: shards have the records of those of one process"
    done < <(some_mpis)
}

external() {
    command -v minimap2 > /dev/null || { skip_part "minimap2 is not on the PATH"; return 0; }
    one minimap2.sam --engine minimap2 --build-index ref.fa 1.fq 2.fq
    local name compiler launch n
    while read -r name compiler launch; do
        export ZEROHOP_MPI="$WORK/$name.so"
        [ -e "$ZEROHOP_MPI" ] || zerohop mpi --compiler "$compiler" -o "$ZEROHOP_MPI" > /dev/null
        for n in ${LONG:+2} 3; do
            timeout -k 5 120 $launch -n $n "$ZEROHOP" align --ranks -q -t 1 --engine minimap2 -o r.sam ref.fa 1.fq \
                2.fq > log 2>&1 < /dev/null ||
                { cat log >&2; fail "$name, minimap2, $n ranks"; }
            cmp <(records minimap2.sam) <(records r.sam) || fail "$name, minimap2, $n ranks: other records"
            rm r.sam
        done
        echo "$name: minimap2 over ranks gives the records of one process"
    done < <(some_mpis)
}

# an alignment that takes long enough to be killed in the middle: many more reads
resume() {
    for n in 1 2; do for i in 1 2 3 ${LONG:+4 5 6}; do head -n 120000 $n.fq; done > long$n.fq; done
    local name compiler launch kills=0 round rc victim
    local begun whole_ms; begun=$(date +%s%N)
    one whole.sam $(beside whole.sam) ref.fa long1.fq long2.fq
    whole_ms=$((($(date +%s%N) - begun) / 1000000))
    read -r name compiler launch < <(mpis)
    export ZEROHOP_MPI="$WORK/$name.so"
    [ -e "$ZEROHOP_MPI" ] || zerohop mpi --compiler "$compiler" -o "$ZEROHOP_MPI" > /dev/null
    for round in $(seq 1 "${KILLS:-4}"); do
        timeout -k 5 120 $launch -n 2 "$ZEROHOP" align --ranks -q -t 1 -o k.sam $(beside k.sam) ref.fa long1.fq \
            long2.fq > log 2>&1 < /dev/null &
        local job=$!
        # at any time up to three quarters of what the whole takes: later rounds have less to do, and may have ended
        # by then
        sleep "$(python3 -c "import random; print(0.75e-3 * $whole_ms * random.random())")"
        victim=$(zerohops "align --ranks -q -t 1.*-o k.sam" | shuf -n 1)
        [ -z "$victim" ] || ! kill -9 "$victim" 2> /dev/null || kills=$((kills + 1))
        rc=0; wait $job || rc=$?
        # also if a rank was killed that had done its work: what is there must be whole, and is compared below
        [ ! -e k.sam ] || break
        [ $rc != 0 ] && [ $rc != 124 ] || { cat log >&2; fail "a rank was killed: $rc"; }
    done
    if [ ! -e k.sam ]; then
        # with another number of ranks
        timeout -k 5 120 $launch -n 3 "$ZEROHOP" align --ranks -q -t 1 -o k.sam $(beside k.sam) ref.fa long1.fq \
            long2.fq > log 2>&1 < /dev/null || { cat log >&2; fail "the last go"; }
        rc=0
    fi
    cmp <(records whole.sam) <(records k.sam) || fail "after $kills kills: other records"
    same_beside k.sam whole.sam
    [ $rc != 0 ] || [ ! -e k.sam.progress ] || fail "progress is left"
    echo "killed $kills times, and finished by the same command: the records of one process"
    # one process by itself
    one whole2.sam --shards 2 ref.fa long1.fq long2.fq
    "$ZEROHOP" align -q -t 1 --durable --shards 2 -o d.sam ref.fa long1.fq long2.fq > log 2>&1 & job=$!
    local i; for i in $(seq 300); do grep -qs batch d.sam.progress/rank-0.jsonl && break; sleep 0.1; done
    kill -9 $job 2> /dev/null || true
    wait $job || true
    [ ! -e d.1.sam ] || fail "killed, and the output is there"
    "$ZEROHOP" align -t 2 --resume --shards 2 -o d.sam ref.fa long1.fq long2.fq > log 2>&1 || { cat log >&2
    fail "it is not resumed"; }
    [ ! -e d.sam.progress ] || fail "progress is left"
    for i in 1 2; do cmp <(records whole2.$i.sam) <(records d.$i.sam) || fail "--durable: other records"; done
    grep -q "reads were finished before, and were not aligned again" log || { cat log >&2; fail "it began anew"; }
}

# a rank that outlives the first one: the same command waits for it, and then finishes the job
outlived() {
    [ -e long1.fq ] || for n in 1 2; do for i in 1 2 3; do head -n 120000 $n.fq; done > long$n.fq; done
    [ -e whole.sam ] || one whole.sam $(beside whole.sam) ref.fa long1.fq long2.fq
    local name compiler launch launchers pids i
    read -r name compiler launch < <(mpis)
    export ZEROHOP_MPI="$WORK/$name.so"
    [ -e "$ZEROHOP_MPI" ] || zerohop mpi --compiler "$compiler" -o "$ZEROHOP_MPI" > /dev/null
    $launch -n 2 "$ZEROHOP" align --ranks -q -t 1 -o v.sam ref.fa long1.fq long2.fq > begun 2>&1 < /dev/null &
    local job=$!
    writes() { grep -Eqs "^rank $1, process [0-9]+ on host ." v.sam.progress/writer-$1; }
    for i in $(seq 600); do { writes 0 && writes 1; } && break; sleep 0.1; done
    pids=($(sed -E 's/.*process ([0-9]+) .*/\1/' v.sam.progress/writer-0 v.sam.progress/writer-1))
    [ ${#pids[@]} = 2 ] || { cat begun >&2; fail "who writes is not said"; }
    # that would end the other
    launchers="$job $(ps -o ppid= -p "${pids[1]}")"
    kill -STOP $launchers
    kill -9 "${pids[0]}"
    timeout -k 5 120 $launch -n 2 "$ZEROHOP" align --ranks -q -t 1 -o v.sam ref.fa long1.fq long2.fq > log 2>&1 < \
        /dev/null &
    local again=$!
    for i in $(seq 600); do grep -q "still writes to it" log && break; sleep 0.1; done
    kill -9 "${pids[1]}" $launchers
    wait $job || true
    wait $again || { cat log >&2; fail "after a rank that outlived the first one"; }
    grep -q "rank 1, process ${pids[1]} on host .*, of an earlier run, still writes to it: waiting" log ||
        { cat log >&2; fail "it is not said which rank still writes"; }
    cmp <(records whole.sam) <(records v.sam) || fail "after a rank that outlived the first one: other records"
    echo "a rank that outlives the first one is waited for"
}

refusals() {
    local rc words name compiler launch
    refused() { # STATUS WORDS ARGUMENTS...
        local status=$1 words=$2; shift 2
        rc=0; timeout -k 5 60 "$ZEROHOP" align -q "$@" > log 2>&1 < /dev/null || rc=$?
        [ $rc = "$status" ] && grep -q -- "$words" log || { cat log >&2; fail "not refused: $*"; }
    }
    refused 2 "need an output file" --durable ref.fa 1.fq
    refused 2 "must be in regular files" --durable -o x.sam ref.fa -
    refused 1 "there is no progress to resume" --resume -o x.sam ref.fa 1.fq
    read -r name compiler launch < <(mpis)
    [ -e "$name.so" ] || zerohop mpi --compiler "$compiler" -o "$WORK/$name.so" > /dev/null
    rc=0; ZEROHOP_MPI= timeout -k 5 60 env -u ZEROHOP_MPI XDG_CACHE_HOME="$WORK/none" $launch -n 2 "$ZEROHOP" align \
        --ranks -q -o x.sam ref.fa 1.fq > log 2>&1 < /dev/null || rc=$?
    [ $rc != 0 ] && grep -q "the library by which they find each other is not there" log || { cat log >&2
    fail "R copies of one rank run"; }
    # a damaged input ends all ranks, and says where
    { head -n 100000 1.fq; echo "xxx"; tail -n +100001 1.fq; } > bad.fq
    rc=0; ZEROHOP_MPI="$WORK/$name.so" timeout -k 5 60 $launch -n 2 "$ZEROHOP" align --ranks -q -t 1 -o x.sam ref.fa \
        bad.fq > log 2>&1 < /dev/null || rc=$?
    [ $rc != 0 ] && [ $rc -lt 124 ] && grep -q "bad.fq: record 25001" log || { cat log >&2; fail "a damaged input"; }
    [ ! -e x.sam ] || fail "a failed run has left its output"
    # no reads at all: the header
    : > empty.fq
    ZEROHOP_MPI="$WORK/$name.so" timeout -k 5 60 $launch -n 2 "$ZEROHOP" align --ranks -q -t 1 -r 150 -o e.sam ref.fa \
        empty.fq > log 2>&1 < /dev/null || { cat log >&2; fail "no reads"; }
    zerohop align -q -r 150 -o e1.sam ref.fa empty.fq
    cmp <(grep -v '^@PG' e1.sam) <(grep -v '^@PG' e.sam) || fail "no reads: another header"
    # nor in files whose end is found only when they are read; and blank lines before the reads
    : | gzip > empty.gz; : | bgzip > empty.bgz; yes '' | head -n 300 > blank.fq || true
    local input
    for input in empty.gz empty.bgz blank.fq; do
        zerohop align -q -t 2 --durable -r 150 -o e.sam ref.fa $input
        cmp <(grep -v '^@PG' e1.sam) <(grep -v '^@PG' e.sam) || fail "no reads in $input: another header"
        zerohop align -q -r 150 -o f1.bam ref.fa --reads $input --reads 1.bgz
        zerohop align -q -t 2 --durable -r 150 -o f.bam ref.fa --reads $input --reads 1.bgz
        cmp <(records f1.bam) <(records f.bam) || fail "no reads in $input, then some: other records"
        rm e.sam f.bam
    done
    echo "what makes no sense is refused"
}

# unfinished OPTION...: a job of one process, to p.sam, that fails in the middle and has recorded something
unfinished() {
    # room for the first run of chunks of any of these files (7 of 8 chunks where they are not counted), not for all
    local blocks=17250
    # without qualities
    [[ $* != *.fa\ *.fa\ *.fa* ]] || blocks=10220
    rm -rf p.*
    ! (trap '' XFSZ; ulimit -f $blocks; exec "$ZEROHOP" align -q -t 1 --durable -o p.sam "$@") > log 2>&1 ||
        fail "there was no limit"
    grep -q "p.sam.progress.*File too large" log &&
        grep -q '^{"batch":0,' <(tr -d '\0' < p.sam.progress/rank-0.jsonl) ||
        { cat log >&2; fail "nothing is recorded"; }
}

# after unfinished: what a job is made of
progress() {
    local words what
    one one.sam ref.fa 1.fq 2.fq
    unfinished ref.fa 1.fq 2.fq
    zerohop align -t 1 --durable -o p.sam ref.fa 1.fq 2.fq
    grep -q "^note: p.sam.progress: [1-9][0-9,]* reads were finished before" "$WORK/zerohop.stderr" ||
        { cat "$WORK/zerohop.stderr" >&2; fail "it began anew"; }
    cmp <(records one.sam) <(records p.sam) && [ ! -e p.sam.progress ] || fail "the same job is not finished"
    # other options and other files: refused in words, and the progress stays
    unfinished ref.fa 1.fq 2.fq
    cp p.sam.progress/rank-0.jsonl before
    while IFS='|' read -r words what; do
        ! "$ZEROHOP" align -q -t 1 --durable -o p.sam $what > log 2>&1 || fail "another job is finished: $what"
        grep -q "the progress of another job (.*$words.*--restart" log || { cat log >&2; fail "no clear words: $what"; }
        [ ! -e p.sam ] && cmp before p.sam.progress/rank-0.jsonl || fail "the progress is lost: $what"
    done <<'END'
--shards: 1 then, 2 now|--shards 2 ref.fa 1.fq 2.fq
-C: false then, true now|--resume -C ref.fa 1.fq 2.fq
the read groups: none then, ID:x now|--rg-id x ref.fa 1.fq 2.fq
the reads, file 2: 2.fq, [0-9]* bytes, .* then, not given now|ref.fa 1.fq
the aligner: strobealign .* then, null .* now|--engine null ref.fa 1.fq 2.fq
END
    zerohop align -t 1 --durable --restart -o p.sam ref.fa 1.fq 2.fq
    ! grep -q "finished before" "$WORK/zerohop.stderr" || fail "--restart begins in the middle"
    cmp <(records one.sam) <(records p.sam) || fail "--restart: other records"
    ! "$ZEROHOP" align -q --resume --restart -o p.sam ref.fa 1.fq 2> /dev/null || fail "both --resume and --restart"
}

# A file that was changed in the middle is another one: of reads that are counted, of others, and of an index.
changed() {
    local files name at
    for name in 1 2; do awk 'NR % 4 == 1 && NF { print ">" substr($0, 2) } NR % 4 == 2 && NF' $name.fq > $name.fa; done
    cp ref.fa c.fa; for name in 1.fq 1.fa 1.fq.gz; do cp $name c.$name; done
    while read -r name files; do
        unfinished $files
        at=$(($(stat -c %s $name) / 2))
        # one byte, in no line of its own
        python3 - $name $at <<'END'
import sys
with open(sys.argv[1], 'r+b') as file:
    file.seek(int(sys.argv[2]))
    text = file.read(4096)
    at = next((i for i, byte in enumerate(text) if byte in b'ACGT'), 0)
    file.seek(int(sys.argv[2]) + at)
    file.write(b'A' if text[at:at + 1] != b'A' else b'C')
END
        ! "$ZEROHOP" align -q -t 1 --durable --resume -o p.sam $files > log 2>&1 ||
            fail "$name: a change is not noticed"
        grep -q "another job (.*$name, .* then, $name, .* now)" log || { cat log >&2; fail "$name: no clear words"; }
    done <<'END'
c.1.fq ref.fa c.1.fq 2.fq
c.1.fa ref.fa c.1.fa 2.fa
c.1.fq.gz ref.fa c.1.fq.gz 2.fq.gz
c.fa c.fa 1.fq 2.fq
END
}

# Killed at any call that changes a name or waits for the disk: the same command finishes it.
killed() {
    command -v strace > /dev/null && strace -qq -o /dev/null true 2> /dev/null ||
        { skip_part "there is no strace that works"; return 0; }
    head -n 400 1.fq > s1.fq; head -n 400 2.fq > s2.fq
    local job=(align -q -t 1 --durable --shards 2 -o s.sam ref.fa s1.fq s2.fq) call number rc kills=0 every=4
    [ -z "${LONG-}" ] || every=1
    "$ZEROHOP" align -q -t 1 --shards 2 -o w.sam ref.fa s1.fq s2.fq
    for call in mkdir fsync fdatasync rename unlink,unlinkat rmdir; do
        for number in $(seq 1 $every 20); do
            rm -rf s.*sam*
            rc=0
            # (the shell would tell of each)
            { strace -f -qq -o /dev/null -e trace=$call -e inject=$call:signal=KILL:when=$number \
                "$ZEROHOP" "${job[@]}" > log 2>&1 || rc=$?; } 2> /dev/null
            [ $rc != 0 ] || break
            kills=$((kills + 1))
            zerohop "${job[@]}"
            for i in 1 2; do
                cmp <(records w.$i.sam) <(records s.$i.sam) || fail "killed at $call $number: other records"
            done
            [ ! -e s.sam.progress ] || fail "killed at $call $number: progress is left"
        done
    done
    [ $kills -ge $((40 / every)) ] || fail "killed only $kills times"
    echo "killed at $kills calls, and finished each time"
}

# A disk that is full ends all ranks with one message; when it has room, the same command finishes the job.
full_disk() {
    local name compiler launch rc job words
    local n i
    for n in 1 2; do for i in 1 2; do head -n 120000 $n.fq; done > twice$n.fq; done
    one one.sam ref.fa twice1.fq twice2.fq
    mkdir -p disk
    while read -r name compiler launch; do
        [ -e "$name.so" ] || zerohop mpi --compiler "$compiler" -o "$WORK/$name.so" > /dev/null
        job="timeout -k 5 120 $launch -n 2 $ZEROHOP align --ranks -t 1 --mpi $WORK/$name.so"
        job="$job -o disk/f.sam ref.fa twice1.fq twice2.fq"
        # room for both first runs of chunks (10 MB each), and not for all (39 MB)
        rc=0; unshare -m sh -c "mount -t tmpfs -o size=32m none disk 2> /dev/null || exit 77
            $job > log 2>&1 < /dev/null && exit 78
            ls disk/f.sam 2> /dev/null && exit 79
            cat disk/f.sam.progress/rank-*.jsonl > recorded
            mount -o remount,size=200m disk && $job > log2 2>&1 < /dev/null || exit 80
            cp disk/f.sam f.sam && ls disk > left" 2> /dev/null || rc=$?
        [ $rc != 77 ] && [ $rc != 1 -o -e log ] || { skip_part "nothing can be mounted here"; return 0; }
        [ $rc = 0 ] || { cat log log2 >&2; fail "$name: $rc"; }
        # both may meet it at the same time
        words="^error: rank [01] of 2: .*disk/f.sam.progress.*No space left"
        grep -q "$words" log && ! grep "^error: " log | grep -qv "$words" ||
            { cat log >&2; fail "$name: no clear words"; }
        # (a rank that waits long for a CPU may not have finished the first run)
        if grep -q '^{"batch":0,' recorded; then
            grep -q "reads were finished before" log2 || { cat log log2 >&2; fail "$name: it began anew"; }
        else
            echo "$name: the first run of chunks was not finished when the disk was full"
        fi
        cmp <(records one.sam) <(records f.sam) && [ "$(cat left)" = f.sam ] ||
            fail "$name: other records, or something is left"
        echo "$name: a full disk ends the ranks, and the job is finished later"
    done < <(some_mpis)
}

# What is wrong with a command is said once, whoever runs it, before anything is made.
wrong() {
    local name compiler launch status words options how
    read -r -d '' table <<'END' || true
2|/dev/null: .* must be a regular file|-o /dev/null ref.fa 1.fq
2|--ranks, .* need an output file|ref.fa 1.fq
2|-: .* must be in regular files|-o x.sam ref.fa -
2|1.fq was given as both files of a pair|-o x.sam ref.fa 1.fq 1.fq
2|there is no engine|-o x.sam --engine nobody ref.fa 1.fq
1|none/x.sam: .* there is no folder none|-o none/x.sam ref.fa 1.fq
1|none/x.json: .* there is no folder none|-o x.sam --json none/x.json ref.fa 1.fq
1|none/x.mqc: .* there is no folder none|-o x.sam --mqc none/x.mqc ref.fa 1.fq
1|none/logs: .* there is no folder none|-o x.sam --engine bwa --logs none/logs ref.fa 1.fq
END
    while read -r name compiler launch; do
        [ "$name" = alone ] || [ -e "$name.so" ] || zerohop mpi --compiler "$compiler" -o "$WORK/$name.so" > /dev/null
        while IFS='|' read -r status words options; do
            how="--ranks=2 --mpi $WORK/$name.so"; [ "$name" != alone ] || how=--durable
            rc=0; head -n 100 1.fq | timeout -k 5 60 $launch "$ZEROHOP" align -q -t 1 $how $options > log 2>&1 || rc=$?
            [ $rc = "$status" ] && [ "$(grep -c "^error: " log)" = 1 ] && grep -q "^error: $words" log ||
                { cat log >&2; fail "$name: $rc: $options"; }
            [ ! -e none ] && [ ! -e x.sam ] && [ ! -e x.sam.progress ] || fail "$name: something was made: $options"
        done <<< "$table"
    done < <(echo "alone - env"; some_mpis | sed 's/$/ -n 2/')
    while IFS='|' read -r status words options; do
        [ "$status" = 1 ] || continue
        rc=0; timeout -k 5 60 "$ZEROHOP" align -q $options > log 2>&1 < /dev/null || rc=$?
        [ $rc = 1 ] && grep -q "^error: $words" log && [ ! -e none ] && [ ! -e x.sam ] ||
            { cat log >&2; fail "$rc: $options"; }
    done <<< "$table"
}

# Ranks are asked for: without --ranks each task works alone, and with it there must be others.
asked() {
    local name compiler launch rank job
    one one.sam ref.fa 1.fq 2.fq
    while read -r name compiler launch; do
        rank='${OMPI_COMM_WORLD_RANK-$PMI_RANK}'
        job="exec $ZEROHOP align -t 1 -o task-$rank.sam ref.fa 1.fq 2.fq"
        timeout -k 5 120 $launch -n 2 sh -c "$job" > log 2>&1 < /dev/null || { cat log >&2
        fail "$name: tasks of their own"; }
        for rank in 0 1; do
            cmp <(records one.sam) <(records task-$rank.sam) || fail "$name: task $rank: other records"
        done
        [ "$(grep -c "^note: a launcher has started 2 tasks, .* alone; with --ranks" log)" = 1 ] ||
            { cat log >&2; fail "$name: it is not said"; }
        rm task-*
        rc=0; timeout -k 5 60 $launch -n 2 "$ZEROHOP" align -q --ranks=3 -o x.sam ref.fa 1.fq > log 2>&1 < /dev/null ||
            rc=$?
        [ $rc = 2 ] && [ "$(grep -c "^error: --ranks=3: the launcher has started 2 tasks" log)" = 1 ] ||
            { cat log >&2; fail "$name: --ranks=3: $rc"; }
        rc=0; timeout -k 5 60 $launch -n 1 "$ZEROHOP" align -q --ranks -o x.sam ref.fa 1.fq > log 2>&1 < /dev/null ||
            rc=$?
        [ $rc = 2 ] && grep -q "^error: --ranks: the launcher has started 1 task" log ||
            { cat log >&2; fail "$name: one rank: $rc"; }
    done < <(mpis)
    rc=0; "$ZEROHOP" align -q --ranks -o x.sam ref.fa 1.fq > log 2>&1 || rc=$?
    [ $rc = 2 ] && grep -q "^error: --ranks: no launcher has started this" log && [ ! -e x.sam ] ||
        { cat log >&2; fail "no launcher: $rc"; }
}

# under MEMORY COMMAND...: in a control group of its own; 77 if there can be none
under() {
    local group file i memory=$1 rc=0; shift
    for file in /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max; do
        group=$(dirname $file)/zerohop-test-$$ file=$(basename $file)
        [ -e "$(dirname "$group")/cgroup.procs" ] && mkdir "$group" 2> /dev/null || continue
        if [ -e "$group/$file" ] && echo "$memory" > "$group/$file"; then
            bash -c 'echo $$ > "$0/cgroup.procs" && exec "$@"' "$group" "$@" || rc=$?
            # once the launcher's last processes have ended
            for i in $(seq 100); do rmdir "$group" 2> /dev/null && return $rc; sleep 0.1; done
            fail "$group cannot be removed"
        fi
        rmdir "$group"
    done
    return 77
}

# The memory that a container or a job allows is for all ranks in it together.
memory() {
    local name compiler launch rc
    python3 -c "
import random
print('>a')
print(random.Random(3).randbytes(12_000_000).translate(bytes(b'ACGT'[i & 3] for i in range(256))).decode())" > large.fa
    head -n 4000 1.fq > few.fq
    while read -r name compiler launch; do
        [ -e "$name.so" ] || zerohop mpi --compiler "$compiler" -o "$WORK/$name.so" > /dev/null
        rc=0; under 110M timeout -k 5 120 $launch -n 2 "$ZEROHOP" align -q --ranks -t 1 --mpi "$WORK/$name.so" \
            -o m.sam large.fa few.fq > log 2>&1 < /dev/null || rc=$?
        [ $rc != 77 ] || { skip_part "no control group can be made here"; return 0; }
        [ "$(grep -c "^error: rank . of 2: 2 ranks on .* need .* control group has a memory limit" log)" = 1 ] &&
            [ $rc = 1 ] &&
            [ ! -e m.sam ] || { cat log >&2; fail "$name: $rc"; }
    done < <(some_mpis)
}

# What stands beside an output and in its folder of progress, and what is there of the output before
files() {
    local rc what
    # the files of a job can get their names, and keep their permissions; an index of other records goes
    zerohop align -q --sort -o f.bam ref.fa 1.fq
    cp f.bam.bai f.bai
    chmod 600 f.bam
    zerohop align -q -t 2 --durable -o f.bam ref.fa 1.fq 2.fq
    [ "$(stat -c %a f.bam)" = 600 ] || fail "other permissions: $(stat -c %a f.bam)"
    [ ! -e f.bam.bai ] && [ ! -e f.bai ] || fail "an index of other records"
    if [ "$(stat -c %d /dev/shm)" != "$(stat -c %d .)" ]; then
        ln -s /dev/shm/zerohop-e2e.$$.sam link.sam
        for what in "-o x.sam --unaligned /dev/shm/zerohop-e2e.$$.fq" "-o link.sam"; do
            rc=0; "$ZEROHOP" align -q --durable $what ref.fa 1.fq 2.fq > log 2>&1 || rc=$?
            [ $rc = 2 ] && grep -q "lies on another file system than" log || { cat log >&2; fail "$rc: $what"; }
        done
        [ ! -e x.sam.progress ] && [ -z "$(ls /dev/shm/zerohop-e2e.$$.* 2> /dev/null)" ] || fail "something is left"
    fi
    (ulimit -Sn 128; "$ZEROHOP" align -q -t 2 --durable --shards 100 -o many.sam ref.fa 1.fq 2.fq) || fail "many shards"
    rm many.*.sam
    # a run that has begun, and has not said yet which job it is
    mkdir x.sam.progress
    rc=0; flock x.sam.progress/lock "$ZEROHOP" align -q --durable -o x.sam ref.fa 1.fq > log 2>&1 || rc=$?
    [ $rc = 1 ] && grep -q "another run is at this job now" log && [ -e x.sam.progress/lock ] ||
        { cat log >&2; fail "$rc: two runs of one job"; }
    rm x.sam.progress/lock
    rmdir x.sam.progress
    rc=0; "$ZEROHOP" align -q --resume -o x.sam ref.fa 1.fq > log 2>&1 || rc=$?
    [ $rc = 1 ] && [ ! -e x.sam.progress ] || fail "$rc: a folder is left: $(cat log)"
    echo "files: names, permissions, indexes and locks"
}

for part in same external shards resume outlived progress changed files killed full_disk wrong asked memory refusals; do
    [[ $part =~ ${PART-} ]] || continue
    "$part"
    echo "$part: as it should be"
done
