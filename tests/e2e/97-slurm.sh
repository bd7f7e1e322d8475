#!/bin/bash
# examples/slurm/*.sbatch under a Slurm of our own on this machine. Samples as docs/hpc.md has it: an array job between
# that of the index and that of the reports. One node, two ranks, OpenMPI over pmix and MPICH over pmi2. The output is
# that of one process. Everything that is started lies in the test's folder, on ports of its own, and ends with it.
source "$(dirname "$0")/lib.sh"
cd "$WORK"
for program in munged slurmctld slurmd sbatch diamond; do
    command -v $program > /dev/null || skip "$program is not on the PATH"
done
[ "$(id -u)" = 0 ] || skip "slurmd needs root"
examples=$(cd "$DATA/../../examples/slurm" && pwd)

daemons=()
end() {
    local pid
    for pid in ${daemons[@]+"${daemons[@]}"}; do kill "$pid" 2> /dev/null || true; done
    for pid in ${daemons[@]+"${daemons[@]}"}; do wait "$pid" 2> /dev/null || true; done
    rm -rf "$WORK"
}
trap end EXIT

# until_true SECONDS COMMAND...
until_true() {
    local i limit=$1; shift
    for i in $(seq $((limit * 5))); do "$@" > /dev/null 2>&1 && return 0; sleep 0.2; done
    return 1
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])'; }

export SLURM_CONF=$WORK/slurm.conf
mkdir state spool munge && chmod 700 munge
dd if=/dev/urandom of=munge/key bs=1024 count=1 2> /dev/null && chmod 400 munge/key
cat > "$SLURM_CONF" <<CONF
ClusterName=zerohop-test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
AuthType=auth/munge
AuthInfo=socket=$WORK/munge/socket
CredType=cred/munge
StateSaveLocation=$WORK/state
SlurmdSpoolDir=$WORK/spool
SlurmctldPidFile=$WORK/slurmctld.pid
SlurmdPidFile=$WORK/slurmd.pid
SlurmctldLogFile=$WORK/slurmctld.log
SlurmdLogFile=$WORK/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MailProg=/bin/true
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=10 State=UP
CONF
logs() { tail -n 15 slurmctld.log slurmd.log job-*.log 2> /dev/null >&2; }
# munged does not work in a folder that others can write to, such as that for temporary files, unless it is told to
munged --foreground --force --key-file=munge/key --socket="$WORK/munge/socket" --pid-file="$WORK/munge/pid" \
    --seed-file="$WORK/munge/seed" \
    --log-file="$WORK/munge/log" > munge.out 2>&1 & daemons+=($!)
until_true 20 test -S munge/socket || { cat munge.out >&2; fail "munged does not start"; }
slurmctld -D > slurmctld.out 2>&1 & daemons+=($!)
slurmd -D > slurmd.out 2>&1 & daemons+=($!)
idle() { [ "$(timeout -k 5 20 sinfo -h -o %T)" = idle ]; }
until_true 60 idle || { cat slurmctld.out slurmd.out >&2; logs; fail "Slurm does not come up"; }

cp "$DATA/protein/queries.faa" q.fa
zerohop db build -q --engine diamond --partitions 2 -o db "$DATA/protein/subjects.faa" > /dev/null
zerohop search -q -t 1 --db db -o alone.tsv q.fa
[ -s alone.tsv ] || fail "nothing is found"
mkdir bin && ln -s "$ZEROHOP" bin/zerohop
export PATH="$WORK/bin:$PATH"

python3 - << 'END'
import random
random.seed(5)
genome = ''.join(random.choice('ACGT') for _ in range(100_000))
with open('ref.fa', 'w') as f: f.write('>a\n' + genome + '\n')
complement = str.maketrans('ACGT', 'TGCA')
with open('1.fq', 'w') as one, open('2.fq', 'w') as two:
    for i in range(20_000):
        at, insert = random.randrange(99_000), random.randrange(250, 450)
        fragment = genome[at:at + insert]
        one.write(f'@r{i}\n{fragment[:150]}\n+\n{"I" * 150}\n')
        two.write(f'@r{i}\n{fragment[::-1].translate(complement)[:150]}\n+\n{"H" * 150}\n')
END
zerohop align -q -t 1 -o alone.bam ref.fa 1.fq 2.fq
records() { samtools view -h "$1" | grep -v '^@PG'; }

# submit NAME KIND EXAMPLE ARGUMENT...: with the kind of MPI that Slurm is to offer
submit() {
    local name=$1 kind=$2 example=$3; shift 3
    ZEROHOP_MPI="$WORK/$name.so" ZEROHOP_SRUN_MPI=$kind timeout -k 5 180 sbatch --wait --nodes=1 --ntasks-per-node=2 \
        --cpus-per-task=1 --mem=0 --time=2 \
        --output="$WORK/job-$name-$example.log" "$examples/$example.sbatch" "$@" > sbatch.out 2>&1 < /dev/null ||
        { cat sbatch.out >&2; logs; fail "$name: $example fails"; }
}

# both NAME COMPILER KIND: both examples
both() {
    command -v "$2" > /dev/null || { skip_part "$2 is not here"; return 0; }
    timeout -k 5 30 srun --mpi=list 2>&1 | grep -qw "$3" || { skip_part "this Slurm has no $3"; return 0; }
    zerohop mpi --compiler "$2" -o "$WORK/$1.so" > /dev/null
    submit "$1" "$3" search "$WORK/db" "$WORK/q.fa" "$WORK/$1.tsv"
    cmp alone.tsv "$1.tsv" || fail "$1: other results"
    python3 - "$1.tsv.json" <<'PY' || fail "$1: the report"
import json, sys
report = json.load(open(sys.argv[1]))
assert len(report['ranks']) == 2, report
PY
    submit "$1" "$3" align "$WORK/ref.fa" "$WORK/1.fq" "$WORK/2.fq" "$WORK/$1.bam"
    cmp <(records alone.bam) <(records "$1.bam") || fail "$1: other records"
    [ "$(grep -c '^rank [01] ' "job-$1-align.log")" = 2 ] || fail "$1: not two ranks: $(cat "job-$1-align.log")"
    echo "$1 over $3: two ranks give what one process gives, of a search and of reads"
}
both openmpi mpicc.openmpi pmix
both mpich mpicc.mpich pmi2

# as_the_page_says: submits what stands in docs/hpc.md, and waits
as_the_page_says() {
    rm -rf report.html multiqc
    SBATCH_TIMELIMIT=3 timeout -k 5 60 bash -euo pipefail -c "$(cat lines.sh)" > sbatch.out 2>&1 < /dev/null ||
        { cat sbatch.out lines.sh >&2; fail "the lines of docs/hpc.md"; }
    until_true 180 nothing_queued || { squeue >&2; logs; fail "the jobs of docs/hpc.md do not end"; }
}
nothing_queued() { local jobs; jobs=$(timeout -k 5 20 squeue -h) && [ -z "$jobs" ]; }

# what_differs FILE: without what names the command
what_differs() {
    case $1 in
        *.bam) samtools quickcheck "$1" && records "$1";;
        *.gz) gzip -cd "$1";;
        # offsets depend on the length of the header
        *.bai | *.csi | *.json) [ -s "$1" ];;
        *) grep -v '^# .*zerohop align' "$1";;
    esac
}

samples() {
    local file number mate made before
    [ -x "${MULTIQC-}" ] || { skip_part "no MultiQC"; return 0; }
    ln -s "$MULTIQC" bin/multiqc
    mkdir samples
    cd samples
    ln -s "${examples%/*}" examples
    sed -n '/^    n=\$(bash/,/^$/s/^    //p' "$examples/../../docs/hpc.md" > lines.sh
    [ "$(grep -c 'sbatch ' lines.sh)" -ge 3 ] || fail "docs/hpc.md has no such lines"
    for number in 1 2 3 4; do
        for mate in 1 2; do
            awk -v n=$number 'NR > (n - 1) * 8000 && NR <= n * 8000' ../$mate.fq | gzip -1 > r${number}_$mate.fq.gz
        done
    done
    # a lane of A stands behind B, and the last sample is damaged at first
    printf '%s\n' fastq_1,fastq_2,sample,rg_pl r1_1.fq.gz,r1_2.fq.gz,A,ILLUMINA r2_1.fq.gz,r2_2.fq.gz,B, \
        r3_1.fq.gz,r3_2.fq.gz,A,ILLUMINA r4_1.fq.gz,r4_2.fq.gz,C.c, > sheet.csv
    cp ../ref.fa .
    zerohop align -q -t 1 --samples sheet.csv --output-dir alone --sort --mark-duplicates --qc ref.fa
    mv r4_2.fq.gz whole
    head -c 50000 whole > r4_2.fq.gz
    as_the_page_says
    [ -e results/A.json ] && [ -e results/B.json ] && [ ! -e results/C.c.bam ] || fail "samples: $(ls results)"
    grep -q 'error: 1 of 1 samples failed: C.c' zerohop-samples-*_3.log || fail "nothing is said: $(cat ./*_3.log)"
    for file in report.html multiqc/multiqc_report.html; do [ -s $file ] || fail "no $file: $(cat slurm-*.out)"; done
    before=$(stat -c '%i %Y' results/A.bam results/B.json)
    mv whole r4_2.fq.gz
    as_the_page_says
    [ "$before" = "$(stat -c '%i %Y' results/A.bam results/B.json)" ] || fail "complete samples are aligned again"
    for file in alone/*; do
        made=results/${file#*/}
        cmp <(what_differs "$file") <(what_differs "$made") || fail "samples: $made"
    done
    [ "$(ls alone; echo sheets)" = "$(ls results)" ] || fail "other files: $(ls results)"
    grep -q C.c report.html && grep -q C.c multiqc/multiqc_report.html || fail "not all are reported on"
    echo "one sample for each task of an array: the files of one process"
}
part samples
