#!/bin/bash
# zerohop align over ranks: the same bytes as one process, with OpenMPI and MPICH, embedded and external engines, plain, BGZF and gzip
# input, SAM and BAM, one file or shards; runs that are killed are gone on with; another job and streams are refused.
source "$(dirname "$0")/lib.sh"
cd "$WORK"
mpis() {
    command -v mpirun.openmpi > /dev/null && echo "openmpi mpicc.openmpi mpirun.openmpi --allow-run-as-root --oversubscribe"
    command -v mpirun.mpich > /dev/null && echo "mpich mpicc.mpich mpirun.mpich"
    return 0
}
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
    for i in range(60_000):
        at, insert = random.randrange(299_000), random.randrange(250, 450)
        fragment = genome[at:at + insert]
        first, second = fragment[:random.choice((100, 120, 150))], fragment[::-1].translate(complement)[:140]
        if i % 3000 == 0: second = ''.join(random.choice('ACGT') for _ in second)
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

same() {
    one one.sam ref.fa 1.fq 2.fq
    one one.bam ref.fa 1.fq 2.fq --reads 1.bgz
    local name compiler launch n nodes
    while read -r name compiler launch; do
        zerohop mpi --compiler "$compiler" -o "$WORK/$name.so" > /dev/null
        export ZEROHOP_MPI="$WORK/$name.so"
        for n in 1 2 3 4; do
            for input in "1.fq 2.fq" "1.bgz 2.bgz" "1.fq.gz 2.fq.gz"; do
                timeout -k 5 120 $launch -n $n "$ZEROHOP" align --ranks=$n -t 1 -o r.sam ref.fa $input --json r.json > log 2>&1 < /dev/null ||
                    { cat log >&2; fail "$name, $n ranks, $input"; }
                cmp <(records one.sam) <(records r.sam) || fail "$name, $n ranks, $input: other records"
                [ ! -e r.sam.progress ] || fail "progress is left"
                rm r.sam
            done
            [ $n = 1 ] || python3 - $n <<'END' || { cat log >&2; fail "the report of $n ranks"; }
import json, sys
report = json.load(open('r.json'))
assert len(report['ranks']) == int(sys.argv[1]), report['ranks']
assert sum(rank['tally']['reads'] for rank in report['ranks']) == report['run']['tally']['reads'] == 120_000
END
            nodes=$(find /sys/devices/system/node -maxdepth 1 -name 'node[0-9]*' | wc -l)
            [ $n -le "$nodes" ] || grep -q "$n ranks on .* hold an index of their own" log || { cat log >&2; fail "more copies than nodes are not told"; }
        done
        timeout -k 5 120 $launch -n 3 "$ZEROHOP" align --ranks -q -t 1 -o r.bam ref.fa 1.fq 2.fq --reads 1.bgz > log 2>&1 < /dev/null ||
            { cat log >&2; fail "$name, BAM"; }
        samtools quickcheck r.bam || fail "$name: the BAM is damaged"
        cmp <(records one.bam) <(records r.bam) || fail "$name, two lanes, BAM: other records"
        rm r.bam
        echo "$name: 1 to 4 ranks give the records of one process"
    done < <(mpis)
}

# a file for each rank, with more files than ranks, and with more than there are chunks; embedded and external
shards() {
    local name compiler launch n shards engine i
    for engine in strobealign bwa; do
        command -v $engine > /dev/null || [ $engine = strobealign ] || { echo "SKIPPED part: bwa is not on the PATH"; continue; }
        [ $engine = strobealign ] || bwa index ref.fa 2> /dev/null
        for shards in 3 40; do one $engine-$shards.bam --engine $engine --shards $shards ref.fa 1.fq 2.fq; done
    done
    while read -r name compiler launch; do
        export ZEROHOP_MPI="$WORK/$name.so"
        [ -e "$ZEROHOP_MPI" ] || zerohop mpi --compiler "$compiler" -o "$ZEROHOP_MPI" > /dev/null
        while read -r engine n shards; do
            [ -e $engine-$shards.1.bam ] || continue
            timeout -k 5 120 $launch -n $n "$ZEROHOP" align --ranks -q -t 1 --engine $engine --shards $shards -o r.bam ref.fa 1.fq 2.fq > log 2>&1 < /dev/null ||
                { cat log >&2; fail "$name, $engine, $n ranks, $shards shards"; }
            for i in $(seq $shards); do
                samtools quickcheck r.$i.bam || fail "$name, $engine: shard $i of $shards is damaged"
                cmp <(records $engine-$shards.$i.bam) <(records r.$i.bam) || fail "$name, $engine, $n ranks, shard $i of $shards: other records"
            done
            rm r.*.bam
            [ ! -e r.bam ] && [ ! -e r.bam.progress ] || fail "something is left"
        done <<< "strobealign 3 3
strobealign 2 40
bwa 2 3
bwa 3 40"
        echo "$name: shards have the records of those of one process"
    done < <(mpis)
}

external() {
    command -v bwa > /dev/null || { echo "SKIPPED part: bwa is not on the PATH"; return 0; }
    bwa index ref.fa 2> /dev/null
    one bwa.sam --engine bwa ref.fa 1.fq 2.fq
    local name compiler launch n
    while read -r name compiler launch; do
        export ZEROHOP_MPI="$WORK/$name.so"
        [ -e "$ZEROHOP_MPI" ] || zerohop mpi --compiler "$compiler" -o "$ZEROHOP_MPI" > /dev/null
        for n in 2 3; do
            timeout -k 5 120 $launch -n $n "$ZEROHOP" align --ranks -q -t 1 --engine bwa -o r.sam ref.fa 1.fq 2.fq > log 2>&1 < /dev/null ||
                { cat log >&2; fail "$name, bwa, $n ranks"; }
            cmp <(records bwa.sam) <(records r.sam) || fail "$name, bwa, $n ranks: other records"
            rm r.sam
        done
        echo "$name: bwa over 2 and 3 ranks gives the records of one process"
    done < <(mpis)
}

# an alignment that takes long enough to be killed in the middle: many more reads
resume() {
    for n in 1 2; do for i in 1 2 3 4 5 6; do head -n 240000 $n.fq; done > long$n.fq; done
    local name compiler launch kills=0 round rc victim again=
    local begun whole_ms; begun=$(date +%s%N)
    one whole.sam ref.fa long1.fq long2.fq
    whole_ms=$((($(date +%s%N) - begun) / 1000000))
    read -r name compiler launch < <(mpis)
    export ZEROHOP_MPI="$WORK/$name.so"
    [ -e "$ZEROHOP_MPI" ] || zerohop mpi --compiler "$compiler" -o "$ZEROHOP_MPI" > /dev/null
    for round in $(seq 1 "${KILLS:-4}"); do
        timeout -k 5 120 $launch -n 2 "$ZEROHOP" align --ranks -q -t 1 $again -o k.sam ref.fa long1.fq long2.fq > log 2>&1 < /dev/null &
        local job=$!
        # at any time up to three quarters of what the whole takes: later rounds have less to do, and may have ended by then
        sleep "$(python3 -c "import random; print(0.75e-3 * $whole_ms * random.random())")"
        victim=$(zerohops "align --ranks -q -t 1.*-o k.sam" | shuf -n 1)
        [ -z "$victim" ] || ! kill -9 "$victim" 2> /dev/null || kills=$((kills + 1))
        rc=0; wait $job || rc=$?
        # also if a rank was killed that had done its work: what is there must be whole, and is compared below
        [ ! -e k.sam ] || break
        [ $rc != 0 ] && [ $rc != 124 ] || { cat log >&2; fail "a rank was killed: $rc"; }
        [ ! -e k.sam.progress/job.json ] || again=--resume
    done
    if [ ! -e k.sam ]; then
        # with another number of ranks
        timeout -k 5 120 $launch -n 3 "$ZEROHOP" align --ranks -q -t 1 $again -o k.sam ref.fa long1.fq long2.fq > log 2>&1 < /dev/null ||
            { cat log >&2; fail "the last go"; }
        rc=0
    fi
    cmp <(records whole.sam) <(records k.sam) || fail "after $kills kills: other records"
    [ $rc != 0 ] || [ ! -e k.sam.progress ] || fail "progress is left"
    echo "killed $kills times, and gone on with: the records of one process"
    # one process by itself
    one whole2.sam --shards 2 ref.fa long1.fq long2.fq
    "$ZEROHOP" align -q -t 1 --durable --shards 2 -o d.sam ref.fa long1.fq long2.fq > log 2>&1 & job=$!
    local i; for i in $(seq 300); do grep -qs batch d.sam.progress/rank-0.jsonl && break; sleep 0.1; done
    kill -9 $job 2> /dev/null || true
    wait $job || true
    [ ! -e d.1.sam ] || fail "killed, and the output is there"
    rc=0; "$ZEROHOP" align -q -t 1 --resume -o d.sam ref.fa 1.fq 2.fq > log 2>&1 || rc=$?
    [ $rc = 1 ] && grep -q "the progress of another job" log || { cat log >&2; fail "another job is gone on with"; }
    rc=0; "$ZEROHOP" align -t 2 --resume -o d.sam ref.fa long1.fq long2.fq > log 2>&1 || rc=$?
    [ $rc = 1 ] && grep -q "the progress of another job" log || { cat log >&2; fail "one file, where there were two, is gone on with"; }
    "$ZEROHOP" align -t 2 --resume --shards 2 -o d.sam ref.fa long1.fq long2.fq > log 2>&1 || { cat log >&2; fail "it is not gone on with"; }
    [ ! -e d.sam.progress ] || fail "progress is left"
    for i in 1 2; do cmp <(records whole2.$i.sam) <(records d.$i.sam) || fail "--durable: other records"; done
    grep -q "reads were finished before, and were not aligned again" log || { cat log >&2; fail "it began anew"; }
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
    refused 1 "no progress to go on with" --resume -o x.sam ref.fa 1.fq
    read -r name compiler launch < <(mpis)
    rc=0; ZEROHOP_MPI= timeout -k 5 60 env -u ZEROHOP_MPI XDG_CACHE_HOME="$WORK/none" $launch -n 2 "$ZEROHOP" align --ranks -q -o x.sam ref.fa 1.fq > log 2>&1 < /dev/null || rc=$?
    [ $rc != 0 ] && grep -q "the library by which they find each other is not there" log || { cat log >&2; fail "R copies of one rank run"; }
    # a damaged input ends all ranks, and says where
    { head -n 100000 1.fq; echo "xxx"; tail -n +100001 1.fq; } > bad.fq
    rc=0; ZEROHOP_MPI="$WORK/$name.so" timeout -k 5 60 $launch -n 2 "$ZEROHOP" align --ranks -q -t 1 -o x.sam ref.fa bad.fq > log 2>&1 < /dev/null || rc=$?
    [ $rc != 0 ] && [ $rc -lt 124 ] && grep -q "bad.fq: record 25001" log || { cat log >&2; fail "a damaged input"; }
    [ ! -e x.sam ] || fail "a failed run has left its output"
    # no reads at all: the header
    : > empty.fq
    ZEROHOP_MPI="$WORK/$name.so" timeout -k 5 60 $launch -n 2 "$ZEROHOP" align --ranks -q -t 1 -r 150 -o e.sam ref.fa empty.fq > log 2>&1 < /dev/null || { cat log >&2; fail "no reads"; }
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
    # a run that was interrupted when only the names were missing
    mkdir c.sam.progress; cp e1.sam c.sam.progress/output.1
    python3 -c 'import json, os, sys; print(json.dumps([[list(os.fsencode(path)) for path in sys.argv[1:]]]))' "$WORK/c.sam.progress/output.1" "$WORK/c.sam" > c.sam.progress/complete.json
    refused 1 "the output has its name now" --resume -o c.sam ref.fa 1.fq
    cmp e1.sam c.sam || fail "what was complete has not got its name"
    [ ! -e c.sam.progress ] || fail "progress is left"
    echo "what makes no sense is refused"
}

for part in same external shards resume refusals; do
    [[ $part =~ ${PART-} ]] || continue
    "$part"
    echo "$part: as it should be"
done
