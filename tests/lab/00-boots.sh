#!/bin/bash
# The NUMA lab gives the machine that the other tests of this folder want: 8 nodes with their distances.
set -euo pipefail
: "${NUMA_LAB:?}"

rc=0
out=$("$NUMA_LAB" run --nodes 8 --cpus 16 --distances amd6376 -- bash -c \
    'cd /sys/devices/system/node; echo "$(ls -d node* | wc -l) nodes, $(nproc) CPUs"
    cat node0/distance node7/distance') || rc=$?
echo "$out"
[ $rc = 0 ] || exit $rc
[ "$out" = "8 nodes, 16 CPUs
10 16 16 22 16 22 16 22
22 16 16 22 22 16 16 10" ] || { echo "FAIL: not the machine that was asked for" >&2; exit 1; }
