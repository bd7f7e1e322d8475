#!/bin/bash
# Bisulfite reads: `index --meth` and `align --meth`, the engine bwa-mem. XR, XG and XM are those of the naive rules
# (bisulfite.py), places and methylation those of a simulation; the records are the same for any number of threads,
# copies and ranks, and any form of the input; duplicates know the strand, as `samtools markdup --barcode-tag XG` does;
# libraries made by PBAT are seen, others refused. PART=REGEX: the parts whose name matches.
source "$(dirname "$0")/lib.sh"
"$ZEROHOP" engines | grep -q '^bwa-mem ' || skip "no bwa-mem in this zerohop"
cd "$WORK"
bisulfite() { python3 "$DATA/../e2e/bisulfite.py" "$@"; }
align() { zerohop align --engine bwa-mem --meth "$@"; }
{
    head -n 9000 < <(gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz")
    sed '1s/.*/>lambda_like/' "$DATA/viral/NC_045512.2.fasta"
    sed '1s/.*/>pUC19_like/' "$DATA/phix/phix.fasta"
} > ref.fa
bisulfite simulate ref.fa directional directional 12000
bisulfite simulate ref.fa pbat pbat 3000
bisulfite simulate ref.fa both non-directional 1000
zerohop index --engine bwa-mem --meth ref.fa
reads=(directional_1.fq directional_2.fq)

records() {
    align -t 2 -o directional.sam ref.fa "${reads[@]}"
    bisulfite check ref.fa directional.sam
    bisulfite places directional.sam 985000
    bisulfite conversion directional.sam directional.json
    align -t 2 -o single.sam ref.fa directional_1.fq
    bisulfite check ref.fa single.sam
    # names of single reads tell both places: the first is that of the read
    bisulfite places single.sam 980000
    # reads of three places
    awk 'NR % 4 == 2 { piece = piece substr($0, 1, 60) } NR % 12 == 10 { quality = piece; gsub(/./, "I", quality)
        print "@c" NR "\n" piece "\n+\n" quality; piece = "" }' <(head -n 2400 directional_1.fq) > chimeric.fq
    align -o chimeric.sam ref.fa chimeric.fq
    bisulfite check ref.fa chimeric.sam | tee chimeric.txt
    ! grep -q ' 0 reads or pairs are chimeric' chimeric.txt || fail "no read is chimeric"
    if [ -n "${ZEROHOP_DATA-}" ] && [ -d "$ZEROHOP_DATA/bisulfite" ]; then
        gzip -cd "$ZEROHOP_DATA/bisulfite/bwa-meth_ref.fa.gz" > real.fa
        zerohop index --engine bwa-mem --meth real.fa
        align -o real.sam real.fa "$ZEROHOP_DATA"/bisulfite/bwa-meth_t_R[12].fastq.gz
        bisulfite check real.fa real.sam
    fi
}

# What the summary, --json, MultiQC and the page tell of cytosines
report() {
    align -t 2 --json directional.run.json --mqc directional_mqc.json "--engine-args=-K 500000" -o directional.sam \
        ref.fa "${reads[@]}"
    bisulfite report directional.sam directional.run.json directional.json
    grep -q "^control    lambda_like: 9" zerohop.stderr && grep -q "^control    pUC19_like: " zerohop.stderr ||
        fail "controls: $(cat zerohop.stderr)"
    align -t 1 --json other.run.json "--engine-args=-K 500000" --sort -o other.bam ref.fa "${reads[@]}"
    told() { python3 -c 'import json, sys; print(json.dumps(json.load(open(sys.argv[1]))["run"]["methylation"]))' $1; }
    cmp <(told directional.run.json) <(told other.run.json) || fail "another report of the same reads"
    align -t 2 --json pbat.run.json -o pbat.sam ref.fa pbat_1.fq pbat_2.fq
    bisulfite report pbat.sam pbat.run.json pbat.json
    zerohop report -o page.html directional.run.json
    grep -q "Methylated CpG by cycle (M-bias)" page.html && grep -q "lambda_like (control)" page.html ||
        fail "the page does not tell"
    [ -x "${MULTIQC-}" ] || { skip_part "no MultiQC here"; return; }
    "$MULTIQC" -q -f -o multiqc directional_mqc.json directional_m_bias_mqc.json > log 2>&1 ||
        { cat log >&2; fail MultiQC; }
    grep -q zerohop_m_bias multiqc/multiqc_data/multiqc_data.json &&
        grep -q "lambda_like converted" multiqc/multiqc_report.html || fail "MultiQC does not show it"
}

# What MethylDackel extract says of the records, the same for all threads, memory, formats and ranks
cytosines() {
    command -v samtools > /dev/null || { skip_part "no samtools here"; return; }
    local name compiler launch options=(--sort --mark-duplicates --qc "--engine-args=-K 500000")
    same_lines() {
        for context in CpG CHG CHH; do
            cmp <(tail -n +2 $1_$context.bedGraph) <(tail -n +2 $2_$context.bedGraph) || fail "$1: other $context"
        done
    }
    local merging
    for merging in "" --mergeContext; do
        align -t 2 "${options[@]}" "--methyldackel=--CHG --CHH $merging" -o cytosines.bam ref.fa "${reads[@]}"
        samtools view cytosines.bam > cytosines.sam
        mkdir -p naive; (cd naive; bisulfite extract ../ref.fa ../cytosines.sam cytosines $merging)
        for context in CpG CHG CHH; do
            cmp cytosines_$context.bedGraph naive/cytosines_$context.bedGraph || fail "$merging: other $context"
            [ "$(wc -l < cytosines_$context.bedGraph)" -gt 5000 ] || fail "too few lines: $context"
        done
    done
    grep -q "MethylDackel extract --CHG --CHH --mergeContext; about" zerohop.stderr || fail "$(cat zerohop.stderr)"
    align -t 1 "${options[@]}" "--methyldackel=--CHG --CHH --mergeContext" --sort-memory 1K -o spilled.bam ref.fa \
        "${reads[@]}"
    same_lines spilled cytosines
    align -t 3 "${options[@]}" "--methyldackel=--CHG --CHH --mergeContext" -o of_cram.cram ref.fa "${reads[@]}"
    same_lines of_cram cytosines
    if read -r name compiler launch < <(some_mpis); then
        with_mpi "$name" "$compiler"
        timeout -k 5 120 $launch -n 3 "$ZEROHOP" align --ranks=3 -q --engine bwa-mem --meth -t 1 "${options[@]}" \
            "--methyldackel=--CHG --CHH --mergeContext" -o ranks.bam ref.fa "${reads[@]}" > log 2>&1 < /dev/null ||
            { cat log >&2; fail "3 ranks"; }
        same_lines ranks cytosines
    else
        skip_part "neither OpenMPI nor MPICH is here"
    fi
    # secondary records have no bases
    for name in a b; do sed "1s/.*/>$name/" "$DATA/phix/phix.fasta"; done > twice.fa
    bisulfite simulate twice.fa twice directional 300
    zerohop index --engine bwa-mem --meth twice.fa
    align --sort --qc "--engine-args=-a" "--methyldackel=-F 0 -q 0 --CHH --keepDiscordant" -o all.bam twice.fa \
        twice_[12].fq
    [ "$(samtools view -f 256 all.bam | awk '$10 == "*"' | wc -l)" -gt 0 ] || fail "no record is without bases"
    local rc=0
    "$ZEROHOP" align -q --sort --methyldackel -o no.bam ref.fa "${reads[@]}" 2> err || rc=$?
    [ $rc = 2 ] && grep -q -- "--qc" err && [ ! -e no.bam ] || fail "without --qc: status $rc: $(cat err)"
    rc=0
    "$ZEROHOP" align -q --sort --qc --methyldackel=--cytosine_report -o no.bam ref.fa "${reads[@]}" 2> err || rc=$?
    [ $rc = 2 ] && grep -q -- "--cytosine_report" err && [ ! -e no.bam ] || fail "status $rc: $(cat err)"
}

# What is the same in all runs
forms() {
    align -t 1 "--engine-args=-K 500000" -o one.sam ref.fa "${reads[@]}"
    local threads n name compiler launch
    for threads in 2 5 16; do
        align -t $threads "--engine-args=-K 500000" -o other.sam ref.fa "${reads[@]}"
        same_alignments other.sam one.sam "$threads threads"
    done
    align -t 2 --replicas 2 "--engine-args=-K 500000" -o other.sam ref.fa "${reads[@]}"
    same_alignments other.sam one.sam "two copies"
    cat directional_1.fq | align -t 2 "--engine-args=-K 500000" -o other.sam ref.fa - directional_2.fq
    same_alignments other.sam one.sam "a pipe"
    zerohop align --engine bwa-mem "--engine-args=--meth -K 500000" -o other.sam ref.fa "${reads[@]}"
    same_alignments other.sam one.sam "--meth among the arguments"
    if read -r name compiler launch < <(some_mpis); then
        with_mpi "$name" "$compiler"
        for n in 2 3 4; do
            timeout -k 5 120 $launch -n $n "$ZEROHOP" align --ranks=$n -q --engine bwa-mem --meth \
                "--engine-args=-K 500000" -t 1 -o ranks.sam ref.fa "${reads[@]}" > log 2>&1 < /dev/null ||
                { cat log >&2; fail "$n ranks"; }
            same_alignments ranks.sam one.sam "$n ranks"
            rm ranks.sam
        done
    else
        skip_part "neither OpenMPI nor MPICH is here"
    fi
    command -v samtools > /dev/null || { skip_part "no samtools here"; return; }
    samtools import -1 directional_1.fq -2 directional_2.fq -o reads.bam 2> /dev/null
    align -t 2 "--engine-args=-K 500000" -o other.sam ref.fa reads.bam
    cmp <(grep -v '^@' other.sam) <(grep -v '^@' one.sam) || fail "unaligned BAM: other records"
    align -t 2 --sort -o sorted.bam ref.fa "${reads[@]}"
    align -t 3 --sort --sort-memory 1K -o spilled.bam ref.fa "${reads[@]}"
    cmp <(samtools view sorted.bam) <(samtools view spilled.bam) || fail "spills: other records"
    align -t 2 --sort -o sorted.cram ref.fa "${reads[@]}"
    cmp <(samtools view sorted.bam | cut -f 1-11) <(samtools view -T ref.fa sorted.cram | cut -f 1-11) ||
        fail "CRAM: other records"
    calls() { samtools view -T ref.fa "$1" | grep -o 'XM:Z:[^	]*'; }
    cmp <(calls sorted.bam) <(calls sorted.cram) || fail "CRAM: other calls"
}

# The strand of the genome tells duplicates apart
duplicates() {
    command -v samtools > /dev/null || { skip_part "no samtools here"; return; }
    # fragments of both strands that have both ends in common
    head -n 8000 directional_1.fq > more_1.fq
    head -n 8000 directional_2.fq > more_2.fq
    python3 -c '
import sys
pair = str.maketrans("ACGT", "TGCA")
one, two = ([line.rstrip("\n") for line in open(f"directional_{mate}.fq")][:4000] for mate in (1, 2))
# mates exchanged and converted as the other strand is: their fragments begin and end where these do
out = [open(f"turned_{mate}.fq", "w") for mate in (1, 2)]
for at in range(0, len(one), 4):
    for file, lines, old, new in ((out[0], two, "C", "T"), (out[1], one, "G", "A")):
        file.write("\n".join(["@t" + lines[at][1:], lines[at + 1].replace(old, new), "+", lines[at + 3]]) + "\n")'
    for mate in 1 2; do
        cat directional_$mate.fq <(awk 'NR % 4 == 1 { $0 = "@d" substr($0, 2) } 1' more_$mate.fq) turned_$mate.fq \
            > doubled_$mate.fq
    done
    align -o doubled.sam ref.fa doubled_1.fq doubled_2.fq
    samtools sort -n doubled.sam 2> /dev/null | samtools fixmate -m - - | samtools sort - 2> /dev/null > fixed.bam
    dups() { samtools view -f 1024 "$1" | cut -f 1,2 | sort; }
    samtools markdup --barcode-tag XG fixed.bam wanted.bam
    samtools markdup fixed.bam without.bam
    align --sort --mark-duplicates -o marked.bam ref.fa doubled_1.fq doubled_2.fq
    cmp <(dups marked.bam) <(dups wanted.bam) || fail "duplicates: not those of samtools with XG"
    ! cmp -s <(dups wanted.bam) <(dups without.bam) || fail "the strand makes no difference here"
    align --sort --mark-duplicates=picard -o picard.bam ref.fa doubled_1.fq doubled_2.fq
    [ "$(dups picard.bam | wc -l)" = "$(dups wanted.bam | wc -l)" ] || fail "duplicates by the rules of Picard"
    echo "duplicates: those of samtools markdup --barcode-tag XG, $(dups wanted.bam | wc -l) of them"
    # of an aligner that writes YD, as bwameth.py does
    sed 's/XG:Z:CT/YD:Z:f/; s/XG:Z:GA/YD:Z:r/' doubled.sam | grep -v '^@PG' > yd.sam
    cat > yd.py << 'PYTHON'
import os, sys
for lines in zip(*map(open, sys.argv[1:])):
    pass
print(open(os.path.join(os.path.dirname(sys.argv[0]), "yd.sam")).read(), end="")
PYTHON
    python_aligner yd
    sed -i 's/^single = .*/&\npaired = ["{reads_1}", "{reads_2}"]/' yd.toml
    touch ref.fa.yd
    zerohop align -q -t 1 --engine yd --engine-file yd.toml --sort --mark-duplicates -o yd.bam ref.fa doubled_[12].fq
    cmp <(dups yd.bam) <(dups wanted.bam) || fail "YD of an aligner: other duplicates"
}

libraries() {
    local rc=0
    align -o pbat.sam ref.fa pbat_1.fq pbat_2.fq
    grep -q "as of a library made by PBAT: mates are exchanged" zerohop.stderr || fail "$(cat zerohop.stderr)"
    bisulfite check ref.fa pbat.sam pbat
    bisulfite places pbat.sam 985000
    bisulfite conversion pbat.sam pbat.json
    align --library pbat -o told.sam ref.fa pbat_1.fq pbat_2.fq
    same_alignments told.sam pbat.sam
    # the records are those of the exchanged mates
    align -o exchanged.sam ref.fa pbat_2.fq pbat_1.fq
    cmp <(grep -v '^@' pbat.sam | awk '!/^@/ { print $1, $3, $4, $5, $6 }' | sort) \
        <(grep -v '^@' exchanged.sam | awk '{ print $1, $3, $4, $5, $6 }' | sort) || fail "PBAT: other places"
    refused() {
        local words=$1 status=$2; shift 2
        rc=0
        "$ZEROHOP" align -q --engine bwa-mem --meth -o no.sam "$@" 2> err || rc=$?
        [ $rc = $status ] && grep -q -- "$words" err || fail "status $rc: $(cat err)"
        [ ! -e no.sam ] || fail "an output is left"
    }
    refused "of a non-directional library" 2 ref.fa both_1.fq both_2.fq
    refused "of no bisulfite or EM-seq library" 2 ref.fa "$DATA"/ecoli/ecoli_100_[12].fq.gz
    refused "pairs alone are aligned" 2 ref.fa pbat_1.fq
    rc=0
    "$ZEROHOP" align -q --meth -o no.sam ref.fa pbat_1.fq 2> err || rc=$?
    [ $rc = 2 ] && grep -q "meth is for --engine bwa-mem" err || fail "status $rc: $(cat err)"
}

# Files that are missing, damaged or of another reference; the index for other reads is another one
indexes() {
    local rc file
    cp ref.fa own.fa
    broken() {
        rc=0
        "$ZEROHOP" align -q --engine bwa-mem --meth -o no.sam own.fa "${reads[@]}" 2> err || rc=$?
        [ $rc = 1 ] && grep -q "$1" err && grep -q "index --engine bwa-mem --meth" err || fail "status $rc: $(cat err)"
        [ ! -e no.sam ] || fail "an output is left"
    }
    broken "own.fa.meth.bwt.2bit.64: it does not exist"
    zerohop index --engine bwa-mem --meth own.fa
    zerohop index --engine bwa-mem own.fa
    zerohop align --engine bwa-mem -o plain.sam own.fa "$DATA"/ecoli/ecoli_100_[12].fq.gz
    align -o again.sam own.fa "${reads[@]}"
    for file in bwt.2bit.64 pac ann original.pac original.ann; do
        cp own.fa.meth.$file kept
        printf 'x' | dd of=own.fa.meth.$file bs=1 seek=20 conv=notrunc 2> /dev/null
        broken "own.fa.meth.$file: it is damaged"
        mv kept own.fa.meth.$file
    done
    mv own.fa.meth.bwa-mem.digests kept
    broken "digests is missing"
    mv kept own.fa.meth.bwa-mem.digests
    sed -i '2s/./N/' own.fa
    broken "or the reference has changed since"
    echo "index files: missing, damaged and stale ones are told"
}

for name in records report cytosines forms duplicates libraries indexes; do
    [[ $name =~ ${PART-} ]] || continue
    part $name
done
