#!/bin/bash
# Unmodified aligners as programs of their own, on a kernel with 8 NUMA nodes: where their index pages and the copies
# that they share really lie, on which CPUs their threads are, that nothing leaves the nodes allowed, and that the
# records are those of the plain aligner on the host. The nodes, pages and CPUs are real, the time is not. LONG=1:
# every strategy tried with every aligner, and 16 processes that share 8 copies.
source "$(dirname "$0")/../e2e/lib.sh"
: "${NUMA_LAB:?}"

engines=
for program in bwa bowtie2-align-s bowtie-align-s hisat2-align-s snap-aligner minimap2; do
    command -v $program > /dev/null || continue
    name=${program%%-*}
    engines=$engines${engines:+,}$name
done
[ -n "$engines" ] || skip "no external aligner is on the PATH"

timeout 1400 "$(dirname "$0")/../../bench/placement" --test --engine "$engines" --zerohop "$ZEROHOP" --work \
    "$WORK/placement"
