#!/bin/bash
# zerohop plan: what the rule says for the published machine and indexes, for others, and for fewer threads, in words
# and in JSON; indexes that do not fit into memory; wrong files and sizes.
source "$(dirname "$0")/lib.sh"
cd "$WORK"
opteron=$DATA/../../docs/machines/amd-opteron-6376.json

# best SIZE WORDS: the strategy chosen on the Opteron
best() {
    zerohop plan --machine "$opteron" --index-size "$1" > plan.txt
    grep -qE "^best by rule +$2 " plan.txt || fail "an index of $1: $(cat plan.txt)"
}
best 3.9G '8 copies +local'
best 5.1G '8 copies +local'
best 15G '1 copy +interleave'
grep -qE '^worth a trial +2 copies +interleave' plan.txt || fail "no trial for 15 GiB: $(cat plan.txt)"
best 29G '1 copy +interleave'
! grep -qE '^(possible|ruled out) ' plan.txt || fail "more is said than was asked: $(cat plan.txt)"
zerohop plan --machine "$opteron" --index-size 29G --explain > plan.txt
[ "$(grep -c '^ruled out' plan.txt)" -ge 3 ] || fail "nothing is ruled out: $(cat plan.txt)"

# fewer threads: what is best for 64 is not for 1, and no more copies than threads
zerohop plan --machine "$opteron" --index-size 29G -t 1 > plan.txt
grep -qE '^best by rule +1 copy +first-touch ' plan.txt || fail "one thread: $(cat plan.txt)"
grep -q 'zerohop align -t 1 --replicas 1 --pages first-touch' plan.txt || fail "the command has no -t: $(cat plan.txt)"
zerohop plan --machine "$opteron" --index-size 1G -t 4 --explain > plan.txt
! grep -qE ' (8|16) copies ' plan.txt || fail "more copies than threads: $(cat plan.txt)"

# several instances on each node, for programs of their own and not for the built-in engine; one node: no interleaving
# machine NODES CPUS GIB: each node with so many CPUs and so much memory
machine() {
    python3 - "$@" <<'END'
import json, sys
nodes, cpus, gib = map(int, sys.argv[1:])
each = lambda i: dict(id=i, cpus=list(range(i * cpus, (i + 1) * cpus)), memory=gib << 30, free=gib << 30)
print(json.dumps(dict(name='another', cpu_model='', nodes=[each(i) for i in range(nodes)],
    distances=[[10 if a == b else 20 for b in range(nodes)] for a in range(nodes)], caches=[], page_size=4096,
    huge_page_size=None,
    allowed=dict(cpus=list(range(nodes * cpus)), nodes=list(range(nodes)), cpu_quota=None, memory_limit=None))))
END
}
machine 4 16 32 > four.json
for engine in "" "--engine bwa"; do
    zerohop plan --machine four.json --index-size 5.1G $engine --explain > plan.txt
    grep -qE '^best by rule +8 copies +local .*2 copies .* on each node' plan.txt ||
        fail "4 nodes $engine: $(cat plan.txt)"
    grep -qE '^worth a trial +4 copies +local' plan.txt && grep -qE '^worth a trial +1 copy +interleave' plan.txt ||
        fail "4 nodes $engine: $(cat plan.txt)"
done
zerohop plan --machine four.json --index-size 15G > plan.txt
grep -qE '^best by rule +1 copy +interleave' plan.txt && grep -qE '^worth a trial +2 copies' plan.txt ||
    fail "4 nodes, none with room to spare for a copy: $(cat plan.txt)"
zerohop plan --machine four.json --index-size 5.1G --engine strobealign --explain > plan.txt
grep -qE '^best by rule +4 copies +local ' plan.txt && ! grep -q ' 8 copies ' plan.txt ||
    fail "the built-in engine: $(cat plan.txt)"
machine 1 16 128 > one.json
for engine in bwa strobealign; do
    zerohop plan --machine one.json --index-size 5G --engine $engine > plan.txt
    grep -qE '^best by rule +1 copy +local ' plan.txt && ! grep -q interleave plan.txt ||
        fail "one node: $(cat plan.txt)"
done

# what does not fit is refused in one line
rc=0; "$ZEROHOP" plan --machine four.json --index-size 200G > out.txt 2> stderr || rc=$?
[ $rc = 1 ] && [ "$(wc -l < stderr)" = 1 ] && [ ! -s out.txt ] &&
    grep -q "^error: the index needs 200.0 GiB, this process may use 128.0 GiB: " stderr ||
    fail "$rc $(cat out.txt stderr)"

# what topo says of a machine is a description of it
zerohop topo --json > here.json
zerohop plan --machine here.json --index-size 1M --json > there.json
zerohop plan --index-size 1M --json > here2.json
python3 - <<'END'
import json
here, there = (json.load(open(name))['strategies'] for name in ('here2.json', 'there.json'))
assert [r['strategy'] for r in here] == [r['strategy'] for r in there] and here[0]['verdict'] == 'chosen', here
END

# a control group with too little memory: refused before anything is loaded, where the kernel would kill
gzip -cd "$DATA"/ecoli/GCF_*.fna.gz > r.fa; gzip -cd "$DATA/ecoli/ecoli_150_1.fq.gz" | head -n 4000 > 1.fq || true
# limited FILE COMMAND...: in the control group of FILE, which limits memory
limited() {
    local group; group=$(dirname "$1"); shift
    bash -c 'echo $$ > "$0"/cgroup.procs && exec "$@"' "$group" "$@"
}
limit() {
    local group file rc
    for file in memory/zerohop-test-$$/memory.limit_in_bytes zerohop-test-$$/memory.max; do
        file=/sys/fs/cgroup/$file; group=$(dirname "$file")
        mkdir "$group" 2> /dev/null || continue
        at_exit 'rmdir "'"$group"'" 2> /dev/null; rm -rf "$WORK"'
        echo 16M 2> /dev/null > "$file" && limited "$file" true 2> /dev/null || { rmdir "$group"; continue; }
        for command in "plan --reference r.fa" "align -q -o x.sam r.fa 1.fq"; do
            rc=0; limited "$file" "$ZEROHOP" $command > out.txt 2> stderr || rc=$?
            [ $rc = 1 ] && [ "$(grep -vc '^note: ' stderr)" = 1 ] && [ ! -e x.sam ] &&
                grep -qE "^error: the index needs 1[67]\.[0-9] MiB, this process may use [0-9.]+ MiB: its" stderr ||
                fail "in 16 MiB '$command' ends with $rc: $(cat stderr)"
        done
        limited "$file" "$ZEROHOP" topo > topo.txt
        grep -q "memory    at most 16.0 MiB, of which .* can still be taken" topo.txt || fail "topo: $(cat topo.txt)"
        echo 1G > "$file"
        limited "$file" "$ZEROHOP" align -q -o x.sam r.fa 1.fq || fail "in 1 GiB align ends with $?"
        return 0
    done
    skip_part "no control group with a memory limit can be made here, so nothing was refused for one"
}
limit

# machines that cannot be, and names that would steer the terminal
machine 0 1 1 > none.json
machine 2 1 $((1 << 33)) > wraps.json
for fault in 'none: it has no nodes' 'wraps: its nodes have more memory than'; do
    rc=0; "$ZEROHOP" plan --machine "${fault%%:*}.json" --index-size 1G > out.txt 2> stderr || rc=$?
    [ $rc = 1 ] && [ ! -s out.txt ] && grep -q "^error: .*that can be: ${fault#*: }" stderr || fail "$rc $(cat stderr)"
done
machine 2 8 16 | sed 's/another/a\\u001b[2J/' > name.json
zerohop plan --machine name.json --index-size 1G > plan.txt
grep -qF 'a\x1b[2J: 2 nodes' plan.txt || fail "the name of a machine: $(cat plan.txt)"

echo '{}' > no-machine.json
rc=0; "$ZEROHOP" plan --machine no-machine.json --index-size 1G 2> stderr || rc=$?
[ $rc = 1 ] && grep -q "no-machine.json: it does not describe a machine" stderr || fail "$rc $(cat stderr)"
rc=0; "$ZEROHOP" plan --index-size large 2> stderr || rc=$?
[ $rc = 2 ] && grep -q "'large' is not a size" stderr || fail "$rc $(cat stderr)"
echo "plan: as it should be"
