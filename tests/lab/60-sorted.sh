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
# runs a command with the policy of `numactl --interleave=all`, which the lab does not have
cat > interleaved.py << 'END'
import ctypes, os, sys
SET_MEMPOLICY, INTERLEAVE, NODES = 238, 3, 8
mask = ctypes.c_ulong((1 << NODES) - 1)
assert ctypes.CDLL(None).syscall(SET_MEMPOLICY, INTERLEAVE, ctypes.byref(mask), NODES + 1) == 0
os.execv(sys.argv[1], sys.argv[1:])
END
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
# NAME COMMAND: the pages that a run takes on the node that asks for them, and elsewhere
allocations_of() {
    local name=\$1 before; shift
    before=\$(allocations)
    "\$@"
    echo "\$name \$before \$(allocations)" | awk '{ print \$1, \$4 - \$2, \$5 - \$3 }' >> allocations
}
align -o scratch.bam # the first run reads the program
for _ in 1 2 3; do
    allocations_of sorted align -o scratch.bam
done
allocations_of interleaved python3 interleaved.py "$ZEROHOP" align -q -r 100 --sort -o scratch.bam ref.fa 1.fq 2.fq
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
[ -n "$launch" ] || skip_part "OpenMPI is not here"
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
counts = {}
for line in open('allocations'):
    name, *pages = line.split()
    counts.setdefault(name, []).append([int(count) for count in pages])
print(f'pages taken by runs, on the own node and elsewhere: {counts}')
# What all threads share, and what those take that load the index, is taken anywhere: 10 to 410 pages, unsorted as well.
# With pages dealt over the nodes, more than a fifth is elsewhere.
def elsewhere(name): return sorted(far / near for near, far in counts[name])
assert min(near for near, _ in counts['sorted']) > 1000
assert elsewhere('sorted')[1] < 0.15 < 0.2 < elsewhere('interleaved')[0]
END
