#!/bin/bash
# Memory is bounded: an input 4 times as large (LONG=1: 8; GROWTH=N: N) needs the same peak, whatever its kind, however
# slow the output, and where records are sorted. PART=REGEX: these shapes alone. LONG=1: more shapes of each kind.
# The smaller input is large enough to fill all buffers (42 chunks for 2 workers). Most runs use the null engine, which
# lets the input and the output go as fast as they can; a slow output lets the input run ahead as far as it may.
source "$(dirname "$0")/lib.sh"
command -v bgzip >/dev/null || skip "no bgzip"

cd "$WORK"
GROWTH=${GROWTH:-$([ -z "${LONG-}" ] && echo 4 || echo 8)}
cp "$DATA/phix/phix.fasta" ref.fa
gzip -cd "$DATA/ecoli/ecoli_150_1.fq.gz" > once.fq
for _ in {1..14}; do cat once.fq; done > small.fq
gzip -1 -cn once.fq > once.gz
for _ in {1..14}; do cat once.gz; done > small.gz
bgzip -l 1 -c small.fq > small.bgzf

# both mates are the same reads, under two names
link_mates() {
    local size=$1 suffix=$2
    ln -f "$size.$suffix" "${size}_1.$suffix"
    ln -f "$size.$suffix" "${size}_2.$suffix"
}

enlarge() {
    rm -f large*
    for _ in $(seq $GROWTH); do cat "small.$1"; done > "large.$1"
    link_mates small "$1"; link_mates large "$1"
}

# a megabyte, then a pause
read_slowly() {
    python3 -c '
import sys, time
while sys.stdin.buffer.read(1 << 20):
    time.sleep(0.01)'
}

# peak FILE: the largest resident set of a run, in bytes
peak() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["resources"]["peak_memory"])' "$1"; }

# run SHAPE SIZE SUFFIX OPTIONS...: prints the peak
run() {
    local shape=$1 one=${2}_1.$3 two=${2}_2.$3; shift 3
    set -- align -q -t 2 --json run.json "$@"
    case $shape in
        fast) "$ZEROHOP" "$@" -o /dev/null ref.fa "$one" "$two";;
        file) "$ZEROHOP" "$@" -o out.sam ref.fa "$one" "$two";;
        sorted) "$ZEROHOP" "$@" --sort --mark-duplicates --sort-memory 64M --level 1 -o out.bam ref.fa "$one" "$two";;
        pipes) "$ZEROHOP" "$@" -o /dev/null ref.fa <(cat "$one") <(cat "$two");;
        stdin) cat "$one" | "$ZEROHOP" "$@" -o /dev/null -p ref.fa -;;
        slow) "$ZEROHOP" "$@" ref.fa "$one" "$two" | read_slowly;;
    esac 2> stderr || { cat stderr >&2; fail "$shape $one"; }
    peak run.json
}

# compare SHAPE SUFFIX OPTIONS...
compare() {
    local shape=$1 suffix=$2 small=0 once large bound; shift
    [[ $shape =~ ${PART-} ]] || return 0
    for _ in 1 2 ${LONG:+3}; do
        once=$(run "$shape" small "$@")
        [ "$small" -gt "$once" ] || small=$once
    done
    large=$(run "$shape" large "$@")
    bound=$((small * 125 / 100 + (24 << 20)))
    echo "$shape, $*: $((small >> 20)) MiB at the peak; with $GROWTH times as much $((large >> 20)) MiB"
    [ "$large" -le "$bound" ] || { echo "FAIL: more than $((bound >> 20)) MiB" >&2
    failed="${failed-} ($shape, $suffix)"; }
}

# Where memory is limited: one line and exit status 1, or success, and never a part of an output under any name.
limits() {
    local kib last=1 rc count wanted reference
    gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > limit.fa
    "$ZEROHOP" index -q -r 150 limit.fa 2> stderr || fail "$(cat stderr)"
    mkdir limited
    for reference in limit.fa "--no-index limit.fa" "--replicas 3 limit.fa"; do
        last=1
        for kib in 30000 45000 60000 80000 100000 130000 160000 200000 300000 500000 1000000 2000000 4000000; do
            rc=0
            (ulimit -v $kib; exec "$ZEROHOP" align -q -t 2 -r 150 -o limited/x.bam $reference once.fq) 2> stderr ||
                rc=$?
            # below that not even the program itself can be loaded: the kernel ends it, or the loader does, or what runs
            # before its first line
            [[ $rc = 139 || $rc = 134 ]] && ! (ulimit -v $kib; exec "$ZEROHOP" --version) > /dev/null 2>&1 && continue
            grep -q 'error while loading shared libraries\|failed to map segment' stderr && continue
            count=$(wc -l < stderr)
            case $rc in
                0) [ "$count" = 0 ] && rm limited/x.bam || fail "ulimit -v $kib, $reference: $(cat stderr)";;
                1) [ "$count" = 1 ] || fail "ulimit -v $kib, $reference: $(cat stderr)";;
                *) fail "ulimit -v $kib, $reference: exit status $rc, $(head -c 1000 stderr)";;
            esac
            [ -z "$(ls -A limited)" ] ||
                fail "ulimit -v $kib, $reference: left $(ls -A limited)"
            rm -f limited/*; last=$rc
        done
        [ $last = 0 ] || fail "$reference: not even 4 GB are enough"
    done
    # refused before anything is loaded
    rc=0
    (ulimit -v 1048576; exec "$ZEROHOP" align -t 99 --replicas 99 -o limited/x.bam -r 150 limit.fa once.fq) 2> stderr ||
        rc=$?
    wanted='^error: limit.fa: 99 copies of its index take .* of memory, and this process may take .* more'
    wanted+=' (ulimit -v is 1.0 GiB): raise the limit, or use fewer copies (--replicas)$'
    [ "$rc $(wc -l < stderr)" = "1 1" ] && grep -q "$wanted" stderr &&
        [ -z "$(ls -A limited)" ] || fail "99 copies in 1 GB: $rc, $(cat stderr)"
}

if [[ limits =~ ${PART-} ]]; then limits; fi
enlarge fq
compare sorted fq --engine null
compare pipes fq --engine null
[ -z "${LONG-}" ] || for shape in fast file slow stdin; do compare $shape fq --engine null; done
enlarge bgzf
compare slow bgzf --engine null
[ -z "${LONG-}" ] || compare fast bgzf --engine null
enlarge gz
compare slow gz --engine null
[ -z "${LONG-}" ] || { compare fast gz --engine null; compare fast gz -r 150; }
[ -z "${failed-}" ] || fail "memory grows with the input:$failed"
