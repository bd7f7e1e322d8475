#!/bin/bash
# The index files of the embedded bwa mem: made when they are missing, refused when they or the reference have changed.
# Damaged ones (cut off, or with a flipped bit) are a message or make no difference; without digests, as bwa-mem2 writes
# them, they never end the process otherwise than with a message.
source "$(dirname "$0")/lib.sh"
"$ZEROHOP" engines > "$WORK/engines.txt"
grep -q '^bwa-mem ' "$WORK/engines.txt" || skip "this zerohop was built without bwa-mem"

cd "$WORK"
E=(--engine bwa-mem "--engine-args=-K 100000")
cp "$DATA/phix/phix.fasta" r.fa
python3 - <<'END'
import random
random.seed(3)
bases = ''.join(line.strip() for line in open('r.fa') if line[0] != '>')
flip = str.maketrans('ACGT', 'TGCA')
with open('1.fq', 'w') as one, open('2.fq', 'w') as two:
    for i in range(500):
        at = random.randrange(len(bases) - 400)
        piece = bases[at:at + random.randrange(200, 400)]
        for out, read in ((one, piece[:100]), (two, piece[::-1].translate(flip)[:100])):
            out.write(f'@r{i}\n{read}\n+\n{"I" * len(read)}\n')
END

# refused WORDS ARGUMENTS...: with status 1 and one line that has WORDS; nothing is left
refused() {
    local words=$1 rc=0; shift
    "$ZEROHOP" align -q "${E[@]}" -t 2 -o refused.sam "$@" > out 2> err || rc=$?
    [ $rc = 1 ] && grep -q -- "^error: .*$words" err || fail "$words: status $rc, $(cat err)"
    [ -z "$(ls refused.sam* 2> /dev/null)" ] || fail "$words: an output is left"
}

# --build-index makes it, once, and several runs at the same time wait for one
missing() {
    local run runs=() rc=0
    "$ZEROHOP" index --engine bwa-mem none.fa 2> err || rc=$?
    [ "$rc $(cat err)" = "1 error: none.fa: No such file or directory (os error 2)" ] ||
        fail "no reference: $rc $(cat err)"
    refused "make the index with 'zerohop index --engine bwa-mem r.fa'" r.fa 1.fq 2.fq
    for run in 1 2 3; do
        "$ZEROHOP" align -q "${E[@]}" --build-index -t 1 -o "$run.sam" r.fa 1.fq 2.fq & runs+=($!)
    done
    for run in "${runs[@]}"; do wait "$run" || fail "a run with --build-index"; done
    for run in 2 3; do same_alignments 1.sam $run.sam; done
    [ -z "$(ls -A | grep -E 'lock|partial')" ] || fail "something is left: $(ls -A)"
    mv 1.sam expected.sam
    waits_for_another
    touch -d '2001-01-01' before
    touch -d '2000-01-01' r.fa.*
    zerohop align -q "${E[@]}" --build-index -t 1 -o 1.sam r.fa 1.fq 2.fq
    [ -z "$(find . -maxdepth 1 -newer before -name 'r.fa.*')" ] || fail "it was made again"
    local rc=0
    "$ZEROHOP" align -q --build-index --no-index -o no.sam r.fa 1.fq 2> err || rc=$?
    [ $rc = 2 ] && grep -q "cannot be given together" err || fail "--build-index --no-index: $rc $(cat err)"
    # strobealign, which otherwise builds its index in every run
    zerohop align -q --build-index -t 1 -o 2.sam r.fa 1.fq 2.fq
    [ -f r.fa.r100.zhi ] || fail "there is no index of strobealign: $(ls)"
    zerohop align -q --no-index -t 1 -o 3.sam r.fa 1.fq 2.fq
    same_alignments 2.sam 3.sam
    # Its files are loaded under other names.
    TMPDIR=$WORK/nowhere refused "$WORK/nowhere: other names .* TMPDIR names another folder" r.fa 1.fq 2.fq
    echo "missing: made with --build-index"
}

# While another run has the lock, a run waits; and uses the index that the other one has made.
waits_for_another() {
    local run made
    mkdir waiting; cp r.fa waiting
    exec 9< waiting/r.fa
    flock 9
    "$ZEROHOP" align -q "${E[@]}" --build-index -t 1 -o waiting/1.sam waiting/r.fa 1.fq 2.fq 9<&- & run=$!
    sleep 1
    [ -z "$(ls waiting | grep 64)" ] && [ -e /proc/$run ] || fail "it has not waited: $(ls waiting)"
    zerohop index -q --engine bwa-mem waiting/r.fa
    made=$(stat -c "%n %i %y" waiting/r.fa.*)
    exec 9<&-
    wait $run || fail "the run that waited"
    [ "$made" = "$(stat -c "%n %i %y" waiting/r.fa.*)" ] || fail "it was made again, by the run that waited"
    same_alignments waiting/1.sam expected.sam
}

# A reference that has changed since, or has only been copied
stale() {
    cp r.fa kept.fa
    touch r.fa
    zerohop align -q "${E[@]}" -o 1.sam r.fa 1.fq 2.fq
    sed -i '2s/^./N/' r.fa
    refused "r.fa.bwt.2bit.64: it was made from another reference" r.fa 1.fq 2.fq
    rm r.fa
    zerohop align -q "${E[@]}" -o 1.sam r.fa 1.fq 2.fq
    same_alignments 1.sam expected.sam
    mv kept.fa r.fa
    # of another program
    mkdir -p other; cp r.fa r.fa.[bpa]* other; rm other/*.digests
    "$ZEROHOP" align "${E[@]}" -o 1.sam other/r.fa 1.fq 2.fq 2> err || fail "without digests: $(cat err)"
    same_alignments 1.sam expected.sam
    grep -q "another program made this index" err || fail "no note: $(cat err)"
    "$ZEROHOP" align "${E[@]}" -o 1.sam r.fa 1.fq 2.fq 2> err
    ! grep -q "another program" err || fail "a note where there are digests"
    echo "stale: told"
}

# Header lines that the library cuts off, or ends the process for
long_lines() {
    local long what rc ann=other/r.fa.ann
    long=$(head -c 9000 /dev/zero | tr '\0' y)
    for what in "name of contig '${long::80}…'" "comment of contig 'c'"; do
        [ "${what%% *}" = name ] && echo ">$long" > long.fa || echo ">c $long" > long.fa
        echo ACGTACGTAGGCTA >> long.fa
        rc=0
        "$ZEROHOP" index --engine bwa-mem long.fa 2> err || rc=$?
        [ $rc = 1 ] && grep -q "^error: long.fa: the $what has 9000 bytes" err || fail "$what: $rc, $(cut -c 1-300 err)"
        [ "$(ls long.fa*)" = long.fa ] || fail "$what: left are $(ls long.fa*)"
    done
    # as another program has made it
    sed -i "2s/ [^ ]*\$/ $long/" $ann
    refused "$ann: the comment of contig .* bytes" other/r.fa 1.fq 2.fq
    echo "long lines: refused"
}

damage() {
    python3 - "$ZEROHOP" <<'END'
import os, random, subprocess, sys
zerohop = sys.argv[1]
random.seed(5)
endings = ['bwt.2bit.64', 'pac', 'ann', 'amb', 'bwa-mem.digests']
records = lambda path: [line for line in open(path) if line[0] != '@']
expected = records('expected.sam')

def run(folder, what, has_digests):
    command = [zerohop, 'align', '-q', '--engine', 'bwa-mem', '--engine-args=-K 100000', '-t', '1', '-o', 'damaged.sam',
        f'{folder}/r.fa', '1.fq', '2.fq']
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode == 1:
        lines = done.stderr.splitlines()
        told = len(lines) == 1 and lines[0].startswith(f'error: {folder}/r.fa')
        told = told and "'zerohop index --engine bwa" in lines[0]
        assert told, f'{what}: {done.stderr}'
        assert not os.path.exists('damaged.sam'), f'{what}: an output is left'
        return 'refused'
    assert done.returncode == 0, f'{what}: status {done.returncode}: {done.stderr}'
    is_same = records('damaged.sam') == expected
    assert is_same or not has_digests, f'{what}: other records'
    os.remove('damaged.sam')
    return 'the same records' if is_same else 'other records'

def attempts(folder, files, has_digests):
    # each file at least once
    chosen = lambda number: (files * number)[:number]
    for ending in chosen(50):
        def cut(content):
            at = random.randrange(len(content))
            return content[:at], f'cut off at byte {at}'
        yield ending, cut
    for ending in chosen(200):
        def flip(content):
            at, bit = random.randrange(len(content)), random.randrange(8)
            return content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1:], f'bit {bit} of byte {at} flipped'
        yield ending, flip

for folder, files, has_digests in (('.', endings, True), ('other', endings[:4], False)):
    outcomes = {}
    for ending, change in attempts(folder, files, has_digests):
        path = f'{folder}/r.fa.{ending}'
        content = open(path, 'rb').read()
        changed, what = change(content)
        open(path, 'wb').write(changed)
        outcome = run(folder, f'{path}, {what}', has_digests)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        open(path, 'wb').write(content)
    found = ', '.join(f'{count} {outcome}' for outcome, count in sorted(outcomes.items()))
    print(f'damage, {"with" if has_digests else "without"} digests: {found}')
END
}

# Less and less memory for making an index, and signals: nothing is left
memory() {
    local start limit rc ended=0 signal run
    python3 -c '
import random
random.seed(1)
print(">a", "".join(random.choice("ACGT") for _ in range(300_000)), sep="\n")' > large.fa
    zerohop index -q --engine bwa-mem -t 1 large.fa
    mv large.fa.bwt.2bit.64 whole; rm large.fa.*
    # What the program takes before it does anything, in KiB: below that nobody can say a word.
    start=40000
    until (ulimit -v $start; exec "$ZEROHOP" --version) > /dev/null 2>&1; do start=$((start + 1000)); done
    for limit in $(seq $((start + 5000)) 5000 $((start + 40000))) 700000; do
        rc=0
        (ulimit -v $limit; exec "$ZEROHOP" align -q "${E[@]}" --build-index -t 2 -o none.sam large.fa 1.fq) 2> err ||
            rc=$?
        case $rc in
            0) cmp large.fa.bwt.2bit.64 whole || fail "$limit KiB: another index"; rm large.fa.* none.sam;;
            1) ended=$((ended + 1))
                tail -n 1 err | grep -q '^error: ' || fail "$limit KiB: $(cat err)"
                rm -f large.fa.{pac,ann,amb,bwt.2bit.64,bwa-mem.digests}
                [ -z "$(ls -A | grep -E 'large.fa.|none.sam')" ] || fail "$limit KiB: left are $(ls -A)";;
            *) fail "$limit KiB of memory: exit status $rc: $(cat err)";;
        esac
    done
    [ $ended -gt 1 ] && [ $rc = 0 ] || fail "$ended of 9 ended for want of memory"
    for signal in INT TERM HUP KILL; do
        "$ZEROHOP" align -q "${E[@]}" --build-index -t 1 -o none.sam large.fa 1.fq 2> err & run=$!
        sleep 0.05
        kill -$signal $run 2> /dev/null || true
        wait $run 2> /dev/null || true
        zerohop align -q "${E[@]}" --build-index -t 1 -o none.sam large.fa 1.fq
        [ -z "$(ls -A | grep -E 'lock|partial')" ] || fail "SIG$signal: left are $(ls -A)"
        rm -f large.fa.*
    done
    echo "memory: $ended ends for want of it, each with words"
}

for part in missing stale damage long_lines memory; do part $part; done
