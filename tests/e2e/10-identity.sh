#!/bin/bash
# The same bytes as the strobealign program, for every read set, number of threads, and input compression; single
# reads and pairs; SAM and BAM; with an index that is built on the way, and with one that was built before.
# The sets of ZEROHOP_DATA are read in one way. LONG=1: every set with every number of threads and every compression.
source "$(dirname "$0")/lib.sh"
[ -x "$STROBEALIGN" ] || skip "no strobealign program at $STROBEALIGN"

# check EXPECTED.sam NAME zerohop-arguments...
check() {
    local expected=$1 name=$2; shift 2
    runs=$((runs + 1))
    zerohop align "$@" > "$WORK/own.sam"
    same_alignments "$WORK/own.sam" "$expected" "$name ($*)"
}

# plain, gzip of two members, and BGZF of the same reads
repack() {
    local plain=$1 lines half
    lines=$(wc -l < "$plain"); half=$((lines / 8 * 4))
    { head -n "$half" "$plain" | gzip -n; tail -n +$((half + 1)) "$plain" | gzip -n; } > "$plain.gz"
    bgzip -c "$plain" > "$plain.bgzf.gz"
}

# Lines THREADS SUFFIX for a set: a number of threads, and how its input is compressed
ways() {
    if [ -z "${LONG-}" ] && is_more "$1"; then echo '5 .bgzf.gz'; return; fi
    if [ -z "${LONG-}" ]; then printf '%s\n' 1 '2 .gz' '5 .bgzf.gz' 16; return; fi
    local threads suffix
    for threads in 1 2 5 16; do for suffix in '' .gz .bgzf.gz; do echo "$threads $suffix"; done; done
}

is_more() { [ -n "${ZEROHOP_DATA-}" ] && more_read_sets "$ZEROHOP_DATA" | grep -q "^$1 "; }

check_set() {
    local name=$1 reference=$2 first=$3 second=$4 threads suffix runs=0 indexed
    if [ ! -f "$first" ]; then echo "$name: not here"; return; fi
    gzip -cdf "$first" > "$WORK/1.fq"; gzip -cdf "$second" > "$WORK/2.fq"
    repack "$WORK/1.fq"; repack "$WORK/2.fq"
    strobealign -t 2 "$reference" "$first" "$second" > "$WORK/pairs.sam"
    strobealign -t 2 "$reference" "$first" > "$WORK/single.sam"
    indexed=$WORK/indexed.${reference##*/}
    rm -f "$WORK"/indexed.*
    cp "$reference" "$indexed"
    zerohop index -q --reads "$WORK/1.fq" "$indexed"
    while read -r threads suffix; do
        check "$WORK/pairs.sam" "$name" -t $threads "$indexed" "$WORK/1.fq$suffix" "$WORK/2.fq$suffix"
    done < <(ways "$name")
    [ -z "${LONG-}" ] && is_more "$name" ||
        check "$WORK/pairs.sam" "$name, index built on the way" -t 2 "$reference" "$WORK/1.fq" "$WORK/2.fq"
    for threads in ${LONG:+1 2 16} 5; do
        check "$WORK/single.sam" "$name, single" -t $threads "$indexed" "$WORK/1.fq"
    done
    zerohop align -t 2 -o "$WORK/own.bam" "$indexed" "$first" "$second"
    samtools view -h --no-PG "$WORK/own.bam" > "$WORK/own.sam"
    samtools view -h --no-PG "$WORK/pairs.sam" > "$WORK/pairs.view.sam"
    same_alignments "$WORK/own.sam" "$WORK/pairs.view.sam" "$name as BAM"
    echo "$name: $(grep -vc '^@' "$WORK/pairs.sam") records, the same $((runs + 1)) times"
}

# reads without mates, as they are and as BGZF
check_singles() {
    local name=$1 reference=$2 reads=$3 threads runs=0
    if [ ! -f "$reads" ]; then echo "$name: not here"; return; fi
    gzip -cdf "$reads" > "$WORK/1.fq"
    bgzip -c "$WORK/1.fq" > "$WORK/1.fq.bgzf.gz"
    strobealign -t 2 "$reference" "$reads" > "$WORK/single.sam"
    for threads in ${LONG:+1 5} 2 16; do
        check "$WORK/single.sam" "$name" -t $threads "$reference" "$reads"
        check "$WORK/single.sam" "$name" -t $threads "$reference" "$WORK/1.fq.bgzf.gz"
    done
    echo "$name: $(grep -vc '^@' "$WORK/single.sam") records, the same $runs times"
}

while read -r name reference first second; do
    check_set "$name" "$reference" "$first" "$second"
done < <(read_sets)
[ -z "${ZEROHOP_DATA-}" ] || check_singles ecoli_long "$ZEROHOP_DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" \
    "$ZEROHOP_DATA/longread/e_coli_k12_2008_subsampled.fq.gz"
