#!/bin/bash
# Plans on a kernel with 4 NUMA nodes: the memory that topo measures lies where it says; align --plan auto begins with
# one copy, adds one on each node while it runs, and the records are the same. Nodes and pages are real, the time is
# not.
source "$(dirname "$0")/../e2e/lib.sh"
: "${NUMA_LAB:?}"
cd "$WORK"
gzip -cd "$DATA"/ecoli/GCF_*.fna.gz > r.fa
for mate in 1 2; do
    gzip -cd "$DATA/ecoli/ecoli_150_$mate.fq.gz" > one.fq
    for i in $(seq 12); do cat one.fq; done > $mate.fq
done
zerohop index r.fa
zerohop align -q --plan rule -o rule.sam r.fa 1.fq 2.fq
cat > guest.sh <<END
set -euo pipefail
cd "$WORK"
export XDG_CACHE_HOME="$WORK/cache"
"$ZEROHOP" topo --measure --buffer 16M --json > map.json
"$ZEROHOP" plan --reference r.fa --explain > plan.txt
"$ZEROHOP" align -q --plan auto --json auto.json -o auto.sam r.fa 1.fq 2.fq
END
rc=0
"$NUMA_LAB" run --nodes 4 --cpus 4 --mem 4G --timeout 700 --rw "$WORK" -- bash "$WORK/guest.sh" > lab.log 2>&1 || rc=$?
[ $rc != 77 ] || { cat lab.log; exit 77; }
[ $rc = 0 ] || { cat lab.log >&2; fail "exit status $rc in the lab"; }
cmp <(grep -v '^@PG' auto.sam) <(grep -v '^@PG' rule.sam) || fail "--plan auto changes records"
grep -qE "^best by rule +4 copies +local" plan.txt || fail "$(cat plan.txt)"
python3 - <<'END'
import json
map = json.load(open('map.json'))['map']
assert len(map['targets']) == 4 and len(map['sources']) == 4 and len(map['contention']) == 6, map
assert not [note for note in map['notes'] if 'Only' in note], map['notes']
run = json.load(open('auto.json'))
print(run['plan']['reasons'][0])
assert run['plan']['reasons'][0].startswith('Tried on the first reads'), run['plan']['reasons']
for replica in run['replicas']:
    nodes, census = replica['placement']['nodes'], dict(replica['census']['per_node'])
    there = sum(census.get(node, 0) for node in nodes)
    assert there >= 0.99 * replica['census']['present'] > 0, replica
print(len(run['replicas']), 'copies at the end, all on their nodes')
END
