#!/bin/bash
# A newcomer types every command of README.md and of docs/README.md as it stands there, in a folder with the files that
# they name. A command that this script does not know how to treat is a failure, and so is one that does not write the
# file that it names.
source "$(dirname "$0")/lib.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
"$ZEROHOP" engines > "$WORK/engines.txt"
grep -q '^bwa-mem ' "$WORK/engines.txt" || skip "this zerohop was built without bwa-mem"
ZEROHOP=$(readlink -f "$ZEROHOP")

# The commands: all lines of code blocks that are no comments. (Blocks are fenced; an indented one is a failure.)
commands() {
    awk '/^```/ { inside = !inside; next } inside && NF && !/^ *#/ { print }
        !inside && /^(    |\t)/ { print "an indented code block: " $0 }' "$ROOT/README.md" "$ROOT/docs/README.md"
}

# Commands that change the machine or take minutes: their targets and files need only exist (those that `make dist`
# makes, where it has been run).
only_named() {
    case $1 in
        "make "* | "sudo make "*)
            local target=${1#*make }; target=${target%%[ #]*}
            grep -q "^$target:" "$ROOT/Makefile" || fail "README: the Makefile has no target '$target'";;
        "tar -xzf "* | "sudo apt install "*)
            local file; file=$(grep -oE 'zerohop[-_][^ ]+' <<< "$1")
            [ ! -e "${DIST-}/SHA256SUMS" ] || compgen -G "$DIST/$file" > /dev/null ||
                fail "README: make dist makes no '$file'";;
        "docker build -f "*)
            local file=${1#*-f }
            [ -s "$ROOT/${file%% *}" ] || fail "README: there is no '${file%% *}'";;
        *) return 1;;
    esac
}

# What a command needs that may not be installed: the programs of the lines below
needed() {
    case $1 in
        "zerohop mpi" | "mpirun "*) echo mpirun mpicc;;&
        *"--engine bwa "*) echo bwa;;&
        *"--engine diamond "* | *"search "*) echo diamond;;
    esac
}

known() {
    case ${1#mpirun -n [0-9] } in
        "zerohop align "* | "zerohop index "* | "zerohop engines" | "zerohop mpi" | "zerohop db build "* | \
            "zerohop search "* | "zerohop topo" | "zerohop plan "* | "zerohop tune "* | "zerohop report "*) ;;
        *) return 1;;
    esac
}

# written COMMAND: the files and folders that it names as output
written() { grep -oE -- '(^| )(-o|--json|--mqc) [^ ]+' <<< "$1" | awk '{ print $2 }'; }

check_written() {
    local file
    for file in $(written "$1"); do
        [ -s "$file" ] || fail "README: no $file after: $1"
        case $file in
            *.bam)
                command -v samtools > /dev/null || continue
                samtools quickcheck "$file" || fail "README: $file is no complete BAM, after: $1"
                [ "$(samtools view -c "$file")" -ge 4000 ] || fail "README: too few records in $file, after: $1";;
        esac
    done
    case $1 in
        "zerohop index ref.fa") [ -s ref.fa.r150.zhi ] || fail "README: no index after: $1";;
    esac
}

# The files that README names: the reads' first 2,000 pairs, and proteins
mkdir "$WORK/new" "$WORK/bin"
cd "$WORK/new"
gzip -dc "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > ref.fa
for mate in 1 2; do
    gzip -dc "$DATA/ecoli/ecoli_150_$mate.fq.gz" | awk 'NR <= 8000' | gzip > reads_$mate.fq.gz
done
cp "$DATA/protein/subjects.faa" db.fa
cp "$DATA/protein/queries.faa" queries.fa

# zerohop on the PATH; ranks as root and on few CPUs, for OpenMPI and its successor; nothing in the user's folders
ln -s "$ZEROHOP" "$WORK/bin/zerohop"
export PATH="$WORK/bin:$PATH" XDG_CONFIG_HOME="$WORK/config"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
unset ZEROHOP_MPI
unset -f zerohop

ran=0 missing=
while IFS= read -r line <&3; do
    if only_named "$line"; then continue; fi
    known "$line" || fail "README: 05-readme.sh does not know how to treat: $line"
    for program in $(needed "$line"); do
        command -v "$program" > /dev/null || { missing+=" $program"; continue 2; }
    done
    timeout -k 5 120 bash -o pipefail -c "$line" > log 2>&1 < /dev/null ||
        { rc=$?; cat log >&2; fail "README: exit status $rc: $line"; }
    check_written "$line"
    ran=$((ran + 1))
done 3< <(commands)

[ $ran -gt 15 ] || fail "README: only $ran commands were run"
echo "$ran commands of README.md and docs/README.md"
[ -z "$missing" ] || skip "commands that need programs that are not here:$missing"
