#!/bin/bash
# Sorted output: its records are those of `zerohop align | samtools sort`, for any engine, number of threads, memory and
# form of the input, and so are its bytes among themselves; its index finds what that of samtools finds. What goes wrong
# on the way leaves nothing behind.
# LONG=1: every set, engine and number of threads; 200 kills.
# PART=REGEX: the parts whose name matches.
source "$(dirname "$0")/lib.sh"
command -v samtools > /dev/null || skip "no samtools here"

# records FILE: without the header
records() { samtools view "$1"; }

# body FILE: the bytes of a BAM file behind its header, which has BGZF blocks of its own
body() {
    python3 - "$1" << 'PYTHON'
import gzip, struct, sys
data = open(sys.argv[1], "rb").read()
text = b""
at = 0
def whole(text):
    if len(text) < 12: return False
    end = 8 + struct.unpack_from("<i", text, 4)[0]
    if len(text) < end + 4: return False
    contigs, end = struct.unpack_from("<i", text, end)[0], end + 4
    for _ in range(contigs):
        if len(text) < end + 4: return False
        end += 8 + struct.unpack_from("<i", text, end)[0]
    return len(text) >= end
while not whole(text):
    size = struct.unpack_from("<H", data, at + 16)[0] + 1
    text += gzip.decompress(data[at:at + size])
    at += size
sys.stdout.buffer.write(data[at:])
PYTHON
}

# expect ORDER 'OPTIONS' REFERENCE READS...: what samtools makes of the records as they come, as $WORK/expected.bam
expect() {
    local order=$1 options=$2; shift 2
    zerohop align -q $options --format bam --level 1 "$@" > "$WORK/unsorted.bam"
    case $order in
        coordinate) samtools sort -o "$WORK/expected.bam" "$WORK/unsorted.bam" 2> /dev/null;;
        name) samtools sort -n -o "$WORK/expected.bam" "$WORK/unsorted.bam" 2> /dev/null;;
    esac
    rm -f "$WORK/first.body" "$WORK"/expected.bam.*
}

# check WHAT 'OPTIONS' READS...: the same records and the same bytes as before
check() {
    local what=$1 options=$2; shift 2
    rm -f "$WORK"/own.bam*
    zerohop align -q $options -o "$WORK/own.bam" "$@"
    cmp <(records "$WORK/own.bam") <(records "$WORK/expected.bam") || fail "$what: other records"
    body "$WORK/own.bam" > "$WORK/own.body"
    [ -e "$WORK/first.body" ] || mv "$WORK/own.body" "$WORK/first.body"
    [ ! -e "$WORK/own.body" ] || cmp "$WORK/own.body" "$WORK/first.body" || fail "$what: other bytes"
    checks=$((checks + 1))
}

# check_index NAME: the index of $WORK/own.bam, against that of samtools
check_index() {
    local region contig length
    samtools quickcheck "$WORK/own.bam"
    [ -e "$WORK/expected.bam.csi" ] || samtools index "$WORK/expected.bam"
    cmp <(samtools idxstats "$WORK/own.bam") <(samtools idxstats "$WORK/expected.bam") || fail "$1: idxstats"
    while read -r contig length _; do
        [ "$contig" != "*" ] || continue
        for region in "$contig" "$contig:1-1" "$contig:$((length / 3))-$((length / 3 + 100))" "$contig:20000-20001" \
            "$contig:$((length / 2))-$((length / 2 + 40000))" "$contig:$length-$length"; do
            cmp <(samtools view "$WORK/own.bam" "$region") <(samtools view "$WORK/expected.bam" "$region") ||
                fail "$1: region $region"
        done
    done < <(samtools idxstats "$WORK/expected.bam" | head -n 5)
    cmp <(samtools view "$WORK/own.bam" '*') <(samtools view "$WORK/expected.bam" '*') || fail "$1: unmapped records"
}

check_sets() {
    local name reference first second checks=0 threads all="1 5"
    [ -z "${LONG-}" ] || all="1 2 5 16"
    while read -r name reference first second; do
        if [ ! -f "$first" ]; then echo "$name: not here"; continue; fi
        rm -f "$WORK"/set.fa*
        gzip -cdf "$reference" > "$WORK/set.fa"
        zerohop index -q -r 150 "$WORK/set.fa"
        expect coordinate "-t 2 -r 150" "$WORK/set.fa" "$first" "$second"
        for threads in $all; do
            check "$name, -t $threads" "--sort -t $threads -r 150" "$WORK/set.fa" "$first" "$second"
        done
        check_index "$name"
        check "$name, spilled" "--sort -t 2 -r 150 --sort-memory 300K" "$WORK/set.fa" "$first" "$second"
        expect name "-t 2 -r 150" "$WORK/set.fa" "$first" "$second"
        check "$name, by name" "--sort=name -t 3 -r 150" "$WORK/set.fa" "$first" "$second"
        check "$name, by name, spilled" "--sort=name -t 3 -r 150 --sort-memory 100K" "$WORK/set.fa" "$first" \
            "$second"
        expect coordinate "-t 2 -r 150" "$WORK/set.fa" "$first"
        check "$name, single" "--sort=coordinate -t 3 -r 150 --sort-memory 200K" "$WORK/set.fa" "$first"
        if [ -z "${LONG-}" ] && [ "$name" = sarscov2_251 ]; then break; fi
    done < <(read_sets)
    echo "sets: the records of samtools sort in $checks runs"
}

# Forms of the input and of the output, lanes, read groups and comments
check_forms() {
    local checks=0 reference=$WORK/phix.fa one=$WORK/1.fq two=$WORK/2.fq memory mate
    cp "$DATA/phix/phix.fasta" "$reference"
    cp "$DATA/phix/phix.1.fastq" "$one"; cp "$DATA/phix/phix.2.fastq" "$two"
    gzip -k "$one" "$two"
    bgzip -c "$one" > "$WORK/1.bgz"; bgzip -c "$two" > "$WORK/2.bgz"
    paste -d '\n' <(paste - - - - < "$one") <(paste - - - - < "$two") | tr '\t' '\n' > "$WORK/both.fq"
    expect coordinate "-t 2" "$reference" "$one" "$two"
    for memory in 1G 50K; do
        check "plain" "--sort -t 3 --sort-memory $memory" "$reference" "$one" "$two"
        check "gzip" "--sort -t 3 --sort-memory $memory" "$reference" "$one.gz" "$two.gz"
        check "BGZF" "--sort -t 3 --sort-memory $memory" "$reference" "$WORK/1.bgz" "$WORK/2.bgz"
        check "interleaved" "--sort -t 3 -p --sort-memory $memory" "$reference" "$WORK/both.fq"
        "$ZEROHOP" align -q --sort -t 2 -p --sort-memory $memory --format bam "$reference" - < <(cat "$WORK/both.fq") |
            cat > "$WORK/piped.bam"
        cmp <(body "$WORK/piped.bam") "$WORK/first.body" || fail "through pipes, $memory: other bytes"
        "$ZEROHOP" align -q --sort -t 2 --sort-memory $memory "$reference" "$one" "$two" | cat > "$WORK/piped.sam"
        cmp <(records "$WORK/piped.sam") <(records "$WORK/expected.bam") || fail "SAM through a pipe, $memory"
    done
    zerohop align -q --sort -o "$WORK/own.sam" "$reference" "$one" "$two"
    cmp <(records "$WORK/own.sam") <(records "$WORK/expected.bam") || fail "SAM: other records"
    [ ! -e "$WORK/own.sam.bai" ] || fail "an index of SAM"
    grep -q $'^@HD\tVN:1.6\tSO:coordinate$' "$WORK/own.sam" || fail "SAM: $(head -n 1 "$WORK/own.sam")"
    [ "$(grep -c '^@PG' "$WORK/own.sam")" = 2 ] || fail "SAM: $(grep '^@PG' "$WORK/own.sam")"
    # two lanes with read groups and comments, in any order
    for mate in 1 2; do sed '1~4s/ .*//; 1~4s/$/ BC:Z:ACGT/' "$WORK/$mate.fq" > "$WORK/c$mate.fq"; done
    local lanes=("$WORK/c1.fq" "$WORK/c2.fq" --reads "$WORK/c2.fq") groups='-C -R @RG\tID:a\tSM:s -R @RG\tID:b\tSM:s'
    expect coordinate "-t 2 $groups" "$reference" "${lanes[@]}"
    check "lanes" "--sort -t 3 $groups" "$reference" "${lanes[@]}"
    check "lanes, spilled" "--sort -t 3 --sort-memory 20K $groups" "$reference" "${lanes[@]}"
    check "lanes, --order any" "--sort -t 3 --order any $groups" "$reference" "${lanes[@]}"
    # indexes
    [ -e "$WORK/own.bam.bai" ] && [ ! -e "$WORK/own.bam.csi" ] || fail "no BAI: $(ls "$WORK")"
    check "CSI" "--sort -t 2 --index csi $groups" "$reference" "${lanes[@]}"
    [ -e "$WORK/own.bam.csi" ] && [ ! -e "$WORK/own.bam.bai" ] || fail "no CSI"
    check_index "CSI"
    check "no index" "--sort -t 2 --no-write-index $groups" "$reference" "${lanes[@]}"
    [ -z "$(ls "$WORK"/own.bam.* 2> /dev/null)" ] || fail "an index that was not wanted"
    zerohop align -q --sort=name -t 2 -o "$WORK/own.bam" "$reference" "$one" "$two"
    [ -z "$(ls "$WORK"/own.bam.* 2> /dev/null)" ] || fail "an index of a file that is sorted by name"
    # an index of the other format would be of other records
    zerohop align -q --sort -t 2 --index csi -o "$WORK/own.bam" "$reference" "$one"
    zerohop align -q --sort -t 2 -o "$WORK/own.bam" "$reference" "$one" "$two"
    [ "$(ls "$WORK"/own.bam.*)" = "$WORK/own.bam.bai" ] || fail "an old index: $(ls "$WORK"/own.bam.*)"
    # into a file that is open
    (cd "$WORK"; "$ZEROHOP" align -q --sort -t 2 --format bam -o /dev/stdout "$reference" "$one" "$two" > in-place.bam
        "$ZEROHOP" align -q --sort -t 2 --format bam -o - "$reference" "$one" "$two" > dash.bam
        cmp <(records in-place.bam) <(records dash.bam)) || fail "into an open file"
    cmp <(records "$WORK/in-place.bam") <(records "$WORK/own.bam") || fail "into an open file: other records"
    # no records at all
    : > "$WORK/none.fq"
    zerohop align -q --sort -t 2 -r 100 -o "$WORK/own.bam" "$reference" "$WORK/none.fq"
    [ "$(samtools view -c "$WORK/own.bam")" = 0 ] && samtools idxstats "$WORK/own.bam" > /dev/null || fail "no reads"
    echo "forms: the same records and bytes in $checks runs"
}

# A contig that BAI cannot index, as an aligner has it that is made up: it places reads far to the right, and backwards
check_long_contig() {
    local checks=0 options
    cat > "$WORK/far.py" << 'PYTHON'
import sys
print("@SQ\tSN:far\tLN:1500000000")
reads = [line.rstrip("\n") for line in open(sys.argv[1])]
for number in range(0, len(reads), 4):
    name, bases, quality = reads[number][1:].split()[0], reads[number + 1], reads[number + 3]
    at = 1400000000 - 700001 * (number // 4)
    flags, cigar = (0, f"{len(bases)}M") if bases else (4, "*")
    print(name, flags, "far", at, 60, cigar, "*", 0, 0, bases or "*", quality or "*", sep="\t")
PYTHON
    python_aligner far
    options="--engine far --engine-file $WORK/far.toml -t 2"
    cp "$DATA/phix/phix.fasta" "$WORK/ref.fa"
    touch "$WORK/ref.fa.far"
    expect coordinate "$options" "$WORK/ref.fa" "$DATA/phix/phix.1.fastq"
    check "a long contig" "$options --sort" "$WORK/ref.fa" "$DATA/phix/phix.1.fastq"
    [ -e "$WORK/own.bam.csi" ] && [ ! -e "$WORK/own.bam.bai" ] || fail "a long contig: no CSI"
    samtools index -c "$WORK/expected.bam"
    check_index "a long contig"
    local rc=0
    "$ZEROHOP" align -q $options --sort --index bai -o "$WORK/r.bam" "$WORK/ref.fa" "$DATA/phix/phix.1.fastq" \
        2> "$WORK/stderr" || rc=$?
    [ $rc = 1 ] && grep -q "r.bam.bai: .*2^29" "$WORK/stderr" || fail "BAI of a long contig: $rc, $(cat "$WORK/stderr")"
    [ -z "$(ls "$WORK"/r.bam* 2> /dev/null)" ] || fail "BAI of a long contig: something is left"
    echo "long contig: CSI, without being asked"
}

# Engines: records of programs come as lines
check_engines() {
    local engine checks=0 engines="bwa-mem bwa minimap2 bowtie2"
    [ -z "${LONG-}" ] || engines="bwa-mem bwa bowtie bowtie2 hisat2 minimap2 snap strobealign-program"
    cp "$DATA/phix/phix.fasta" "$WORK/ref.fa"
    zerohop engines > "$WORK/engines.txt"
    # bowtie ends itself at a read without bases
    local all=("$DATA/phix/phix.1.fastq" "$DATA/phix/phix.2.fastq") reads
    paste <(paste - - - - < "${all[0]}") <(paste - - - - < "${all[1]}") | awk -F '\t' '$2 != "" && $6 != ""' |
        tee >(cut -f 1-4 | tr '\t' '\n' > "$WORK/whole.1.fq") | cut -f 5-8 | tr '\t' '\n' > "$WORK/whole.2.fq"
    for engine in $engines; do
        grep -q "^$engine  *.*[0-9]" "$WORK/engines.txt" || { echo "$engine: not here"; continue; }
        reads=("${all[@]}"); [ $engine != bowtie ] || reads=("$WORK/whole.1.fq" "$WORK/whole.2.fq")
        expect coordinate "--engine $engine --build-index -t 2" "$WORK/ref.fa" "${reads[@]}"
        check "$engine" "--engine $engine --sort -t 2" "$WORK/ref.fa" "${reads[@]}"
        check "$engine, spilled" "--engine $engine --sort -t 2 --sort-memory 100K" "$WORK/ref.fa" "${reads[@]}"
        check_index "$engine"
    done
    echo "engines: the same records in $checks runs"
}

# refused STATUS WORDS OPTION...
refused() {
    local status=$1 words=$2 rc=0; shift 2
    "$ZEROHOP" align -q "$@" "$WORK/ref.fa" "$DATA/phix/phix.1.fastq" > "$WORK/refused.out" 2> "$WORK/stderr" || rc=$?
    [ $rc = "$status" ] && grep -qF -- "$words" "$WORK/stderr" || fail "$*: status $rc, $(cat "$WORK/stderr")"
    [ ! -s "$WORK/refused.out" ] && [ -z "$(ls "$WORK"/r.bam* 2> /dev/null)" ] || fail "$*: something is there"
}

check_refused() {
    cp "$DATA/phix/phix.fasta" "$WORK/ref.fa"
    refused 2 "cannot be combined with --shards" --sort --shards 2 -o "$WORK/r.bam"
    refused 2 "--tmp-dir is not for --ranks" --sort --durable --tmp-dir . -o "$WORK/r.bam"
    refused 2 "--index is for BAM files" --sort --index csi -o "$WORK/r.sam"
    refused 2 "--index is for BAM files" --sort=name --index bai -o "$WORK/r.bam"
    refused 2 "--index is for BAM files" --sort --index bai --format bam -o -
    refused 2 "--sort-memory" --sort-memory 1G -o "$WORK/r.bam"
    refused 1 "/nowhere: temporary files for sorting" --sort --tmp-dir /nowhere -o "$WORK/r.bam"
    refused 1 "there is no folder $WORK/nodir; make it first" --sort -o "$WORK/nodir/r.bam"
    # what goes down a pipe needs a folder only for what does not fit into memory
    local rc=0
    TMPDIR=/nowhere "$ZEROHOP" align -q --sort --sort-memory 1K -t 1 --reads "$DATA"/phix/phix.[12].fastq \
        -- "$WORK/ref.fa" "$DATA/phix/phix.1.fastq" > "$WORK/piped.sam" 2> "$WORK/stderr" || rc=$?
    [ $rc = 1 ] && grep -q "/nowhere: temporary files for sorting" "$WORK/stderr" ||
        fail "a folder for temporary files that is not there: $rc, $(cat "$WORK/stderr")"
    TMPDIR=/nowhere "$ZEROHOP" align -q --sort "$WORK/ref.fa" "$DATA/phix/phix.1.fastq" > "$WORK/piped.sam" ||
        fail "a folder for temporary files that are not needed"
    cd "$WORK"; TMPDIR=/nowhere zerohop align -q --sort --sort-memory 1K -o own.bam ref.fa "$DATA/phix/phix.1.fastq"
    cmp <(records own.bam) <(records piped.sam) || fail "sorted: other records"
    # an index that would destroy something else
    echo mine > "$WORK/r.bam.bai.keep"; cp "$WORK/r.bam.bai.keep" "$WORK/other.bam.bai"
    "$ZEROHOP" align -q --sort -o "$WORK/other.bam" "$WORK/ref.fa" "$WORK/other.bam.bai" 2> "$WORK/stderr" &&
        fail "reads under the name of the index"
    cmp -s "$WORK/other.bam.bai" "$WORK/r.bam.bai.keep" || fail "reads under the name of the index are gone"
    rm -f "$WORK"/r.bam*
    echo "refused: with words, and nothing left"
}

# Full disks, in the output and in temporary files; signals and kills at any moment
check_faults() {
    local output folder rc kills=20 number left signal whole=0
    [ -z "${LONG-}" ] || kills=200
    cp "$DATA/phix/phix.fasta" "$WORK/ref.fa"
    gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > "$WORK/set.fa"
    zerohop index -q -r 150 "$WORK/set.fa"
    local reads=("$DATA/ecoli/ecoli_150_1.fq.gz" "$DATA/ecoli/ecoli_150_2.fq.gz")
    mkdir -p "$WORK/disk" "$WORK/out"
    if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=1m zerohop-full "$WORK/disk" 2> /dev/null; then
        at_exit 'umount "$WORK/disk"; rm -rf "$WORK"'
        for output in "-o $WORK/disk/r.bam" "-o $WORK/disk/r.sam --sort-memory 64M" \
            "-o $WORK/r.bam --tmp-dir $WORK/disk --sort-memory 500K"; do
            rc=0
            "$ZEROHOP" align -q -t 2 -r 150 --sort $output "$WORK/set.fa" "${reads[@]}" 2> "$WORK/stderr" || rc=$?
            [ $rc = 1 ] && grep -q "No space left on device" "$WORK/stderr" ||
                fail "$output: $rc, $(cat "$WORK/stderr")"
            [ -z "$(ls -A "$WORK/disk"; ls "$WORK"/r.* 2> /dev/null)" ] || fail "$output: $(ls -A "$WORK/disk" "$WORK")"
        done
    else
        echo "full disks: not tested, a small tmpfs cannot be mounted"
    fi
    local records
    zerohop align -q -t 2 -r 150 --sort -o "$WORK/whole.bam" "$WORK/set.fa" "${reads[@]}"
    records=$(samtools view -c "$WORK/whole.bam")
    for ((number = 0; number < kills; number++)); do
        signal=TERM; [ $((number % 2)) = 0 ] || signal=KILL
        ls "$WORK/out" > "$WORK/before"
        "$ZEROHOP" align -q -t 2 -r 150 --sort --sort-memory 2M -o "$WORK/out/r.bam" "$WORK/set.fa" "${reads[@]}" \
            2> "$WORK/stderr" &
        sleep "0.$(printf %03d $((number * 37 % 600)))"
        kill -$signal $! 2> /dev/null || true
        rc=0; wait $! 2> /dev/null || rc=$?
        # a file that has its name is whole: the signal came too late
        if [ -e "$WORK/out/r.bam" ]; then
            whole=$((whole + 1))
            samtools quickcheck "$WORK/out/r.bam" && [ "$(samtools view -c "$WORK/out/r.bam")" = "$records" ] ||
                fail "SIG$signal: status $rc, and a file that is not whole"
            rm "$WORK"/out/r.bam*
        fi
        # what an earlier SIGKILL left may be there still, if the signal came before it was cleared away
        left=$(ls "$WORK/out" | comm -13 "$WORK/before" - | tr '\n' ' ')
        case $signal,$left in
            *" r.bam.bai "* | *,"r.bam.bai "*) fail "SIG$signal: status $rc, left: $left";;
            KILL,* | TERM,"") ;;
            *) fail "SIG$signal: status $rc, left: $left, $(cat "$WORK/stderr")";;
        esac
    done
    # what SIGKILL left is cleared away by the next run
    for number in 1 2; do zerohop align -q -t 2 -r 150 --sort -o "$WORK/out/r.bam" "$WORK/set.fa" "${reads[@]}"; done
    [ "$(ls "$WORK/out" | tr '\n' ' ')" = "r.bam r.bam.bai " ] || fail "after all: $(ls "$WORK/out")"
    echo "faults: full disks; $kills kills, of which $whole came too late"
}

for part in check_sets check_forms check_long_contig check_engines check_refused check_faults; do
    if [[ $part =~ ${PART-} ]]; then part $part; fi
done
