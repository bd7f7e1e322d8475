#!/bin/bash
# Sorted output with duplicates on a kernel with 8 NUMA nodes: the bytes of the host, in memory and with many runs, of
# one process and of 1 to 4 ranks, which may differ in the nodes that they run on; and the memory of records lies on the
# nodes of the workers that made them. Nodes and pages are real, the time is not. LONG=1: every number of ranks.
source "$(dirname "$0")/../e2e/lib.sh"
: "${NUMA_LAB:?}"
command -v samtools > /dev/null || skip "samtools is not on the PATH"
cd "$WORK"
cp "$DATA/phix/phix.fasta" ref.fa
# a third of the pairs are copies
python3 - << 'END'
import random
random.seed(5)
genome = ''.join(line.strip() for line in open('ref.fa') if line[0] != '>')
complement, places = str.maketrans('ACGT', 'TGCA'), []
with open('1.fq', 'w') as one, open('2.fq', 'w') as two:
    for i in range(15_000):
        if places and i % 3 == 0: at, insert = random.choice(places)
        else: at, insert = random.randrange(len(genome) - 450), random.randrange(250, 450)
        places.append((at, insert))
        fragment = genome[at:at + insert]
        first, second = fragment[:100], fragment[::-1].translate(complement)[:100]
        if i % 2: first, second = second, first
        one.write(f'@r{i}\n{first}\n+\n{random.choice("DEFGHI") * 100}\n')
        two.write(f'@r{i}\n{second}\n+\n{"H" * 100}\n')
END
zerohop index -q -r 100 ref.fa
for rules in samtools picard; do
    zerohop align -q -t 2 -r 100 --sort --mark-duplicates=$rules -o host.$rules.bam ref.fa 1.fq 2.fq
    # some are duplicates, and some that are not look like them
    [ "$(samtools view -c -f 1024 host.$rules.bam)" -gt 7000 ] || fail "$rules: no duplicates"
done
launch=
if command -v mpirun.openmpi > /dev/null; then
    launch="mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none --mca btl self,vader"
    with_mpi openmpi mpicc.openmpi
fi
cat > guest.sh << END
set -euo pipefail
cd "$WORK"
align() { "$ZEROHOP" align -q -r 100 --sort "\$@" ref.fa 1.fq 2.fq < /dev/null; }
align --mark-duplicates=samtools --json samtools.json -o lab.samtools.bam
align --mark-duplicates=picard --sort-memory 3M -o lab.picard.bam
allocations() {
    awk '/^local_node/ { near += \$2 } /^other_node/ { far += \$2 } END { print near, far }' \
        /sys/devices/system/node/node*/numastat
}
# the second run of each: the first one reads the program
"$ZEROHOP" align -q -r 100 -o scratch.bam ref.fa 1.fq 2.fq
allocations > before
"$ZEROHOP" align -q -r 100 -o scratch.bam ref.fa 1.fq 2.fq
allocations > between
align -o scratch.bam
allocations > after
[ -n "$launch" ] || exit 0
# OpenMPI wants a name of the host, and a way to itself
hostname lab; ip link set lo up 2> /dev/null || true
export ZEROHOP_MPI="$WORK/openmpi.so" OMPI_MCA_plm_rsh_agent=/bin/true
for ranks in ${LONG:+1 2 3} 4; do
    $launch -n \$ranks "$ZEROHOP" align --ranks=\$ranks -q -t 4 -r 100 --sort --mark-duplicates=samtools \
        --sort-memory 3M -o ranks-\$ranks.samtools.bam ref.fa 1.fq 2.fq < /dev/null
done
END
rc=0
"$NUMA_LAB" run --nodes 8 --cpus 16 --mem 6G --distances amd6376 --timeout 700 --rw "$WORK" -- bash "$WORK/guest.sh" \
    > lab.log 2>&1 || rc=$?
[ $rc != 77 ] || { cat lab.log; exit 77; }
[ $rc = 0 ] || { cat lab.log >&2; fail "exit status $rc in the lab"; }
records() { samtools view --no-PG -h "$1" | grep -v '^@PG'; }
[ -n "$launch" ] || echo "SKIPPED part: OpenMPI is not here"
for bam in lab.*.bam ranks-*.bam; do
    [ -e "$bam" ] || continue
    rules=${bam#*.}; rules=${rules%.bam}
    cmp <(records host.$rules.bam) <(records "$bam") || fail "$bam: other records than on the host"
    cmp <(samtools idxstats host.$rules.bam) <(samtools idxstats "$bam") || fail "$bam: another index"
    echo "$bam: the records of the host"
done
python3 - << 'END' || { cat lab.log >&2; fail "the memory of records"; }
import json
assert len(json.load(open('samtools.json'))['run']['workers']) == 16
counts = [[int(count) for count in open(name).read().split()] for name in ('before', 'between', 'after')]
(near, far), (sorted_near, sorted_far) = ([b - a for a, b in zip(*pair)] for pair in zip(counts, counts[1:]))
print(f'pages that were taken: {near} on the own node and {far} elsewhere; sorted {sorted_near} and {sorted_far}')
# What else a run takes elsewhere, an unsorted one takes as well.
assert sorted_near > 1000 and sorted_far - far < 0.01 * sorted_near
END
