#!/bin/bash
# Reads that were not aligned, as reads: those that the records say, in the order of the input, for any number of
# threads, sorted or not, with embedded engines and programs, from FASTQ and BAM, in one file or a file of each mate.
# Without their records; and with the bases of secondary records. LONG=1: with more engines, numbers of threads, and
# every MPI.
source "$(dirname "$0")/lib.sh"
command -v samtools > /dev/null || skip "no samtools here"

cd "$WORK"
gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > ref.fa
zerohop index -q --engine bwa-mem ref.fa
# reads of E. coli, and pairs of which one mate, or both, are of something else
python3 - "$DATA/ecoli/ecoli_100_1.fq.gz" "$DATA/ecoli/ecoli_100_2.fq.gz" << 'END'
import gzip, random, sys
random.seed(9)
for mate, path in enumerate(sys.argv[1:]):
    with gzip.open(path, 'rt') as lines, open(f'{mate + 1}.fq', 'w') as out:
        for number, (name, seq, plus, qual) in enumerate(zip(*[lines] * 4)):
            if number % 7 == 0 or number % 11 == mate:
                seq = ''.join(random.choice('ACGT') for _ in seq.strip()) + '\n'
            out.write(f'{name.split()[0]}/{mate + 1} BC:Z:AC{number}\n{seq}{plus}{qual}')
END
samtools import -R g -T BC -1 1.fq -2 2.fq -o reads.bam 2> import.log

# names SAM EXPRESSION: the names of its fragments of which the primary records are so
names() { samtools view -F 0x900 -e "$2" "$1" | cut -f 1 | uniq | sort -u; }

# reads_of NAMES: these reads, interleaved, as they are in the input
reads_of() {
    python3 - "$1" << 'END'
import itertools, sys
wanted = set(open(sys.argv[1]).read().split())
files = [itertools.zip_longest(*[open(f'{mate}.fq')] * 4) for mate in (1, 2)]
for pair in zip(*files):
    if pair[0][0][1:].split('/')[0] in wanted:
        sys.stdout.write(''.join(pair[0] + pair[1]))
END
}

same() { cmp "$1" "$2" || fail "$3: other reads"; checks=$((checks + 1)); }

checks=0
for engine in strobealign bwa-mem ${LONG:+bwa minimap2} bowtie2; do
    more=()
    case $engine in bwa | minimap2 | bowtie2)
        command -v $engine > /dev/null || continue
        more=(--build-index);;
    esac
    zerohop align -q -t 2 --engine $engine "${more[@]}" -o all.sam ref.fa 1.fq 2.fq
    names all.sam 'flag.unmap && flag.munmap' > both
    names all.sam 'flag.unmap || flag.munmap' > any
    [ "$(wc -l < both)" -gt 150 ] && [ "$(wc -l < any)" -gt 400 ] || fail "$engine: too few reads that are not aligned"
    reads_of both > both.fq
    reads_of any > any.fq
    # a program is not told of comments that -C does not ask for
    case $engine in strobealign | bwa-mem) ;; *) sed -i -E '1~4s|/[12] .*||' both.fq any.fq;; esac
    for threads in ${LONG:+1 2} 5; do
        zerohop align -q -t $threads --engine $engine --unaligned own.fq.gz -o own.sam ref.fa 1.fq 2.fq
        same <(gzip -cd own.fq.gz) both.fq "$engine -t $threads"
        cmp <(grep -v '^@' own.sam) <(grep -v '^@' all.sam) || fail "$engine: other records"
    done
    zerohop align -q -t 3 --engine $engine --unaligned own.fq --unaligned-mates any --no-unaligned -o own.bam \
        ref.fa 1.fq 2.fq
    same own.fq any.fq "$engine, any mate"
    cmp <(samtools view own.bam) <(samtools view -e '!(flag.unmap && flag.munmap)' all.sam) ||
        fail "$engine: other records without those that are not aligned"
    # also those that have no records at all
    if [ $engine = strobealign ]; then
        zerohop align -q -t 3 --engine-args=-U --unaligned own.fq --unaligned-mates any -o own.bam ref.fa 1.fq 2.fq
        same own.fq any.fq "$engine -U"
    fi
    zerohop align -q -t 3 --engine $engine --sort --mark-duplicates --unaligned own.fastq.gz -o own.bam \
        ref.fa 1.fq 2.fq
    same <(gzip -cd own.fastq.gz) both.fq "$engine, sorted"
    [ "$(samtools view -c -f 12 own.bam)" = "$((2 * $(wc -l < both)))" ] || fail "$engine: records are missing"
    # BAM in, BAM out
    zerohop align -q -t 3 --engine $engine --unaligned own.bam -o own.sam ref.fa reads.bam
    same <(samtools view own.bam) <(samtools view -N both reads.bam) "$engine, BAM"
    [ "$(samtools view -H own.bam | grep -c '^@SQ')" = 0 ] || fail "contigs of unaligned reads"
    samtools quickcheck -u own.bam || fail "$engine: BAM"
done
# single reads; several files; standard output
zerohop align -q -t 2 -o all.sam ref.fa 1.fq
zerohop align -q -t 2 -o own.sam --shards 3 --unaligned own.fq ref.fa 1.fq
names all.sam 'flag.unmap' > single
reads_of single | awk '(NR - 1) % 8 < 4' > single.fq
same own.fq single.fq "single reads"
zerohop align -q -t 2 --unaligned own.fq ref.fa 1.fq > own.sam
same own.fq single.fq "standard output"
cmp <(grep -v '^@PG' own.sam) <(grep -v '^@PG' all.sam) || fail "other records on standard output"
# what comes out goes in again
zerohop align -q -t 2 --unaligned own.fq.gz -o own.sam ref.fa 1.fq 2.fq
zerohop align -q -t 2 -p -o again.sam ref.fa own.fq.gz
[ "$(samtools view -c again.sam)" = "$(($(gzip -cd own.fq.gz | wc -l) / 4))" ] || fail "not all of them can be read"
# as strobealign leaves them out
if [ -x "$STROBEALIGN" ]; then
    strobealign -U -r 100 ref.fa 1.fq 2.fq > theirs.sam
    zerohop align -q -t 2 --no-unaligned -r 100 -o own.sam ref.fa 1.fq 2.fq
    same_alignments own.sam theirs.sam
fi

# secondary records with bases: those of the read, in its direction
zerohop align -q -t 2 --engine bwa-mem --engine-args=-a --secondary-bases -o own.sam ref.fa 1.fq 2.fq
python3 - << 'END' || fail "--secondary-bases"
import itertools, re
reads = {}
for mate in (1, 2):
    for name, seq, _, qual in itertools.zip_longest(*[open(f'{mate}.fq')] * 4):
        reads[name[1:].split('/')[0], mate] = seq.strip(), qual.strip()
secondary = 0
for line in open('own.sam'):
    if line[0] == '@':
        continue
    name, flags, _, _, _, cigar, _, _, _, seq, qual = line.split('\t')[:11]
    flags = int(flags)
    if not flags & 0x100:
        continue
    bases, qualities = reads[name, 1 if flags & 0x40 else 2]
    if flags & 0x10:
        bases, qualities = bases[::-1].translate(str.maketrans('ACGT', 'TGCA')), qualities[::-1]
    ops = re.findall(r'(\d+)([MIDNSHP=X])', cigar)
    start, end = (int(n) if op == 'H' else 0 for n, op in (ops[0], ops[-1]))
    assert (seq, qual) == (bases[start:len(bases) - end], qualities[start:len(bases) - end]), line
    secondary += 1
assert secondary > 20, secondary
END

# on record, and over ranks: the same files
zerohop index -q --engine bwa-mem ref.fa
for engine in strobealign ${LONG:+bwa-mem} minimap2; do
    [ $engine != minimap2 ] || command -v minimap2 > /dev/null || continue
    for form in 'fq' 'fq.gz --shards 2' 'bam --sort' 'bam'; do
        read -r ending options <<< "$form"
        zerohop align -q -t 2 --engine $engine --build-index --unaligned one.$ending $options -o r.bam ref.fa 1.fq 2.fq
        zerohop align -q -t 2 --engine $engine --unaligned own.$ending $options --durable -o r.bam ref.fa 1.fq 2.fq
        files=(own.$ending)
        while read -r name compiler launch; do
            with_mpi "$name" "$compiler"
            timeout -k 5 120 $launch -n 3 "$ZEROHOP" align --ranks -q -t 1 --engine $engine \
                --unaligned "$name.$ending" $options -o r.bam ref.fa 1.fq 2.fq > log 2>&1 < /dev/null ||
                { cat log >&2; fail "$name"; }
            files+=("$name.$ending")
        done < <(some_mpis)
        for file in "${files[@]}"; do
            case $file in
                *.bam) samtools quickcheck -u $file || fail "$engine, $form, $file: BAM"
                    same <(samtools view $file) <(samtools view one.bam) "$engine, $form, $file";;
                *.gz) same <(gzip -cd $file) <(gzip -cd one.$ending) "$engine, $form, $file";;
                *) same $file one.$ending "$engine, $form, $file";;
            esac
        done
    done
done

# the mates of pairs in files of their own: in step, also as chunks are finished, sorted, on record and over ranks
# mates NAME WHAT: NAME_1.fq.gz and NAME_2.fq.gz are the mates of one.fq
mates() {
    same <(gzip -cd "$1_1.fq.gz") <(awk '(NR - 1) % 8 < 4' one.fq) "$2, first mates"
    same <(gzip -cd "$1_2.fq.gz") <(awk '(NR - 1) % 8 >= 4' one.fq) "$2, second mates"
    rm "$1"_[12].fq.gz
}
for engine in ${LONG:+strobealign} bwa-mem minimap2; do
    [ $engine != minimap2 ] || command -v minimap2 > /dev/null || continue
    to=(--engine $engine --unaligned-mates any)
    zerohop align -q -t 2 "${to[@]}" --build-index --unaligned one.fq -o r.bam ref.fa 1.fq 2.fq
    zerohop align -q -t 3 "${to[@]}" --unaligned own_%.fq.gz -o r.bam ref.fa 1.fq 2.fq
    mates own "$engine"
    zerohop align -q -t 3 "${to[@]}" --unaligned own_%.fq.gz ref.fa 1.fq 2.fq | samtools view -c > /dev/null
    mates own "$engine, standard output"
    zerohop align -q -t 3 "${to[@]}" --unaligned own_%.fq.gz --sort -o r.bam ref.fa 1.fq 2.fq
    mates own "$engine, sorted"
    zerohop align -q -t 2 "${to[@]}" --unaligned own_%.fq.gz --durable -o r.bam ref.fa 1.fq 2.fq
    mates own "$engine, on record"
    while read -r name compiler launch; do
        with_mpi "$name" "$compiler"
        timeout -k 5 120 $launch -n 3 "$ZEROHOP" align --ranks -q -t 1 "${to[@]}" --unaligned own_%.fq.gz --shards 2 \
            -o r.bam ref.fa 1.fq 2.fq > log 2>&1 < /dev/null || { cat log >&2; fail "$name"; }
        mates own "$engine, $name"
    done < <(some_mpis)
    zerohop align -q -t 4 "${to[@]}" --unaligned own_%.fq.gz --order any -o r.bam ref.fa 1.fq 2.fq
    cmp <(gzip -cd own_1.fq.gz | sed -n '1~4s|/1||p') <(gzip -cd own_2.fq.gz | sed -n '1~4s|/2||p') ||
        fail "$engine: mates are not in step with --order any"
    cmp <(gzip -cd own_[12].fq.gz | sort) <(sort one.fq) || fail "$engine: other reads with --order any"
done
# a mate without bases, of which bowtie2 writes no record
if command -v bowtie2 > /dev/null; then
    python3 - << 'END'
import random
random.seed(5)
for mate in (1, 2):
    with open(f'e{mate}.fq', 'w') as out:
        for number in range(8):
            bases = 0 if (number, mate) in ((2, 2), (5, 1)) else 80
            out.write(f'@p{number}\n{"".join(random.choices("ACGT", k=bases))}\n+\n{"I" * bases}\n')
    with open('mapped.fq', 'w') as out, open('1.fq') as reads:
        lines = [next(reads).strip() for _ in range(12)][8:]
        out.write(f'@m\n{lines[1]}\n+\n{lines[3]}\n')
END
    zerohop align -q -t 2 --engine bowtie2 --build-index --unaligned own_%.fq -o r.bam ref.fa e1.fq e2.fq
    cmp own_1.fq e1.fq && cmp own_2.fq e2.fq || fail "a mate without bases is lost"
    zerohop align -q -t 2 --engine bowtie2 --unaligned own.fq -o r.bam ref.fa e1.fq e2.fq
    [ "$(paste - - - - < own.fq | cut -f 1 | uniq -c | grep -c '^ *2 @p')" = 8 ] || fail "one file: $(cat own.fq)"
    printf '@m\n\n+\n\n' > none.fq
    zerohop align -q -t 2 --engine bowtie2 --unaligned own_%.fq --unaligned-mates any -o r.bam ref.fa mapped.fq none.fq
    cmp own_1.fq mapped.fq && cmp own_2.fq none.fq || fail "a mate without bases is not one that was not aligned"
    zerohop align -q -t 2 --engine bowtie2 --unaligned own_%.fq -o r.bam ref.fa mapped.fq none.fq
    [ ! -s own_1.fq ] && [ ! -s own_2.fq ] || fail "a pair of which one mate is aligned"
fi
# FASTA comes out as FASTA, whatever qualities a program makes up; a quality of '*' is one
python3 - << 'END'
import random
random.seed(6)
with open('none.fa', 'w') as fasta, open('star.fq', 'w') as fastq:
    for number in range(9):
        bases = ''.join(random.choices('ACGT', k=1 if number % 4 == 1 else 70))
        fasta.write(f'>n{number}\n{bases}\n')
        fastq.write(f'@n{number}\n{bases}\n+\n{"*" * len(bases)}\n')
END
for engine in strobealign bowtie2 ${LONG:+hisat2 bwa} minimap2; do
    [ $engine = strobealign ] || command -v $engine > /dev/null || continue
    for reads in none.fa star.fq; do
        zerohop align -q -t 2 --engine $engine --build-index --unaligned own.fq -o r.sam ref.fa $reads
        same own.fq $reads "$engine, $reads"
    done
done
# BAM, of which no read is left
zerohop align -q -t 2 --unaligned own_%.fq -o r.bam ref.fa reads.bam
cmp <(cat own_[12].fq | grep -c .) <(zerohop align -q --unaligned one.fq -o r.bam ref.fa reads.bam; grep -c . one.fq) ||
    fail "other reads of BAM"
samtools view -H -b -o empty.bam reads.bam
zerohop align -q -t 2 --unaligned own_%.fq -o r.bam ref.fa empty.bam
[ -e own_1.fq ] && [ -e own_2.fq ] && [ ! -s own_1.fq ] && [ ! -s own_2.fq ] || fail "files of no reads"
for again in 1 2; do zerohop align -q --unaligned own_%.fq.gz -o r.bam ref.fa empty.bam; done

# refused WORDS ARGUMENTS...
refused() {
    local words=$1 rc=0; shift
    "$ZEROHOP" align -q -t 2 -o refused.sam "$@" 2> said || rc=$?
    [ $rc = 1 ] || [ $rc = 2 ] || fail "exit status $rc, not refused: $*"
    grep -qF -- "$words" said || fail "'$words' is not what was said: $(cat said)"
    [ ! -e refused.sam ] || fail "left behind: $*"
}
refused 'unaligned reads are written as FASTQ or BAM' --unaligned x.sam ref.fa 1.fq
refused "leave out the '%'" --unaligned x_%.bam ref.fa 1.fq 2.fq
refused "and there are several" --unaligned x_%%.fq ref.fa 1.fq 2.fq
paste -d '\n' <(paste - - - - < 1.fq) <(paste - - - - < 2.fq) | sed 14d | tr '\t' '\n' > mixed.fq
refused "it has no mate, and a '%' in the name of --unaligned stands for mates" --unaligned x_%.fq -p ref.fa mixed.fq
refused "the reads of 1.fq are single: leave out the '%'" --unaligned x_%.fq ref.fa 2.fq 1.fq --reads 1.fq
refused '2.fq is an input' --unaligned %.fq ref.fa reads.bam --reads 2.fq
mkfifo pipe.fq
refused 'can only be written to a regular file' --unaligned pipe.fq ref.fa 1.fq
refused '1.fq' --unaligned 1.fq ref.fa 1.fq
refused '--secondary-bases is for built-in engines' --secondary-bases --engine bwa ref.fa 1.fq
echo notes > notes.fq
refused 'does not hold FASTQ, FASTA or BAM' --unaligned notes.fq ref.fa 1.fq
# a failure leaves neither file
head -c 3000 1.fq > cut.fq
refused 'cut.fq' --unaligned left.fq ref.fa cut.fq
head -c 3000 2.fq > cut2.fq
refused 'cut' --unaligned left_%.fq ref.fa cut.fq cut2.fq
[ ! -e left.fq ] && [ -z "$(ls -A | grep -i 'left')" ] || fail "left: $(ls -A)"
echo "unaligned reads: as in the input, $checks times"
