#!/bin/bash
# zerohop plan --machine FILE.xml: this machine as hwloc describes it, machines made up by hwloc, version 1 of its
# files; damaged ones.
source "$(dirname "$0")/lib.sh"
command -v lstopo-no-graphics >/dev/null || skip "no lstopo-no-graphics (scripts/setup.sh test installs hwloc)"
cd "$WORK"

# said FILE WORDS: what is said first of the machine in FILE
said() {
    zerohop plan --machine "$1" --index-size 5G > plan.txt
    head -n 1 plan.txt | grep -qF -- "$2" || fail "$1 is not '$2': $(cat plan.txt)"
    grep -q '^best by rule' plan.txt || fail "nothing is best on $1: $(cat plan.txt)"
}

# count TYPE: how many objects of a type hwloc sees here
count() { lstopo-no-graphics --only "$1" | wc -l; }

# this machine: hwloc sees what we see
nodes=$(count numanode); cpus=$(count pu)
[ "$nodes" = 1 ] && nodes="1 node" || nodes="$nodes nodes"
for flags in 0 1; do # 1: as version 1 writes it
    lstopo-no-graphics --export-xml-flags $flags --of xml > here-$flags.xml
    said here-$flags.xml "$(uname -n): $nodes, $cpus CPUs, "
    zerohop plan --machine here-$flags.xml --index-size 1M --json > there.json
    zerohop plan --index-size 1M --json > here.json
    python3 - <<'END'
import json
here, there = ([(r['strategy'], r['verdict']) for r in json.load(open(name))['strategies']]
               for name in ('here.json', 'there.json'))
assert here == there, (here, there)
END
done

# machines that are not here
lstopo-no-graphics -i 'node:8(memory=17179869184) core:8 pu:1' --of xml > eight.xml
said eight.xml 'a machine described by hwloc: 8 nodes, 64 CPUs, 128.0 GiB of memory free'
grep -qE '^best by rule +8 copies +local ' plan.txt || fail "5 GiB on eight nodes: $(cat plan.txt)"
lstopo-no-graphics -i 'pack:2 [numa(memory=68719476736)] l3:1 core:48 pu:2(indexes=core:package)' --of xml > smt.xml
said smt.xml '2 nodes, 192 CPUs, 128.0 GiB of memory free'

# refused WORDS: what is said of bad.xml
refused() {
    local rc=0; "$ZEROHOP" plan --machine bad.xml --index-size 5G > /dev/null 2> stderr || rc=$?
    [ $rc = 1 ] && grep -qF "bad.xml: it does not describe a machine as 'lstopo --of xml' does: $1" stderr ||
        fail "$rc $(cat stderr)"
}
head -n 100 eight.xml > bad.xml; refused "it is not well-formed XML"
echo '<svg/>' > bad.xml; refused "its outermost element is <svg>"
sed 's/ os_index="3"//' eight.xml > bad.xml; refused "line "
echo "hwloc: as it should be"
