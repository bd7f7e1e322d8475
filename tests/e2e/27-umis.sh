#!/bin/bash
# UMIs: `align --sort --mark-duplicates --umi` groups templates as fgbio GroupReadsByUmi does (umis.py has its rules,
# step by step), marks all but the best of each molecule, and says in MI which molecule a record comes from: the same
# for any number of threads, ranks, memory, engine and format. PART=REGEX: the parts whose name matches.
source "$(dirname "$0")/lib.sh"
cd "$WORK"
cp "$DATA/phix/phix.fasta" ref.fa
umis() { python3 "$DATA/../e2e/umis.py" "$@"; }
check() { umis check "$@"; }
umis simulate ref.fa u
umis simulate ref.fa s --structure

rules() {
    local rule
    for rule in exact edit adjacency paired; do
        zerohop align -C -t 2 --sort --mark-duplicates --umi "$rule" --umi-metrics "m.$rule" -o "$rule.sam" ref.fa \
            u_1.fq u_2.fq
        check "$rule" "$rule.sam" "m.$rule"
    done
    zerohop align -C --engine bwa-mem --build-index --sort=name --mark-duplicates=picard --umi adjacency:1 \
        -o bwa.sam ref.fa u_1.fq u_2.fq
    check adjacency bwa.sam
    grep -q "families of .* templates (adjacency:1; .* without a UMI" zerohop.stderr ||
        fail "not told: $(cat zerohop.stderr)"
}

# The records of one run, however they are made and written.
same() {
    local one=(-C --sort --mark-duplicates --umi paired ref.fa u_1.fq u_2.fq) sum other
    zerohop align -t 1 -o one.sam "${one[@]}"
    sum=$(grep -v '^@' one.sam | md5sum)
    equal() { [ "$(grep -v '^@' "$1" | md5sum)" = "$sum" ] || fail "$1: other records"; }
    zerohop align -t 3 --sort-memory 1K -o spilled.sam "${one[@]}"
    equal spilled.sam
    zerohop align -t 2 --durable -o durable.sam "${one[@]}"
    equal durable.sam
    local name compiler launch
    if read -r name compiler launch < <(some_mpis); then
        with_mpi "$name" "$compiler"
        timeout -k 5 120 $launch -n 3 "$ZEROHOP" align --ranks=3 -q -t 1 -o ranks.sam "${one[@]}" 2> stderr ||
            fail "three ranks: $(cat stderr)"
        equal ranks.sam
    else
        skip_part "neither OpenMPI nor MPICH is here"
    fi
    if command -v samtools > /dev/null; then
        for other in one.bam one.cram; do
            zerohop align -t 2 -o $other "${one[@]}"
            samtools view -T ref.fa --no-PG $other > $other.sam 2> /dev/null
            # CRAM does not keep the order of fields.
            [ "$(cut -f 1-9 $other.sam | md5sum)" = "$(grep -v '^@' one.sam | cut -f 1-9 | md5sum)" ] ||
                fail "$other: other records"
            [ "$(grep -o 'MI:Z:[^	]*' $other.sam | md5sum)" = "$(grep -o 'MI:Z:[^	]*' one.sam | md5sum)" ] ||
                fail "$other: other molecules"
        done
        # Reads of BAM, which have RX, and MI of another run.
        samtools sort -n one.bam 2> /dev/null | samtools view -h -F 0x900 - | samtools view -b -o reads.bam -
        zerohop align -t 2 --sort --mark-duplicates --umi paired -o again.sam ref.fa reads.bam
        check paired again.sam
    else
        skip_part "no samtools here"
    fi
}

# Barcodes in the reads: the records are those of reads without them, which have them in their comments.
structures() {
    local engine name compiler launch options structures=(--read-structure 6M2S+T --read-structure 5M+T)
    umis split s 6M2S+T 5M+T t
    # Every few reads are a batch, so that other ends of batches would be seen.
    for engine in "strobealign" "bwa-mem --build-index --engine-args -K3000"; do
        options=(--engine $engine)
        zerohop align -C -t 2 "${options[@]}" -o wanted.sam ref.fa t_1.fq t_2.fq
        zerohop align -t 2 "${options[@]}" "${structures[@]}" -o found.sam ref.fa s_1.fq s_2.fq
        equal() {
            cmp <(grep -v '^@PG' "$1") <(grep -v '^@PG' wanted.sam) ||
                fail "$engine: other records in $1"
        }
        equal found.sam
        gzip -k -f s_1.fq s_2.fq
        zerohop align -t 2 "${options[@]}" "${structures[@]}" -o gz.sam ref.fa s_1.fq.gz s_2.fq.gz
        equal gz.sam
        zerohop align -t 2 "${options[@]}" "${structures[@]}" -o piped.sam ref.fa <(cat s_1.fq) <(cat s_2.fq)
        equal piped.sam
        if read -r name compiler launch < <(some_mpis); then
            with_mpi "$name" "$compiler"
            timeout -k 5 120 $launch -n 2 "$ZEROHOP" align --ranks=2 -q -t 1 "${options[@]}" "${structures[@]}" \
                -o ranks.sam ref.fa s_1.fq s_2.fq 2> stderr || fail "two ranks: $(cat stderr)"
            equal ranks.sam
        fi
    done
    zerohop align -t 2 --sort --mark-duplicates --umi adjacency "${structures[@]}" -o marked.sam ref.fa s_1.fq s_2.fq
    check adjacency marked.sam
    # Names, as Illumina's programs write them.
    sed '1~4s/^\(@[^ ]*\) RX:Z:\([ACGTN]*\)-/\1:\2+/' u_1.fq > n_1.fq
    sed '1~4s/^\(@[^ ]*\) RX:Z:\([ACGTN]*\)-/\1:\2+/' u_2.fq > n_2.fq
    zerohop align -t 2 --sort --mark-duplicates --umi paired --barcode-name -o names.sam ref.fa n_1.fq n_2.fq
    check paired names.sam
    cmp <(grep -o 'RX:Z:[ACGTN-]*' names.sam | sort -u) <(grep -o 'RX:Z:[ACGTN-]*' u_1.fq | sort -u) ||
        fail "other UMIs of names"
    # An aligner that is a program of its own gets the template alone.
    if command -v bwa > /dev/null; then
        bwa index ref.fa 2> stderr || fail "bwa index: $(cat stderr)"
        zerohop align -C -t 2 --engine bwa --engine-args -K3000 -o wanted.sam ref.fa t_1.fq t_2.fq
        zerohop align -t 2 --engine bwa --engine-args -K3000 "${structures[@]}" -o bwa.sam ref.fa s_1.fq s_2.fq
        engine=bwa equal bwa.sam
    else
        skip_part "no bwa here"
    fi
}

# The order of templates is that of samtools 1.24.
order() {
    local python=${PYTHON_WITH_PYSAM-} reads=(--reads u_1.fq u_2.fq --reads a_1.fq a_2.fq) options
    "${python:-none}" -c "import pysam" 2> /dev/null || { skip_part "no pysam here"; return; }
    # Other names, and other libraries: what has no library comes first.
    sed 's/^@m:/@k:/' u_1.fq > a_1.fq; sed 's/^@m:/@k:/' u_2.fq > a_2.fq
    for options in "" "--mark-duplicates --umi adjacency" "--mark-duplicates --umi paired --sort-memory 1K" \
        "--engine bwa-mem --build-index --mark-duplicates --umi exact"; do
        zerohop align -C -t 2 --sort=template-coordinate $options -R '@RG\tID:x\tSM:s\tLB:z' -R '@RG\tID:y\tSM:s' \
            -o templates.bam ref.fa "${reads[@]}"
        "$python" - "$options" <<'END'
import pysam, sys
def records(path):
    with pysam.AlignmentFile(path, check_sq=False) as file:
        return [record.to_string() for record in file]
pysam.sort("-n", "-o", "names.bam", "templates.bam")
pysam.sort("--template-coordinate", "-o", "sorted.bam", "names.bam")
found, wanted = records("templates.bam"), records("sorted.bam")
supplementary = sum(int(line.split("\t")[1]) & 2048 > 0 for line in found)
assert len(found) > 8000 and (supplementary > 50 or "bwa-mem" not in sys.argv[1]), (len(found), supplementary)
assert all("\tMC:Z:" in line and "\tMQ:i:" in line for line in found if int(line.split("\t")[1]) & 13 == 1)
assert found == wanted, (sys.argv[1], next(pair for pair in zip(found, wanted) if pair[0] != pair[1]))
END
    done
    [ ! -e templates.bam.bai ] || fail "an index of records in no order of coordinates"
    options=(-C --sort=template-coordinate --mark-duplicates --umi paired "${reads[@]}")
    zerohop align -t 1 -o one.sam ref.fa "${options[@]}"
    zerohop align -t 3 --sort-memory 1K -o spilled.sam ref.fa "${options[@]}"
    cmp <(grep -v '^@PG' one.sam) <(grep -v '^@PG' spilled.sam) || fail "other records where runs are spilled"
    local name compiler launch
    if read -r name compiler launch < <(some_mpis); then
        with_mpi "$name" "$compiler"
        timeout -k 5 120 $launch -n 2 "$ZEROHOP" align --ranks=2 -q -t 1 -o ranks.sam ref.fa "${options[@]}" \
            2> stderr || fail "two ranks: $(cat stderr)"
        cmp <(grep -v '^@PG' one.sam) <(grep -v '^@PG' ranks.sam) || fail "other records over ranks"
    fi
    # CRAM, and a pipe, as for 'fgumi simplex'.
    zerohop align -t 2 -o one.cram ref.fa "${options[@]}"
    "$ZEROHOP" align -q -t 2 --format bam ref.fa "${options[@]}" > piped.bam 2> stderr || fail "piped: $(cat stderr)"
    [ "$(samtools view -c -T ref.fa one.cram)" = "$(grep -vc '^@' one.sam)" ] || fail "CRAM has not all records"
    [ "$(samtools view piped.bam | cut -f 1-9 | md5sum)" = "$(grep -v '^@' one.sam | cut -f 1-9 | md5sum)" ] ||
        fail "other records in a pipe"
}

refused() {
    local rc words
    said() {
        rc=0; words=$1; shift
        "$ZEROHOP" align "$@" > /dev/null 2> stderr || rc=$?
        [ $rc != 0 ] && grep -q -- "$words" stderr || fail "$*: $rc $(cat stderr)"
        [ ! -e bad.sam ] || fail "$*: a file is left"
    }
    local marked=(--sort --mark-duplicates -o bad.sam ref.fa u_1.fq u_2.fq)
    said "choose exact, edit, adjacency or paired" --umi none "${marked[@]}"
    said "'identity' is 'exact' here" --umi identity "${marked[@]}"
    said "cannot have 1 edits" --umi exact:1 "${marked[@]}"
    said "give -C, too" --umi exact "${marked[@]}"
    said "--qc is for records that are sorted by coordinate" --sort=template-coordinate --qc -o bad.bam ref.fa \
        u_1.fq u_2.fq
    said "mark-duplicates" --umi exact --sort -o bad.sam ref.fa u_1.fq u_2.fq
    sed 's/ RX:Z:[ACGTN]*-\(.*\)/ RX:Z:\1/' u_1.fq > h_1.fq; sed 's/ RX:Z:[ACGTN]*-\(.*\)/ RX:Z:\1/' u_2.fq > h_2.fq
    said "read '.*': the UMI [ACGTN]* has not two halves" -C --umi paired --sort --mark-duplicates -o bad.sam ref.fa \
        h_1.fq h_2.fq
    awk '{ if (NR % 8 == 1) sub(/RX:Z:./, "RX:Z:"); print }' u_1.fq > l_1.fq
    awk '{ if (NR % 8 == 1) sub(/RX:Z:./, "RX:Z:"); print }' u_2.fq > l_2.fq
    said "differ in length" -C --umi adjacency --sort --mark-duplicates -o bad.sam ref.fa l_1.fq l_2.fq
    said "paired UMIs need one length" --umi paired --min-umi-length 5 "${marked[@]}"
    said "at least one base" --umi edit --min-umi-length 0 "${marked[@]}"
    # UMIs of 10 and 11 bases: none is too short, or half of them are.
    too_short() {
        zerohop align -C --umi adjacency --min-umi-length $1 --umi-metrics some --sort --mark-duplicates -o some.sam \
            ref.fa l_1.fq l_2.fq
        sed -n 2p some.grouping_metrics.txt | cut -f 5
    }
    [ "$(too_short 10)" = 0 ] || fail "too short: $(cat some.grouping_metrics.txt)"
    [ "$(too_short 11)" -gt 1000 ] || fail "not too short: $(cat some.grouping_metrics.txt)"
    grep -q "with a UMI that is too short" zerohop.stderr || fail "not told: $(cat zerohop.stderr)"
    said "--read-structure twice, not 1 times" --read-structure 8M+T -o bad.sam ref.fa s_1.fq s_2.fq
    said "no template" --read-structure 8M+S --read-structure +T -o bad.sam ref.fa s_1.fq s_2.fq
    said "'X' is no\|letter" --read-structure 8X+T --read-structure +T -o bad.sam ref.fa s_1.fq s_2.fq
    said "s_2.fq: record 1 (byte 0), read 'm:1:f:1:0:0:0': the read has .* needs 400" --read-structure 6M+T \
        --read-structure 400M+T -o bad.sam ref.fa s_1.fq s_2.fq
    # Without any, it is told.
    sed 's/ RX.*//' u_1.fq > n_1.fq; sed 's/ RX.*//' u_2.fq > n_2.fq
    zerohop align -C --sort --mark-duplicates --umi adjacency -o none.sam ref.fa n_1.fq n_2.fq
    grep -q "No read has the tag RX with text .*: nothing was grouped" zerohop.stderr ||
        fail "not told: $(cat zerohop.stderr)"
}

for part in rules same structures order refused; do
    [[ $part =~ ${PART-} ]] || continue
    part $part
    echo "$part: as it should be"
done
