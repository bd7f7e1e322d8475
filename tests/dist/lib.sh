# What the tests of artefacts share, over what the end-to-end tests share. They get DIST, the folder of the artefacts
# that `make dist` makes, and test what lies there, not what lies in the checkout. 10 to 19 need no artefact and little
# time: `make test` runs them. The others are for `make dist-test` and `make test-long`.
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
: "${DIST:?}"
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# artefact PATTERN: the one file in DIST whose name matches
artefact() {
    local found
    mapfile -t found < <(compgen -G "$DIST/$1")
    case ${#found[@]} in
        1) echo "${found[0]}";;
        0) fail "there is no $1 in $DIST: run make dist";;
        *) fail "more than one $1 in $DIST: ${found[*]}";;
    esac
}

workspace_version() { sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$ROOT/Cargo.toml"; }

# A layer above a bare Debian 12, with the network's names: $SYSTEM. What changes there goes with the script, which is
# run in mounts of its own. The mounts end before anything is removed.
debian_12() {
    [ "$(id -u)" = 0 ] || skip "a bare Debian 12 needs root"
    [ -e "$DEBIAN_12/complete" ] || skip "no bare Debian 12 here (scripts/setup.sh dist makes it)"
    if [ -z "${OWN_MOUNTS-}" ]; then
        local rc=0
        OWN_MOUNTS=1 unshare -m bash "$0" || rc=$?
        exit $rc
    fi
    mkdir "$WORK/layers"
    mount -t tmpfs tmpfs "$WORK/layers"
    at_exit 'umount -lR "$WORK/layers"; rm -rf --one-file-system "$WORK"'
    new_system
}

# Another layer, without the changes of the one before
new_system() {
    local layer; layer=$(mktemp -d "$WORK/layers/XXXXXX")
    SYSTEM=$layer/root
    mkdir "$layer/changes" "$layer/work" "$SYSTEM"
    mount -t overlay overlay -o "lowerdir=$DEBIAN_12,upperdir=$layer/changes,workdir=$layer/work" "$SYSTEM"
    mount -t proc proc "$SYSTEM/proc"
    mount -t sysfs -o ro sysfs "$SYSTEM/sys"
    cp /etc/resolv.conf "$SYSTEM/etc/"
}

# inside COMMAND...: in that system; what it says is shown if it fails
inside() {
    chroot "$SYSTEM" /usr/bin/env -i HOME=/root PATH=/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin LC_ALL=C \
        DEBIAN_FRONTEND=noninteractive "$@" > "$WORK/inside.log" 2>&1 || { cat "$WORK/inside.log" >&2; fail "$*"; }
}

# few_reads FOLDER: a genome and pairs, as ref.fa, 1.fq, 2.fq
few_reads() {
    mkdir -p "$1"
    gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > "$1/ref.fa"
    for mate in 1 2; do
        gzip -cd "$DATA/ecoli/ecoli_150_$mate.fq.gz" | awk 'NR <= 4000' > "$1/$mate.fq"
    done
}
