#!/bin/bash
# CRAM: samtools reads the records back that zerohop writes as BAM, from CRAM 3.0 and 3.1, sorted, unsorted and by name,
# for any engine; its index is that of samtools; Picard takes the file; its bytes are the same for any number of
# threads. So it is for references with any letters and lines, whatever index lies beside them. What cannot be used as
# the reference is refused.
# LONG=1: every set, not five, and every engine. PART=REGEX: the parts whose name matches.
source "$(dirname "$0")/lib.sh"
command -v samtools > /dev/null || skip "no samtools here"

# records FILE REFERENCE: without the header. (By default samtools adds MD and NM to what it reads from CRAM.)
records() { samtools view --input-fmt-option decode_md=0 -T "$2" "$1"; }

# body FILE: what follows the header of a CRAM file
body() {
    python3 - "$1" << 'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read()
def itf8(at):
    ones = next(n for n in range(5) if n == 4 or not data[at] & 0x80 >> n)
    return at + 1 + ones
at = 26
length = struct.unpack_from("<i", data, at)[0]
at += 4
numbers = 8
for number in range(8):
    if number == 7: landmarks = data[at]
    at = itf8(at)
for _ in range(landmarks): at = itf8(at)
sys.stdout.buffer.write(data[at + 4 + length:])
PYTHON
}

# check WHAT 'OPTIONS' REFERENCE READS...: CRAM of both versions has the records of BAM
check() {
    local what=$1 options=$2 version; shift 2
    local reference=$1
    zerohop align -q -t 2 $options -o "$WORK/expected.bam" "$@"
    samtools view "$WORK/expected.bam" > "$WORK/expected.sam"
    # CRAM has RG behind all other fields; SNAP writes it between others
    [[ $options != *snap* ]] ||
        sed -i -E 's/(\tRG:Z:[^\t]*)(\t.*)$/\2\1/' "$WORK/expected.sam"
    for version in 3.0 3.1; do
        rm -f "$WORK"/own.cram*
        zerohop align -q -t 2 $options --cram-version $version -o "$WORK/own.cram" "$@"
        samtools quickcheck "$WORK/own.cram" || fail "$what, $version: quickcheck"
        records "$WORK/own.cram" "$reference" > "$WORK/own.sam"
        cmp "$WORK/own.sam" "$WORK/expected.sam" ||
            fail "$what, $version: other records: $(diff "$WORK/own.sam" "$WORK/expected.sam" | head -n 4)"
        [ "$(head -c 6 "$WORK/own.cram" | xxd -p)" = "4352414d03${version/3./0}" ] || fail "$what: not $version"
        checks=$((checks + 1))
    done
}

# check_index NAME REFERENCE: $WORK/own.cram.crai has the lines of samtools' own, and finds what it finds
check_index() {
    local contig length start
    cp "$WORK/own.cram" "$WORK/theirs.cram"
    samtools index "$WORK/theirs.cram"
    cmp <(gzip -cd "$WORK/own.cram.crai") <(gzip -cd "$WORK/theirs.cram.crai") || fail "$1: another index"
    while read -r contig length _; do
        start=$((length / 3 + 1))
        cmp <(samtools view -T "$2" "$WORK/own.cram" "$contig:$start-$((start + 5000))" | cut -f 1-11) \
            <(samtools view -T "$2" "$WORK/expected.bam" "$contig:$start-$((start + 5000))" | cut -f 1-11) ||
            fail "$1: $contig:$start finds other records"
    done < <(samtools idxstats "$WORK/expected.bam" | awk '$3 > 0' | head -n 5)
}

# reference FILE: as $WORK/set.fa, not compressed, with no index
reference() {
    rm -f "$WORK"/set.fa*
    gzip -cdf "$1" > "$WORK/set.fa"
}

check_sets() {
    local name reference first second checks=0
    while read -r name reference first second; do
        if [ ! -f "$first" ]; then echo "$name: not here"; continue; fi
        reference "$reference"
        local all=("$WORK/set.fa" "$first" "$second")
        check "$name" "-r 150" "${all[@]}"
        check "$name, sorted" "-r 150 --sort --mark-duplicates" "${all[@]}"
        check_index "$name" "$WORK/set.fa"
        [ -n "${LONG-}" ] || [ "$name" = phix_301 ] || continue
        check "$name, by name" "-r 150 --sort=name" "${all[@]}"
        check "$name, single" "-r 150 --sort --remove-duplicates" "$WORK/set.fa" "$first"
    done < <(read_sets | { [ -n "${LONG-}" ] && cat || head -n 5; })
    echo "sets: the records of BAM in $checks files"
}

check_engines() {
    local engine checks=0 engines="bwa-mem minimap2"
    [ -z "${LONG-}" ] || engines="bwa-mem bwa bowtie2 hisat2 minimap2 snap strobealign-program"
    reference "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz"
    local all=("$WORK/set.fa" "$DATA/ecoli/ecoli_100_1.fq.gz" "$DATA/ecoli/ecoli_100_2.fq.gz")
    zerohop engines > "$WORK/engines.txt"
    for engine in $engines; do
        grep -q "^$engine  *.*[0-9]" "$WORK/engines.txt" || { echo "$engine: not here"; continue; }
        # CRAM has no = and X in CIGARs, which SNAP writes otherwise
        local options="--engine $engine --build-index"
        [ $engine != snap ] || options="$options --engine-args -M"
        check "$engine" "$options" "${all[@]}"
        check "$engine, sorted" "$options --sort" "${all[@]}"
        check_index "$engine" "$WORK/set.fa"
    done
    # all alignments, secondary ones without bases and with clips
    check "bwa-mem -a" "--engine bwa-mem --engine-args -a --sort" "${all[@]}"
    echo "engines: the records of BAM in $checks files"
}

# Threads, temporary files, pipes, a compressed reference; Picard
check_forms() {
    local threads
    gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > "$WORK/ref.fa"
    local all=("$WORK/ref.fa" "$DATA/ecoli/ecoli_150_1.fq.gz" "$DATA/ecoli/ecoli_150_2.fq.gz")
    zerohop align -q -t 1 --sort -o "$WORK/first.cram" "${all[@]}"
    [ ! -e "$WORK/ref.fa.fai" ] || fail "an index of the reference was made"
    body "$WORK/first.cram" > "$WORK/first.body"
    [ "$(stat -c %s "$WORK/first.body")" -gt 100000 ] || fail "no records are compared"
    for options in "-t 5" "-t 3 --sort-memory 1M" "-t 2 --tmp-dir $WORK"; do
        zerohop align -q $options --sort -o "$WORK/own.cram" "${all[@]}"
        cmp <(body "$WORK/own.cram") "$WORK/first.body" || fail "$options: other bytes"
    done
    # read groups come last in CRAM, as in that of samtools
    local tagged='-C --mate-tags -R @RG\tID:a\tSM:s'
    zerohop align -q -t 2 --sort $tagged -o "$WORK/own.bam" "${all[@]}"
    zerohop align -q -t 2 --sort $tagged -o "$WORK/own.cram" "${all[@]}"
    samtools view -C --output-fmt-option store_md=1 --output-fmt-option store_nm=1 -T "$WORK/ref.fa" \
        -o "$WORK/theirs.cram" "$WORK/own.bam"
    cmp <(records "$WORK/own.cram" "$WORK/ref.fa") <(records "$WORK/theirs.cram" "$WORK/ref.fa") ||
        fail "tags and read groups: other records than in CRAM of samtools"
    records "$WORK/first.cram" "$WORK/ref.fa" > "$WORK/expected.sam"
    "$ZEROHOP" align -q -t 2 --sort --format cram "${all[@]}" | records - "$WORK/ref.fa" | cmp - "$WORK/expected.sam" ||
        fail "down a pipe: other records"
    samtools view -H "$WORK/first.cram" > "$WORK/header"
    grep -v '>' "$WORK/ref.fa" | tr -d '\n' | tr a-z A-Z | md5sum | cut -d ' ' -f 1 > "$WORK/md5"
    grep -q "^@SQ.*M5:$(cat "$WORK/md5")" "$WORK/header" ||
        fail "no M5, or another: $(cat "$WORK/header")"
    grep -q "^@SQ.*UR:$WORK/ref.fa" "$WORK/header" || fail "no UR: $(cat "$WORK/header")"
    # The same bytes come out of any folder.
    local folder
    for folder in one other; do
        mkdir "$WORK/$folder"
        cp "$WORK/ref.fa" "$WORK/$folder"
        (cd "$WORK/$folder" && zerohop align -q -t 2 --sort --reference-uri ref.fa -o own.cram ref.fa "${all[@]:1}")
    done
    cmp "$WORK/one/own.cram" "$WORK/other/own.cram" || fail "--reference-uri: other bytes in another folder"
    local compress
    for compress in bgzip gzip; do
        $compress -c "$WORK/ref.fa" > "$WORK/ref.fa.gz"
        # of another file
        echo x | tee "$WORK/ref.fa.gz.fai" > "$WORK/ref.fa.gz.gzi"
        zerohop align -q -t 2 --sort -o "$WORK/own.cram" "$WORK/ref.fa.gz" "${all[@]:1}"
        cmp <(body "$WORK/own.cram") "$WORK/first.body" || fail "$compress: other bytes"
    done
    if command -v PicardCommandLine > /dev/null; then
        samtools faidx "$WORK/ref.fa"
        PicardCommandLine CreateSequenceDictionary QUIET=true "R=$WORK/ref.fa" "O=$WORK/ref.dict" > /dev/null 2>&1
        # (TLEN aside, which it computes by another rule for mates in one slice, in CRAM of samtools too)
        PicardCommandLine ViewSam QUIET=true "I=$WORK/first.cram" "R=$WORK/ref.fa" ALIGNMENT_STATUS=All PF_STATUS=All \
            2> "$WORK/picard.stderr" > "$WORK/picard.out" ||
            { cat "$WORK/picard.stderr"; fail "Picard does not read it"; }
        cmp <(grep -v '^@\|^JavOpt:\|^Picard[A-Z]' "$WORK/picard.out" | cut -f 1-8,10-11) \
            <(cut -f 1-8,10-11 "$WORK/expected.sam") || fail "Picard reads other records"
    else
        skip_part "no Picard here"
    fi
    echo "forms: the same bytes; Picard reads the records"
}

# refused WORDS ARGUMENTS...: nothing is left, and the message has the words
refused() {
    local words=$1 rc=0; shift
    "$ZEROHOP" align -q --sort -o "$WORK/out/no.cram" "$@" 2> "$WORK/stderr" || rc=$?
    [ $rc != 0 ] || fail "not refused: $*"
    grep -q -- "$words" "$WORK/stderr" || fail "'$words' is not said: $(cat "$WORK/stderr")"
    [ -z "$(ls -A "$WORK/out")" ] || fail "left: $(ls "$WORK/out")"
}

check_refused() {
    local reads=("$DATA/phix/phix.1.fastq" "$DATA/phix/phix.2.fastq")
    mkdir "$WORK/out"
    cp "$DATA/phix/phix.fasta" "$WORK/ref.fa"
    refused "index" --index csi "$WORK/ref.fa" "${reads[@]}"
    # the aligner's index is of another reference
    printf '>NC_001422.1\nACGTACGT\n' > "$WORK/other.fa"
    touch "$WORK/other.fa.odd"
    : > "$WORK/none.fa"
    refused "the reference holds no sequence" "$WORK/none.fa" "${reads[@]}"
    refused "the reference must be a file" - "${reads[@]}"
    echo "no reference" > "$WORK/ref.mmi"
    refused "not FASTA" --engine minimap2 "$WORK/ref.mmi" "${reads[@]}"
    # a run without records, and another one over it
    : > "$WORK/empty.fq"
    cp "$DATA/phix/phix.fasta" "$WORK/ref.fa"
    zerohop align -q --sort -o "$WORK/empty.cram" "$WORK/ref.fa" "$WORK/empty.fq"
    zerohop align -q --sort -o "$WORK/empty.cram" "$WORK/ref.fa" "$WORK/empty.fq"
    [ "$(records "$WORK/empty.cram" "$WORK/ref.fa" | wc -l)" = 0 ] || fail "records of no reads"
    # what an aligner says of the reference is computed again, and no record is taken that has no place
    cat > "$WORK/odd.py" << 'END'
import os, sys
print("@HD\tVN:1.6\tSO:unsorted\n@SQ\tSN:NC_001422.1\tLN:5386\tM5:00000000000000000000000000000000")
for number, line in enumerate(open(sys.argv[-1])):
    if number % 4 == 0: name = line[1:].split()[0]
    if number % 4 == 1: bases = line.strip()
    if number % 4 == 3:
        place = os.environ["ODD_PLACE"].replace("CIGAR", f"{len(bases)}M")
        print(name, place, "*", 0, 0, bases, line.strip(), sep="\t")
END
    python_aligner odd
    touch "$WORK/ref.fa.odd"
    local odd=(--engine odd --engine-file "$WORK/odd.toml" -t 2 "$WORK/ref.fa" "$DATA/ecoli/ecoli_100_1.fq.gz") place
    for place in '0\t*\t0\t9\tCIGAR' '0\tNC_001422.1\t0\t9\tCIGAR' '0\tNC_001422.1\t9\t9\t*'; do
        ODD_PLACE=$(printf "$place") refused "which CRAM cannot hold" "${odd[@]}"
    done
    # behind the end of the contig: CRAM could not be read, SAM and BAM can
    for place in '0\tNC_001422.1\t5300\t9\tCIGAR' '0\tNC_001422.1\t9\t9\t50M5400D50M' '0\tNC_001422.1\t9999\t9\tCIGAR' \
        '4\tNC_001422.1\t5387\t0\t*'; do
        ODD_PLACE=$(printf "$place") refused "read '[^']*': it reaches to position [0-9]* of 'NC_001422.1', which has \
5386 bases, which CRAM cannot hold: write BAM" "${odd[@]}"
        ODD_PLACE=$(printf "$place") zerohop align -q --sort -o "$WORK/odd.bam" "${odd[@]}"
        samtools view "$WORK/odd.bam" > "$WORK/odd.out" && [ -s "$WORK/odd.out" ] || fail "$place: no BAM"
    done
    ODD_PLACE=$(printf '0\tNC_001422.1\t9\t9\tCIGAR') refused "bases here, but 5386 in the index of the aligner" \
        --engine odd --engine-file "$WORK/odd.toml" -t 2 "$WORK/other.fa" "$DATA/ecoli/ecoli_100_1.fq.gz"
    ODD_PLACE=$(printf '0\tNC_001422.1\t9\t9\tCIGAR') zerohop align -q --sort -o "$WORK/odd.cram" "${odd[@]}"
    samtools view -H "$WORK/odd.cram" | grep -q 'M5:3332ed720ac7eaa9b3655c06f6b9e196' ||
        fail "M5 of the aligner is kept"
    echo "refused: what cannot be a reference"
}

# What a reference may hold, and what may lie beside it: M5 is that of `samtools dict`, and samtools of two versions
# (that of pysam reads . - and * in lines as other bytes) give the records back.
check_references() {
    local name checks=0 options
    local reads=("$DATA/phix/phix.1.fastq" "$DATA/phix/phix.2.fastq")
    while read -r name; do
        rm -f "$WORK"/set.fa* "$WORK"/even.fa*
        # samtools reads with the same bases in lines of equal length
        python3 - "$name" "$DATA/phix/phix.fasta" "$WORK/set.fa" "$WORK/even.fa" << 'PYTHON'
import sys
name, source, target, even = sys.argv[1:]
bases = "".join(open(source).read().split("\n")[1:])
put = {"gaps": ".-*", "iupac": "RYKMSWBDHVryN", "all": "".join(map(chr, range(65, 91))) + ".-*u"}.get(name, "")
for place in (700, 2900, 5300):
    for i in range(40 if put else 0):
        bases = bases[:place + i] + put[i % len(put)] + bases[place + i + 1:]
if name == "small": bases = bases[:2000].lower() + bases[2000:]
width = {"one-line": len(bases)}.get(name, 70)
lines = [bases[i:i + width] for i in range(0, len(bases), width)]
open(even, "w").write("\n".join([">NC_001422.1 of tests", *lines, ""]))
if name == "uneven": lines[3:5] = ["".join(lines[3:5])]
end = "\r\n" if name == "windows" else "\n"
open(target, "w", newline="").write(end.join([">NC_001422.1 of tests", *lines, ""]))
PYTHON
        # of another reference, and not older
        printf 'NC_001422.1\t5386\t3\t60\t61\n' > "$WORK/set.fa.fai"
        [ "$name" != empty-index ] || : > "$WORK/set.fa.fai"
        for options in "-r 300" "-r 300 --sort"; do
            check_against_two "$name" "$options" "$WORK/set.fa" "${reads[@]}"
        done
        if [ "$name" = gaps ]; then
            zerohop index -q --engine bwa-mem "$WORK/set.fa"
            check_against_two "$name, bwa-mem" "--engine bwa-mem --sort" "$WORK/set.fa" "${reads[@]}"
        fi
    done << 'END'
plain
gaps
iupac
all
small
one-line
uneven
windows
empty-index
END
    echo "references: the records of BAM in $checks files"
}

# check_against_two WHAT 'OPTIONS' REFERENCE READS...: as check, and with M5, and by the samtools of pysam
check_against_two() {
    local index="$WORK/set.fa.fai" version
    zerohop align -q -t 2 $2 -o "$WORK/expected.bam" "${@:3}"
    samtools view "$WORK/expected.bam" > "$WORK/expected.sam"
    for version in 3.0 3.1; do
        cp "$index" "$WORK/index"
        zerohop align -q -t 2 $2 --cram-version $version -o "$WORK/own.cram" "${@:3}"
        cmp "$index" "$WORK/index" || fail "$1: the index beside the reference was written"
        records "$WORK/own.cram" "$WORK/even.fa" | cmp - "$WORK/expected.sam" || fail "$1, $2, $version: other records"
        samtools view -H "$WORK/own.cram" | grep -o 'M5:[0-9a-f]*' > "$WORK/own.m5"
        samtools dict "$WORK/even.fa" | grep -o 'M5:[0-9a-f]*' | cmp - "$WORK/own.m5" ||
            fail "$1: M5 is not that of samtools dict"
        if [ -n "${PYTHON_WITH_PYSAM-}" ]; then
            "$PYTHON_WITH_PYSAM" - "$WORK"/{own.cram,even.fa,expected.bam} << 'PYTHON' || fail "$1, $2: pysam"
import pysam, sys
pysam.set_verbosity(0)
def records(path, **how):
    with pysam.AlignmentFile(path, **how) as file:
        return [str(record).split("\t")[:11] for record in file]
cram = records(sys.argv[1], mode="rc", reference_filename=sys.argv[2])
assert cram == records(sys.argv[3], mode="rb"), "other records"
PYTHON
        fi
        checks=$((checks + 1))
    done
}

for part in check_sets check_engines check_forms check_references check_refused; do
    if [[ $part =~ ${PART-} ]]; then part $part; fi
done
