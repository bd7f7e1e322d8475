#!/bin/bash
# Long reads, by the embedded rammap: its records are those of minimap2, for every preset and option, number of threads,
# form of the input and kind of index, over ranks, and after a kill. mappy 2.31 says places, CIGAR and MAPQ; the program
# of Debian (2.24) says all fields, but for ms, and for presets that it does not know or has otherwise. Base
# modifications name the bases that they named in the read, or are left out. Damaged indexes are messages.
# LONG=1: every preset with every option, and more reads of ZEROHOP_DATA.
# PART=REGEX: the parts whose name matches.
source "$(dirname "$0")/lib.sh"
cd "$WORK"
HERE=$(cd - > /dev/null; cd "$(dirname "$0")"; pwd)
long_reads() { "$PYTHON_WITH_PYSAM" "$HERE/long_reads.py" "$@" || fail "long_reads.py $*"; }

gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > ecoli.fa
head -n 12001 ecoli.fa | sed '1s/ .*//' > part.fa
# a second contig, with a repeat of the first, small letters and letters for several bases
{ echo ">second of two"; sed -n '3000,5000p' ecoli.fa | tr A-Z a-z; echo NNNNRYKM; sed -n '30000,33000p' ecoli.fa; } \
    >> part.fa
for kind in ont hifi rna odd; do python3 "$HERE/long_reads.py" simulate $kind part.fa $kind.fq; done

align() { zerohop align -q --engine rammap "$@"; }
records() { grep -v '^@' "$1"; }
without_ms() { records "$1" | sed 's/\tms:i:[0-9]*//'; }

# as_minimap2 READS OPTIONS...: the records of the program, with the same options
as_minimap2() {
    local reads=$1; shift
    minimap2 -t 2 -a "$@" part.fa "$reads" > theirs.sam 2> minimap2.stderr || fail "minimap2 $*: $(cat minimap2.stderr)"
    align "--engine-args=$*" -o ours.sam part.fa "$reads"
    cmp <(without_ms ours.sam) <(without_ms theirs.sam) || fail "$* $reads: the records are not those of minimap2"
    cmp <(grep '^@SQ' ours.sam) <(grep '^@SQ' theirs.sam) || fail "$*: the header"
    runs=$((runs + 1)) count=$((count + $(records ours.sam | wc -l)))
}

presets() {
    local preset reads
    "$PYTHON_WITH_PYSAM" -c 'import mappy' 2> /dev/null || { skip_part "no mappy here"; return; }
    for preset in map-ont map-hifi lr:hq map-pb map-iclr splice splice:hq cdna asm5 asm10 asm20; do
        case $preset in map-ont | map-pb) reads=ont;; splice* | cdna) reads=rna;; *) reads=hifi;; esac
        [[ $preset != map-ont && $preset != splice ]] || reads+=" odd"
        for reads in $reads ${LONG:+odd ont hifi rna}; do
            align "--engine-args=-x $preset" -o ours.sam part.fa $reads.fq
            long_reads mappy $preset part.fa $reads.fq ours.sam
        done
    done
}

options() {
    local runs=0 count=0 reads option
    command -v minimap2 > /dev/null || { skip_part "no minimap2 here"; return; }
    while read -r reads option; do
        as_minimap2 $reads.fq $option
    done << 'END'
ont -x map-ont
odd -x map-ont
hifi -x map-hifi
ont -x map-pb
hifi -x asm5
hifi -x asm20
ont -x map-ont --MD
ont -x map-ont --cs
odd -x map-ont --cs=long
ont -x map-ont --eqx -Y
ont -x map-ont --secondary=no
ont -x map-ont -N 20 -p 0.1
ont -x map-ont -k 13 -w 5 -f 0.01
hifi -x map-hifi -H
ont -x map-ont -A 3 -B 5 -O 6,30 -E 3,1 -z 200,100
ont -x map-ont -r 1k,10k -g 500 -s 200 -n 5 -m 60
ont -x map-ont --rmq=yes --max-chain-skip 5 --max-chain-iter 100
ont -x map-ont --for-only --no-long-join
ont -x map-ont --end-bonus 10 --end-seed-pen 3 --score-N 0 --sam-hit-only
ont -x map-ont --hard-mask-level -M 0.3 --mask-len 500 --no-end-flt
ont -x map-ont --cap-sw-mem 100k --q-occ-frac 0.1 -U 3,20 --no-hash-name --seed 5
ont -x map-ont -e 100 --max-clip-ratio 0.4
END
    echo "$count records in $runs runs are those of minimap2"
    for option in "-x map-ont -c" "-x map-ont" "-x map-hifi -c --cs" "-x map-ont -c --MD"; do
        minimap2 -t 2 $option part.fa ont.fq 2> /dev/null > theirs.paf
        case $option in *-c*) ;; *) option="$option --paf";; esac
        align "--engine-args=$option" -o ours.paf part.fa ont.fq
        cmp <(sed 's/\tms:i:[0-9]*//' ours.paf) <(sed 's/\tms:i:[0-9]*//' theirs.paf) || fail "$option: PAF differs"
    done
}

forms() {
    local threads level
    align "--engine-args=-x map-ont" -o one.sam -t 1 part.fa ont.fq
    records one.sam > one
    for threads in 2 5 16; do
        align "--engine-args=-x map-ont" -t $threads part.fa ont.fq | records - | cmp - one || fail "-t $threads"
    done
    # kernels of other processors; without vectors they take long
    head -n 100 ont.fq > few.fq
    align "--engine-args=-x map-ont" part.fa few.fq | records - > few
    for level in SCALAR SSE AVX512; do
        env "RAMMAP_FORCE_$level=1" "$ZEROHOP" align -q --engine rammap "--engine-args=-x map-ont" part.fa few.fq |
            records - | cmp - few || fail "with the kernels of $level"
    done
    gzip -k ont.fq
    align "--engine-args=-x map-ont" part.fa ont.fq.gz | records - | cmp - one || fail "gzip"
    align "--engine-args=-x map-ont" part.fa <(cat ont.fq) | records - | cmp - one || fail "a pipe"
    over_ranks
    align "--engine-args=-x map-ont" --replicas 2 -t 2 part.fa ont.fq | records - | cmp - one || fail "two copies"
    # nothing passes from read to read
    paste - - - - < ont.fq | tac | tr '\t' '\n' > turned.fq
    align "--engine-args=-x map-ont" part.fa turned.fq | records - | sort | cmp - <(sort one) || fail "reads turned"
    # sorted in one piece and from spills
    align "--engine-args=-x map-ont" --sort --qc -o sorted.bam part.fa ont.fq
    align "--engine-args=-x map-ont" --sort -t 3 --sort-memory 1M -o spilled.bam part.fa ont.fq
    cmp <(samtools view sorted.bam) <(samtools view spilled.bam) || fail "spills"
    cmp <(samtools view sorted.bam | cut -f 1-11 | sort) <(cut -f 1-11 one | sort) || fail "sorted records"
    samtools quickcheck sorted.bam && [ -e sorted.bam.bai ] || fail "no index"
    rm ont.fq.gz
    echo "threads, copies, ranks, forms of the input and spills make no difference"
}

# Over ranks, with every MPI that is here or the first one
over_ranks() {
    local name compiler launch n
    some_mpis > mpis
    [ -s mpis ] || { skip_part "no MPI here"; return; }
    while read -r name compiler launch; do
        with_mpi $name $compiler
        for n in 2 4; do
            timeout -k 5 120 $launch -n $n "$ZEROHOP" align --ranks=$n --engine rammap "--engine-args=-x map-ont" -t 1 \
                -o ranks.sam part.fa ont.fq > log 2>&1 < /dev/null || { cat log >&2; fail "$name, $n ranks"; }
            records ranks.sam | cmp - one || fail "$name, $n ranks: other records"
            rm -f ranks.sam
        done
    done < mpis
}

indexes() {
    local damage rc
    align "--engine-args=-x map-hifi" -o one.sam part.fa hifi.fq
    records one.sam > one
    cp part.fa again.fa
    zerohop index -q --engine rammap "--engine-args=-x map-hifi" again.fa
    [ -e again.fa.k19w19.zhi ] || fail "no index file: $(ls again*)"
    align "--engine-args=-x map-hifi" again.fa hifi.fq | records - | cmp - one || fail "from the index file"
    mv again.fa away.fa
    align "--engine-args=-x map-hifi" again.fa hifi.fq | records - | cmp - one || fail "without the FASTA"
    sed 's/^ACG/ACC/' away.fa > again.fa
    refused "made from another reference" again.fa hifi.fq -x map-hifi
    for damage in 100 40000 300000; do
        cp again.fa.k19w19.zhi bad.zhi
        printf '\x55\xaa' | dd of=bad.zhi bs=1 seek=$damage conv=notrunc 2> /dev/null
        refused "damaged" bad.zhi hifi.fq -x map-hifi
    done
    truncate -s 100000 bad.zhi
    refused "truncated\|damaged" bad.zhi hifi.fq -x map-hifi
    command -v minimap2 > /dev/null || { skip_part "no minimap2 here"; return; }
    minimap2 -x map-hifi -d part.mmi part.fa 2> /dev/null
    align "--engine-args=-x map-hifi" part.mmi hifi.fq | records - | cmp - one || fail "from the index of minimap2"
    align --engine-args= part.mmi hifi.fq > /dev/null
    minimap2 -x map-hifi -I 500k -d parts.mmi part.fa 2> /dev/null
    refused "several parts" parts.mmi hifi.fq -x map-hifi
    head -c 200000 part.mmi > cut.mmi
    refused "truncated" cut.mmi hifi.fq -x map-hifi
    cp part.mmi bad.mmi
    printf '\xff\xff\xff\xff' | dd of=bad.mmi bs=1 seek=50000 conv=notrunc 2> /dev/null
    refused "damaged" bad.mmi hifi.fq -x map-hifi
    echo "index files are read back, and refused when they are damaged, cut, of another reference or in parts"
}

# refused WORDS REFERENCE READS OPTIONS: with status 1 and one line; nothing is left
refused() {
    local words=$1 reference=$2 reads=$3 rc=0; shift 3
    "$ZEROHOP" align -q --engine rammap "--engine-args=$*" -o refused.sam "$reference" "$reads" > out 2> err || rc=$?
    [ $rc = 1 ] && [ "$(wc -l < err)" = 1 ] && grep -q "^error: .*$words" err || fail "$words: status $rc, $(cat err)"
    [ -z "$(ls refused.sam* 2> /dev/null)" ] || fail "$words: an output is left"
}

modifications() {
    local options
    long_reads modifications hifi.fq reads.bam comments.fq
    for options in "" "-Y" "--secondary-seq"; do
        align "--engine-args=-x map-hifi $options" --sort -o records.bam part.fa reads.bam
        long_reads modified reads.bam records.bam
        # of FASTQ with the same in comments
        align "--engine-args=-x map-hifi $options" -C --sort -o records.bam part.fa comments.fq
        long_reads modified reads.bam records.bam
    done
    # of reads that are trimmed, those of the bases that stay
    local ends="-A -G -Q -L -f 100 -t 57"
    align "--engine-args=-x map-hifi" --trim "--trim-args=$ends" -o records.bam part.fa reads.bam
    long_reads modified reads.bam records.bam 100:-57
    align "--engine-args=-x map-hifi" -C --trim "--trim-args=$ends" -o records.bam part.fa comments.fq
    long_reads modified reads.bam records.bam 100:-57
    # of reads that are saved, also where records show no comments
    align "--engine-args=-x map-hifi" --trim "--trim-args=$ends" --save-trimmed saved.fq -o records.bam part.fa \
        comments.fq
    align "--engine-args=-x map-hifi" -C -o records.bam part.fa saved.fq
    long_reads modified reads.bam records.bam 100:-57
    align "--engine-args=-x map-hifi" --read-structure 11S+T -o records.bam part.fa reads.bam
    long_reads modified reads.bam records.bam 11:
}

huge() {
    python3 "$HERE/long_reads.py" simulate huge ecoli.fa huge.fq
    align "--engine-args=-x map-ont" --sort --qc -o huge.bam ecoli.fa huge.fq
    samtools view huge.bam | cut -f 6 | tr -d 0-9 | awk 'length > 65535 { n++ } END { exit n < 1 }' ||
        fail "no record of more than 65,535 operations"
    align "--engine-args=-x map-ont" -o huge.sam ecoli.fa huge.fq
    cmp <(samtools view huge.bam | cut -f 1-11 | sort) <(records huge.sam | cut -f 1-11 | sort) || fail "in BAM"
    align "--engine-args=-x map-ont -L" -o tagged.sam ecoli.fa huge.fq
    [ "$(records tagged.sam | cut -f 6 | grep -c '^[0-9]*S[0-9]*N$')" -ge 1 ] || fail "no CIGAR in CG"
    cmp <(samtools view tagged.sam | cut -f 6) <(records huge.sam | cut -f 6) || fail "-L"
    echo "reads of a million bases: $(records huge.sam | wc -l) records"
}

real() {
    local name
    [ -n "${ZEROHOP_DATA-}" ] || { echo "no more reads: ZEROHOP_DATA is not set"; return; }
    "$PYTHON_WITH_PYSAM" -c 'import mappy' 2> /dev/null || { skip_part "no mappy here"; return; }
    for name in map-hifi:e_coli_k12_2008_subsampled map-ont:ont_el_contam_subset_reads; do
        align "--engine-args=-x ${name%%:*}" -o ours.sam ecoli.fa "$ZEROHOP_DATA/longread/${name#*:}.fq.gz"
        long_reads mappy "${name%%:*}" ecoli.fa "$ZEROHOP_DATA/longread/${name#*:}.fq.gz" ours.sam
    done
}

# With LONG=1 ten million. Some of one round in nine, so of every preset, are compared with mappy.
nasty() {
    local round preset rounds=${LONG:+100} presets=(map-ont map-hifi splice asm20 map-pb)
    for ((round = 0; round < ${rounds:-1}; round++)); do
        preset=${presets[round % 5]}
        python3 "$HERE/long_reads.py" nasty part.fa nasty.fq 100000 $round
        align "--engine-args=-x $preset" -o nasty.sam part.fa nasty.fq
        long_reads sound nasty.fq nasty.sam
        [ $((round % 9)) = 0 ] && "$PYTHON_WITH_PYSAM" -c 'import mappy' 2> /dev/null || continue
        head -n 40000 nasty.fq > some.fq
        align "--engine-args=-x $preset" -o some.sam part.fa some.fq
        long_reads mappy $preset part.fa some.fq some.sam
    done
    echo "$round times 100,000 nasty reads: every record fits its read"
}

# What minimap2 said of another reference is not kept, nor are modifications in their draft form on hard-clipped
# records; what PacBio's tools look for in @HD is.
aligned_before() {
    long_reads modifications hifi.fq reads.bam comments.fq
    { printf '@HD\tVN:1.6\tSO:unknown\tpb:5.0.0\n'; samtools view -h reads.bam | grep -v '^@HD' |
        sed 's/\tMM:Z/\tMm:Z/; s/\tML:B/\tMl:B/'; } | samtools view -b -o draft.bam -
    align "--engine-args=-x map-hifi --cs -Y" --sort -o aligned.bam part.fa draft.bam
    grep -q $'^@HD\tVN:1.6\tSO:coordinate\tpb:5.0.0$' <(samtools view -H aligned.bam) || fail "@HD: pb"
    python3 -c "import random; print('>other'); print(''.join(random.choices('ACGT', k=20000)))" > other.fa
    align "--engine-args=-x map-hifi" -o again.bam other.fa aligned.bam
    [ "$(samtools view -c -f 4 again.bam)" = "$(samtools view -c reads.bam)" ] || fail "mapped to another reference"
    samtools view again.bam > again
    grep -q $'\tMm:Z' again || fail "fields of reads are lost"
    ! grep -E $'\t(NM|ms|AS|nn|tp|cm|s1|s2|de|zd|SA|cs):' again || fail "fields of another reference"
    align "--engine-args=-x map-hifi" -o clipped.bam part.fa draft.bam
    samtools view clipped.bam | awk '$6 ~ /H/' > clipped
    [ -s clipped ] && ! grep -E $'\tM[ml]:' clipped || fail "draft modifications of hard-clipped records"
}

# N50, identity, coverage and GC, beside what samtools and the reads themselves say
figures() {
    align "--engine-args=-x map-hifi" --sort --qc --json figures.json -o figures.bam part.fa hifi.fq
    samtools view figures.bam -F 0x100 > figures.sam
    python3 - hifi.fq part.fa figures.sam << 'END' || fail "figures"
import json, re, sys
lines = open(sys.argv[1]).read().split('\n')
reads = lines[1::4]
lengths = sorted(map(len, reads), reverse=True)
sums = [sum(lengths[:i + 1]) for i in range(len(lengths))]
n50 = next(length for length, so_far in zip(lengths, sums) if 2 * so_far >= sums[-1])
reference = sum(len(line.strip()) for line in open(sys.argv[2]) if line[0] != '>')
covered = columns = edits = 0
for line in open(sys.argv[3]):
    fields = line.rstrip('\n').split('\t')
    cigar = [(int(n), op) for n, op in re.findall(r'(\d+)([MIDNSHP=X])', fields[5])]
    covered += sum(n for n, op in cigar if op in 'M=XD')
    columns += sum(n for n, op in cigar if op in 'M=XDI')
    edits += sum(int(field[5:]) for field in fields[11:] if field.startswith('NM:i:'))
report = json.load(open('figures.json'))
figures, tally = report['figures'], report['run']['tally']
assert abs(figures['n50'] / n50 - 1) < 0.01, (figures['n50'], n50)
assert tally['lengths']['n50'] == figures['n50'] and tally['lengths']['longest'] == lengths[0]
assert abs(figures['identity'] - 100 * (1 - edits / columns)) < 1e-6, (figures['identity'], edits, columns)
assert abs(figures['coverage'] - covered / reference) < 1e-6, (figures['coverage'], covered, reference)
counts = report['run']['sorted']['reports']['figures']['gc']
gc = [100 * sum(base in 'GC' for base in read) / len(read) for read in reads]
mean = sum(at * count for at, count in enumerate(counts)) / sum(counts)
assert sum(counts) == len(reads), (sum(counts), len(reads))
assert abs(mean - sum(gc) / len(gc)) < 0.5, (mean, sum(gc) / len(gc))
END
}

pairs() {
    local rc reads status words
    cp ont.fq mates.fq
    printf 'p\t77\t*\t0\t0\t*\t*\t0\t0\tA\t#\np\t141\t*\t0\t0\t*\t*\t0\t0\tA\t#\n' | samtools view -b -o pairs.bam -
    while IFS='|' read -r reads status words; do
        rc=0
        "$ZEROHOP" align -q --engine rammap -o pairs.sam part.fa $reads 2> err || rc=$?
        [ $rc = $status ] && grep -q -- "$words" err || fail "$reads: status $rc, $(cat err)"
        [ ! -e pairs.sam ] || fail "$reads: an output is left"
    done << 'END'
ont.fq mates.fq|2|rammap aligns single reads: give each file as a lane, as in part.fa ont.fq --reads mates.fq
-p ont.fq|2|rammap aligns single reads: leave -p out
pairs.bam|1|it has a mate, and rammap aligns single reads
END
}

for name in presets options forms indexes modifications aligned_before figures huge real nasty pairs; do
    [[ $name =~ ${PART-} ]] || continue
    part $name
done
