# Hosts for tests of ranks: network namespaces of this machine, each with an address, a name and a link of its own.
# MPI finds several hosts and talks TCP. To be sourced by the scripts here; it brings what the end-to-end tests share.
#
#   make_hosts                     h1, h2, h3 on one switch; skips the test where namespaces cannot be made
#   mpis                           the MPIs that are here, one a line
#   on_hosts MPI N COMMAND...      so many ranks, dealt to the hosts in turn (h1 first), for LIMIT seconds at most
#                                  (default 120)
#   ranks_on HOST...               lines PID RANK of the ranks that run there
#   kill_rank RANK                 kill -9
#   kill_some_rank SECONDS         kills any of them, after any time up to SECONDS, and says which
#   unplug HOST, plug HOST         takes its link down; and up again
#   link_down HOST SECONDS         both
#   ends_within SECONDS            waits for the launcher, process $job; its exit status is then $status
#   ranks_end_within SECONDS       waits until no rank runs any more; the launcher may wait for a host that it has
#                                  lost: that is not ours
#   end_all                        ends whatever still runs on the hosts
#   sent_by HOST                   bytes that have left it by its link
#
# All names begin with zerohop-PID-, PID being the script's. Everything goes when the script ends, and before: what
# scripts have left that were killed.
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"

HOSTS="h1 h2 h3"
OURS=zerohop-$$-
at_exit 'remove_hosts "$OURS"; rm -rf "$WORK"'

# in_host HOST COMMAND...: under the host's name, as a login there would find it: with next to nothing of our
# environment
in_host() {
    local host=$1; shift
    exec ip netns exec "$OURS$host" unshare --uts env -i PATH="$PATH" HOME="$WORK" TMPDIR="$WORK" \
        sh -c 'hostname "$1" && shift && exec "$@"' sh "$host" "$@"
}

# The namespaces whose names begin so, with their processes and files
remove_hosts() {
    local name
    for name in $(ip netns list 2> /dev/null | awk '{ print $1 }'); do
        [[ $name == "$1"* ]] || continue
        # a process that was about to start another may have done so meanwhile
        while ip netns pids "$name" | xargs -r kill -KILL 2> /dev/null && [ -n "$(ip netns pids "$name")" ]; do
            sleep 0.05
        done
        ip netns del "$name"
        rm -rf "/etc/netns/$name"
    done
    rmdir /etc/netns 2> /dev/null || true
}

# What scripts have left that were killed
remove_leftovers() {
    local name pid
    for name in $(ip netns list | sed -n 's/^\(zerohop-[0-9]*-\).*/\1/p' | sort -u); do
        pid=${name#zerohop-}; pid=${pid%-}
        grep -qsz 'hosts/.*\.sh$' "/proc/$pid/cmdline" || remove_hosts "$name"
    done
}

# The switch is a namespace too: so no link of ours is ever seen beside those of the machine.
make_switch() {
    ip netns add "${OURS}switch" && ip -n "${OURS}switch" link add switch type bridge &&
        ip -n "${OURS}switch" link set switch up
}

# add_host HOST NUMBER
add_host() {
    local name=$OURS$1 on_switch="ip -n ${OURS}switch"
    mkdir -p "/etc/netns/$name"
    echo "$NAMES" > "/etc/netns/$name/hosts"
    ip netns add "$name"
    $on_switch link add "$1" type veth peer name eth0 netns "$name"
    $on_switch link set "$1" master switch up
    ip -n "$name" link set lo up
    ip -n "$name" addr add "10.77.0.$2/24" dev eth0
    ip -n "$name" link set eth0 up
}

make_hosts() {
    command -v ip > /dev/null && command -v unshare > /dev/null ||
        skip "there is no ip, or no unshare: install iproute2 and util-linux"
    [ "$(id -u)" = 0 ] || skip "only root can make network namespaces"
    remove_leftovers
    make_switch 2> "$WORK/refused" || skip "network namespaces cannot be made here: $(tail -n 1 "$WORK/refused")"
    local host number=0
    NAMES="127.0.0.1 localhost"$'\n'$(for host in $HOSTS; do number=$((number + 1)); echo "10.77.0.$number $host"; done)
    number=0
    for host in $HOSTS; do number=$((number + 1)); add_host "$host" "$number"; done
    # What launchers take for ssh: options, then a host, then a line for its shell
    cat > "$WORK/login" << END
#!/bin/bash
OURS=$OURS WORK=$WORK
$(declare -f in_host)
while [[ \$1 == -* ]]; do shift; done
host=\$1; shift
in_host "\$host" sh -c "\$*"
END
    chmod +x "$WORK/login"
}

mpis() {
    local name
    for name in openmpi mpich; do
        command -v "mpirun.$name" > /dev/null && command -v "mpicc.$name" > /dev/null && echo "$name"
    done
    return 0
}

on_hosts() {
    local mpi=$1 ranks=$2 list=${HOSTS// /,} launch; shift 2
    case $mpi in
        openmpi)
            launch="mpirun.openmpi --allow-run-as-root --host ${list//,/:$ranks,}:$ranks --map-by node
            -mca plm_rsh_agent $WORK/login -mca pml ob1 -mca btl tcp,self -mca osc pt2pt
            -mca btl_tcp_if_include eth0 -mca oob_tcp_if_include eth0";;
        mpich)
            launch="mpirun.mpich -hosts $list -launcher ssh -launcher-exec $WORK/login -iface eth0"
            launch+=" -genv UCX_TLS tcp,self -genv UCX_NET_DEVICES eth0";;
    esac
    # mpirun would read our standard input
    (in_host h1 timeout -k 5 "${LIMIT:-120}" $launch -n "$ranks" "$@" < /dev/null)
}

ranks_on() {
    local host pid rank
    for host in "$@"; do
        for pid in $(ip netns pids "$OURS$host"); do
            [ "$(readlink "/proc/$pid/exe")" = "$(readlink -f "$ZEROHOP")" ] || continue
            rank=$(tr '\0' '\n' 2> /dev/null < "/proc/$pid/environ" | sed -nE 's/^(OMPI_COMM_WORLD_RANK|PMI_RANK)=//p')
            echo "$pid $rank"
        done
    done
}

kill_rank() {
    local pid
    # a program that it was about to start is listed as the rank, too
    pid=$(ranks_on $HOSTS | awk -v rank="$1" '$2 == rank { print $1 }')
    [ -n "$pid" ] && kill -KILL $pid || fail "rank $1 does not run"
}

kill_some_rank() {
    local pid rank
    sleep "$(awk -v most="$1" -v seed="$RANDOM" 'BEGIN { srand(seed); print rand() * most }')"
    read -r pid rank < <(ranks_on $HOSTS | shuf -n 1) && kill -KILL "$pid" 2> /dev/null ||
        { echo "no rank runs any more"; return 0; }
    echo "rank $rank was killed"
}

# The switch's end goes down, as if the cable were pulled: the host keeps its address and its routes.
unplug() { ip -n "${OURS}switch" link set "$1" down; }
plug() {
    local host i
    ip -n "${OURS}switch" link set "$1" up
    for i in $(seq 100); do [[ $(ip -n "$OURS$1" link show eth0) == *LOWER_UP* ]] && break; sleep 0.1; done
    # Who has asked for it in vain would go on to take it for unreachable for a while.
    for host in $HOSTS; do ip -n "$OURS$host" neigh flush dev eth0; done
}
link_down() { unplug "$1"; sleep "$2"; plug "$1"; }

sent_by() {
    ip -n "${OURS}switch" -j -s link show "$1" |
        python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["stats64"]["rx"]["bytes"])'
}

ends_within() {
    local i
    for i in $(seq $(($1 * 10))); do
        kill -0 $job 2> /dev/null || { status=0; wait $job || status=$?; return 0; }; sleep 0.1
    done
    return 1
}

ranks_end_within() {
    local i
    for i in $(seq $(($1 * 10))); do [ -n "$(ranks_on $HOSTS)" ] || return 0; sleep 0.1; done
    return 1
}

end_all() {
    local host
    for host in $HOSTS; do ip netns pids "$OURS$host" | xargs -r kill -KILL; done
    wait $job 2> /dev/null || true
}
