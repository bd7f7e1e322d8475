#!/bin/bash
# zerohop topo --measure: figures for each way, kept for the machine, measured anew when asked for; text, JSON, a heat
# map; threads that cannot be started; machines without /sys and /proc; containers that forbid pinning.
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
XDG_CACHE_HOME=/proc/nowhere "$ZEROHOP" topo --measure > /dev/null 2> stderr ||
    fail "without a cache folder it fails: $(cat stderr)"
grep -q "cannot be kept" stderr || fail "it does not say that nothing is kept"
rc=0; "$ZEROHOP" topo --buffer 1M 2> stderr || rc=$?
[ $rc = 2 ] || fail "--buffer without --measure ends with $rc"

# a thread that cannot be started is an error, whichever of them it is; root has no limit and so becomes another user
user=(); [ "$(id -u)" != 0 ] || user=(setpriv --reuid 54321 --regid 54321 --clear-groups)
[ "$(nproc)" -gt 1 ] || skip_part "one CPU needs one thread to be measured"
for most in $(seq $(($(nproc) < 3 ? $(nproc) : 3))); do
    rc=0
    timeout -s KILL 60 "${user[@]}" prlimit --nproc="$most" \
        "$ZEROHOP" topo --measure --buffer 16M > /dev/null 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "^error: a thread that measures memory cannot be started: .*ulimit -u" stderr ||
        fail "with $most processes at most it ends with $rc: $(tail -n 3 stderr)"
done

# without /sys and /proc, as in some containers: one node with the CPUs of the affinity mask, and a note of what is not
# known
bare() {
    gzip -cd "$DATA"/ecoli/GCF_*.fna.gz > r.fa; gzip -cd "$DATA/ecoli/ecoli_150_1.fq.gz" > 1.fq
    "$ZEROHOP" align -q -t 1 -o there.sam r.fa 1.fq
    local hide="$1" tell="$2" rc=0
    hidden() {
        unshare -m bash -c "for folder in $hide; do mount -t tmpfs none \$folder; done
            exec taskset -c 0 \"\$@\"" - "$@"
    }
    hidden "$ZEROHOP" topo > topo.txt 2> stderr || fail "without $hide topo ends with $?: $(cat stderr)"
    grep -q "^in all      1 node, 1 CPU" topo.txt || grep -q "CPUs      0$" topo.txt ||
        fail "without $hide: $(cat topo.txt)"
    grep -q "^note: $tell is missing: " stderr || fail "without $hide topo does not say so: $(cat stderr)"
    hidden "$ZEROHOP" plan --index-size 1M > plan.txt 2> stderr || fail "without $hide plan ends with $?: $(cat stderr)"
    grep -qE "^best by rule +1 copy" plan.txt && grep -q "^note: $tell is missing: " stderr ||
        fail "without $hide: $(cat plan.txt stderr)"
    hidden "$ZEROHOP" align -q -o here.sam r.fa 1.fq 2> stderr || fail "without $hide align ends with $?: $(cat stderr)"
    grep -q "^note: $tell is missing: " stderr || fail "without $hide align does not say so: $(cat stderr)"
    cmp <(grep -v '^@PG' there.sam) <(grep -v '^@PG' here.sam) || fail "without $hide the records are others"
}
if unshare -m true 2> /dev/null; then
    part bare /sys /sys; part bare /proc /proc; part bare "/sys /proc" /proc
else
    skip_part "a namespace for mounts is refused (unshare -m), so nothing was tried without /sys and /proc"
fi

# where pinning is forbidden, as by a filter of system calls in a container, all engines run and say so
cat > forbidden.py <<'END'
# forbidden.py COMMAND...: sched_setaffinity(2) answers EPERM to the command and all that it starts (seccomp(2))
import ctypes, os, platform, struct, sys
number = {'x86_64': 203, 'aarch64': 122}[platform.machine()]
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | 1), (0x06, 0, 0, 0x7fff0000)]
program = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *step) for step in steps))
filter = ctypes.create_string_buffer(struct.pack('HxxxxxxP', len(steps), ctypes.addressof(program)))
prctl = ctypes.CDLL(None, use_errno=True).prctl
zero = ctypes.c_ulong(0)
if prctl(38, ctypes.c_ulong(1), zero, zero, zero) or prctl(22, ctypes.c_ulong(2), filter, zero, zero):
    sys.exit(77)
os.execvp(sys.argv[1], sys.argv[1:])
END
unpinned() {
    local name=$1 rc=0; shift
    python3 forbidden.py "$ZEROHOP" "$@" > out.txt 2> stderr || rc=$?
    [ $rc != 77 ] || { skip_part "this kernel filters no system calls: pinning was not forbidden"; return 0; }
    [ $rc = 0 ] || fail "$name without pinning ends with $rc: $(cat stderr)"
    grep -q "cannot pin this thread to CPU [0-9,-]*: Operation not permitted" stderr ||
        fail "$name does not say that pinning is forbidden: $(cat stderr)"
}
gzip -cd "$DATA"/ecoli/GCF_*.fna.gz > r.fa; gzip -cd "$DATA/ecoli/ecoli_150_1.fq.gz" > 1.fq
unpinned strobealign align -o x.sam r.fa 1.fq
if command -v bwa > /dev/null; then
    bwa index r.fa 2> /dev/null
    unpinned bwa align --engine bwa -o x.sam r.fa 1.fq
    unpinned run run --replicas 2 --logs logs -- cat 1.fq
else
    skip_part "bwa is not on the PATH"
fi
echo "topo: as it should be"
