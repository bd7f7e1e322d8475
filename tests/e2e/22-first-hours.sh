#!/bin/bash
# What newcomers type in their first hours, who come from bwa, bowtie2, minimap2, strobealign, samtools or sarek: the
# exit status, and what must be seen. Where something else is to be typed, the whole command is told, and it works.
# (What is said of each fault of a file, and of each wrong option, are tables in crates/cli/tests/program.)
source "$(dirname "$0")/lib.sh"
"$ZEROHOP" engines > "$WORK/engines.txt"
grep -q '^bwa-mem ' "$WORK/engines.txt" || skip "this zerohop was built without bwa-mem"
command -v samtools > /dev/null || skip "no samtools"

mkdir "$WORK/new" "$WORK/bin"
ln -s "$ZEROHOP" "$WORK/bin/zerohop"
export PATH="$WORK/bin:$PATH" XDG_CONFIG_HOME="$WORK/config"
unset -f zerohop
cd "$WORK/new"
cp "$DATA/phix/phix.fasta" ref.fa
for mate in 1 2; do
    cp "$DATA/phix/phix.$mate.fastq" r$mate.fq
    cp r$mate.fq L2_$mate.fq
done
gzip -c ref.fa > ref.fa.gz
awk 'NR % 4 == 1 { print ">" substr($0, 2) } NR % 4 == 2' r1.fq > r1.fa
head -n -4 r2.fq > fewer_2.fq
cp r1.fq "a b_1.fq"; cp r2.fq "a b_2.fq"
printf 'patient,sex,status,sample,lane,fastq_1,fastq_2\np,XX,0,S1,L1,r1.fq,r2.fq\n' > sheet.csv
mkdir folder

failures=0 typed=0
wrong() { echo "FAIL: $*" >&2; failures=$((failures + 1)); }

# attempt ARGUMENTS...: zerohop's exit status goes to rc, what it shows to said; it changes nothing if it fails
attempt() {
    local before; before=$(ls -A . folder)
    rc=0 typed=$((typed + 1))
    said=$(timeout -k 1 30 zerohop "$@" 2>&1 < /dev/null) || rc=$?
    [ $rc = 0 ] || [ "$(ls -A . folder)" = "$before" ] || wrong "it failed, and left something: $*: $(ls -A . folder)"
}

# typed STATUS WHAT ARGUMENTS...: what must be seen, in standard output or standard error
typed() {
    local status=$1 what=$2; shift 2
    attempt "$@"
    [ $rc = "$status" ] && [[ $said == *"$what"* ]] ||
        wrong "zerohop $*"$'\n'"  wanted: $status, $what"$'\n'"  got:    $rc, ${said::900}"
}

# told COMMAND ARGUMENTS...: these are wrong, and COMMAND is to be typed
told() {
    local command=$1; shift
    typed 2 ": write"$'\n'"  $command"$'\n' "$@"
}

# put_right COMMAND ARGUMENTS...: the same, and COMMAND works
put_right() {
    told "$@"
    bash -c "$1" > out 2> err < /dev/null || wrong "what is to be typed fails: $1: $(cat err)"
    rm -f out err new.*
}

# --- help -----------------------------------------------------------------------------------------------------------

help() {
    typed 2 "align        Align reads to a reference"
    typed 0 "align        Align reads to a reference" help
    typed 0 "Usage: zerohop <COMMAND>" --help
    typed 0 "READS_2" help align
    typed 0 "'--help' shows all options" align -h
    typed 0 "--mark-duplicates" align --help
    typed 0 "zerohop 0." --version
    typed 0 "zerohop 0." -V
    put_right "zerohop --version" -v
    put_right "zerohop --version" version
    put_right "zerohop --version" align --version
    typed 0 ".TH zerohop-align" man align
    typed 2 "a similar subcommand exists: 'align'" aling ref.fa r1.fq
    typed 2 "<REF>" align
    typed 2 "no reads were given: name one or two files" align ref.fa
    typed 0 "bwa-mem " engines
    typed 0 "CPU" topo
    typed 0 'compgen -W "strobealign bwa-mem rammap bwa ' completions bash
    typed 0 "(strobealign bwa-mem rammap bwa " completions zsh
}

# --- the index ------------------------------------------------------------------------------------------------------

index() {
    typed 1 "none.fa: cannot read: No such file" index none.fa
    typed 1 "folder: cannot read: Is a directory" index folder
    typed 1 "the reference comes first, then the reads" index r1.fq
    typed 1 "make the index with 'zerohop index --engine bwa-mem ref.fa'" align --engine bwa-mem ref.fa r1.fq
    typed 2 "align --engine bowtie2 --build-index -o out.bam REF" bowtie2-build ref.fa ref
    put_right "zerohop index ref.fa" index -p prefix ref.fa
    put_right "zerohop index ref.fa" index ref.fa prefix
    put_right "zerohop index --engine bwa-mem ref.fa" index -a bwtsw ref.fa
    put_right "zerohop index --engine bwa-mem ref.fa" bwa-mem2 index ref.fa
    told "curl -sSfLO https://x.org/ref.fa && zerohop index ref.fa" index https://x.org/ref.fa
    typed 0 "ref.fa.r250.zhi: " index -r 250 ref.fa
    typed 0 "There is no index yet: making it takes about" plan --engine bwa-mem --reference ref.fa.gz
    # FASTA by its begin, and large: what its index takes is said before it is read
    echo '>a' > large.fa; truncate -s 300M large.fa
    typed 1 "making the index of large.fa: it takes about 1." index large.fa
    rm large.fa
    typed 0 "There is one" plan --reference ref.fa
    put_right "zerohop plan --reference ref.fa" plan ref.fa
}

# A reference that changes, and one in a folder of others
of_others() {
    cp ref.fa changed.fa
    attempt index -r 250 changed.fa
    sed -i '2s/^GAG/CAG/' changed.fa
    typed 1 "changed.fa.r250.zhi: it was made from another reference, or the reference has changed since" \
        align -o o.sam changed.fa r1.fq
    [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null ||
        { echo "a folder of others: not tested, that needs root and setpriv"; return; }
    local nobody="setpriv --reuid=65534 --regid=65534 --clear-groups" rc=0
    chmod 711 "$WORK"; mkdir shared; cp ref.fa shared; cp "$ZEROHOP" shared/zerohop
    $nobody shared/zerohop index shared/ref.fa > out 2> err || rc=$?
    [ $rc = 1 ] && grep -qF "'ln -s $PWD/shared/ref.fa .' makes a link" err ||
        wrong "an index beside a reference of others: $rc, $(cat err)"
    $nobody shared/zerohop align -q shared/ref.fa r1.fq > out 2> err || wrong "a reference of others: $(cat err)"
    rm out err
}

# --- as other aligners have it --------------------------------------------------------------------------------------

other_aligners() {
    put_right "zerohop align --engine bwa-mem ref.fa r1.fq r2.fq" mem ref.fa r1.fq r2.fq
    put_right "zerohop align --engine bwa-mem -t 2 -R '@RG\tID:x' ref.fa r1.fq" \
        bwa mem -t 2 -R '@RG\tID:x' ref.fa r1.fq
    put_right "zerohop align --engine bwa-mem --engine-args '-K 100000000 -Y' ref.fa r1.fq r2.fq" \
        bwa-mem2 mem -K 100000000 -Y ref.fa r1.fq r2.fq
    put_right "zerohop align --engine bwa-mem --engine-args '-K 100000000 -Y' ref.fa r1.fq" \
        align -K 100000000 -Y ref.fa r1.fq
    put_right "zerohop align --engine bwa-mem --engine-args -M ref.fa r1.fq r2.fq" align -M ref.fa r1.fq r2.fq
    put_right "zerohop align -t 2 ref.fa r1.fq r2.fq" strobealign -t 2 ref.fa r1.fq r2.fq
    put_right "zerohop align ref.fa r1.fq r2.fq" ref.fa r1.fq r2.fq
    put_right "zerohop align -t 2 ref.fa r1.fq" -t 2 ref.fa r1.fq
    put_right "zerohop align -t 2 ref.fa r1.fq r2.fq" align -p 2 ref.fa r1.fq r2.fq
    put_right "zerohop align -t 2 ref.fa r1.fq" align -@ 2 ref.fa r1.fq
    put_right "zerohop align ref.fa r1.fq" align -v 3 ref.fa r1.fq
    put_right "zerohop align -o new.sam ref.fa r1.fq r2.fq" align -x ref.fa -1 r1.fq -2 r2.fq -S new.sam
    put_right "zerohop align ref.fa r1.fq r2.fq --reads L2_1.fq L2_2.fq" align ref.fa r1.fq,L2_1.fq r2.fq,L2_2.fq
    put_right "zerohop align ref.fa 'a b_1.fq' 'a b_2.fq' --reads L2_1.fq L2_2.fq" \
        align ref.fa "a b_1.fq,L2_1.fq" "a b_2.fq,L2_2.fq"
    told "zerohop align --engine bowtie2 -t 4 -o o.sam ref r1.fq" bowtie2 -p 4 -x ref -U r1.fq -S o.sam
    told "zerohop align --engine minimap2 --engine-args '-x sr' ref.fa r1.fq r2.fq" align -ax sr ref.fa r1.fq r2.fq
    put_right "zerohop align --engine bwa-mem ref.fa r1.fq" align --aligner bwa-mem --ref ref.fa r1.fq
    typed 2 "there is no engine 'bwamem' (is bwa-mem meant?)" align --engine bwamem ref.fa r1.fq
    typed 2 "as programs of their own, bwa, bowtie2, " align --engine star ref.fa r1.fq
    command -v bwa-mem2 > /dev/null ||
        typed 1 "no program bwa-mem2 is on the PATH): 'zerohop engines' lists" align --engine bwa-mem2 ref.fa r1.fq
}

# --- reads ----------------------------------------------------------------------------------------------------------

reads() {
    typed 1 "none.fq: cannot open: No such file" align ref.fa none.fq
    typed 1 "none.fa: cannot open: No such file" align none.fa r1.fq
    typed 1 "the reference comes first, then the reads" align r1.fq r2.fq ref.fa
    typed 1 "folder: is a directory, not a file of reads" align ref.fa folder
    typed 1 "folder: is a directory, not a reference in FASTA" align folder r1.fq
    typed 2 "r1.fq was given as both files of a pair" align ref.fa r1.fq r1.fq
    typed 1 "the file has 44 reads, but its mate file r1.fq has more" align -o o.sam ref.fa r1.fq fewer_2.fq
    typed 2 "'L2_1.fq' is one file too many" align ref.fa r1.fq r2.fq L2_1.fq L2_2.fq
    typed 0 "mapped     9" align -o fasta.sam ref.fa.gz r1.fa
    told "curl -sSfL https://x.org/1.fq | zerohop align ref.fa -" align ref.fa https://x.org/1.fq
    told "zerohop align ref.fa <(aws s3 cp s3://x/1.fq -) <(aws s3 cp s3://x/2.fq -)" \
        align ref.fa s3://x/1.fq s3://x/2.fq
    typed 0 "mapped     9" align -o bam.bam ref.fa r1.fq r2.fq
    typed 1 "bam.bam: record 1 (byte 0): not FASTA: it must start with '>', but starts with 'B': the reference" \
        align bam.bam r1.fq
    typed 0 "mapped     9" align -o again.bam ref.fa bam.bam
    typed 2 "--output-dir <DIR>" align --samples sheet.csv ref.fa
    typed 0 "S1                   90 reads" align --samples sheet.csv --output-dir samples ref.fa
    typed 0 "<!DOCTYPE html>" report samples/S1.json
    typed 2 "<RUN>..." report
}

# --- output and its options -----------------------------------------------------------------------------------------

output() {
    typed 1 "there is no folder nowhere; make it first" align -o nowhere/o.bam ref.fa r1.fq
    typed 1 "folder: cannot write: Is a directory" align -o folder ref.fa r1.fq
    typed 2 "SAM is not written compressed: name the file .bam" align -o o.sam.gz ref.fa r1.fq
    typed 2 "name the file .sam, .bam or .cram" align -o o.txt ref.fa r1.fq
    put_right "zerohop align -o new.bam ref.fa r1.fq" align -o s3://x/new.bam ref.fa r1.fq
    put_right "zerohop align --format bam ref.fa r1.fq" align -b ref.fa r1.fq
    typed 0 "mapped     9" align -o unsorted.cram ref.fa r1.fq
    typed 0 "SO:coordinate" align --sort ref.fa r1.fq r2.fq
    typed 2 "write --sort=name" align --sort name -o o.bam ref.fa r1.fq
    typed 2 "give --sort, too" align --mark-duplicates -o o.bam ref.fa r1.fq r2.fq
    typed 2 "a similar argument exists: '--mark-duplicates'" align --markdup -o o.bam ref.fa r1.fq
    local step
    for step in sort markdup flagstat samtools; do
        typed 2 "zerohop align --sort --mark-duplicates --qc -o out.bam" $step bam.bam
    done
    typed 2 "zerohop align -o out.bam REF" view bam.bam
    typed 2 "must start with '@RG' and a tab (or \\t), as in '@RG\\tID:x\\tSM:y'" align -R ID:x ref.fa r1.fq
    typed 2 "must have one ID" align -R '@RG\tSM:y' ref.fa r1.fq
    typed 0 $'@RG\tID:x\tSM:y' align -R $'@RG\tID:x\tSM:y' ref.fa r1.fq
    typed 0 $'@RG\tID:1\tSM:y' align --rg SM:y ref.fa r1.fq
    typed 0 "DS:records of bwa mem 0.7.17" align --engine bwa-mem -C ref.fa r1.fq
    typed 2 "it must be a whole number from 1 to 65536" align -t 0 ref.fa r1.fq
    typed 2 "it must be a whole number from 1 to 65536" align -t all ref.fa r1.fq
    typed 2 "it must be a whole number from 1 to 65536" align -t 1000000 ref.fa r1.fq
    typed 0 "8 workers" align --threads 8 -o threads.sam ref.fa r1.fq
    zerohop align ref.fa r1.fq 2> err > shell.sam || wrong "> shell.sam: $(cat err)"
    [ "$(zerohop align ref.fa r1.fq 2> err | samtools view -c)" = "$(samtools view -c shell.sam)" ] ||
        wrong "| samtools view: $(cat err)"
    rm err
}

# --- Ctrl-C ---------------------------------------------------------------------------------------------------------

# interrupted WHAT OPTIONS...: SIGINT while reads are waited for, which never come
interrupted() {
    local what=$1 pid rc=0 before; shift
    before=$(ls -A)
    env --default-signal=INT zerohop align -q "$@" ref.fa never > ../said 2>&1 & pid=$!
    # until it handles SIGINT
    until [ "$(readlink "/proc/$pid/exe")" = "$(readlink -f "$ZEROHOP")" ] &&
        grep -q 'SigCgt:.*[2367abef]$' "/proc/$pid/status"; do
        kill -0 $pid 2> /dev/null || fail "it has ended before SIGINT: $(cat ../said)"
        sleep 0.02
    done
    kill -s INT $pid
    wait $pid 2> /dev/null || rc=$?
    [ "$rc $(cat ../said)" = "130 error: interrupted: $what" ] || wrong "interrupted: $* $rc, $(cat ../said)"
    [ "$(ls -A)" = "$before" ] || wrong "interrupted, left: $(ls -A)"
}

ctrl_c() {
    mkfifo never
    interrupted "nothing is left under the name of the output (o.bam)" -o o.bam
    interrupted "the output (bam.bam) is as it was before" -o bam.bam
    samtools quickcheck bam.bam || wrong "interrupted: bam.bam is not as it was"
    interrupted "the records on standard output are not complete"
    rm never
}

for part in help index of_others other_aligners reads output ctrl_c; do
    $part
done
[ $failures = 0 ] || fail "$failures of the above"
echo "$typed commands of the first hours: each is done, or told how it is typed"
