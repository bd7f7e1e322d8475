#!/bin/bash
# zerohop search over three hosts with real TCP between them, on OpenMPI and MPICH: ranks give what one process gives,
# and the laboratory's variants of the exchange all the same; a link that is down for a while does no harm; a link that
# is down for good, and a rank that is killed, end the run, and it can be gone on with. LONG=1: one-sided calls of the
# laboratory without a link; some rank that is killed, at any time.
source "$(dirname "$0")/lib.sh"
command -v diamond > /dev/null || skip "diamond is not on the PATH"
[ -n "$(mpis)" ] || skip "neither OpenMPI nor MPICH is here"
make_hosts
cd "$WORK"
# diamond 2.1.3 stands still once in thousands of runs, and is started again after a minute: nothing here may end
# before that.
LIMIT=300 PATIENCE=200
# s without word after which ranks end, where that is wanted
HANG=8
cp "$DATA/protein/queries.faa" q.fa
zerohop db build -q --engine diamond --partitions 3 -o db "$DATA/protein/subjects.faa" > /dev/null
zerohop search -q -t 1 --db db -o one.tsv q.fa
[ -s one.tsv ] || fail "diamond finds nothing"
BATCHES=20
QUERIES=$(grep -c '^>' q.fa)
(cd "$DATA/../.." && cargo build -q --locked --workspace --example variants) || fail "the example cannot be built"
VARIANTS=$(realpath -e "${CARGO_TARGET_DIR:-$DATA/../../target}/debug/examples/variants")

# A diamond that takes its time, so that there is time for something to happen
mkdir slow
cat > slow/diamond << END
#!/bin/sh
[ "\$1" != blastp ] || sleep 0.3
exec "$(command -v diamond)" "\$@"
END
chmod +x slow/diamond

# search MPI OPTION...: over all hosts, to r.tsv; what it says goes to log
search() {
    local mpi=$1; shift
    on_hosts "$mpi" 3 "$ZEROHOP" search --ranks -q -t 1 --mpi "$WORK/$mpi.so" --db "$WORK/db" --batch-queries \
        $((QUERIES / BATCHES)) \
        -o "$WORK/r.tsv" "$@" "$WORK/q.fa" > log 2>&1
}

finished() { cat r.tsv.progress/rank-*.jsonl 2> /dev/null | grep -c batch || true; }

# begin MPI OPTION...: a slow search in the background, as process $job; comes back when two batches are finished
begin() {
    local i try
    for try in 1 2 3; do
        (PATH=$WORK/slow:$PATH; search "$@") & job=$!
        for i in $(seq $((PATIENCE * 10))); do
            [ "$(finished)" -ge 2 ] && return 0; kill -0 $job 2> /dev/null || break; sleep 0.1
        done
        # a short --hang-limit takes a diamond that stands still for a broken way
        grep -qE "for $HANG s: .* hangs" log && ! kill -0 $job 2> /dev/null || break
        rm -rf r.tsv.progress
    done
    fail "it does not get on: $(cat log)"
}

# Success, and the same bytes
is_complete() {
    [ "$1" = 0 ] || fail "$2: exit status $1: $(cat log)"
    cmp one.tsv r.tsv || fail "$2: other results"
    [ ! -e r.tsv.progress ] || fail "$2: progress is left"
    rm r.tsv
}

# What is left of a run that has failed can be gone on with.
resumes() {
    local rc=0 done; done=$(finished)
    [ ! -e r.tsv ] && [ "$done" -ge 2 ] || fail "$2: $done batches finished, $(ls)"
    search "$1" --resume --json again.json || rc=$?
    is_complete $rc "$2, gone on with"
    python3 -c "
import json
batches = json.load(open('again.json'))['ranks'][0]['batches']
assert batches <= $BATCHES - $done, batches" || fail "$2: finished batches were searched again"
}

sent() { echo $(($(sent_by h1) + $(sent_by h2) + $(sent_by h3))); }

same() {
    local mpi=$1 rc=0 before carried
    before=$(sent)
    search "$mpi" --json report.json || rc=$?
    is_complete $rc "$mpi"
    carried=$(($(sent) - before))
    python3 -c "
import json
ranks = json.load(open('report.json'))['ranks']
fetched = sum(rank['fetched_bytes'] for rank in ranks)
records = 32 * sum(rank['records'] for rank in ranks)
assert $carried > fetched + records > 0, ($carried, fetched, records)" ||
        fail "$mpi: it went another way than over the links"
    echo "$mpi: ranks give what one process gives"
}

variants() {
    local before carried
    rm -rf out && mkdir out
    before=$(sent)
    on_hosts "$1" 3 "$VARIANTS" "$WORK/$1.so" "$WORK/out" > log 2>&1 && [ "$(grep -c "as it should be" log)" = 16 ] ||
        fail "$1, variants: $(cat log)"
    carried=$(($(sent) - before))
    [ $carried -gt "$(cat out/* | wc -c)" ] || fail "$1, variants: they went another way than over the links"
    echo "$1: every variant gives the same"
}

# Messages are sent again when the link is back.
link_down_for_a_while() {
    begin "$1"
    link_down h2 3
    kill -0 $job 2> /dev/null && [ "$(finished)" -lt $BATCHES ] || fail "$1: it went on without the link: $(cat log)"
    ends_within $PATIENCE || fail "$1: it hangs after its link was down: $(cat log)"
    is_complete $status "$1, a link down for 3 s"
    echo "$1: a link that is down for 3 s does no harm"
}

# The ranks end by themselves, also the one that is cut off.
link_down_for_good() {
    begin "$1" --hang-limit $HANG
    unplug h3
    ranks_end_within 30 || fail "$1: ranks hang without a link: $(cat log)"
    words="(no word from .*|MPI's [a-z]+ has not come back) for $HANG s: .* hangs, or the way to it is broken"
    grep -qE "^error: rank [01] of 3: $words" log || fail "$1: no clear words: $(cat log)"
    end_all
    plug h3
    resumes "$1" "$1, a link down for good"
    echo "$1: a link that is down for good ends the ranks, and the run can be gone on with"
}

# So do those of the laboratory, after its own limit, when a flush does not come back.
flush_without_link() {
    [ -n "${LONG-}" ] || return 0
    local ZEROHOP=$ZEROHOP_LAB words
    (on_hosts "$1" 3 "$ZEROHOP" exchange --ranks --mpi "$WORK/$1.so" --folder "$WORK" --variants flush --repeats 1 \
        --batches 1000 --search-ms 100 > log 2>&1) & job=$!
    sleep 10
    [ "$(ranks_on $HOSTS | wc -l)" = 3 ] || fail "$1, flush: there are no ranks: $(cat log)"
    unplug h3
    ranks_end_within 180 || fail "$1, flush: ranks hang without a link: $(cat log)"
    words="(no word from .*|MPI's [a-z]+ has not come back) for 120 s: .* hangs, or the way to it is broken"
    grep -qE "^error: (rank [01] of 3: )?$words" log || fail "$1, flush: no clear words: $(cat log)"
    end_all
    plug h3
    echo "$1: a flush without a link ends the ranks"
}

rank_killed() {
    begin "$1"
    kill_rank 1
    ends_within 30 || fail "$1: it hangs after a rank was killed: $(cat log)"
    [ $status != 0 ] && [ $status -ne 124 ] || fail "$1: exit status $status after a rank was killed: $(cat log)"
    # OpenMPI names the rank, MPICH its host.
    grep -qE "rank 1 .* on node h2 exited on signal 9|RUNNING AT h2" log || fail "$1: no clear words: $(cat log)"
    resumes "$1" "$1, a rank was killed"
    echo "$1: a rank that is killed ends the run, and it can be gone on with"
}

# And again, without choosing whom and when.
some_rank_killed() {
    [ -n "${LONG-}" ] || return 0
    begin "$1"
    echo "$1: $(kill_some_rank 2)"
    ends_within 30 || fail "$1: it hangs after some rank was killed: $(cat log)"
    [ $status != 0 ] || fail "$1: success, though a rank was killed: $(cat log)"
    resumes "$1" "$1, some rank was killed"
}

for mpi in ${MPIS:-$(mpis)}; do
    zerohop mpi --compiler "mpicc.$mpi" -o "$WORK/$mpi.so" > /dev/null
    for part in same variants link_down_for_a_while link_down_for_good flush_without_link rank_killed \
        some_rank_killed; do
        [[ $part =~ ${PART-} ]] || continue
        # without LONG each is tried with one MPI
        [ -n "${LONG-}" ] || case $mpi:$part in
            openmpi:link_down_for_a_while | mpich:rank_killed | mpich:link_down_for_good) continue;;
        esac
        "$part" "$mpi"
    done
done
