#!/bin/bash
# Blocked FASTQ: what was blocked comes back byte for byte; other programs read the blocks as the FASTQ that they are;
# changed and cut files are refused. PART=REGEX chooses parts.
source "$(dirname "$0")/lib.sh"
command -v bgzip >/dev/null || skip "no bgzip"
command -v seqtk >/dev/null || skip "no seqtk"
cd "$WORK"
gzip -cd "$DATA/ecoli/ecoli_150_1.fq.gz" > r1.fq
gzip -cd "$DATA/ecoli/ecoli_150_2.fq.gz" > r2.fq
gzip -cd "$DATA/viral/sarscov2_251_1.fq.gz" > variable.fq

# refused WORDS ARGUMENTS...: exit status 1, the words are said, and no output is left
refused() {
    local words=$1 rc=0; shift
    "$ZEROHOP_LAB" block "$@" 2> stderr || rc=$?
    [ $rc = 1 ] || fail "exit status $rc: block $*"
    grep -qF "$words" stderr || fail "block $*: wanted '$words', got: $(cat stderr)"
    ! ls out* .zerohop* 2>/dev/null || fail "something is left: block $*"
}

round_trips() {
    local file coding
    for file in r1 variable; do
        for coding in fq fq.gz; do
            zerohop_lab block -o "b.$coding" $file.fq
            zerohop_lab block --check "b.$coding"
            zerohop_lab block --unblock -o back.fq "b.$coding"
            cmp back.fq $file.fq || fail "$file as $coding does not come back"
        done
        zerohop_lab block --unblock -o back.fq.gz b.fq
        bgzip -t back.fq.gz && cmp <(gzip -cd back.fq.gz) $file.fq || fail "$file does not come back as BGZF"
        gzip -cd b.fq.gz | cmp - b.fq || fail "BGZF holds other blocks"
        tail -n 1 zerohop.stderr
    done
    # from a pipe, when the size of the blocks is given
    cat r1.fq | zerohop_lab block --block-bytes 20000 --reads-per-block 40 -o b.fq -
    zerohop_lab block --unblock -o back.fq b.fq
    cmp back.fq r1.fq || fail "from a pipe"
    # mixed lengths, blank lines, CRLF, spaces where padding goes, no last line end
    printf '@a b\r\nACGT\r\n+  \r\n!!!!\r\n@c\nA\n+c \nI\n@d\nACGTACGTAC\n+\nIIIIIIIIII' > odd.fq
    zerohop_lab block --reads-per-block 2 -o b.fq odd.fq
    zerohop_lab block --unblock -o back.fq b.fq
    cmp back.fq odd.fq || fail "odd reads do not come back"
    : > empty.fq
    zerohop_lab block --block-bytes 100 --reads-per-block 2 -o b.fq empty.fq
    zerohop_lab block --unblock -o back.fq b.fq
    cmp back.fq empty.fq || fail "an empty file does not come back"
}

# What any program sees of a read: name, comment, bases, qualities
seen() { seqtk seq "$1" | awk 'NR % 4 != 3' | md5sum; }

other_programs() {
    zerohop_lab block -o b1.fq -o b2.fq --max-block-bytes 20000 r1.fq r2.fq
    zerohop_lab block -o b1.fq.gz -o b2.fq.gz r1.fq r2.fq
    for coding in fq fq.gz; do
        [ "$(seen b1.$coding)" = "$(seen r1.fq)" ] || fail "seqtk sees something else in $coding"
    done
    gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > ref.fa
    if command -v bwa >/dev/null; then
        ecoli_index bwa ref.fa
        bwa mem -C -v1 ref.fa r1.fq r2.fq 2>/dev/null | grep -v '^@PG' > bwa.sam
        bwa mem -C -v1 ref.fa b1.fq b2.fq 2>/dev/null | grep -v '^@PG' | cmp - bwa.sam || fail "bwa sees something else"
        echo "bwa: the same, with -C too"
    fi
    if command -v bowtie2 >/dev/null; then
        ecoli_index bowtie2-build ref
        bowtie2 -x ref -1 r1.fq -2 r2.fq 2>/dev/null | grep -v '^@PG' > bowtie2.sam
        bowtie2 -x ref -1 b1.fq.gz -2 b2.fq.gz 2>/dev/null | grep -v '^@PG' | cmp - bowtie2.sam ||
            fail "bowtie2 sees something else"
        echo "bowtie2: the same"
    fi
    zerohop align -t 2 -o own.sam ref.fa r1.fq r2.fq
    zerohop align -t 2 -o blocked.sam ref.fa b1.fq b2.fq
    same_alignments own.sam blocked.sam "zerohop align"
}

# The padding of the literature, at the end of the header line of a block's last read, is a comment of that read.
padding_of_the_literature() {
    command -v bwa >/dev/null || { echo "no bwa: not tried"; return; }
    head -n 4000 r1.fq > plain.fq
    awk 'NR % 176 == 173 { $0 = $0 "          " } { print }' plain.fq > padded.fq
    gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > ref.fa
    ecoli_index bwa ref.fa
    for file in plain padded; do bwa mem -v1 -C ref.fa $file.fq 2>/dev/null | grep -v '^@' > $file.sam; done
    echo "padding in the header line:" \
        "$(cmp -s plain.sam padded.sam && echo the same || echo "another output") of bwa mem -C," \
        "$(diff <(seqtk seq plain.fq) <(seqtk seq padded.fq) | grep -c '^>' || true) other reads of seqtk"
}

faults() {
    zerohop_lab block --reads-per-block 40 -o b.fq r1.fq
    zerohop_lab block -o b.fq.gz r1.fq
    cp b.fq.blocks.json out-of-the-way.json; rm out-of-the-way.json
    head -c -100 b.fq > cut.fq; cp b.fq.blocks.json cut.fq.blocks.json
    refused "it was changed, or is truncated" --unblock -o out.fq cut.fq
    sed '1s/A/C/; 2s/A/C/' b.fq > changed.fq; cp b.fq.blocks.json changed.fq.blocks.json
    refused "its digest differs: it was changed after it was blocked" --unblock -o out.fq changed.fq
    refused "it is not blocked, for there is no r1.fq.blocks.json" --unblock -o out.fq r1.fq
    bgzip -c b.fq > other.fq.gz
    sed "s/\"file_bytes\": [0-9]*/\"file_bytes\": $(stat -c %s other.fq.gz)/" b.fq.gz.blocks.json > \
        other.fq.gz.blocks.json
    refused "it was changed" --unblock -o out.fq other.fq.gz
    head -n 402 r1.fq > half.fq
    refused "half.fq: record 101" --reads-per-block 3 -o out.fq half.fq
    refused "reads 1 to 40 have" --block-bytes 1000 --reads-per-block 40 -o out.fq r1.fq
    refused "it has 100 reads, but r1.fq has" --reads-per-block 4 -o out1.fq -o out2.fq r1.fq <(head -n 400 r2.fq) \
        --block-bytes 2000
    sed 's/"version": 1/"version": 7/' b.fq.blocks.json > r2.fq.blocks.json
    refused "it is version 7" --check r2.fq
    # what is wrong in a description
    for change in 's/"reads": [0-9]*/"reads": 999/' 's/"coding": "plain"/"coding": "bgzf"/' \
        's/"block_bytes": [0-9]*/"block_bytes": 18446744073709551615/' \
        's/"ends_added": 0/"ends_added": 7/' 's/"blocks": [0-9]*/"blocks": 3/'; do
        cp b.fq.blocks.json kept.json; sed -i "$change" b.fq.blocks.json
        cmp -s b.fq.blocks.json kept.json && fail "nothing was changed by $change"
        refused "" --check b.fq
        cp kept.json b.fq.blocks.json
    done
    # outputs
    local rc=0
    "$ZEROHOP_LAB" block -o s.fq -o s.fq r1.fq r1.fq 2> stderr || rc=$?
    [ $rc = 2 ] && grep -q "given as two outputs" stderr && [ ! -e s.fq ] ||
        fail "two outputs of one name: $rc $(cat stderr)"
    mkfifo pipe; rc=0; "$ZEROHOP_LAB" block -o pipe r1.fq 2> stderr || rc=$?
    [ $rc = 2 ] && [ -p pipe ] || fail "a pipe as output: $rc $(cat stderr)"
    mkdir out.fq.blocks.json; rc=0; "$ZEROHOP_LAB" block -o out.fq r1.fq 2> stderr || rc=$?
    [ $rc != 0 ] && [ ! -e out.fq ] || fail "a description that cannot be written: $rc"
    rmdir out.fq.blocks.json
    "$ZEROHOP_LAB" block -o said.fq r1.fq 2> /dev/full && [ -s said.fq ] || fail "nobody hears what is said"
    [ "$("$ZEROHOP_LAB" block -o /dev/full/x r1.fq 2>&1 | head -c 6)" = "error:" ] || fail "no such folder"
}

for part in round_trips other_programs padding_of_the_literature faults; do
    [[ $part =~ ${PART-} ]] || continue
    $part
    echo "$part: as it should be"
done
