#!/bin/bash
# docs/numa.md on the machine that it is about, an emulated one with two nodes: every command runs as it stands there,
# and prints what is shown there, numbers aside. FILL=1 puts what is printed into the page instead.
source "$(dirname "$0")/../e2e/lib.sh"
: "${NUMA_LAB:?}"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
command -v samtools > /dev/null || skip "samtools is not on the PATH"

cd "$WORK"
gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > ref.fa
for mate in 1 2; do
    gzip -cd "$DATA/ecoli/ecoli_150_$mate.fq.gz" | awk 'NR <= 8000' | gzip > reads_$mate.fq.gz
done
zerohop index -q -r 150 ref.fa
mkdir bin
ln -s "$(readlink -f "$ZEROHOP")" bin/zerohop

{
    echo "ln -sfn /proc/self/fd /dev/fd; cd '$WORK'; export PATH='$WORK/bin':\$PATH"
    python3 "$ROOT/tests/e2e/page.py" script "$ROOT/docs/numa.md"
} > guest.sh
rc=0
# the processor of the page
"$NUMA_LAB" run --nodes 2 --cpus 8 --mem 4G --cpu max --timeout 300 --rw "$WORK" -- \
    bash "$WORK/guest.sh" > lab.log 2>&1 || rc=$?
[ $rc != 77 ] || { cat lab.log; exit 77; }
[ $rc = 0 ] || {
    cat lab.log now >&2; tail -n 20 "$(ls -v [0-9]*.out | tail -n 1)" >&2; fail "numa.md: exit status $rc"; }
if [ -n "${FILL-}" ]; then python3 "$ROOT/tests/e2e/page.py" fill "$ROOT/docs/numa.md"; exit; fi
python3 "$ROOT/tests/e2e/page.py" compare --same-machine "$ROOT/docs/numa.md" || fail "numa.md shows another output"
