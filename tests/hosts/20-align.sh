#!/bin/bash
# zerohop align over three hosts with real TCP between them, on OpenMPI and MPICH: the bytes of one process, also with
# a link that is down for 3 s; after a link that is down for good, and after ranks that are killed, it is gone on
# with. LONG=1: each with every MPI; also one to three ranks, and more ranks that are killed.
source "$(dirname "$0")/lib.sh"
[ -n "$(mpis)" ] || skip "neither OpenMPI nor MPICH is here"
make_hosts
cd "$WORK"
# make_reads PAIRS: 1.fq and 2.fq, and one.sam, what one process makes of them
make_reads() {
    pairs=$1
    python3 - "$pairs" <<'END'
import random, sys
random.seed(11)
genome = ''.join(random.choice('ACGT') for _ in range(300_000))
with open('ref.fa', 'w') as f: f.write('>a\n' + genome + '\n')
complement = str.maketrans('ACGT', 'TGCA')
pairs = []
for i in range(40_000):
    at, insert = random.randrange(299_000), random.randrange(250, 450)
    fragment = genome[at:at + insert]
    pairs.append((fragment[:150 - i % 7], fragment[::-1].translate(complement)[:150]))
with open('1.fq', 'w') as one, open('2.fq', 'w') as two:
    for i in range(int(sys.argv[1])):
        first, second = pairs[i % len(pairs)]
        one.write(f'@r{i}\n{first}\n+\n{"I" * len(first)}\n')
        two.write(f'@r{i}\n{second}\n+\n{"H" * len(second)}\n')
END
    zerohop align -q -t 2 -o one.sam ref.fa 1.fq 2.fq
}
make_reads "${PAIRS:-200000}"
records() { grep -v '^@PG' "$1"; }

# more_reads MPI: twice as many, after a run that had ended before it could be disturbed
more_reads() {
    doubled=$((${doubled-0} + 1))
    [ $doubled -le 4 ] || fail "$1: a run of $pairs pairs ends before it can be disturbed"
    make_reads $((2 * pairs))
}

# align MPI RANKS OPTION...: over all hosts, to r.sam; what it says goes to log
align() {
    local mpi=$1 ranks=$2; shift 2
    on_hosts "$mpi" "$ranks" "$ZEROHOP" align --ranks="$ranks" -q -t 1 --mpi "$WORK/$mpi.so" -o "$WORK/r.sam" "$@" \
        "$WORK/ref.fa" "$WORK/1.fq" "$WORK/2.fq" > log 2>&1
}

finished() { cat r.sam.progress/*.jsonl 2> /dev/null | grep -c batch || true; }

# begin MPI OPTION...: in the background, as process $job; comes back when something more is finished than before
begin() {
    local mpi=$1 before i; shift
    before=$(finished)
    align "$mpi" 3 "$@" & job=$!
    for i in $(seq 600); do
        [ "$(finished)" -gt "$before" ] && return 0; kill -0 $job 2> /dev/null || return 0; sleep 0.1
    done
    fail "it does not get on: $(cat log)"
}

# cut_off MPI HOST OPTION...: begins, and takes a host's link down when something is finished; comes back after 3 s, in
# which the run did not complete
cut_off() {
    local mpi=$1 host=$2; shift 2
    while true; do
        begin "$mpi" "$@"
        unplug "$host"
        sleep 3
        [ -e r.sam ] || return 0
        # it needed the link no more
        plug "$host"
        end_all || true
        rm -r r.sam*
        more_reads "$mpi"
    done
}

is_complete() {
    [ "$1" = 0 ] || fail "$2: exit status $1: $(cat log)"
    cmp <(records one.sam) <(records r.sam) || fail "$2: other records"
    [ ! -e r.sam.progress ] || fail "$2: progress is left"
    rm r.sam
}

same() {
    local ranks rc
    for ranks in ${LONG:+1 2 3} 4; do
        rc=0; align "$1" $ranks || rc=$?
        is_complete $rc "$1, $ranks ranks"
    done
    echo "$1: ranks on three hosts give the bytes of one process"
}

link_down_for_a_while() {
    cut_off "$1" h2
    plug h2
    ends_within 90 || fail "$1: it hangs after its link was down: $(cat log)"
    is_complete $status "$1, a link down for 3 s"
    echo "$1: a link that is down for 3 s does no harm"
}

link_down_for_good() {
    local rc=0
    cut_off "$1" h3 --hang-limit 4
    ranks_end_within 30 || fail "$1: ranks hang without a link: $(cat log)"
    words="(no word from .*|MPI's .* has not come back) for 4 s: .* hangs, or the way to it is broken"
    grep -qE "^error: rank [01] of 3: $words" log ||
        fail "$1: no clear words: $(cat log)"
    end_all
    plug h3
    [ ! -e r.sam ] || fail "$1: a run that failed has left its output"
    align "$1" 2 --resume || rc=$?
    is_complete $rc "$1, a link down for good, gone on with by two ranks"
    echo "$1: a link that is down for good ends the ranks, and the run can be gone on with"
}

# KILLS times any rank is killed at any time after something was finished, and the run gone on with: one run, or more
# where it is done before.
ranks_killed() {
    local kills=0 wanted=2 before
    [ -z "${LONG-}" ] || wanted=3
    wanted=${KILLS:-$wanted}
    while [ $kills -lt "$wanted" ]; do
        before=$kills
        run_with_kills "$1"
        [ $kills -gt "$before" ] || more_reads "$1"
    done
    echo "$1: a rank was killed $kills times, and the run gone on with each time: the bytes of one process"
}

# One run to its end. kills, of those that were wanted: how often it had to be gone on with.
run_with_kills() {
    local again= rc=0 before said
    while [ $kills -lt "$wanted" ]; do
        begin "$1" $again
        again=--resume before=$(finished)
        said=$(kill_some_rank 0.3)
        echo "$1: $said, when $before grains or more were finished"
        ends_within 60 || fail "$1: it hangs after a rank was killed: $(cat log)"
        [ ! -e r.sam ] || break
        kills=$((kills + 1))
        [ $status != 0 ] && [ $status -ne 124 ] || fail "$1: exit status $status after a rank was killed: $(cat log)"
        [ "$before" -gt 0 ] || fail "$1: nothing is finished"
    done
    # a rank that was killed when all was done may leave the record of it
    [ ! -e r.sam ] || [ $status = 0 ] || rm -rf r.sam.progress
    [ -e r.sam ] || align "$1" 3 --resume || rc=$?
    is_complete $rc "$1, $kills times killed and gone on with"
}

for mpi in ${MPIS:-$(mpis)}; do
    zerohop mpi --compiler "mpicc.$mpi" -o "$WORK/$mpi.so" > /dev/null
    for part in same link_down_for_a_while link_down_for_good ranks_killed; do
        [[ $part =~ ${PART-} ]] || continue
        # without LONG each is tried with one MPI
        [ -n "${LONG-}" ] || case $mpi:$part in
            mpich:link_down_for_a_while | mpich:ranks_killed | openmpi:link_down_for_good) continue;;
        esac
        "$part" "$mpi"
    done
done
