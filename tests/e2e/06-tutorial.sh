#!/bin/bash
# The pages for newcomers: every command runs as it stands there, page by page, and prints what is shown there (times,
# and what depends on the machine, aside). The page on NUMA needs another machine: tests/lab/70-numa-page.sh.
# FILL=1 puts what is printed into the pages instead; PART=REGEX takes some of them.
source "$(dirname "$0")/lib.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
PAGES="tutorial from-bwa-mem2 bioinformatics hpc aligner-authors"
"$ZEROHOP" engines > "$WORK/engines.txt"
grep -q '^bwa-mem ' "$WORK/engines.txt" || skip "this zerohop was built without bwa-mem"
for program in samtools bcftools bgzip wgsim bwa mpirun mpicc; do
    command -v $program > /dev/null || skip "$program is not on the PATH"
done

# As in 05-readme.sh: zerohop on the PATH, ranks as root and on few CPUs, nothing in the user's folders
mkdir "$WORK/bin"
ln -s "$(readlink -f "$ZEROHOP")" "$WORK/bin/zerohop"
export PATH="$WORK/bin:$PATH" XDG_CONFIG_HOME="$WORK/config"
unset ZEROHOP_MPI
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# bwa-mem2 is not in Debian; its records are those of bwa mem
command -v bwa-mem2 > /dev/null || ln -s "$(command -v bwa)" "$WORK/bin/bwa-mem2"

# The files that the pages name: 10,000 pairs, and the same as two lanes
files() {
    local mate
    gzip -dc "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > ref.fa
    for mate in 1 2; do
        cp "$DATA/ecoli/ecoli_150_$mate.fq.gz" reads_$mate.fq.gz
        gzip -dc reads_$mate.fq.gz | awk 'NR <= 20000' | gzip -1 > lane1_$mate.fq.gz
        gzip -dc reads_$mate.fq.gz | awk 'NR > 20000' | gzip -1 > lane2_$mate.fq.gz
    done
}

# Figures are those of the samtools and bcftools that the tutorial names.
can_compare() {
    local version; version=$(bcftools --version | awk 'NR == 1 { print $2 }')
    grep -q "samtools and bcftools $version\." "$ROOT/docs/tutorial.md" || {
        skip_part "bcftools is $version, so outputs are not compared"; return 1; }
}

page() {
    local file="$ROOT/docs/$1.md"
    mkdir "$WORK/$1"
    cd "$WORK/$1"
    files
    ln -s "$DATA/.." tests
    python3 "$ROOT/tests/e2e/page.py" script "$file" > commands.sh
    timeout -k 5 300 bash commands.sh < /dev/null || {
        tail -n 20 "$(ls -v [0-9]*.out | tail -n 1)" >&2; cat now >&2; fail "$1.md: a command failed"; }
    if [ -n "${FILL-}" ]; then python3 "$ROOT/tests/e2e/page.py" fill "$file"; return; fi
    ! can_compare || python3 "$ROOT/tests/e2e/page.py" compare "$file" || fail "$1.md shows another output"
}

for page in $PAGES; do
    [[ $page =~ ${PART-} ]] || continue
    part page $page
    echo "$page.md: all commands run"
    rm -r "${WORK:?}/$page"
done
