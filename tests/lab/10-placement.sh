#!/bin/bash
# Placement on a kernel with 8 NUMA nodes: where the index copies really lie, on which CPUs the workers really are, and
# that the records are the host's. The nodes, pages and CPUs are real, the time is not. LONG=1: other pages, engines
# that are libraries, nodes of different size, and kept copies.
source "$(dirname "$0")/../e2e/lib.sh"
: "${NUMA_LAB:?}"

cd "$WORK"
gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > ref.fa
# random FILE BASES: a reference, and its index, which takes 4 bytes for each base
random() {
    python3 -c '
import random, sys
letters = bytes(b"ACGT"[i & 3] for i in range(256))
print(">random")
print(random.Random(1).randbytes(int(sys.argv[1])).translate(letters).decode())' $2 > $1
    zerohop index -q -r 150 $1
}
for mate in 1 2; do
    gzip -cd "$DATA/ecoli/ecoli_150_$mate.fq.gz" | awk 'NR <= 800' > $mate.fq
done
zerohop index -q -r 150 ref.fa
zerohop align -t 2 ref.fa 1.fq 2.fq > expected.sam

# lab LAB-OPTIONS...: runs the commands on standard input in the lab; what they write in this folder stays
lab() {
    local rc=0
    { echo 'set -euo pipefail'; declare -f align threads cpus_of allocations; cat; } > guest.sh
    "$NUMA_LAB" run "$@" --timeout 700 --rw "$WORK" -- bash "$WORK/guest.sh" > lab.log 2>&1 || rc=$?
    [ $rc != 77 ] || { cat lab.log; exit 77; }
    [ $rc = 0 ] || { cat lab.log >&2; fail "exit status $rc in the lab: $*"; }
}

# In the lab. align NAME ARGUMENTS...: NAME.json and NAME.sam
align() {
    local name=$1; shift
    "$ZEROHOP" align --json "$name.json" -o "$name.sam" "$@" 1.fq 2.fq 2> "$name.txt" || { cat "$name.txt"; exit 1; }
}

# In the lab. cpus_of PID: lines THREAD CPUS. (One program for all threads: an emulated machine is slow to start them.)
cpus_of() { awk '$1 == "Name:" { name = $2 } $1 == "Cpus_allowed_list:" { print name, $2 }' /proc/$1/task/*/status; }

# In the lab. Pages that the kernel has given so far: to those who ran on the node of the page, and to others
# (numastat.rst of the kernel's documentation)
allocations() {
    awk '/^local_node/ { near += $2 } /^other_node/ { far += $2 } END { print near, far }' \
        /sys/devices/system/node/node*/numastat
}

# In the lab. threads NAME ARGUMENTS...: the CPUs of each thread while the input stalls, as the kernel has them
threads() {
    local name=$1 pid tries=300 cpus; shift
    cpus=$(nproc)
    { cat 1.fq; exec sleep 1000; } | "$ZEROHOP" align -q "$@" - > /dev/null & pid=$!
    # until each has bound itself to one CPU
    while
        cpus_of $pid > "$name.threads"
        [ $((tries -= 1)) -gt 0 ] && [ "$(grep -cE '^worker.* [0-9]+$' "$name.threads")" -lt "$cpus" ]
    do
        sleep 1
    done
    kill $pid
}

# What the Python checks share
cat > placement.py <<'END'
import json

def run(name):
    """The JSON of a run, its census as one dictionary of bytes per node for each copy."""
    j = json.load(open(name + '.json'))
    return j, [dict(map(tuple, r['census']['per_node'])) for r in j['replicas']]

def check_local(name, groups, share=0.99):
    """That share of each copy on its own nodes, nothing refused, each worker by its copy and on a CPU of its own."""
    j, copies = run(name)
    nodes = {n['id']: n['cpus'] for n in j['machine']['nodes']}
    assert [r['nodes'] for r in j['plan']['replicas']] == groups, j['plan']['replicas']
    for replica, census in zip(j['replicas'], copies):
        own = sum(census.get(n, 0) for n in replica['placement']['nodes'])
        assert own >= share * sum(census.values()) and own > 10 << 20, (replica['placement'], census)
        assert not replica['refused'], replica['refused']
    check_workers(j, nodes)
    return j, copies

def check_workers(j, nodes):
    assert not j['run']['refused'], j['run']['refused']
    allowed = j['machine']['allowed']['cpus']
    workers = j['plan']['workers']
    assert sorted(c for w in workers for c in w['cpus']) == allowed, 'one worker on each CPU'
    for worker, report in zip(workers, j['run']['workers']):
        assert len(worker['cpus']) == 1 and worker['cpus'] == report['cpus'], (worker, report)
        assert worker['cpus'][0] in nodes[worker['node']]
        copies = [r for r in j['plan']['replicas'] if worker['node'] in r['nodes']]
        assert not copies or worker['node'] in j['plan']['replicas'][worker['replica']]['nodes'], worker

def check_auto(name):
    """A copy on each of eight nodes."""
    j, copies = check_local(name, [[n] for n in range(8)])
    assert all(r["pages"] == "local" for r in j["plan"]["replicas"])
    assert j["run"]["tally"]["reads"] == j["run"]["tally"]["primary_records"] == 400

MIB = 1 << 20

def check_one(name, slack):
    """One copy over eight nodes: with pages of 2 MiB each of the three blocks of an index is even to a page; with small
    pages it has to be even to 5 %."""
    j, copies = run(name)
    [replica] = j["plan"]["replicas"]
    assert replica == {**replica, "nodes": list(range(8)), "pages": "interleave"} and len(replica) == 3
    assert not j["replicas"][0]["refused"], j["replicas"]
    check_even(copies[0], range(8), slack)
    check_workers(j, {n["id"]: n["cpus"] for n in j["machine"]["nodes"]})
    huge = j["replicas"][0]["census"]["huge"]
    assert (huge == 0) if name == "small-pages" else (huge > 0.9 * sum(copies[0].values())), (name, huge)

def check_even(census, nodes, slack=0):
    """Within 5 % of the mean, or `slack` bytes."""
    mean = sum(census.values()) / len(nodes)
    for node in nodes:
        assert abs(census.get(node, 0) - mean) <= max(0.05 * mean, slack), (node, mean, census)
END

check() { PYTHONPATH=$WORK python3 -B -c "from placement import *"$'\n'"$2" || { cat lab.log >&2; fail "$1"; }; }

same_records() {
    local name
    for name in "$@"; do
        cmp <(grep -v '^@PG' "$name.sam") <(grep -v '^@PG' expected.sam) || fail "$name: other records than on the host"
    done
}

eight_nodes() {
    lab --nodes 8 --cpus 8 --mem 6G --distances amd6376 <<'END'
cd "$(dirname "$0")"
align auto ref.fa
align one --replicas 1 ref.fa
align four --replicas 4 ref.fa
threads auto -r 150 ref.fa
END
    same_records auto one four
    check "auto: a copy on each node" '
check_auto("auto")'
    check "the threads, as the kernel has them" '
workers = [line.split() for line in open("auto.threads") if line.startswith("worker")]
assert sorted(int(cpus) for _, cpus in workers) == list(range(8)), workers'
    check "one copy: interleaved over all nodes" '
check_one("one", slack=4 * MIB)'
    check "four copies on groups of near nodes" '
j, copies = run("four")
groups = [r["nodes"] for r in j["plan"]["replicas"]]
assert sorted(n for g in groups for n in g) == list(range(8)) and all(len(g) == 2 for g in groups), groups
distances = j["machine"]["distances"]
assert all(distances[a][b] == 16 for a, b in groups), (groups, distances)
check_local("four", groups)'
}

# The same with other pages, another index, and an index that is built there
other_pages() {
    # for pages of 2 MiB over 8 nodes: 40 of them per node
    random large.fa 80000000
    lab --nodes 8 --cpus 16 --mem 6G --distances amd6376 <<'END'
cd "$(dirname "$0")"
align built --no-index ref.fa
align small-pages --replicas 1 --huge-pages off ref.fa
align large --replicas 1 large.fa
align two --replicas 2 --pages interleave --huge-pages off ref.fa
align touch --replicas 1 --pages first-touch ref.fa
END
    same_records built small-pages two touch
    check "built there: a copy on each node" '
check_auto("built")'
    check "one copy, with small pages and of a large index: interleaved over all nodes" '
check_one("small-pages", slack=0)
check_one("large", slack=4 * MIB)'
    check "two copies, each interleaved over its group" '
j, copies = run("two")
for replica, census in zip(j["replicas"], copies):
    nodes = replica["placement"]["nodes"]
    assert len(nodes) == 4 and sum(census.get(n, 0) for n in nodes) >= 0.99 * sum(census.values()), replica
    check_even({n: census.get(n, 0) for n in nodes}, nodes)'
    check "first touch: said as it is" '
j, copies = run("touch")
census = j["replicas"][0]["census"]
assert j["plan"]["replicas"][0]["pages"] == "first-touch" and sum(copies[0].values()) == census["present"] > 10 << 20
words = open("touch.txt").read()
assert "where first touched; " in words
for node, size in copies[0].items():
    assert f"{100 * size / census['"'present'"']:.1f} % on node {node}" in words, words'
}

# An engine whose memory a library of another language takes; it needs AVX2, which is slow there.
bwa_mem() {
    local mate
    for mate in 1 2; do gzip -cd "$DATA/ecoli/ecoli_150_$mate.fq.gz" | awk 'NR <= 16000' > many.$mate.fq; done
    zerohop index -q --engine bwa-mem ref.fa
    cp "$DATA/phix/phix.fasta" small.fa
    zerohop index -q --engine bwa-mem small.fa
    zerohop align -t 2 --engine bwa-mem ref.fa 1.fq 2.fq > expected.bwa-mem.sam
    lab --nodes 8 --cpus 8 --mem 4G --cpu max <<'END'
cd "$(dirname "$0")"
align bwa-mem --engine bwa-mem ref.fa
"$ZEROHOP" index --keep --engine bwa-mem ref.fa 2> keep-bwa-mem.txt
align bwa-mem-kept --engine bwa-mem ref.fa
"$ZEROHOP" cache --clear --all > /dev/null
# the second run of it: the first one reads the program
for _ in 1 2; do
    allocations > before
    "$ZEROHOP" align -q --engine bwa-mem --replicas 1 --huge-pages off -o scratch.sam small.fa many.1.fq many.2.fq
    allocations > after
done
END
    cmp <(grep -v '^@PG' bwa-mem.sam) <(grep -v '^@PG' expected.bwa-mem.sam) ||
        fail "bwa-mem: other records than on the host"
    check "bwa-mem: a copy on each node" '
check_local("bwa-mem", [[n] for n in range(8)])'
    cmp <(grep -v '^@PG' bwa-mem-kept.sam) <(grep -v '^@PG' expected.bwa-mem.sam) ||
        fail "bwa-mem: other records with kept copies"
    check "bwa-mem: a kept copy on each node, on huge pages" '
check_local("bwa-mem-kept", [[n] for n in range(8)])
run = json.load(open("bwa-mem-kept.json"))
assert run["index"]["origin"]["file"].startswith("/dev/shm/zerohop-0/bwa-mem-"), run["index"]
# all but the pages behind the last 2 MiB
assert all(r["census"]["huge"] > 0.8 * r["census"]["present"] for r in run["replicas"]), run["replicas"]'
    check "bwa-mem: what workers work in lies on their nodes; the index is next to nothing here" '
near, far = (int(a) - int(b) for a, b in zip(open("after").read().split(), open("before").read().split()))
print(f"scratch of bwa-mem: {near} pages on the node of the worker, {far} on another one")
# the whole machine is counted; memory that nobody places would be elsewhere for seven of eight workers
assert near > 3000 and far <= 0.05 * near, (near, far)'
}

# An engine whose index holds many tables of a library, which clones them
rammap() {
    zerohop index -q --engine rammap --engine-args '-x map-hifi -w 5' ref.fa
    awk 'NR == 1 { next } { bases = bases $0 } END { for (i = 0; i < 40; i++) {
        read = substr(bases, 1 + i * 100000, 3000); quality = read; gsub(/./, "I", quality)
        print "@r" i "\n" read "\n+\n" quality } }' ref.fa > long.fq
    zerohop align -q -t 2 --engine rammap --engine-args '-x map-hifi -w 5' ref.fa long.fq > expected.rammap.sam
    lab --nodes 8 --cpus 8 --mem 6G <<'END'
cd "$(dirname "$0")"
for name in rammap rammap-one; do
    copies=(--replicas 8)
    # pages of 2 MiB are few here
    [ $name = rammap ] || copies=(--replicas 1 --huge-pages off)
    "$ZEROHOP" align --engine rammap --engine-args '-x map-hifi -w 5' "${copies[@]}" --json $name.json \
        -o $name.sam ref.fa long.fq 2> $name.txt || { cat $name.txt; exit 1; }
done
END
    for name in rammap rammap-one; do
        cmp <(grep -v '^@PG' $name.sam) <(grep -v '^@PG' expected.rammap.sam) || fail "$name: other records than here"
    done
    check "rammap: a copy on each node, and one over all" '
check_local("rammap", [[n] for n in range(8)])
j, copies = run("rammap-one")
[replica] = j["plan"]["replicas"]
assert replica["nodes"] == list(range(8)) and replica["pages"] == "interleave", replica
print("rammap:", j["replicas"][0]["census"])
check_even(copies[0], range(8))'
}

# Nodes of different size, one without memory, one without CPUs
uneven_nodes() {
    [ -e large.fa ] || random large.fa 80000000
    lab --nodes 4 --cpus 3 --mem 1536M,512M,0,512M <<'END'
cd "$(dirname "$0")"
align uneven ref.fa
align uneven-one --replicas 1 --huge-pages off ref.fa
align uneven-large large.fa
END
    same_records uneven uneven-one
    check "nodes of different size, without memory, without CPUs" '
for name in "uneven", "uneven-one", "uneven-large":
    j, copies = run(name)
    nodes = {n["id"]: n for n in j["machine"]["nodes"]}
    without = lambda what: [n for n in nodes if not nodes[n][what]]
    assert without("cpus") == [3] and without("memory") == [2], nodes
    planned = {n for r in j["plan"]["replicas"] for n in r["nodes"]}
    assert 2 not in planned, "a copy on a node without memory"
    if name == "uneven-one":
        assert planned == {0, 1}, "one copy is spread over memory that CPUs are near"
    for replica, census in zip(j["replicas"], copies):
        own = sum(census.get(n, 0) for n in replica["placement"]["nodes"])
        assert own >= 0.99 * sum(census.values()), (name, replica["placement"], census)
        assert not replica["refused"], replica["refused"]
    assert len(j["plan"]["workers"]) == 3
    check_workers(j, {n: nodes[n]["cpus"] for n in nodes})
    print(name, [r["nodes"] for r in j["plan"]["replicas"]], *j["plan"]["reasons"])'
}

# A node that others fill after its copy was planned: what does not fit lies on the other one, and nobody is killed
short_node() {
    random short.fa 30000000
    lab --nodes 2 --cpus 4 --mem 3G,1G <<'END'
cd "$(dirname "$0")"
mkdir others
mount -t tmpfs -o mpol=bind:1,size=1G none others
free=$(awk '/MemFree/ { print $4 }' /sys/devices/system/node/node1/meminfo)
fallocate -l $((free - 60000))K others/data
align short --replicas 2 --pages local short.fa
END
    check "a node without room for all of its copy" '
j, copies = run("short")
assert [r["nodes"] for r in j["plan"]["replicas"]] == [[0], [1]], j["plan"]
assert copies[1].get(0, 0) > 20 << 20 and not j["replicas"][1]["refused"], j["replicas"]
assert " of it fell on other nodes: " in open("short.txt").read()
print("copy 1:", copies[1])'
}

# Copies that `index --keep` leaves: on each node while there is room, and read where there is no room for others
kept_copies() {
    [ -e large.fa ] || random large.fa 80000000
    lab --nodes 4 --cpus 8 --mem 6G <<'END'
cd "$(dirname "$0")"
mount -o remount,size=90% /dev/shm
"$ZEROHOP" index --keep ref.fa 2> keep.txt
align kept ref.fa
align kept-1 -t 1 ref.fa
align kept-two --replicas 2 ref.fa
# what is free now would do for one copy alone
"$ZEROHOP" index --keep large.fa 2> keep-large.txt
fallocate -l "$(awk '/^MemAvailable/ { print int($2 * 0.8) "K" }' /proc/meminfo)" /dev/shm/other
align kept-large large.fa
END
    # no node has room for a copy of its own
    lab --nodes 4 --cpus 8 --mem 2G <<'END'
cd "$(dirname "$0")"
"$ZEROHOP" index --keep large.fa 2> keep-few.txt
align kept-few large.fa
END
    same_records kept kept-1 kept-two
    check "kept copies are on each node, and read there" '
def origin(name):
    return json.load(open(name + ".json"))["index"]["origin"]["file"]
for name, keep in ("kept", "keep"), ("kept-large", "keep-large"):
    assert len(open(keep + ".txt").read().split(": kept after")) == 5, open(keep + ".txt").read()
    assert origin(name).startswith("/dev/shm/zerohop-0/strobealign-"), origin(name)
    # where a copy takes most of a node, the kernel puts some pages elsewhere before it frees others
    check_local(name, [[n] for n in range(4)], share=0.95)
j, copies = run("kept-1")
[replica] = j["plan"]["replicas"]
assert replica["nodes"] == [j["plan"]["workers"][0]["node"]] and origin("kept-1").endswith("-local-0/ref.fa.r150.zhi")
assert origin("kept-two") == "ref.fa.r150.zhi", origin("kept-two")'
    check "kept copies where no node has room for its own" '
j, copies = run("kept-few")
replicas, said = j["plan"]["replicas"], open("keep-few.txt").read()
assert said.count(": kept after") == len(replicas) < 4 and "of its memory" in said, said
assert "/dev/shm" in j["index"]["origin"]["file"] and "--keep" in j["plan"]["reasons"][0], j["plan"]
for replica, census in zip(replicas, copies):
    assert replica["pages"] == "interleave", replica
    check_even({n: census.get(n, 0) for n in replica["nodes"]}, replica["nodes"], 4 << 20)'
}

for part in eight_nodes short_node ${LONG:+other_pages bwa_mem rammap uneven_nodes kept_copies}; do
    [[ $part =~ ${PART-} ]] || continue
    part $part
    echo "$part: as it should be"
done
