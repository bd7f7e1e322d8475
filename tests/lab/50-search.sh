#!/bin/bash
# Search on a kernel with 4 NUMA nodes: a program for each node searches parts at the same time, on the CPUs of its
# node and with its memory there; one program alone has its memory on all nodes in turn; the hits are those of the
# host. Nodes and pages are real, the time is not.
source "$(dirname "$0")/../e2e/lib.sh"
: "${NUMA_LAB:?}"
command -v diamond > /dev/null || skip "diamond is not on the PATH"
cd "$WORK"
zerohop db build -q --engine diamond --partitions 6 -o db "$DATA/protein/subjects.faa"
zerohop search -q --db db -o host.tsv "$DATA/protein/queries.faa"
# stands before diamond: enters CPUs, policy and the pages of the whole run
mkdir spy
cat > spy/diamond <<END
#!/bin/bash
[ "\$1" = blastp ] || exec $(command -v diamond) "\$@"
cpus=\$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)
policy=\$(awk 'NR == 1 { print \$2 }' /proc/self/numa_maps)
$(command -v diamond) "\$@" <&0 &
pid=\$! most=0
# not for ever: zerohop must see it if this one stands still
while [ \$SECONDS -lt 60 ] && kill -0 \$pid 2> /dev/null; do
    now=\$(awk '
        /anon=/ {
            for (i = 3; i <= NF; i++)
                if (\$i ~ /^N[0-9]+=/) { split(substr(\$i, 2), f, "="); pages[f[1]] += f[2]; all += f[2] }
        }
        END { printf "%d", all; for (n in pages) printf " %d:%d", n, pages[n] }
    ' /proc/\$pid/numa_maps 2> /dev/null) || break
    [ "\${now%% *}" -lt "\${most%% *}" ] || most=\$now
done
wait \$pid; rc=\$?
echo "\$cpus;\$policy;\$most" >> "\$SPIED"
exit \$rc
END
chmod +x spy/diamond
cat > guest.sh <<END
set -euo pipefail
cd "$WORK"
export PATH="$WORK/spy:\$PATH"
SPIED=each "$ZEROHOP" search -q --db db --json each.json -o each.tsv "$DATA/protein/queries.faa"
SPIED=one "$ZEROHOP" search -q --db db --instances 1 --json one.json -o one.tsv "$DATA/protein/queries.faa"
END
rc=0
# diamond is made for AVX2
"$NUMA_LAB" run --nodes 4 --cpus 8 --mem 4G --cpu max --timeout 700 --rw "$WORK" -- \
    bash "$WORK/guest.sh" > lab.log 2>&1 || rc=$?
[ $rc != 77 ] || { cat lab.log; exit 77; }
[ $rc = 0 ] || { cat lab.log >&2; fail "exit status $rc in the lab"; }
for tsv in each one; do cmp host.tsv $tsv.tsv || fail "$tsv: other hits than on the host"; done
python3 - <<'END'
import json
def spied(name):
    for line in open(name):
        cpus, policy, pages = line.strip().split(';')
        counts = dict(tuple(map(int, one.split(':'))) for one in pages.split()[1:])
        yield cpus, policy, counts
plans = json.load(open('each.json'))['instances'][0]
assert [plan['placement']['nodes'] for plan in plans] == [[0], [1], [2], [3]], plans
cpus = {','.join(map(str, plan['cpus'])): plan['placement']['nodes'][0] for plan in plans}
runs = list(spied('each'))
assert len(runs) == 6, runs
shares = []
for allowed, policy, counts in runs:
    first, last = (allowed.replace('-', ',').split(',') * 2)[:2]
    node = cpus[f'{first},{last}']
    assert policy == f'prefer:{node}', (allowed, policy)
    shares.append(counts.get(node, 0) / max(sum(counts.values()), 1))
print(f'{len(runs)} programs, at least {100 * min(shares):.1f} % of their own pages on the node of their CPUs')
assert len({allowed for allowed, _, _ in runs}) == 4 and min(shares) > 0.9, runs
for allowed, policy, counts in spied('one'):
    assert allowed == '0-7' and policy.startswith('interleave:0-3'), (allowed, policy)
    assert len(counts) == 4 and min(counts.values()) > 0.1 * sum(counts.values()), counts
END
