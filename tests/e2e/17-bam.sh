#!/bin/bash
# BAM, SAM and CRAM as input: the alignments are those of the FASTQ that they were made of, for any engine, number of
# threads and ranks, from files and pipes, however records lie in blocks. Fields, read groups and 0x200 arrive at the
# records; fields that go with the direction are turned. Records that were aligned before are taken as the reads
# that they were.
# What cannot be aligned is refused with its place.
# LONG=1: every set at every number of threads, not five. PART=REGEX: the parts whose name matches.
source "$(dirname "$0")/lib.sh"
command -v samtools > /dev/null || skip "no samtools here"

# records FILE...: without the header and read groups
records() { samtools view --no-PG "$@" | sed 's/\tRG:Z:[^\t]*//'; }

# aligned OUT ARGUMENTS...: their records in $WORK/OUT
aligned() {
    local out=$1; shift
    zerohop align -q -o "$WORK/whole.bam" "$@"
    records "$WORK/whole.bam" > "$WORK/$out"
}

# same WHAT: $WORK/own has the records of $WORK/expected
same() {
    cmp "$WORK/own" "$WORK/expected" || fail "$1: other records: $(diff "$WORK/own" "$WORK/expected" | head -n 4)"
    checks=$((checks + 1))
}

# unaligned OUT FIRST SECOND: BAM of pairs; of single reads without SECOND
unaligned() {
    if [ -n "${3-}" ]; then samtools import -R g -1 "$2" -2 "$3" -o "$1" 2> "$WORK/import.log"
    else # a name with /1 or /2 makes samtools set the flags of a pair
        samtools import -R g -0 <(gzip -cdf "$2" | sed -E '1~4s|^(@[^ ]*)/[12]|\1|') -o "$1" 2> "$WORK/import.log"
    fi
}

# reference FILE: as $WORK/set.fa, not compressed, with no index
reference() {
    rm -rf "$WORK"/set.fa*
    gzip -cdf "$1" > "$WORK/set.fa"
}

check_sets() {
    local name reference first second threads checks=0 number=0
    local all=(1 2 5 16)
    while read -r name reference first second; do
        if [ ! -f "$first" ]; then echo "$name: not here"; continue; fi
        reference "$reference"
        unaligned "$WORK/reads.bam" "$first" "$second"
        unaligned "$WORK/single.bam" "$first"
        [ -n "${LONG-}" ] || threads=${all[number % 4]}
        number=$((number + 1))
        aligned expected -t 2 "$WORK/set.fa" "$first" "$second"
        for threads in ${LONG:+${all[@]}} ${threads:+$threads}; do
            aligned own -t "$threads" "$WORK/set.fa" "$WORK/reads.bam"
            same "$name at -t $threads"
        done
        aligned expected -t 2 "$WORK/set.fa" "$first"
        aligned own -t "${threads:-2}" "$WORK/set.fa" "$WORK/single.bam"
        same "$name, single"
        [ -n "${LONG-}" ] || [ $number -lt 5 ] || break
    done < <(read_sets)
    echo "sets: the records of FASTQ in $checks runs"
}

check_forms() {
    local checks=0 form first=$WORK/some_1.fq second=$WORK/some_2.fq
    some_pairs 2500 "$WORK/some" "$DATA/ecoli/ecoli_150_1.fq.gz" "$DATA/ecoli/ecoli_150_2.fq.gz"
    reference "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz"
    zerohop index -q -r 150 "$WORK/set.fa"
    unaligned "$WORK/reads.bam" "$first" "$second"
    aligned expected -t 2 "$WORK/set.fa" "$first" "$second"
    # bgzip cuts blocks anywhere; htslib writes whole records
    gzip -cd "$WORK/reads.bam" > "$WORK/raw"
    bgzip -c "$WORK/raw" > "$WORK/bgzip.bam"
    gzip -c "$WORK/raw" > "$WORK/gzip.bam"
    samtools view -u -o "$WORK/stored.bam" "$WORK/reads.bam"
    for form in bgzip.bam gzip.bam raw stored.bam; do
        aligned own -t 2 "$WORK/set.fa" "$WORK/$form"
        same "$form"
    done
    for form in reads.bam raw; do
        aligned own -t 2 "$WORK/set.fa" - < <(cat "$WORK/$form")
        same "standard input, $form"
    done
    samtools view -h -o "$WORK/reads.sam" "$WORK/reads.bam"
    gzip -c "$WORK/reads.sam" > "$WORK/reads.sam.gz"
    samtools view -o "$WORK/bare.sam" "$WORK/reads.bam"
    sed -i 's/\tRG:Z:g//' "$WORK/bare.sam"
    samtools view -C --no-PG -o "$WORK/reads.cram" "$WORK/reads.bam"
    samtools view -C --output-fmt-option version=3.1 -o "$WORK/3.1.cram" "$WORK/reads.bam" 2> "$WORK/cram.log"
    samtools view -C --output-fmt-option use_bzip2=1 -o "$WORK/bzip2.cram" "$WORK/reads.bam"
    for form in reads.sam reads.sam.gz bare.sam reads.cram 3.1.cram bzip2.cram; do
        aligned own -t 2 "$WORK/set.fa" "$WORK/$form"
        same "$form"
        aligned own -t 2 "$WORK/set.fa" - < <(cat "$WORK/$form")
        same "standard input, $form"
    done
    # htslib reads and writes at the same time
    zerohop align -q -t 2 -o "$WORK/whole.cram" "$WORK/set.fa" "$WORK/reads.sam"
    records -T "$WORK/set.fa" --input-fmt-option decode_md=0 "$WORK/whole.cram" > "$WORK/own"
    same "SAM to CRAM"
    # lanes, also beside FASTQ
    aligned expected -t 2 "$WORK/set.fa" "$first" "$second" --reads "$first" "$second" --reads "$first"
    unaligned "$WORK/single.bam" "$first"
    aligned own -t 2 "$WORK/set.fa" "$WORK/bgzip.bam" --reads "$first" "$second" --reads "$WORK/single.bam"
    same "three lanes"
    aligned expected --first 100 -t 2 "$WORK/set.fa" "$first" "$second"
    aligned own --first 100 -t 2 "$WORK/set.fa" "$WORK/reads.bam"
    same "--first"
    echo "forms: the records of FASTQ in $checks forms"
}

check_engines() {
    local checks=0 engine name aligner sort
    local first=$DATA/viral/sarscov2_251_1.fq.gz second=$DATA/viral/sarscov2_251_2.fq.gz
    reference "$DATA/viral/NC_045512.2.fasta"
    unaligned "$WORK/reads.bam" "$first" "$second"
    # bowtie2 and hisat2 choose among equal places by the name, of which BAM has no /1 or /2
    first=$WORK/first.fq second=$WORK/second.fq
    samtools fastq -n -1 "$first" -2 "$second" "$WORK/reads.bam" 2> "$WORK/fastq.log"
    unaligned "$WORK/single.bam" "$first"
    zerohop index -q --engine bwa-mem "$WORK/set.fa"
    # NAME:PROGRAM
    for engine in bwa-mem: bwa:bwa minimap2:minimap2 bowtie2:bowtie2 hisat2:hisat2 snap:snap-aligner; do
        name=${engine%%:*} aligner=${engine#*:}
        if [ -n "$aligner" ] && ! command -v "$aligner" > /dev/null; then echo "$name: not here"; continue; fi
        for sort in "" --sort; do
            local all=(--engine "$name" ${aligner:+--build-index} -t 4 $sort "$WORK/set.fa")
            aligned expected "${all[@]}" "$first" "$second"
            aligned own "${all[@]}" "$WORK/reads.bam"
            same "$name $sort"
        done
        aligned expected "${all[@]}" "$first"
        aligned own "${all[@]}" "$WORK/single.bam"
        same "$name, single"
    done
    echo "engines: the records of FASTQ in $checks runs"
}

# Fields of all types, read groups, 0x200
check_fields() {
    reference "$DATA/phix/phix.fasta"
    zerohop index -q --engine bwa-mem "$WORK/set.fa"
    python3 - "$DATA/phix/phix.1.fastq" "$DATA/phix/phix.2.fastq" > "$WORK/reads.sam" << 'END'
import itertools, sys
print('@HD\tVN:1.6\tSO:unsorted\tGO:query')
print('@RG\tID:one\tSM:s\tLB:l1\tDS:a b\n@RG\tID:two\tSM:s\tLB:l2')
def reads(path):
    with open(path) as lines:
        for name, seq, _, qual in itertools.zip_longest(*[lines] * 4):
            yield name[1:].split()[0].removesuffix('/1').removesuffix('/2'), seq.strip().upper(), qual.strip()
for number, pair in enumerate(zip(*map(reads, sys.argv[1:]))):
    for flags, (name, seq, qual) in zip((77, 141), pair):
        flags |= 0x200 if number % 3 == 0 else 0
        fields = [f'RG:Z:{("one", "two")[number % 2]}', f'RX:Z:ACGT-{number}', 'BC:Z:', f'xi:i:{number - 70000}',
            f'xj:i:{1 << 31}', 'xa:A:q', 'xf:f:-1.5e-07', 'xh:H:1AE3', 'MM:Z:C+m,1,2;', 'ML:B:C,0,255',
            'xc:B:c,-128,127', 'xs:B:s,-32768', 'xS:B:S,65535', 'xI:B:I,4294967295', 'xF:B:f,0.25,1e+10', 'xe:B:i',
            'XA:Z:XM-XC', 'pa:B:i,-1,7',
            f'OQ:Z:{qual}', f'E2:Z:{seq}', f'cd:B:S{"".join(f",{i}" for i in range(len(seq)))}']
        gone = ['NM:i:3', 'MD:Z:5', 'AS:i:9', 'SA:Z:x', 'MQ:i:1', 'MC:Z:*', 'TS:A:+', 'XS:i:0',
            'ms:i:3']
        print(name, flags, '*', 0, 0, '*', '*', 0, 0, seq, qual, *(fields + gone)[::1 if number % 4 else -1], sep='\t')
END
    samtools view -b -o "$WORK/reads.bam" "$WORK/reads.sam"
    # number of threads, format of the output, engine
    local engine form how
    for how in "2 bam strobealign" "5 sam strobealign" "2 cram bwa-mem" "3 bam bwa" "2 sam minimap2"; do
        read -r threads form engine <<< "$how"
        [ "$engine" != bwa ] && [ "$engine" != minimap2 ] || command -v "$engine" > /dev/null || continue
        local more=() turn=(--tags-to-reverse Picard,cd --tags-to-revcomp Picard)
        [ "$engine" != bwa ] && [ "$engine" != minimap2 ] || more=(--build-index)
        zerohop align -q -t "$threads" --engine "$engine" "${more[@]}" "${turn[@]}" -o "$WORK/own.$form" \
            "$WORK/set.fa" "$WORK/reads.bam"
        samtools view -h -T "$WORK/set.fa" --input-fmt-option decode_md=0 "$WORK/own.$form" > "$WORK/own"
        python3 - "$WORK/reads.sam" "$WORK/own" << 'END' || fail "fields: $how"
import sys
GONE = {'NM', 'MD', 'AS', 'SA', 'MQ', 'MC', 'TS', 'XS', 'ms'}
def complement(bases): return bases[::-1].translate(str.maketrans('ACGT', 'TGCA'))
def records(path):
    for line in open(path):
        if line[0] != '@':
            columns = line.rstrip('\n').split('\t')
            fields = dict((field[:2], field[3:]) for field in columns[11:])
            assert len(fields) == len(columns) - 11, f'a field is there twice: {line}'
            yield columns[0], int(columns[1]), fields, 'H' in columns[5]
def number(text): return float(text[2:]) if text.startswith('f:') else text
wanted = {(name, flags & 0xc0): (flags, fields) for name, flags, fields, _ in records(sys.argv[1])}
seen, turned = set(), 0
for name, flags, fields, is_clipped in records(sys.argv[2]):
    before, expected = wanted[name, flags & 0xc0]
    seen.add((name, flags & 0xc0))
    assert flags & 0x200 == before & 0x200, (name, flags)
    for key in GONE - {'NM', 'MD', 'AS', 'SA', 'MQ', 'MC', 'XS', 'ms'}: assert key not in fields, (name, key)
    for key, value in expected.items():
        if key in GONE:
            assert fields.get(key) is None or fields[key] != value or key in ('NM', 'MQ', 'MC', 'AS', 'XS'), (name, key)
            continue
        if is_clipped and key in ('MM', 'ML'):
            assert key not in fields, (name, key)
            continue
        if flags & 0x10:
            kind, text = value[:2], value[2:]
            if key == 'OQ': value = kind + text[::-1]
            if key == 'E2': value = kind + complement(text)
            if key == 'cd': value = kind + ','.join(text.split(',')[:1] + text.split(',')[:0:-1])
            turned += 1
        if key in ('xf', 'xF'):
            found = [float(x) for x in fields[key].split(':')[1].lstrip('f,').split(',')]
            assert found == [float(x) for x in value.split(':')[1].lstrip('f,').split(',')], (key, fields[key])
            continue
        assert fields[key] == value, (name, key, fields[key], value)
assert seen == set(wanted) and turned > 100
header = [line for line in open(sys.argv[2]) if line.startswith('@RG')]
assert header == ['@RG\tID:one\tSM:s\tLB:l1\tDS:a b\n', '@RG\tID:two\tSM:s\tLB:l2\n'], header
END
    done
    # one read group for all
    zerohop align -q -t 2 -R '@RG\tID:mine\tSM:t' -o "$WORK/own.bam" "$WORK/set.fa" "$WORK/reads.bam"
    [ "$(samtools view "$WORK/own.bam" | grep -c 'RG:Z:mine')" = "$(samtools view -c "$WORK/own.bam")" ] ||
        fail "-R does not count for all"
    [ "$(samtools view -H "$WORK/own.bam" | grep -c '^@RG')" = 1 ] || fail "read groups beside that of -R"
    # with FASTQ, whose comments are not copied
    zerohop align -q -t 2 -o "$WORK/own.sam" "$WORK/set.fa" "$WORK/reads.bam" --reads "$DATA/ecoli/ecoli_150_1.fq.gz"
    echo "fields: all of them, in 5 ways"
}

# What pysam reads of a record: all fields arrive with their types, those of real reads too. (BAM has an integer in any
# type that holds it.) LONG=1, for the index of bwa.
check_pysam() {
    local real=${ZEROHOP_DATA-}/human_chr20/HG002_NIST_150bp_downsampled_30x.chr20.10_10p1mb.bam engine
    [ -x "$PYTHON_WITH_PYSAM" ] || fail "no pysam here"
    [ -n "${LONG-}" ] || return 0
    if [ ! -f "$real" ]; then echo "HG002: not here"; return; fi
    reference "$ZEROHOP_DATA/human_chr20/grch38.chr20_and_21_10M.fa.gz"
    samtools collate -O -u "$real" 2> /dev/null | samtools view -b -F 0x900 -o "$WORK/collated.bam"
    # those whose mate is elsewhere cannot be aligned
    samtools view -h "$WORK/collated.bam" | awk '/^@/ { print; next }
        $1 == last { print line; print; last = ""; next } { last = $1; line = $0 }' |
        samtools view -b -o "$WORK/reads.bam"
    for engine in strobealign bwa; do
        [ $engine != bwa ] || command -v bwa > /dev/null || continue
        zerohop align -q -t 2 --engine $engine $([ $engine != bwa ] || echo --build-index) -o "$WORK/own.bam" \
            "$WORK/set.fa" "$WORK/reads.bam"
        "$PYTHON_WITH_PYSAM" - "$WORK/reads.bam" "$WORK/own.bam" $engine << 'END' || fail "pysam: $engine"
import pysam, sys
GONE, OF_ALIGNERS = set('AS CC CG CP H0 H1 H2 HI IH MC MD MQ NM SA TS'.split()), {'XA', 'XS', 'ms', 'pa'}
def reads(path):
    for record in pysam.AlignmentFile(path, check_sq=False):
        if not record.flag & 0x900:
            tags = {tag: (value, 'i' if kind in 'cCsSiI' else kind)
                for tag, value, kind in record.get_tags(with_value_type=True)}
            bases = record.get_forward_sequence(), list(record.get_forward_qualities())
            key = record.query_name, record.flag & 0xc0
            was_aligned = not record.is_unmapped or GONE & set(tags)
            yield key, (bases, record.is_qcfail, tags, OF_ALIGNERS if was_aligned else set())
before, after = (dict(reads(path)) for path in sys.argv[1:3])
assert set(before) == set(after) and len(before) > 10000
tags = 0
for key, (bases, failed, wanted, of_aligner) in before.items():
    assert after[key][:2] == (bases, failed), key
    assert sys.argv[3] == 'bwa' or not of_aligner & set(after[key][2]), (key, after[key][2])
    for tag in set(wanted) - GONE - of_aligner:
        assert after[key][2][tag] == wanted[tag], (key, tag, wanted[tag], after[key][2].get(tag))
        tags += 1
assert tags > len(before)
END
    done
    echo "pysam: all fields of real reads"
}

# The records that Picard's MergeBamAlignment makes of the unaligned reads and of the records of their FASTQ. (bwa puts
# an unmapped mate on the strand of the mapped one; Picard turns it back.)
check_merged() {
    command -v PicardCommandLine > /dev/null || { skip_part "no Picard here"; return 0; }
    reference "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz"
    zerohop index -q --engine bwa-mem "$WORK/set.fa"
    some_pairs 2000 "$WORK/some" "$DATA/ecoli/ecoli_150_1.fq.gz" "$DATA/ecoli/ecoli_150_2.fq.gz"
    python3 - "$WORK/some_1.fq" "$WORK/some_2.fq" > "$WORK/reads.sam" << 'END'
import itertools, sys
print('@HD\tVN:1.6\tSO:queryname')
print('@RG\tID:one\tSM:s\tLB:l1\tPL:ILLUMINA\n@RG\tID:two\tSM:s\tLB:l2\tPL:ILLUMINA')
def reads(path):
    with open(path) as lines:
        for name, seq, _, qual in itertools.zip_longest(*[lines] * 4):
            yield name[1:].split()[0], seq.strip(), qual.strip()
for number, pair in enumerate(sorted(zip(*map(reads, sys.argv[1:])))):
    for flags, (name, seq, qual) in zip((77, 141), pair):
        flags |= 0x200 if number % 3 == 0 else 0
        fields = [f'RG:Z:{("one", "two")[number % 2]}', f'RX:Z:ACGT-{number}', f'xi:i:{number - 70000}', 'xa:A:q',
            'xf:f:-1.5e-07', 'ML:B:C,0,255', f'OQ:Z:{qual}', f'E2:Z:{seq}',
            f'cd:B:S{"".join(f",{i}" for i in range(len(seq)))}']
        print(name, flags, '*', 0, 0, '*', '*', 0, 0, seq, qual, *fields, sep='\t')
END
    local quiet=(QUIET=true VERBOSITY=ERROR)
    picard() { PicardCommandLine "$@" "${quiet[@]}" > "$WORK/picard.log" 2>&1 || fail "$(cat "$WORK/picard.log")"; }
    picard SortSam I="$WORK/reads.sam" O="$WORK/reads.bam" SORT_ORDER=queryname
    picard CreateSequenceDictionary R="$WORK/set.fa"
    samtools fastq -n -1 "$WORK/1.fq" -2 "$WORK/2.fq" "$WORK/reads.bam" 2> /dev/null
    zerohop align -q --engine bwa-mem -t 2 -o "$WORK/aligned.sam" "$WORK/set.fa" "$WORK/1.fq" "$WORK/2.fq"
    picard MergeBamAlignment UNMAPPED_BAM="$WORK/reads.bam" ALIGNED_BAM="$WORK/aligned.sam" \
        REFERENCE_SEQUENCE="$WORK/set.fa" OUTPUT="$WORK/merged.bam" SORT_ORDER=queryname CLIP_ADAPTERS=false \
        CLIP_OVERLAPPING_READS=false ALIGNER_PROPER_PAIR_FLAGS=true PAIRED_RUN=true MAX_GAPS=-1 \
        PRIMARY_ALIGNMENT_STRATEGY=MostDistant ATTRIBUTES_TO_RETAIN=XS ATTRIBUTES_TO_RETAIN=XA \
        ADD_PG_TAG_TO_READS=false ATTRIBUTES_TO_REVERSE=cd ATTRIBUTES_TO_REVERSE=OQ ATTRIBUTES_TO_REVERSE=U2
    zerohop align -q --engine bwa-mem -t 2 --mate-tags --tags-to-reverse Picard,cd --tags-to-revcomp Picard \
        -o "$WORK/own.bam" "$WORK/set.fa" "$WORK/reads.bam"
    "$PYTHON_WITH_PYSAM" - "$WORK/merged.bam" "$WORK/own.bam" << 'END' || fail "MergeBamAlignment"
import pysam, sys
def reads(path):
    for record in pysam.AlignmentFile(path):
        if not record.flag & 0x900:
            fields = record.to_string().split('\t')[:11]
            tags = {tag: (value, 'i' if kind in 'cCsSiI' else kind)
                for tag, value, kind in record.get_tags(with_value_type=True) if tag != 'ms'}
            yield (record.query_name, record.flag & 0xc0), (record.flag & 0xc == 0, fields, tags)
merged, own = (dict(reads(path)) for path in sys.argv[1:])
assert set(merged) == set(own)
compared = 0
for key, (both_mapped, fields, tags) in merged.items():
    if both_mapped:
        assert own[key][1:] == (fields, tags), (fields, own[key])
        compared += 1
assert compared > 3500, compared
END
    echo "merged: as MergeBamAlignment"
}

# refused WORDS ARGUMENTS...
refused() {
    local words=$1 rc=0; shift
    local out=$WORK/${OUT:-out.bam}
    rm -f "$out"
    "$ZEROHOP" align -q -t 2 -o "$out" "$@" 2> "$WORK/said" || rc=$?
    [ $rc = 1 ] || [ $rc = 2 ] || fail "exit status $rc, not refused: $*"
    grep -qF -- "$words" "$WORK/said" || fail "'$words' is not what was said: $(cat "$WORK/said")"
    [ ! -e "$out" ] || fail "left behind: $*"
}

# Records that were aligned before
check_aligned() {
    local checks=0
    local first=$DATA/ecoli/ecoli_150_1.fq.gz second=$DATA/ecoli/ecoli_150_2.fq.gz
    reference "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz"
    zerohop index -q -r 150 "$WORK/set.fa"
    zerohop index -q --engine bwa-mem "$WORK/set.fa"
    zerohop align -q --engine bwa-mem -t 2 --sort -o "$WORK/sorted.bam" "$WORK/set.fa" "$first" "$second"
    [ "$(samtools view -c -f 2048 "$WORK/sorted.bam")" -gt 0 ] || fail "no supplementary records"
    samtools collate -o "$WORK/collated.bam" "$WORK/sorted.bam" 2> /dev/null
    samtools fastq -n -1 "$WORK/1.fq" -2 "$WORK/2.fq" "$WORK/collated.bam" 2> /dev/null
    aligned expected -t 2 "$WORK/set.fa" "$WORK/1.fq" "$WORK/2.fq"
    aligned own -t 3 "$WORK/set.fa" "$WORK/collated.bam"
    same "collated"
    # CRAM of aligned reads needs its reference
    samtools faidx "$WORK/set.fa"
    samtools view -C -T "$WORK/set.fa" -o "$WORK/collated.cram" "$WORK/collated.bam"
    aligned own -t 3 "$WORK/set.fa" "$WORK/collated.cram"
    same "collated, CRAM"
    # htslib looks for the one that the header names, too: that is not there
    mv "$WORK/set.fa" "$WORK/other.fa"
    rm "$WORK/set.fa.fai"
    sed 's/^>/>other_/' "$WORK/other.fa" > "$WORK/renamed.fa"
    refused "the reference that they were aligned to ($WORK/renamed.fa has other contigs)" "$WORK/renamed.fa" \
        "$WORK/collated.cram"
    gzip -c "$WORK/other.fa" > "$WORK/other.fa.gz"
    local form
    for form in other.fa.gz other.fa; do
        # an index of another file is not used
        echo x > "$WORK/$form.fai"
        aligned own -t 3 "$WORK/$form" "$WORK/collated.cram"
        same "collated, CRAM, $form"
        rm "$WORK/$form.fai"
    done
    mv "$WORK/other.fa" "$WORK/set.fa"
    # fields that were turned with the bases are turned back
    samtools import -R g -T '*' -1 <(sed -E '1~4 { s/$/\tcd:B:S,1,2,3/ }' "$WORK/1.fq") \
        -2 <(sed -E '1~4 { s/$/\tcd:B:S,1,2,3/ }' "$WORK/2.fq") -o "$WORK/fields.bam" 2> "$WORK/import.log"
    local turn=(--tags-to-reverse cd)
    aligned expected -t 2 "${turn[@]}" "$WORK/set.fa" "$WORK/fields.bam"
    zerohop align -q -t 2 --engine bwa-mem "${turn[@]}" -o "$WORK/turned.bam" "$WORK/set.fa" "$WORK/fields.bam"
    [ "$(samtools view "$WORK/turned.bam" | grep -c 'cd:B:S,3,2,1')" -gt 1000 ] || fail "no field was turned"
    aligned own -t 2 "${turn[@]}" "$WORK/set.fa" "$WORK/turned.bam"
    same "fields of aligned reads"
    zerohop align -q --engine bwa-mem -t 2 --sort -o "$WORK/sorted.bam" "$WORK/set.fa" "$first"
    samtools fastq -n -0 "$WORK/1.fq" "$WORK/sorted.bam" 2> /dev/null
    aligned expected -t 2 "$WORK/set.fa" "$WORK/1.fq"
    aligned own -t 3 "$WORK/set.fa" "$WORK/sorted.bam"
    same "sorted, single"
    echo "aligned: the records of the reads that they were"
}

# Duplicates of other libraries are told apart by the read groups of the records
check_libraries() {
    reference "$DATA/phix/phix.fasta"
    unaligned "$WORK/some.bam" "$DATA/phix/phix.1.fastq" "$DATA/phix/phix.2.fastq"
    samtools view -h "$WORK/some.bam" > "$WORK/some.sam"
    { grep '^@HD' "$WORK/some.sam"; printf '@RG\tID:g\tLB:one\n@RG\tID:h\tLB:two\n'
      grep -v '^@' "$WORK/some.sam"; grep -v '^@' "$WORK/some.sam" | sed 's/^/again/'
      grep -v '^@' "$WORK/some.sam" | sed 's/^/other/; s/RG:Z:g/RG:Z:h/'; } |
        samtools view -b -o "$WORK/reads.bam"
    local once twice other
    zerohop align -q -t 3 --sort --mark-duplicates=picard -o "$WORK/once.bam" "$WORK/set.fa" "$WORK/some.bam"
    zerohop align -q -t 3 --sort --mark-duplicates=picard -o "$WORK/own.bam" "$WORK/set.fa" "$WORK/reads.bam"
    once=$(samtools view -c -f 1024 "$WORK/once.bam")
    twice=$(samtools view -c -f 1024 -r g "$WORK/own.bam") other=$(samtools view -c -f 1024 -r h "$WORK/own.bam")
    [ "$twice" -gt $((2 * once + 20)) ] || fail "copies are no duplicates: $once, $twice"
    [ "$other" = "$once" ] || fail "duplicates of another library: $once, $other"
    echo "libraries: those of the read groups"
}

check_ranks() {
    local name compiler launch checks=0 ranks
    local first=$DATA/ecoli/ecoli_150_1.fq.gz second=$DATA/ecoli/ecoli_150_2.fq.gz
    reference "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz"
    zerohop index -q -r 150 "$WORK/set.fa"
    unaligned "$WORK/reads.bam" "$first" "$second"
    bgzip -dc "$WORK/reads.bam" > "$WORK/raw"
    bgzip -c "$WORK/raw" > "$WORK/reads.bam"
    gzip -c "$WORK/raw" > "$WORK/gzip.bam"
    aligned expected -t 2 "$WORK/set.fa" "$first" "$second"
    aligned own --durable -t 2 "$WORK/set.fa" "$WORK/reads.bam"
    same "--durable"
    while read -r name compiler launch; do
        with_mpi "$name" "$compiler"
        for ranks in 2 3; do
            rm -rf "$WORK/ranks.bam"*
            $launch -n $ranks "$ZEROHOP" align --ranks -q -t 2 -o "$WORK/ranks.bam" "$WORK/set.fa" "$WORK/reads.bam" \
                < /dev/null
            records "$WORK/ranks.bam" > "$WORK/own"
            same "$name, $ranks ranks"
        done
        rm -rf "$WORK/ranks.bam"*
        $launch -n 2 "$ZEROHOP" align --ranks -q -t 2 -o "$WORK/ranks.bam" "$WORK/set.fa" "$WORK/gzip.bam" < /dev/null
        records "$WORK/ranks.bam" > "$WORK/own"
        same "$name, 2 ranks, gzip"
        # a fault before the first read, which is in the chunks of no rank
        (samtools view -H "$WORK/reads.bam" | samtools view -u | bgzip -dc; head -c 40 /dev/zero) |
            bgzip -c > "$WORK/odd.bam"
        rm -rf "$WORK/ranks.bam"*
        ! $launch -n 2 "$ZEROHOP" align --ranks -q -t 2 -o "$WORK/ranks.bam" "$WORK/set.fa" "$WORK/odd.bam" \
            < /dev/null 2> "$WORK/message" || fail "$name: a damaged file is aligned"
        grep -q "record 1 (byte .*the file is damaged" "$WORK/message" || fail "$(cat "$WORK/message")"
        [ ! -e "$WORK/ranks.bam" ] || fail "$name: something that looks complete is left"
    done < <(mpis)
    echo "ranks: the records of one process in $checks runs"
}

# cut_before_container BYTES FILE: what of a CRAM file lies before the container (CRAMv3, section 7) in its last BYTES
cut_before_container() {
    python3 - "$@" << 'END'
import os, sys
bytes_left, data = int(sys.argv[1]), open(sys.argv[2], 'rb').read()
def itf8(at):
    first = data[at]
    more = next(i for i in range(5) if not first & 0x80 >> i or i == 4)
    return at + 1 + more
def ltf8(at):
    first = data[at]
    return at + 1 + next((i for i in range(8) if not first & 0x80 >> i), 8)
at = 26
while True:
    length, end = int.from_bytes(data[at:at + 4], 'little'), at + 4
    for _ in range(4): end = itf8(end)
    end = ltf8(ltf8(end))
    end = itf8(end)
    landmarks = data[end]
    end = itf8(end)
    for _ in range(landmarks): end = itf8(end)
    after = end + 4 + length
    if after > len(data) - bytes_left or after >= len(data):
        break
    at = after
sys.stdout.buffer.write(data[:at if len(data) - at >= bytes_left else after])
END
}

check_refused() {
    reference "$DATA/phix/phix.fasta"
    local first=$DATA/phix/phix.1.fastq second=$DATA/phix/phix.2.fastq size
    unaligned "$WORK/reads.bam" "$first" "$second"
    unaligned "$WORK/single.bam" "$first"
    samtools view -h "$WORK/reads.bam" > "$WORK/reads.sam"
    # odd SED-SCRIPT: $WORK/odd.bam
    odd() { sed -E "$1" "$WORK/reads.sam" | samtools view -b -o "$WORK/odd.bam"; }
    local n; n=$(grep -c '^@' "$WORK/reads.sam")
    odd "$((n + 4))d"
    refused "read '$(sed -n "$((n + 3))p" "$WORK/reads.sam" | cut -f 1)': its mate does not follow it" --durable \
        "$WORK/set.fa" "$WORK/odd.bam"
    odd "$((n + 3))s/\t77\t/\t4\t/"
    refused "record 3 (byte" --durable "$WORK/set.fa" "$WORK/odd.bam"
    refused "it is a single read, and the reads before are pairs" --durable "$WORK/set.fa" "$WORK/odd.bam"
    OUT=out.sam refused "either pairs or single reads" --engine minimap2 --build-index "$WORK/set.fa" "$WORK/odd.bam"
    refused "a '%' in the name of --unaligned stands for mates" --unaligned "$WORK/rest_%.fq" "$WORK/set.fa" \
        "$WORK/odd.bam"
    odd '/^@RG/d'
    refused "its RG is 'g', which the header does not name" "$WORK/set.fa" "$WORK/odd.bam"
    odd 's/^@RG\tID:g.*/@RG\tID:g\tSM:other/'
    refused "or that of another input, names the read group 'g' with other fields" "$WORK/set.fa" "$WORK/reads.bam" \
        --reads "$WORK/odd.bam"
    refused "is BAM, SAM or CRAM, whose flags say" "$WORK/set.fa" "$WORK/single.bam" "$WORK/reads.bam"
    refused "is BAM, SAM or CRAM, whose flags say" --interleaved "$WORK/set.fa" "$WORK/reads.bam"
    refused "'RXX' is neither a tag" --tags-to-reverse RXX "$WORK/set.fa" "$WORK/reads.bam"
    gzip -cd "$WORK/reads.bam" > "$WORK/raw"
    size=$(stat -c %s "$WORK/raw")
    head -c $((size - 7)) "$WORK/raw" | bgzip -c > "$WORK/odd.bam"
    refused "the file ends in the middle of this record: it is truncated" "$WORK/set.fa" "$WORK/odd.bam"
    head -c $(($(stat -c %s "$WORK/reads.bam") / 2)) "$WORK/reads.bam" > "$WORK/odd.bam"
    refused "the file is truncated" "$WORK/set.fa" "$WORK/odd.bam"
    head -c 40 "$WORK/raw" | bgzip -c > "$WORK/odd.bam"
    refused "the file ends in the middle of its header: it is truncated" "$WORK/set.fa" "$WORK/odd.bam"
    samtools view -C -o "$WORK/reads.cram" "$WORK/reads.bam"
    head -c $(($(stat -c %s "$WORK/reads.cram") - 60)) "$WORK/reads.cram" > "$WORK/odd.cram"
    refused "is cut off: the file is truncated" "$WORK/set.fa" "$WORK/odd.cram"
    # a file that ends between two containers, or lacks its end alone
    samtools view -C --output-fmt-option seqs_per_slice=10 -o "$WORK/small.cram" "$WORK/reads.bam"
    for size in 38 $(($(stat -c %s "$WORK/small.cram") / 2)); do
        cut_before_container "$size" "$WORK/small.cram" > "$WORK/odd.cram"
        refused "it lacks the end-of-file container of CRAM: it is truncated" "$WORK/set.fa" "$WORK/odd.cram"
    done
    samtools view -C --output-fmt-option use_lzma=1 -o "$WORK/odd.cram" "$WORK/reads.bam"
    refused "is compressed by lzma, which zerohop does not have" "$WORK/set.fa" "$WORK/odd.cram"
    sed '$ s/\t[0-9]*/\tx/' "$WORK/reads.sam" > "$WORK/odd.sam"
    refused "record $(samtools view -c "$WORK/reads.bam") of all in it, or what follows, is damaged" \
        "$WORK/set.fa" "$WORK/odd.sam"
    # what follows the last record is none, and no empty line either
    (cat "$WORK/raw"; echo) | bgzip -c > "$WORK/odd.bam"
    refused "the file ends in the middle of this record: it is truncated" "$WORK/set.fa" "$WORK/odd.bam"
    # read groups as others write them
    odd 's/^@RG\tID:g.*/@RG\tPU:\tID:g\tDS:a\\t b/'
    zerohop align -q -o "$WORK/groups.bam" "$WORK/set.fa" "$WORK/odd.bam"
    samtools view -H "$WORK/groups.bam" | grep -qF $'@RG\tID:g\tPU:\tDS:a\\t b' || fail "another @RG line"
    # other alignments alone are no reads
    sed -E 's/\t(77|141)\t/\t256\t/' "$WORK/reads.sam" | samtools view -b -o "$WORK/none.bam"
    zerohop align -q -o "$WORK/empty.bam" "$WORK/set.fa" "$WORK/none.bam"
    [ "$(samtools view -c "$WORK/empty.bam")" = 0 ] || fail "records of no reads"
    gzip -cd "$WORK/none.bam" | head -c -7 | bgzip -c > "$WORK/odd.bam"
    refused "record 1 (byte" "$WORK/set.fa" "$WORK/odd.bam"
    refused "the file ends in the middle of this record: it is truncated" "$WORK/set.fa" "$WORK/odd.bam"
    # no reads
    samtools view -H "$WORK/reads.bam" | samtools view -b -o "$WORK/none.bam"
    zerohop align -q -o "$WORK/empty.bam" "$WORK/set.fa" "$WORK/none.bam"
    [ "$(samtools view -c "$WORK/empty.bam")" = 0 ] || fail "records of no reads"
    if command -v bwa > /dev/null; then
        OUT=out.sam refused "--compare-with takes reads in FASTQ or FASTA" --engine bwa --build-index \
            --compare-with original "$WORK/set.fa" "$WORK/reads.bam"
    fi
    echo "refused: what cannot be aligned"
}

# What others write and few have seen
# Pairs and reads without a mate in one file: the commands that the message gives part them, and as two lanes they have
# the records of what samtools fastq makes of the file.
# Pairs, single reads and reads without their mates in one file: the records of what samtools fastq makes of it. Where
# they are refused, the command that the message gives parts them.
check_parted() {
    local options command
    reference "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz"
    unaligned "$WORK/reads.bam" "$DATA/ecoli/ecoli_150_1.fq.gz" "$DATA/ecoli/ecoli_150_2.fq.gz"
    cd "$WORK"
    # every 7th read is gone, and every 10th of the others is single
    samtools view -h reads.bam | awk -v OFS='\t' '
        /^@/ { print; next } NR % 7 { if (n++ % 10 == 9) { $1 = $1 "s"; $2 = 4 } print }' |
        samtools view -b -o FILE -
    samtools fastq -n FILE > both.fq 2> log
    zerohop index -q --engine bwa-mem set.fa
    for options in '-r 150' '--engine bwa-mem'; do
        zerohop align -t 2 $options -p -o expected.sam set.fa both.fq
        "$ZEROHOP" align -t 2 $options -o own.sam set.fa FILE 2> stderr || fail "$options: $(cat stderr)"
        cmp <(grep -v '^@' own.sam | cut -f 1-11) <(grep -v '^@' expected.sam | cut -f 1-11) || fail "mixed, $options"
        grep -Eq '^note +FILE holds [0-9,]+ pairs and [0-9,]+ single reads, of which [0-9,]+ are of pairs whose other' \
            stderr || fail "nothing is said: $(cat stderr)"
    done
    # a coordinate-sorted file is none of orphans, and ranks cannot know
    zerohop align -q -t 2 --sort -o sorted.bam -r 150 set.fa reads.bam
    ! "$ZEROHOP" align -q -o x.bam set.fa sorted.bam 2> stderr || fail "mates that are apart are aligned"
    grep -q 'its mate is in the file, but not next to it' stderr || fail "other words: $(cat stderr)"
    ! "$ZEROHOP" align -q --durable -o x.bam set.fa FILE 2> stderr || fail "orphans with --durable"
    command=$(grep -o "'samtools collate -O -u[^']*'" stderr) || fail "no command: $(cat stderr)"
    eval "${command//\'/}" 2> log || fail "$command: $(cat log)"
    samtools collate -O -u FILE | samtools fastq -n -1 1.fq -2 2.fq -s s.fq -0 0.fq - 2> log
    cat 0.fq >> s.fq
    zerohop align -q --durable -o own.bam -r 150 set.fa PAIRS.bam --reads SINGLE.bam
    zerohop align -q -o expected.bam -r 150 set.fa 1.fq 2.fq --reads s.fq
    # (equal places of repeats are chosen by the order of the reads, which differs)
    for options in '-f 1' '-F 1'; do
        cmp <(samtools view $options own.bam | cut -f 1 | sort) \
            <(samtools view $options expected.bam | cut -f 1 | sort) ||
            fail "a file in two parts, $options"
    done
    [ "$(samtools view -c SINGLE.bam)" -gt 1000 ] || fail "few reads without a mate"
    echo "pairs and reads without a mate: aligned as such, or parted as the message says"
    cd - > /dev/null
}

check_odd() {
    local checks=0 form rc first=$DATA/phix/phix.1.fastq second=$DATA/phix/phix.2.fastq
    reference "$DATA/phix/phix.fasta"
    unaligned "$WORK/reads.bam" "$first" "$second"
    unaligned "$WORK/single.bam" "$first"
    # places that SAM can say and BAM cannot
    samtools view -h "$WORK/single.bam" > "$WORK/single.sam"
    awk -F'\t' -v OFS='\t' '/^@/ { print; next } n++ == 5 { $9 = "3000000000" } { print }' \
        "$WORK/single.sam" > "$WORK/far.sam"
    { printf '@SQ\tSN:far\tLN:4000000000\n'
        awk -F'\t' -v OFS='\t' '/^@/ { next } n++ == 5 { $2 = 0; $3 = "far"; $4 = "3000000000" } { print }' \
            "$WORK/single.sam" | sed 's/\tRG:Z:[^\t]*//'; } > "$WORK/far2.sam"
    aligned expected -t 2 "$WORK/set.fa" "$first"
    for far in far far2; do
        aligned own -t 2 "$WORK/set.fa" "$WORK/$far.sam"
        same "a place beyond 31 bits, $far"
    done
    # so many other alignments of one read that no read could be as long; from a file and from a pipe
    samtools view -h "$WORK/single.bam" | awk -F'\t' -v OFS='\t' '
        { print }
        !/^@/ && n++ == 9 { $2 = 260; for (i = 0; i < 60000; i++) { $1 = "other" i; print } }' |
        samtools view -b -o "$WORK/many.bam"
    aligned own -t 2 "$WORK/set.fa" "$WORK/many.bam"
    same "many secondary records"
    aligned own -t 2 "$WORK/set.fa" - < "$WORK/many.bam"
    same "many secondary records, from a pipe"
    # a name of which one number is that of the mate, and one is not
    if command -v bwa > /dev/null; then
        zerohop index -q --engine bwa-mem "$WORK/set.fa"
        sed -E '1~4s|^@.*|@r/3/1|' <(head -n 4 "$first") > "$WORK/name.fq"
        awk -F'\t' -v OFS='\t' '/^@/ { print; next } { $1 = "r/3/1"; print; exit }' "$WORK/single.sam" |
            samtools view -b -o "$WORK/name.bam"
        aligned expected --engine bwa-mem "$WORK/set.fa" "$WORK/name.fq"
        aligned own --engine bwa-mem "$WORK/set.fa" "$WORK/name.bam"
        same "a name with two numbers"
    fi
    # fields of BAM in one lane, and comments that are not copied in the other
    refused "--barcode-tag is looked for in the fields of BAM" --sort --mark-duplicates --barcode-tag RX \
        "$WORK/set.fa" "$WORK/single.bam" --reads "$first"
    # SAM in BGZF without its end; no reads
    bgzip -c "$WORK/single.sam" | head -c -28 > "$WORK/single.sam.gz"
    head -c -28 "$WORK/single.bam" > "$WORK/endless.bam"
    for form in single.sam.gz endless.bam; do
        refused "$form: it lacks the end marker of BGZF: it is truncated between two blocks" "$WORK/set.fa" \
            "$WORK/$form"
        refused "standard input: it lacks the end marker of BGZF: did the program that wrote it fail" "$WORK/set.fa" - \
            < <(cat "$WORK/$form")
        zerohop align -q --first 100 -o "$WORK/own.bam" "$WORK/set.fa" "$WORK/$form"
    done
    zerohop align -q -o "$WORK/own.bam" "$WORK/set.fa" - < <(cat "$WORK/single.bam")
    zerohop align -q -o "$WORK/own.bam" "$WORK/set.fa" - < /dev/null
    grep -q "There were no reads" "$WORK/zerohop.stderr" || fail "no note: $(cat "$WORK/zerohop.stderr")"
    # an index beside a reference that is not there or is another one: CRAM that needs none, and one that names its own
    samtools faidx "$WORK/set.fa"
    samtools view -C -o "$WORK/single.cram" "$WORK/single.bam"
    zerohop index -q -r 150 "$WORK/set.fa"
    aligned expected -r 150 "$WORK/set.fa" "$first"
    mv "$WORK/set.fa" "$WORK/away.fa"
    aligned own -r 150 "$WORK/set.fa" "$WORK/single.cram"
    same "CRAM, and a .fai without its reference"
    mv "$WORK/away.fa" "$WORK/set.fa"
    zerohop align -q -o "$WORK/whole.bam" "$WORK/set.fa" "$first"
    mkdir -p "$WORK/old"
    cp "$WORK/set.fa" "$WORK/old/set.fa"
    samtools sort -u "$WORK/whole.bam" | samtools view -C -T "$WORK/old/set.fa" -o "$WORK/aligned.cram"
    sed '$ d' "$WORK/set.fa" > "$WORK/new.fa"
    samtools faidx "$WORK/new.fa"
    samtools collate -O -u "$WORK/aligned.cram" | samtools view -b -o "$WORK/aligned.bam"
    aligned expected -r 150 "$WORK/new.fa" "$WORK/aligned.bam"
    aligned own -r 150 "$WORK/new.fa" "$WORK/aligned.cram"
    cmp <(sort "$WORK/own") <(sort "$WORK/expected") || fail "CRAM of another assembly"
    echo "odd: $checks comparisons"
}

# What was done to the reads before stays in the header, and the PG of each record names one of its programs
check_history() {
    local form aligner count ids
    reference "$DATA/phix/phix.fasta"
    # made BAM COMMAND ID: single reads of ccs with this command line, then of a program with this ID
    made() {
        { printf '@CO\tof both\n@CO\tmade by %s\n@PG\tID:ccs\tCL:ccs %s\n' "$2" "$2"
          printf '@PG\tID:%s\tPP:ccs\tVN:1\n@RG\tID:%s\tPG:ccs\n' "$3" "$2"
          awk -v OFS='\t' -v id="$3" -v group="$2" 'NR % 4 == 1 { name = substr($1, 2) } NR % 4 == 2 { bases = $1 }
              NR % 4 == 0 { sub("/[12]$", "", name)
                  print name, 4, "*", 0, 0, "*", "*", 0, 0, bases, $1, "RG:Z:" group, "PG:Z:" id }' \
              "$DATA/phix/phix.1.fastq"
        } | samtools view --no-PG -b -o "$1"
    }
    made "$WORK/one.bam" one zerohop
    made "$WORK/two.bam" two minimap2
    # programs FILE: the IDs of its programs, and of those before them, in $WORK/programs
    programs() {
        samtools view --no-PG -H "$1" | sed -n 's/^@PG\t//p' | tr '\t' '\n' | grep -E '^(ID|PP):' | paste -s -d ' ' \
            > "$WORK/programs"
    }
    said() { programs "$1"; [ "$(cat "$WORK/programs")" = "$2" ] || fail "programs of $1: $(cat "$WORK/programs")"; }
    # of_records FILE: how many reads have each PG
    of_records() {
        samtools view -F 0x900 "$1" | grep -o 'PG:Z:[^[:space:]]*' | sort | uniq -c |
            awk '{ print $2 "=" $1 }' | paste -s -d ' '
    }
    count=$(samtools view -c "$WORK/one.bam")
    for form in bam sam cram; do
        zerohop align -q -t 2 -o "$WORK/own.$form" --unaligned "$WORK/away.bam" --no-unaligned \
            "$WORK/set.fa" "$WORK/one.bam"
        said "$WORK/own.$form" "ID:ccs ID:zerohop PP:ccs ID:strobealign PP:zerohop ID:zerohop.1 PP:strobealign"
        said "$WORK/away.bam" "$(cat "$WORK/programs")"
        [ "$(samtools view --no-PG -H "$WORK/own.$form" | grep '^@CO')" = $'@CO\tof both\n@CO\tmade by one' ] ||
            fail "comments of $form"
    done
    # two files, of which one went through another program of the same name; one file twice
    zerohop align -q -t 2 -o "$WORK/own.bam" "$WORK/set.fa" "$WORK/one.bam" --reads "$WORK/two.bam" \
        --reads "$WORK/one.bam"
    ids="ID:ccs ID:zerohop PP:ccs ID:ccs.1 ID:minimap2 PP:ccs.1"
    said "$WORK/own.bam" "$ids ID:strobealign ID:zerohop.1 PP:strobealign"
    [ "$(of_records "$WORK/own.bam")" = "PG:Z:minimap2=$count PG:Z:zerohop=$((2 * count))" ] ||
        fail "PG of records: $(of_records "$WORK/own.bam")"
    made "$WORK/two.bam" two zerohop
    zerohop align -q -t 2 -o "$WORK/own.sam" "$WORK/set.fa" "$WORK/one.bam" --reads "$WORK/two.bam"
    [ "$(of_records "$WORK/own.sam")" = "PG:Z:zerohop=$count PG:Z:zerohop.1=$count" ] ||
        fail "PG of records: $(of_records "$WORK/own.sam")"
    [ "$(samtools view -H "$WORK/own.sam" | grep '^@RG')" = $'@RG\tID:one\tPG:ccs\n@RG\tID:two\tPG:ccs.1' ] ||
        fail "PG of read groups: $(samtools view -H "$WORK/own.sam" | grep '^@RG')"
    # one read group in two files, whose program had another command line
    samtools view --no-PG -h "$WORK/one.bam" | sed 's/CL:ccs one/CL:ccs again/' |
        samtools view --no-PG -b -o "$WORK/again.bam"
    zerohop align -q -t 2 -o "$WORK/own.sam" "$WORK/set.fa" "$WORK/one.bam" --reads "$WORK/again.bam"
    [ "$(of_records "$WORK/own.sam")" = "PG:Z:zerohop=$count PG:Z:zerohop.1=$count" ] ||
        fail "PG of records: $(of_records "$WORK/own.sam")"
    [ "$(samtools view -H "$WORK/own.sam" | grep '^@RG')" = $'@RG\tID:one\tPG:ccs' ] ||
        fail "one read group in two files: $(samtools view -H "$WORK/own.sam" | grep '^@RG')"
    # reads of which nothing is known
    zerohop align -q -t 2 -o "$WORK/own.sam" "$WORK/set.fa" "$WORK/one.bam" --reads "$DATA/phix/phix.1.fastq"
    said "$WORK/own.sam" "ID:ccs ID:zerohop PP:ccs ID:strobealign ID:zerohop.1 PP:strobealign"
    # lines that samtools reads in BAM, and neither in SAM nor for CRAM
    { printf '@PG\tID:\n@PG\tID:a\tCL:x\ty\tID:b\t\n@RG\tID:one\tPG:a\tx\n'; samtools view "$WORK/one.bam"; } \
        > "$WORK/odd.sam"
    "$PYTHON_WITH_PYSAM" - "$WORK/odd.sam" "$WORK/odd.bam" << 'END' || fail "odd lines"
import gzip, struct, sys
header, records = b'', []
CODES = '=ACMGRSVTWYHKDBN'
for line in open(sys.argv[1]):
    if line[0] == '@':
        header += line.encode()
        continue
    name, flags, _, _, _, _, _, _, _, seq, qual = line.split('\t')[:11]
    seq, qual = ('', '') if seq == '*' else (seq, qual)
    codes = [CODES.index(base) for base in seq] + [0]
    packed = bytes(codes[i] << 4 | codes[i + 1] for i in range(0, len(seq), 2))
    body = struct.pack('<iiBBHHHIiii', -1, -1, len(name) + 1, 0, 4680, 0, int(flags), len(seq), -1, -1, 0)
    body += name.encode() + b'\0' + packed + bytes(ord(q) - 33 for q in qual) + b'RGZone\0PGZa\0'
    records.append(struct.pack('<I', len(body)) + body)
with gzip.open(sys.argv[2], 'wb') as out:
    out.write(b'BAM\1' + struct.pack('<I', len(header)) + header + struct.pack('<I', 0) + b''.join(records))
END
    for form in bam sam cram; do
        zerohop align -q -t 2 -o "$WORK/own.$form" "$WORK/set.fa" "$WORK/odd.bam"
        samtools view -H -T "$WORK/set.fa" "$WORK/own.$form" > "$WORK/header" || fail "$form is not read"
        grep -qxF $'@PG\tID:a\tCL:x y ID:b' "$WORK/header" && grep -qxF $'@RG\tID:one\tPG:a x' "$WORK/header" ||
            fail "odd lines in $form: $(cat "$WORK/header")"
    done
    # an aligner that names itself as an earlier program
    if command -v minimap2 > /dev/null; then
        made "$WORK/two.bam" two minimap2
        zerohop align -q -t 2 --engine minimap2 --build-index -o "$WORK/own.sam" "$WORK/set.fa" "$WORK/two.bam"
        said "$WORK/own.sam" "ID:minimap2.1 ID:ccs ID:minimap2 PP:ccs ID:zerohop PP:minimap2.1"
        [ "$(of_records "$WORK/own.sam")" = "PG:Z:minimap2=$count" ] || fail "PG of records of minimap2"
    fi
    # one that says in its records who wrote them
    if command -v snap-aligner > /dev/null; then
        made "$WORK/two.bam" two SNAP
        for form in sam bam; do
            zerohop align -q -t 2 --engine snap --build-index -o "$WORK/own.$form" "$WORK/set.fa" "$WORK/two.bam"
            said "$WORK/own.$form" "ID:SNAP.1 ID:ccs ID:SNAP PP:ccs ID:zerohop PP:SNAP.1"
            [ "$(of_records "$WORK/own.$form")" = "PG:Z:SNAP.1=$count" ] || fail "PG of records of SNAP in $form"
        done
    fi
    echo "history: programs and comments of the reads"
}

for part in check_sets check_forms check_engines check_fields check_pysam check_merged check_aligned check_parted \
    check_libraries check_ranks check_refused check_odd check_history; do
    if [[ $part =~ ${PART-} ]]; then part $part; fi
done
