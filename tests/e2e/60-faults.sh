#!/bin/bash
# What the world does to a run: disks that are full, readers and writers that are slow, stalled or gone, signals. A
# run ends with one clear line or with the right records; nothing hangs, no thread is left, nothing that looks
# complete either.
source "$(dirname "$0")/lib.sh"

cd "$WORK"
mkdir out
gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > ref.fa
for mate in 1 2; do
    gzip -cd "$DATA/ecoli/ecoli_150_$mate.fq.gz" > $mate.fq
    gzip -cn $mate.fq > $mate.gz
done
# enough to be still at work when something happens: 80,000 pairs, some seconds
for mate in 1 2; do cat $mate.fq $mate.fq $mate.fq $mate.fq $mate.fq $mate.fq $mate.fq $mate.fq > long_$mate.fq; done
zerohop index -q -r 150 ref.fa
zerohop align -t 2 ref.fa 1.fq 2.fq > expected.sam

# attempt SECONDS ARGUMENTS...: within SECONDS, or it is killed (137); exit status in rc, words in stderr
attempt() {
    local limit=$1; shift
    rc=0
    timeout -s KILL "$limit" "$ZEROHOP" "$@" 2> stderr || rc=$?
}

# one line on stderr, exit status 1
expect_failure() {
    local name=$1 line=$2
    [ $rc = 1 ] || fail "$name: exit status $rc, $(head -c 300 stderr)"
    [ "$(cat stderr)" = "error: $line" ] ||
        fail "$name:"$'\n'"  wanted: error: $line"$'\n'"  got:    $(head -c 600 stderr)"
}

# --- outputs --------------------------------------------------------------------------------------------------------

devices() {
    local format threads reads
    for threads in 1 3; do
        for reads in "1.fq 2.fq" "1.gz 2.gz"; do
            for format in sam bam; do
                attempt 20 align -t $threads --format $format -o /dev/full ref.fa $reads
                expect_failure "/dev/full" "/dev/full: cannot write: No space left on device (os error 28)"
                attempt 20 align -t $threads --format $format ref.fa $reads > /dev/full
                expect_failure "standard output is full" \
                    "standard output: cannot write: No space left on device (os error 28)"
            done
        done
    done
    attempt 20 topo > /dev/full
    expect_failure "topo" "standard output: cannot write: No space left on device (os error 28)"
    [ -c /dev/full ] || fail "/dev/full is gone"
}

# What is printed would be lost: it is said, and at the start. /dev/null is an output like any other, however it was
# opened.
closed_output() {
    local command closed="standard output is closed: what would be written there would be lost"
    for command in "align -t 2 ref.fa 1.fq" "align --engine null no.fa 1.fq" "search --db no no.fa" topo "topo --json" \
        "plan --index-size 1G" engines cache "man align" "completions bash" "tune no.fa 1.fq"; do
        attempt 20 $command >&-
        expect_failure "$command" "$closed"
    done
    attempt 20 align -q -t 2 -o closed.sam ref.fa 1.fq 2.fq >&-
    [ $rc = 0 ] || fail "an output file needs no standard output: exit status $rc, $(cat stderr)"
    same_alignments closed.sam expected.sam "with standard output closed"
    attempt 20 topo > /dev/null; [ $rc = 0 ] || fail "topo > /dev/null: $rc"
    attempt 20 topo 1<> /dev/null; [ $rc = 0 ] || fail "topo 1<> /dev/null: $rc"
}

full_disks() {
    local threads reads output full="cannot write: No space left on device (os error 28)"
    mkdir -p disk
    [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=1m zerohop-full disk 2>/dev/null ||
        { echo "full disks: not tested, a small tmpfs cannot be mounted"; return; }
    at_exit 'umount "$WORK/disk"'
    for threads in 1 3; do
        for reads in "1.fq 2.fq" "1.gz 2.gz"; do
            for output in x.sam x.bam; do
                attempt 20 align -t $threads -o disk/$output ref.fa $reads
                expect_failure "full disk" "disk/$output: $full"
                [ -z "$(ls -A disk)" ] || fail "left on the full disk: $(ls disk)"
            done
            attempt 20 align -t $threads --shards 3 -o disk/s.bam ref.fa $reads
            [ $rc = 1 ] && [[ "$(cat stderr)" =~ ^"error: disk/s."[123]".bam: $full"$ ]] ||
                fail "shards on a full disk: $rc, $(cat stderr)"
            [ -z "$(ls -A disk)" ] || fail "left on the full disk: $(ls disk)"
        done
    done
    head -c 400000 ref.fa > disk/r.fa
    attempt 20 index -r 150 disk/r.fa
    expect_failure "index on a full disk" \
        "disk/r.fa.r150.zhi: cannot write the index: No space left on device (os error 28)"
    [ "$(ls -A disk)" = r.fa ] || fail "left on the full disk: $(ls disk)"
    # what is said of a run that went well
    head -c 1048576 /dev/zero > disk/zeros 2>/dev/null || true
    attempt 20 align -q --json disk/x.json -o j.bam ref.fa 1.fq
    expect_failure "JSON on a full disk" \
        "disk/x.json: cannot write: No space left on device (os error 28); the records are complete in j.bam"
    samtools quickcheck j.bam || fail "JSON on a full disk: the records are not complete"
}

# read_slowly: standard input, in portions with pauses
read_slowly() {
    python3 -c '
import os, time
while data := os.read(0, 65536):
    os.write(1, data)
    time.sleep(0.002)'
}

write_slowly() {
    python3 -c '
import os, sys, time
data = open(sys.argv[1], "rb").read()
step = len(data) // 40 + 1
for at in range(0, len(data), step):
    os.write(1, data[at:at + step])
    time.sleep(0.03)' "$1"
}

slow_output() {
    local threads reads order
    for threads in 1 3; do
        for reads in "1.fq 2.fq" "1.gz 2.gz"; do
            "$ZEROHOP" align -q -t $threads ref.fa $reads | read_slowly > own.sam
            same_alignments own.sam expected.sam "slow output, -t $threads, $reads"
        done
    done
}

slow_input() {
    local threads
    for threads in 1 3; do
        zerohop align -t $threads ref.fa <(write_slowly 1.fq) 2.gz > own.sam
        same_alignments own.sam expected.sam "slow input, -t $threads"
        zerohop align -t $threads ref.fa <(write_slowly 1.gz) <(write_slowly 2.fq) > own.sam
        same_alignments own.sam expected.sam "two slow inputs, -t $threads"
    done
    "$ZEROHOP" align -q -t 3 ref.fa <(write_slowly 1.gz) <(write_slowly 2.gz) | read_slowly > own.sam
    same_alignments own.sam expected.sam "slow on both sides"
}

# feed_in_turn FIFO_1 FIFO_2 READS: one program writes so many reads to the first pipe, and then all that the second one
# takes, 200 MB at most; the file `accepted` says how many bytes those were. When the second one takes no more, both get
# the same number of reads.
feed_in_turn() {
    python3 - "$@" <<'END'
import os, select, sys, threading
reads = int(sys.argv[3])
record = b'@r%d\n' + b'ACGT' * 40 + b'\n+\n' + b'#' * 160 + b'\n'
one, two = os.open(sys.argv[1], os.O_WRONLY), os.open(sys.argv[2], os.O_WRONLY)
# What both are is looked at first.
for pipe in one, two:
    for i in range(4): os.write(pipe, record % i)
for i in range(4, reads): os.write(one, record % i)
os.set_blocking(two, False)
accepted, number, pending = 0, 4, b''
while accepted < 200 << 20:
    while len(pending) < 1 << 16:
        pending += record % number
        number += 1
    # Half a second is no measure of the program: where it only is slow, less is counted than it would take.
    if not select.select([], [two], [], 0.5)[1]: break
    n = os.write(two, pending)
    accepted, pending = accepted + n, pending[n:]
print(accepted, file=open('accepted', 'w'))
def end_first():
    for i in range(reads, number): os.write(one, record % i)
    os.close(one)
thread = threading.Thread(target=end_first)
thread.start()
os.set_blocking(two, True)
while pending: pending = pending[os.write(two, pending):]
os.close(two)
thread.join()
END
}

# Who is ahead waits, while the length of reads is sampled (4 reads, 300 reads) and after (600).
slow_first_pipe() {
    local reads feeder
    mkfifo slow fast
    for reads in 4 300 600; do
        feed_in_turn slow fast $reads & feeder=$!
        attempt 60 align -q --engine null -t 2 --json slow.json -o /dev/null ref.fa slow fast
        [ $rc = 0 ] || fail "a slow first pipe, $reads reads: exit status $rc, $(cat stderr)"
        wait $feeder
        [ "$(cat accepted)" -lt 50000000 ] ||
            fail "after $reads reads of the first pipe $(cat accepted) bytes of the second one were read"
        python3 -c '
import json
t = json.load(open("slow.json"))["run"]["tally"]
assert t["reads"] == 2 * t["fragments"] > 200, t' || fail "reads of a slow first pipe are lost"
    done
    rm slow fast
}

# An input that never ends: what fails elsewhere ends the run all the same.
# One program writes the mates to two pipes, pair by pair; those of one pipe are many times as long.
uneven_pipes() {
    local mates pid rc
    mkfifo 1.fifo 2.fifo
    for mates in "28 150" "28 600" "400 20"; do
        python3 -c '
import sys
first, second = map(int, sys.argv[1].split())
one, two = open("1.fifo", "w"), open("2.fifo", "w")
for i in range(20000):
    for out, bases in ((one, first), (two, second)):
        out.write(f"@r{i}\n{bases * chr(65)}\n+\n{bases * chr(73)}\n")
        out.flush()' "$mates" & pid=$!
        rc=0
        timeout -k 5 60 "$ZEROHOP" align -q --engine null -t 2 -o uneven.sam ref.fa 1.fifo 2.fifo || rc=$?
        [ $rc = 0 ] || { kill $pid 2> /dev/null; fail "mates of $mates bases: exit status $rc"; }
        wait $pid
        [ "$(grep -vc '^@' uneven.sam)" = 40000 ] || fail "mates of $mates bases: reads are lost"
    done
}

stalled_input() {
    local threads writer
    mkfifo stalled
    for threads in 1 3; do
        { cat 1.fq; exec sleep 60; } > stalled & writer=$!
        attempt 20 align -t $threads -o /dev/full ref.fa stalled
        expect_failure "stalled input, full output" "/dev/full: cannot write: No space left on device (os error 28)"
        end $writer

        { cat 1.fq; exec sleep 60; } > stalled & writer=$!
        set +e
        timeout -s KILL 20 "$ZEROHOP" align -q -t $threads ref.fa stalled 2> stderr | head -c 1000 > /dev/null
        rc=${PIPESTATUS[0]}
        set -e
        [ $rc = 0 ] && [ ! -s stderr ] || fail "stalled input, broken pipe: exit status $rc, $(cat stderr)"
        end $writer

        { cat 1.fq; exec sleep 60; } > stalled & writer=$!
        attempt 20 align -t $threads -o out/x.bam ref.fa stalled <(head -n 6 2.fq; cat 1.gz)
        [ $rc = 1 ] && [ "$(wc -l < stderr)" = 1 ] || fail "stalled input, bad mates: exit status $rc, $(cat stderr)"
        end $writer
    done
    rm stalled
    [ ! -e out/x.bam ] || fail "a stalled input left an output"
}

# --- signals --------------------------------------------------------------------------------------------------------

# Waits until the temporary file of PID has some records.
at_work() {
    local i
    for i in $(seq 3000); do
        [ "$(stat -c %s out/k.*.partial-"$1"-* 2>/dev/null || echo 0)" -gt 10000 ] && return
        kill -0 "$1" 2>/dev/null || break
        sleep 0.02
    done
    fail "the output does not grow"
}

signals() {
    local signal reads format pid rc more=
    # so many that the signal comes before the end
    for _ in $(seq 20); do more+=" --reads long_1.fq long_2.fq"; done
    for signal in TERM INT KILL; do
        for reads in "long_1.fq long_2.fq" "long_1.fq <(cat long_2.fq)"; do
            for format in sam bam; do
                rm -f out/*
                # job control, lest SIGINT be ignored in the background
                eval "set -m; \"\$ZEROHOP\" align -q -t 2 -o out/k.$format ref.fa $reads $more 2> stderr & pid=\$!
                    set +m"
                at_work $pid
                kill -$signal $pid
                rc=0
                wait $pid 2>/dev/null || rc=$?
                [ $rc = $((128 + $(kill -l $signal))) ] || fail "SIG$signal: exit status $rc"
                [ ! -e out/k.$format ] || fail "SIG$signal left an output under its name"
                [ ! -e /proc/$pid ] || fail "SIG$signal left the process"
                # what there was lies under its temporary name at most
                [ "$(ls -A out | grep -vcE "^k.$format.partial-$pid-[0-9]+\$")" = 0 ] ||
                    fail "SIG$signal left $(ls out)"
                ! tail -c 28 out/k.* 2>/dev/null |
                    cmp -s - <(printf '\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0') ||
                    fail "SIG$signal: what is left ends as a whole BAM does"
            done
        done
    done
}

# An output that was there before stays as it was until the new one is complete.
old_output() {
    rm -f out/*
    printf '@CO\told\n' > out/o.sam; cp out/o.sam old.sam
    "$ZEROHOP" align -q -o out/o.sam ref.fa 1.fq <(head -n 39998 2.fq) 2> stderr &&
        fail "a truncated file of mates is taken"
    cmp -s out/o.sam old.sam && [ "$(ls out)" = o.sam ] || fail "a failed run touched the old output: $(ls out)"
    zerohop align -q -o out/o.sam ref.fa 1.fq 2.fq
    same_alignments out/o.sam expected.sam "over an old output"
}

# --- the engine -----------------------------------------------------------------------------------------------------

# Reads of all the characters that are allowed, of odd lengths and orders, from the reference and not: each comes out
# once.
odd_reads() {
    python3 - <<'END'
import random
random.seed(7)
genome = ''.join(line.strip() for line in open('ref.fa') if line[0] != '>')
letters = 'ACGTN.-*=RYKMBDHVUacgtnXZJO'
def read():
    kind = random.randrange(8)
    n = random.choice([0, 1, 2, 3, 5, 15, 19, 20, 21, 22, 30, 31, 32, 33, 64, 100, 150, 301, 1000, 5000])
    at = random.randrange(len(genome) - 6000)
    if kind == 0: return ''.join(random.choice(letters) for _ in range(n))
    if kind == 1: return random.choice(letters) * n
    if kind == 2: return genome[at:at + n]
    if kind == 3: return (genome[at:at + 75] + random.choice(letters) * 5 + genome[at + 80:at + 150])
    if kind == 4: return genome[at:at + n].lower()
    if kind == 5: return random.choice([genome[:n], genome[-n - 1:], '*' * 10 + genome[:140], genome[-140:] + '=' * 10])
    if kind == 6: return ''.join(c if random.random() > 0.1 else random.choice(letters) for c in genome[at:at + n])
    return genome[at:at + n // 2] + genome[at + n // 2 + 40:at + n + 40]
with open('odd_1.fq', 'w') as one, open('odd_2.fq', 'w') as two:
    for i in range(6000):
        for out in one, two:
            seq = read()
            out.write(f'@r{i}\n{seq}\n+\n{"".join(chr(random.randrange(33, 127)) for _ in seq)}\n')
END
    local threads
    for threads in 1 3; do
        zerohop align -r 150 -t $threads --json odd.json ref.fa odd_1.fq odd_2.fq > odd.$threads.sam
        python3 -c '
import json
t = json.load(open("odd.json"))["run"]["tally"]
assert t["reads"] == t["primary_records"] == 12000, t' || fail "odd reads are lost"
    done
    cmp <(grep -v '^@' odd.1.sam) <(grep -v '^@' odd.3.sam) || fail "odd reads differ between -t 1 and -t 3"
    zerohop align -r 150 -o odd.bam ref.fa odd_1.fq odd_2.fq
    if command -v samtools >/dev/null; then
        samtools quickcheck -v odd.bam || fail "BAM of odd reads"
        [ "$(samtools view -c -F 0x900 odd.bam)" = 12000 ] || fail "odd reads in BAM"
    fi
    [ ! -x "$STROBEALIGN" ] || {
        strobealign -r 150 ref.fa odd_1.fq odd_2.fq > odd.expected.sam
        same_alignments odd.1.sam odd.expected.sam "odd reads"
    }
}

for part in devices closed_output full_disks slow_output slow_input slow_first_pipe uneven_pipes stalled_input signals \
    old_output odd_reads; do
    [[ $part =~ ${PART-} ]] || continue
    part $part
    echo "$part: as it should be"
done
