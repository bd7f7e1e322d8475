#!/bin/bash
# The Snakemake wrappers: Snakemake runs their example workflows on real reads and proteins. The records are those of
# the program run directly. Not tested: --use-conda, since zerohop is not on Bioconda yet.
source "$(dirname "$0")/pipeline.sh"
needs snakemake/bin/snakemake
wrappers=$PIPELINES/snakemake/zerohop

# make_by TOOL TARGET...: by the example of the wrapper, with the wrapper of this checkout in place of the published one
make_by() {
    local tool=$1; shift
    sed "s|\"master/bio/zerohop/|\"file://$wrappers/|" "$wrappers/$tool/test/Snakefile" > "$tool.smk"
    quietly "$ROOT/.tools/snakemake/bin/snakemake" --cores 2 --snakefile "$tool.smk" "$@"
}

mkdir reads
ln -s "${reads[0]}" reads/s_1.fq.gz
ln -s "${reads[1]}" reads/s_2.fq.gz
printf 'NC_000913.3\t1000\t200000\n' > exome.bed
make_by index genome.fa.r150.zhi
make_by align plain/s.bam mapped/s.bam mapped/s.cram
same_records plain/s.bam plain.bam
same_records mapped/s.bam marked.bam --sort --mark-duplicates -R '@RG\tID:s\tSM:s'
same_records mapped/s.cram sorted.cram --sort
for file in plain/s.json mapped/s.bam.bai mapped/s.json mapped/s_mqc.json mapped/s.markdup.txt \
    mapped/s.bam.stats mapped/s.mosdepth.summary.txt mapped/s.cram.crai mapped/s.hs_metrics; do
    [ -s "$file" ] || fail "there is no $file"
done
# a quarter of mem_mb, threads and tmpdir of the job
grep -q -- "--threads 2 .*--sort-memory 500M --tmp-dir ${TMPDIR:-/tmp}" mapped/s.json || fail "resources are not passed"
grep -q 'index .*loaded from genome.fa.r150.zhi' logs/s.align.log || fail "the log: $(cat logs/s.align.log)"

# a failure is Snakemake's, too
mkdir broken
gzip -cd "${reads[0]}" | sed -n 1,7p > broken/s_1.fq
cp broken/s_1.fq broken/s_2.fq
sed 's|reads/{sample}_\([12]\).fq.gz|broken/{sample}_\1.fq|g; s|plain/|wrong/|g' align.smk > broken.smk
! "$ROOT/.tools/snakemake/bin/snakemake" --cores 2 --snakefile broken.smk wrong/s.bam > broken.log 2>&1 ||
    fail "truncated reads went through"
grep -q '^error: broken/s_1.fq: record 2 ' logs/s.plain.log ||
    fail "it failed, but not for the reads: $(cat broken.log logs/s.plain.log)"
[ ! -e wrong/s.bam ] || fail "a failed run left its output"

protein_search
cp q.fa s.faa
make_by search hits/s.tsv
cmp direct.tsv hits/s.tsv || fail "other hits"
