# What the end-to-end tests share. They get ZEROHOP, ZEROHOP_LAB (by default beside ZEROHOP), STROBEALIGN, MULTIQC, DATA
# (tests/data) and, where it is set, ZEROHOP_DATA (a folder with more sets); scripts/test.sh sets them. Exit status 77
# after a line "SKIPPED script: ..." means that a test could not run.
set -euo pipefail
: "${ZEROHOP:?}" "${STROBEALIGN:?}" "${DATA:?}"
export ZEROHOP_LAB=${ZEROHOP_LAB:-$(dirname "$ZEROHOP")/zerohop-lab}

WORK=$(mktemp -d "${TMPDIR:-/tmp}/zerohop-e2e.XXXXXX")
# at_exit COMMANDS: run when this shell ends. (A child that is killed before it has become another program would run the
# trap, too, and take $WORK away.)
at_exit() { trap "[[ \$BASHPID != $BASHPID ]] || { $1; }" EXIT; }
at_exit 'rm -rf "$WORK"'
# Where -e ends a script without a word, it is said where. (141: who reads our pipe wants no more of it.)
set -E
trap 'rc=$?; [[ $- != *e* ]] || [ $rc = 141 ] ||
    echo "exit status $rc at ${BASH_SOURCE[0]}:$LINENO: $BASH_COMMAND" >&2' ERR
# Of PicardCommandLine: for files this small most of its time goes into its compiler and its heap.
export JAVA_OPTIONS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xms64m -Xmx512m"
# What a user has tuned must not decide what is tested.
export XDG_CACHE_HOME="$WORK/cache"

# What could not be run is told in the last line of scripts/test.sh, too (SKIPPED_PARTS).
skipped() {
    echo "SKIPPED ${2-part}: $1"
    [ -z "${SKIPPED_PARTS-}" ] || echo "${2-part} $(basename "$0" .sh): $1" >> "$SKIPPED_PARTS"
}
# skip REASON: the whole script; skip_part REASON: what a part of it tests
skip() { skipped "$*" script; exit 77; }
skip_part() { skipped "$*"; }

fail() { echo "FAIL: $*" >&2; exit 1; }

# part COMMAND...: by itself, so that what it sets is gone after it; a command in it that fails ends the script. (With
# `part || exit` nothing in it would end at a failure: bash ignores -e left of ||.) With TIMES=1 it is told how long it
# took, and the CPU time of the programs in it, user and system.
part() {
    local rc start=$SECONDS
    set +e
    (set -e; [ -z "${TIMES-}" ] || trap 'times > "$WORK/times"' EXIT; "$@")
    rc=$?
    set -e
    [ $rc = 0 ] || exit $rc
    [ -z "${TIMES-}" ] || echo "    $1: $((SECONDS - start)) s; $(tail -n 1 "$WORK/times")"
}

# steady COMMAND...: once more if it stands still for two minutes, as diamond 2.1.3 does once in thousands of runs
# (github.com/bbuchfink/diamond, issues 801, 849, 943)
steady() {
    local try rc
    for try in 1 2 3; do
        rc=0
        timeout -s KILL 120 "$@" || rc=$?
        [ $rc = 137 ] || return $rc
        echo "stood still: $*" >&2
    done
    return $rc
}

# end PID: ends a process that the script has started, if it has not ended yet
end() { kill "$1" 2> /dev/null || true; wait "$1" 2> /dev/null || true; }

# zerohops WORDS: the processes of the zerohop under test whose command line has WORDS, a regular expression; none is
# no failure
zerohops() {
    local pid
    for pid in $(pgrep -f -- "$1"); do
        if [ "$(readlink "/proc/$pid/exe")" = "$(readlink -f "$ZEROHOP")" ]; then echo "$pid"; fi
    done
}

# Runs zerohop; its own words are shown only when it fails.
zerohop() {
    local rc=0
    "$ZEROHOP" "$@" 2>"$WORK/zerohop.stderr" || rc=$?
    [ $rc = 0 ] || { cat "$WORK/zerohop.stderr" >&2; fail "exit status $rc: ${ZEROHOP##*/} $*"; }
}

# Runs zerohop-lab likewise.
zerohop_lab() { ZEROHOP=$ZEROHOP_LAB zerohop "$@"; }

strobealign() {
    "$STROBEALIGN" "$@" 2>"$WORK/strobealign.stderr" || { cat "$WORK/strobealign.stderr" >&2; fail "strobealign $*"; }
}

# same_alignments A.sam B.sam: byte for byte, the @PG lines aside
same_alignments() {
    cmp <(grep -v '^@PG' "$1") <(grep -v '^@PG' "$2") || fail "${3-$1} and $2 differ"
}

# some_pairs N OUT FIRST SECOND: the first N pairs of these files (with LONG=1 all), as OUT_1.fq and OUT_2.fq
some_pairs() {
    local lines=$((4 * $1)) out=$2
    [ -z "${LONG-}" ] || lines=-0
    head -n $lines < <(gzip -cdf "$3") > "${out}_1.fq"
    head -n $lines < <(gzip -cdf "$4") > "${out}_2.fq"
}

# ecoli_index PROGRAM BASE: the index that PROGRAM makes of the E. coli genome, as BASE.*; made once, and kept for
# other scripts
ecoli_index() {
    local program=$1 base=$2 kept new file
    kept=${CARGO_TARGET_DIR:-$DATA/../../target}/test-indexes/$program-$(stat -L -c %s-%Y "$(command -v "$program")")
    if [ ! -e "$kept" ]; then
        mkdir -p "${kept%/*}"
        new=$(mktemp -d "$kept.XXXXXX")
        gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > "$new/ecoli"
        case $program in
            bwa) bwa index "$new/ecoli";;
            bowtie2-build) bowtie2-build -q "$new/ecoli" "$new/ecoli";;
        esac > "$WORK/indexer.log" 2>&1 || { cat "$WORK/indexer.log" >&2; rm -r "$new"; fail "$program makes no index"
        }
        # another script may have been faster
        mv -T "$new" "$kept" 2> /dev/null || rm -r "$new"
    fi
    for file in "$kept"/ecoli.*; do cp "$file" "$base${file#"$kept/ecoli"}"; done
}

# python_aligner NAME: describes an aligner of single reads, the program $WORK/NAME.py, as $WORK/NAME.toml
python_aligner() {
    cat > "$WORK/$1.toml" << END
name = "$1"
title = "$1"
program = ["$(python3 -c 'import sys; print(sys.executable)')"]
arguments = ["-S", "$WORK/$1.py"]
[version]
command = ["--version"]
pattern = "Python "
[index]
files = [".$1"]
option = []
build = ["touch", "{index}.$1"]
bytes_per_base = 1.0
[reads]
single = ["{reads_1}"]
[threads]
option = []
[order]
keeps = "always"
END
}

# Lines NAME COMPILER LAUNCHER... of every MPI that is here
mpis() {
    command -v mpirun.openmpi > /dev/null &&
        echo "openmpi mpicc.openmpi mpirun.openmpi --allow-run-as-root --oversubscribe"
    command -v mpirun.mpich > /dev/null && echo "mpich mpicc.mpich mpirun.mpich"
    return 0
}

# The same for tests of what is not MPI's: without LONG=1 the first alone
some_mpis() { if [ -n "${LONG-}" ]; then mpis; else mpis | head -n 1; fi; }

# with_mpi NAME COMPILER: zerohop finds its ranks by this MPI from now on
with_mpi() {
    export ZEROHOP_MPI="$WORK/$1.so"
    [ -e "$ZEROHOP_MPI" ] || zerohop mpi --compiler "$2" -o "$ZEROHOP_MPI" > /dev/null
}

# Lines NAME REFERENCE READS_1 READS_2 of the sets that are here: without LONG of ZEROHOP_DATA two, of larger genomes
read_sets() {
    local folder=$DATA
    cat <<END
ecoli_150 $folder/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz \
$folder/ecoli/ecoli_150_1.fq.gz $folder/ecoli/ecoli_150_2.fq.gz
ecoli_100 $folder/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz \
$folder/ecoli/ecoli_100_1.fq.gz $folder/ecoli/ecoli_100_2.fq.gz
phix_301 $folder/phix/phix.fasta $folder/phix/phix.1.fastq $folder/phix/phix.2.fastq
fly_48 $folder/fly/dm6.small.fa.gz $folder/fly/rnaseq_48_1.fq.gz $folder/fly/rnaseq_48_2.fq.gz
sarscov2_251 $folder/viral/NC_045512.2.fasta $folder/viral/sarscov2_251_1.fq.gz $folder/viral/sarscov2_251_2.fq.gz
END
    [ -z "${ZEROHOP_DATA-}" ] || more_read_sets "$ZEROHOP_DATA" |
        { [ -n "${LONG-}" ] && cat || grep -E '^(human_148|plant_100) '; }
}

more_read_sets() {
    cat <<END
all_ecoli_150 $1/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz $1/ecoli/ecoli_150_1.fq.gz $1/ecoli/ecoli_150_2.fq.gz
ecoli_76 $1/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz \
$1/ecoli/SRR3927310_1_10k.fq.gz $1/ecoli/SRR3927310_2_10k.fq.gz
all_lambda $1/lambda/lambda_virus.fa.gz $1/lambda/reads_1.fq.gz $1/lambda/reads_2.fq.gz
all_fly_48 $1/fly/dm6.small.fa $1/fly/rnaseq_sample1.tiny_R1.fastq.gz $1/fly/rnaseq_sample1.tiny_R2.fastq.gz
yeast_36 $1/yeast/yeastref.fa.gz $1/yeast/SRR507778_1.fastq.gz $1/yeast/SRR507778_2.fastq.gz
human_148 $1/human_chr20/grch38.chr20_and_21_10M.fa.gz \
$1/human_chr20/HG002_NIST_150bp_downsampled_30x.chr20.10_10p1mb_R1.fq.gz \
$1/human_chr20/HG002_NIST_150bp_downsampled_30x.chr20.10_10p1mb_R2.fq.gz
human_151 $1/combined/human_mini.fa.gz \
$1/human_panel/CPCT12345678T_HJJLGCCXX_S1_L001_R1_001.fastq.gz \
$1/human_panel/CPCT12345678T_HJJLGCCXX_S1_L001_R2_001.fastq.gz
sarscov2_250 $1/viral/NC_045512.2.fasta \
$1/viral/pos_MN908947_3_1_10000_CP022_cap512_R1.fastq.gz $1/viral/pos_MN908947_3_1_10000_CP022_cap512_R2.fastq.gz
all_ecoli_100 $1/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz $1/ecoli/ecoli_100_1.fq.gz $1/ecoli/ecoli_100_2.fq.gz
fly_48_2 $1/fly/dm6.small.fa $1/fly/rnaseq_sample2.tiny_R1.fastq.gz $1/fly/rnaseq_sample2.tiny_R2.fastq.gz
fly_cutnrun $1/fly/dm6.small.fa $1/fly/cutnrun_ip_1.small_R1.fastq.gz $1/fly/cutnrun_ip_1.small_R2.fastq.gz
human_151_r $1/combined/human_mini.fa.gz \
$1/human_panel/CPCT12345678R_HJJLGCCXX_S1_L001_R1_001.fastq.gz \
$1/human_panel/CPCT12345678R_HJJLGCCXX_S1_L001_R2_001.fastq.gz
plant_100_a $1/plant_chr4/reference.fasta $1/plant_chr4/ACBarrie_R1.fastq.gz $1/plant_chr4/ACBarrie_R2.fastq.gz
plant_100_b $1/plant_chr4/reference.fasta $1/plant_chr4/Alsen_R1.fastq.gz $1/plant_chr4/Alsen_R2.fastq.gz
plant_100 $1/plant_chr4/reference.fasta $1/plant_chr4/Baxter_R1.fastq.gz $1/plant_chr4/Baxter_R2.fastq.gz
END
}

# Processes that carry our mark (ZEROHOP_TEST_MARK=$WORK), but for this shell and its like
marked() {
    local file pid
    for file in $(grep -lszxF "ZEROHOP_TEST_MARK=$WORK" /proc/[0-9]*/environ); do
        pid=${file#/proc/}; pid=${pid%/environ}
        case $(tr '\0' ' ' 2>/dev/null < "/proc/$pid/cmdline") in *"${0##*/}"* | "grep "* | "") ;; *) echo "$pid";; esac
    done 2>/dev/null
}
