#!/bin/bash
# The Snakemake wrappers: snakefmt, black and Snakemake's linter read them; Snakemake runs their example workflows, on
# their own test data as the wrapper repository does, and on real reads and proteins. The records are those of the
# program run directly. Not tested: --use-conda and the pinned environment, since zerohop is not on Bioconda yet.
source "$(dirname "$0")/pipeline.sh"
needs snakemake/bin/snakemake snakefmt/bin/snakefmt snakefmt/bin/black
wrappers=$PIPELINES/snakemake/zerohop
snakemake=$ROOT/.tools/snakemake/bin/snakemake

"$ROOT/.tools/snakefmt/bin/snakefmt" --check --diff "$wrappers" > format.log 2>&1 ||
    { cat format.log >&2; fail "snakefmt is not content"; }
! grep WARNING format.log || fail "snakefmt warns"
quietly "$ROOT/.tools/snakefmt/bin/black" --check --diff "$PIPELINES/snakemake"
for tool in index align search; do
    quietly "$snakemake" --lint --snakefile "$wrappers/$tool/test/Snakefile"
done

# copied FOLDER: the wrappers, as they are submitted; their examples name those of this folder, not published ones
copied() {
    cp -rL "$wrappers" "$1"
    sed -i "s|\"master/bio/zerohop/|\"file://$1/|" "$1"/*/test/Snakefile
}

# What pipelines/snakemake/test_wrappers.py adds to the tests of the wrapper repository, without conda
own_tests() {
    copied "$WORK/submitted"
    cat > own_tests.py << PYTHON
import runpy, subprocess
def run(wrapper, command):
    folder = "$WORK/submitted/" + wrapper.removeprefix("bio/zerohop/") + "/test"
    subprocess.run(["$snakemake", "--cores", "2", *command[1:]], cwd=folder, check=True)
tests = runpy.run_path("$PIPELINES/snakemake/test_wrappers.py")
for name in [name for name in tests if name.startswith("test_")]:
    tests[name](run)
PYTHON
    quietly python3 own_tests.py
    # the second lane is the first one again
    [ "$(samtools view -c -f 1024 submitted/align/test/lanes/a.bam)" -ge 84 ] || fail "no duplicates across lanes"
    [ -s submitted/search/test/hits/a.tsv ] || fail "no hits"
}
command -v diamond > /dev/null || skip "diamond is not on the PATH"
own_tests

# make_by TOOL TARGET...: by the example of the wrapper, with the wrapper of this checkout in place of the published one
make_by() {
    local tool=$1; shift
    sed "s|\"master/bio/zerohop/|\"file://$wrappers/|" "$wrappers/$tool/test/Snakefile" > "$tool.smk"
    quietly "$snakemake" --cores 2 --snakefile "$tool.smk" "$@"
}

mkdir reads
ln -s "${reads[0]}" reads/s_1.fq
ln -s "${reads[1]}" reads/s_2.fq
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
sed 's|reads/{sample}_|broken/{sample}_|g; s|plain/|wrong/|g' align.smk > broken.smk
! "$snakemake" --cores 2 --snakefile broken.smk wrong/s.bam > broken.log 2>&1 ||
    fail "truncated reads went through"
grep -q '^error: broken/s_1.fq: record 2 ' logs/s.plain.log ||
    fail "it failed, but not for the reads: $(cat broken.log logs/s.plain.log)"
[ ! -e wrong/s.bam ] || fail "a failed run left its output"

protein_search
cp q.fa s.faa
make_by search hits/s.tsv
cmp direct.tsv hits/s.tsv || fail "other hits"
