#!/bin/bash
# zerohop topo --measure: figures for each way, kept for the machine, measured anew when asked for; text, JSON, a heat map.
source "$(dirname "$0")/lib.sh"
cd "$WORK"
"$ZEROHOP" topo --measure > first.txt 2> stderr
grep -q "ns per dependent load, one thread" first.txt || fail "$(cat first.txt)"
grep -q "their own node's memory" first.txt || fail "no contention: $(cat first.txt)"
[ ! -s stderr ] || fail "the first time it says $(cat stderr)"
"$ZEROHOP" topo --measure > second.txt 2> stderr
cmp first.txt second.txt || fail "what was measured is not kept"
grep -q "measured before" stderr || fail "it does not say that it was measured before"
zerohop topo --measure --again > third.txt
! cmp -s first.txt third.txt || fail "it was not measured anew"
echo '{' > cache/zerohop/maps/*.json
"$ZEROHOP" topo --measure > fourth.txt 2> stderr
[ ! -s stderr ] || fail "a damaged file is used: $(cat stderr)"
# a size of one's own is not kept
zerohop topo --measure --buffer 32M --huge-pages off --json > map.json
"$ZEROHOP" topo --measure > fifth.txt 2> /dev/null
cmp fourth.txt fifth.txt || fail "a measurement with other pages took the place of the usual one"
python3 - <<'END'
import json
measured = json.load(open('map.json'))
map = measured['map']
assert map['buffer'] == 32 << 20 and map['on_huge_pages'] == 0, map
for reading in map['one_thread'], map['all_threads']:
    for matrix in reading.values():
        assert len(matrix) == len(map['sources']) and all(len(row) == len(map['targets']) for row in matrix), matrix
        assert all(cell > 0 for row in matrix for cell in row), matrix
assert measured['machine']['nodes'], measured
END
zerohop report map.json -o map.html
grep -qi "ns" map.html || fail "the report shows no latency"
# a folder that cannot be written to is no reason to fail
XDG_CACHE_HOME=/proc/nowhere "$ZEROHOP" topo --measure > /dev/null 2> stderr || fail "without a cache folder it fails: $(cat stderr)"
grep -q "cannot be kept" stderr || fail "it does not say that nothing is kept"
rc=0; "$ZEROHOP" topo --buffer 1M 2> stderr || rc=$?
[ $rc = 2 ] || fail "--buffer without --measure ends with $rc"
echo "topo: as it should be"
