#!/bin/bash
# zerohop plan: what the rule says for the published machine and indexes, in words and in JSON; wrong files and sizes.
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
[ "$(grep -c . plan.txt)" = 3 ] || fail "more is said than was asked: $(cat plan.txt)"
zerohop plan --machine "$opteron" --index-size 29G --explain > plan.txt
[ "$(grep -c '^ruled out' plan.txt)" -ge 3 ] || fail "nothing is ruled out: $(cat plan.txt)"

# what topo says of a machine is a description of it
zerohop topo --json > here.json
zerohop plan --machine here.json --index-size 1M --json > there.json
zerohop plan --index-size 1M --json > here2.json
python3 - <<'END'
import json
here, there = (json.load(open(name))['strategies'] for name in ('here2.json', 'there.json'))
assert [r['strategy'] for r in here] == [r['strategy'] for r in there] and here[0]['verdict'] == 'chosen', here
END

echo '{}' > no-machine.json
rc=0; "$ZEROHOP" plan --machine no-machine.json --index-size 1G 2> stderr || rc=$?
[ $rc = 1 ] && grep -q "no-machine.json: it does not describe a machine" stderr || fail "$rc $(cat stderr)"
rc=0; "$ZEROHOP" plan --index-size large 2> stderr || rc=$?
[ $rc = 2 ] && grep -q "'large' is no size" stderr || fail "$rc $(cat stderr)"
echo "plan: as it should be"
