#!/bin/bash
# The embedded bwa mem: its records are those of the program bwa (0.7.17) with the same -K, for every read set, number
# of threads, size of cohorts and form of the input, single reads, pairs and interleaved ones; with each option; as BAM.
# Its index is that of bwa where both have a file of the same form; a damaged one is refused.
# LONG=1: every set, and every number of threads with every size of cohorts.
source "$(dirname "$0")/lib.sh"
command -v bwa > /dev/null || skip "no bwa here"
zerohop engines > "$WORK/engines.txt"
grep -q '^bwa-mem ' "$WORK/engines.txt" || skip "this zerohop was built without bwa-mem"

# The reference of a set with both indexes, as $WORK/indexed
index() {
    rm -f "$WORK"/indexed*
    gzip -cdf "$1" > "$WORK/indexed"
    bwa index "$WORK/indexed" 2> /dev/null
    for ending in pac ann amb; do mv "$WORK/indexed.$ending" "$WORK/of-bwa.$ending"; done
    zerohop index -q --engine bwa-mem "$WORK/indexed"
    for ending in pac ann amb; do
        cmp "$WORK/of-bwa.$ending" "$WORK/indexed.$ending" || fail "$1: .$ending is not that of bwa"
    done
}

# records FILE: without the header. A read of no bases has an empty SEQ in bwa, which SAM does not know.
records() { grep -v '^@' "$1" | sed 's/\t\t\*\t/\t*\t*\t/'; }

# check NAME 'OPTIONS OF BWA' 'OPTIONS OF ZEROHOP' READS...: both, with the same options
check() {
    local name=$1 options=$2 own=$3; shift 3
    runs=$((runs + 1))
    bwa mem -v 1 -t 2 $options "$WORK/indexed" "$@" > "$WORK/expected.sam" 2> "$WORK/bwa.stderr"
    check_again "$name" "${options/ -p/}" "$own" "$@"
}

# check_again NAME OPTIONS 'OPTIONS OF ZEROHOP' READS...: with what bwa wrote last
check_again() {
    local name=$1 options=$2 own=$3; shift 3
    zerohop align --engine bwa-mem "--engine-args=$options" $own "$WORK/indexed" "$@" > "$WORK/own.sam"
    cmp <(records "$WORK/own.sam") <(records "$WORK/expected.sam") || fail "$name: $options $own $*"
    cmp <(grep '^@SQ' "$WORK/own.sam") <(grep '^@SQ' "$WORK/expected.sam") || fail "$name: the header"
}

# Lines K THREADS
ways() {
    if [ -z "${LONG-}" ]; then echo 1000000 5; return; fi
    local bases threads
    for bases in 100000 1000000 10000000 100000000; do
        for threads in 1 2 5 16; do echo "$bases $threads"; done
    done
}

check_set() {
    local name=$1 reference=$2 first=$3 second=$4 bases bases_last threads runs=0
    if [ ! -f "$first" ]; then echo "$name: not here"; return; fi
    index "$reference"
    gzip -cdf "$first" > "$WORK/1.fq"; gzip -cdf "$second" > "$WORK/2.fq"
    paste -d '\n' <(paste - - - - < "$WORK/1.fq") <(paste - - - - < "$WORK/2.fq") | tr '\t' '\n' > "$WORK/both.fq"
    while read -r bases threads; do
        check "$name" "-K $bases" "-t $threads" "$WORK/1.fq" "$WORK/2.fq"
        bases_last=$bases
    done < <(ways)
    check_again "$name, as it is" "-K $bases_last" "-t 16" "$first" "$second"
    check "$name, single" "-K 10000000" "-t 2" "$first"
    [ -n "${LONG-}" ] || [ "$name" = ecoli_150 ] || [ "$name" = phix_301 ] || { echo "$name: the same"; return; }
    check "$name, interleaved" "-K 10000000 -p" "-t 2 -p" "$WORK/both.fq"
    check_again "$name, interleaved pipe" "-K 10000000" "-t 2 -p" <(cat "$WORK/both.fq")
    echo "$name: $(records "$WORK/expected.sam" | wc -l) records, the same in $runs runs of bwa"
}

# Every option changes what both write in the same way.
check_options() {
    local runs=0 options
    index "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz"
    head -n 8000 < <(gzip -cd "$DATA/ecoli/ecoli_150_1.fq.gz") > "$WORK/1.fq"
    head -n 8000 < <(gzip -cd "$DATA/ecoli/ecoli_150_2.fq.gz") > "$WORK/2.fq"
    while read -r options; do
        check options "-K 200000 $options" "-t 2" "$WORK/1.fq" "$WORK/2.fq"
    done << 'OPTIONS'
-k 25
-w 20
-d 50
-r 1.0
-y 10
-c 50
-D 0.8
-W 30
-m 5
-S
-P
-S -P
-A 2
-B 6
-O 5,7
-E 2,1
-L 0
-U 5
-x intractg
-x pacbio
-x ont2d
-j
-5
-q
-T 60
-h 2,3
-a
-Y
-M
-I 400
-I 350,60,800,50
-s 5
-G 500
-N 3
-X 0.3
-Q 80
-5 -a -Y
-A 3 -T 50 -M
OPTIONS
    bwa mem -v 1 -K 200000 -R '@RG\tID:x\tSM:y' "$WORK/indexed" "$WORK/1.fq" "$WORK/2.fq" > "$WORK/expected.sam" \
        2> /dev/null
    check_again "read group" "-K 200000" '-t 2 -R @RG\tID:x\tSM:y' "$WORK/1.fq" "$WORK/2.fq"
    echo "options: the same in $runs runs of bwa"
}

# BAM is what samtools makes of bwa's records
check_bam() {
    zerohop align --engine bwa-mem --engine-args='-K 200000' -t 2 -o "$WORK/own.bam" "$WORK/indexed" "$WORK/1.fq" \
        "$WORK/2.fq"
    bwa mem -v 1 -K 200000 "$WORK/indexed" "$WORK/1.fq" "$WORK/2.fq" 2> /dev/null | samtools view --no-PG -b - > \
        "$WORK/expected.bam"
    cmp <(samtools view "$WORK/own.bam") <(samtools view "$WORK/expected.bam") || fail "BAM"
    echo "bam: as samtools makes it"
}

# A damaged index is a message.
check_damage() {
    local ending size rc i
    for ending in bwt.2bit.64 pac ann amb; do
        cp "$WORK/indexed.$ending" "$WORK/whole"
        size=$(stat -c %s "$WORK/whole")
        for i in 0 1 3 7 9; do
            head -c $((size * i / 10)) "$WORK/whole" > "$WORK/indexed.$ending"
            rc=0
            "$ZEROHOP" align --engine bwa-mem -o "$WORK/damaged.sam" "$WORK/indexed" "$WORK/1.fq" 2> "$WORK/stderr" ||
                rc=$?
            [ $rc = 1 ] && grep -q "indexed.$ending: it is damaged" "$WORK/stderr" ||
                fail "$ending cut at $i tenths: $rc $(cat "$WORK/stderr")"
            [ ! -e "$WORK/damaged.sam" ] || fail "$ending: an output is left"
        done
        mv "$WORK/whole" "$WORK/indexed.$ending"
    done
    rm "$WORK/indexed.pac"; rc=0
    "$ZEROHOP" align --engine bwa-mem "$WORK/indexed" "$WORK/1.fq" > /dev/null 2> "$WORK/stderr" || rc=$?
    [ $rc = 1 ] && grep -q "make the index with 'zerohop index --engine bwa-mem" "$WORK/stderr" ||
        fail "no index: $rc $(cat "$WORK/stderr")"
    echo "damaged indexes: refused"
}

# The set that the short set of tests has, of each kind of reads
SHORT=" ecoli_150 ecoli_100 phix_301 fly_48 sarscov2_251 human_148 plant_100 "
while read -r name reference first second; do
    [ -z "${LONG-}" ] && [[ $SHORT != *" $name "* ]] || check_set "$name" "$reference" "$first" "$second"
done < <(read_sets)
check_options
check_bam
check_damage
