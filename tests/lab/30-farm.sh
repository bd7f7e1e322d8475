#!/bin/bash
# Farm and survey on a kernel with 8 NUMA nodes: the tasks of each worker lie on its own node. Nodes and pages are real,
# the time is not.
source "$(dirname "$0")/../e2e/lib.sh"
: "${NUMA_LAB:?}"
cd "$WORK"
for mate in 1 2; do gzip -cd "$DATA/ecoli/ecoli_150_$mate.fq.gz" > $mate.fq; done
cat > guest.sh <<END
set -euo pipefail
cd "$WORK"
nproc
for input in farm survey; do
    # bytes are counted from a worker's 16th chunk on: of the survey's small ones it has that many
    bases=150000; [ \$input = farm ] || bases=50000
    "$ZEROHOP_LAB" scaling --inputs \$input --locks futex --outputs ordered --threads 8 --pin --probe --batch 200 \
        --fragments 20000 \
        --chunk-bases \$bases --repeats 1 -o "$WORK/\$input" 1.fq 2.fq
done
END
rc=0
"$NUMA_LAB" run --nodes 8 --cpus 8 --mem 4G --timeout 500 --rw "$WORK" -- bash "$WORK/guest.sh" > lab.log 2>&1 || rc=$?
[ $rc != 77 ] || { cat lab.log; exit 77; }
[ $rc = 0 ] || { cat lab.log >&2; fail "exit status $rc in the lab"; }
python3 - <<'END'
import json
for way in 'farm', 'survey':
    points = [json.loads(line) for line in open(way + '/points.jsonl')]
    threads = points[-1]['processes'][0]['threads']
    assert len(threads) == 8, threads
    counted = [t['task_bytes'] for t in threads]
    shares = [here / max(all, 1) for all, here in counted]
    print(f'{way}: bytes of tasks on the node of their worker:', ', '.join(f'{100 * share:.1f} %' for share in shares))
    assert all(all > 1 << 17 for all, _ in counted), counted
    assert all(share >= 0.99 for share in shares), shares
END
