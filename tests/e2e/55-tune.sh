#!/bin/bash
# zerohop tune: finds, tells, saves, resumes and keeps; align follows what was found; plans on disk; --plan auto.
# LONG=1: more reads, and instances of bowtie2 that others relieve.
source "$(dirname "$0")/lib.sh"
cd "$WORK"
gzip -cd "$DATA"/ecoli/GCF_*.fna.gz > r.fa
for mate in 1 2; do gzip -cd "$DATA/ecoli/ecoli_150_$mate.fq.gz" > $mate.fq; done
records() { grep -v '^@' "$1"; }
# plan JSON: the first reason of its plan
reason() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["plan"]["reasons"][0])' "$1"; }

tune() {
    zerohop tune r.fa 1.fq 2.fq > tune.txt
    grep -q "^best: " tune.txt && grep -q "Part A: one index copy" tune.txt || fail "$(cat tune.txt)"
    zerohop align -q --json run.json -o tuned.sam r.fa 1.fq 2.fq
    [[ "$(reason run.json)" == "As 'zerohop tune' found it best"* ]] ||
        fail "align does not follow it: $(reason run.json)"
    zerohop align -q --plan rule --json run.json -o rule.sam r.fa 1.fq 2.fq
    [[ "$(reason run.json)" != As* ]] || fail "--plan rule follows what was tuned"
    cmp <(records tuned.sam) <(records rule.sam) || fail "the plan changes records"
    # other options, other reads, another index: not what was tuned
    for other in "-t 1" "--pages local" "--replicas 1"; do
        zerohop align -q $other --json run.json -o x.sam r.fa 1.fq 2.fq
        [[ "$(reason run.json)" != As* ]] || fail "with $other align follows what was tuned for the rest"
    done
    zerohop align -q --json run.json -o x.sam r.fa 1.fq
    [[ "$(reason run.json)" != As* ]] || fail "single reads follow the plan for pairs"
    # choices that were not tried are in the page, too
    zerohop report zerohop-tune/tuning.json -o page.html
    grep -q "there is one node" page.html || fail "the page does not say why policies were not tried"
    # what is there is not tried again
    local before; before=$(wc -l < zerohop-tune/trials.jsonl)
    zerohop tune r.fa 1.fq 2.fq > again.txt
    [ "$(wc -l < zerohop-tune/trials.jsonl)" = "$before" ] || fail "trials were run again"
    # a damaged plan is as good as none
    for plan in cache/zerohop/plans/*.json; do echo '{' > "$plan"; done
    zerohop align -q --json run.json -o x.sam r.fa 1.fq 2.fq
    [[ "$(reason run.json)" != As* ]] || fail "a damaged plan is followed"
}

external() {
    command -v bwa > /dev/null || { skip_part "bwa is not on the PATH"; return 0; }
    ecoli_index bwa r.fa
    local options="--engine-args=-K100000 --first 1500" first=300
    [ -z "${LONG-}" ] || { options=--engine-args=-K300000; first=1000; }
    zerohop tune r.fa 1.fq 2.fq --engine bwa $options --runs bwa --repeat 2 -o plan.json > tune.txt
    grep -q "copies x threads" tune.txt || fail "no part B: $(cat tune.txt)"
    # a trial that was cut off in the middle of its line is run again, the others are not
    local lines; lines=$(wc -l < bwa/trials.jsonl)
    [ "$lines" -ge 4 ] || fail "only $lines trials"
    cp bwa/trials.jsonl all
    head -c -20 all > bwa/trials.jsonl
    zerohop tune r.fa 1.fq 2.fq --engine bwa $options --runs bwa --repeat 2 > again.txt
    cmp <(head -n $((lines - 1)) all) <(head -n $((lines - 1)) bwa/trials.jsonl) ||
        fail "trials that were there were run again"
    [ "$(wc -l < bwa/trials.jsonl)" -ge "$lines" ] || fail "the trial that was cut off was not run again"
    [ -z "$(ls -d bwa/trial-* 2> /dev/null)" ] || fail "left: $(ls bwa)"
    # the plan, by name
    zerohop align -q --engine bwa ${options%% *} --plan plan.json --json run.json -o x.sam r.fa 1.fq 2.fq
    [[ "$(reason run.json)" == "As plan.json says." ]] || fail "$(reason run.json)"
    rc=0; "$ZEROHOP" align -q --plan plan.json -o y.sam r.fa 1.fq 2.fq 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "it is a plan for bwa, not for strobealign" stderr || fail "$rc $(cat stderr)"
    # in full, with means and errors
    zerohop tune r.fa 1.fq 2.fq --engine bwa --first $first --full --repeat 2 --runs full --no-keep > full.txt
    grep -qE "[0-9] \([0-9.]+ %\)" full.txt || fail "no errors: $(cat full.txt)"
    zerohop report full/tuning.json -o tuning.html
    grep -q "interleave" tuning.html || fail "the report does not show all policies"
}

plans() {
    zerohop plan --reference r.fa -o plan.json > plan.txt
    zerohop align -q --plan plan.json --json run.json -o a.sam r.fa 1.fq 2.fq
    [[ "$(reason run.json)" == "As plan.json says." ]] || fail "$(reason run.json)"
    rc=0; "$ZEROHOP" align -q --plan plan.json -t 1 -o b.sam r.fa 1.fq 2.fq 2> stderr || rc=$?
    [ $rc = 2 ] && grep -q "leave -t" stderr || fail "$rc $(cat stderr)"
    zerohop plan --machine "$DATA/../../docs/machines/amd-opteron-6376.json" --index-size 5G -o there.json > /dev/null
    rc=0; "$ZEROHOP" align -q --plan there.json -o b.sam r.fa 1.fq 2.fq 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "was made for AMD Opteron 6376 (4 sockets), and does not fit here" stderr ||
        fail "$rc $(cat stderr)"
    echo '{}' > none.json
    rc=0; "$ZEROHOP" align -q --plan none.json -o b.sam r.fa 1.fq 2.fq 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "none.json: it is no plan" stderr || fail "$rc $(cat stderr)"
    [ ! -e b.sam ] || fail "b.sam is there"
    rc=0; "$ZEROHOP" plan 2> stderr || rc=$?
    [ $rc = 2 ] && grep -q "say how large the index is" stderr || fail "$rc $(cat stderr)"
}

first() {
    zerohop align -q --first 1234 -o some.sam r.fa 1.fq 2.fq
    zerohop align -q -o all.sam r.fa 1.fq 2.fq
    for form in 1.fq:2.fq 1.fq.gz:2.fq.gz; do
        [ -e "${form%:*}" ] || { gzip -k 1.fq 2.fq; }
        zerohop align -q --first 1234 -o other.sam r.fa ${form/:/ }
        cmp <(records some.sam) <(records other.sam) || fail "the first reads of $form are others"
    done
    cmp <(records some.sam | cut -f 1 | uniq) <(records all.sam | cut -f 1 | uniq | head -n 1234) ||
        fail "not the first 1234 pairs"
    rc=0; "$ZEROHOP" align -q --first 0 -o x.sam r.fa 1.fq 2> stderr || rc=$?
    [ $rc = 2 ] || fail "--first 0 ends with $rc"
}

auto() {
    local i times=20
    [ -z "${LONG-}" ] || times=30
    for i in $(seq $times); do cat 1.fq; done > l1.fq
    for i in $(seq $times); do cat 2.fq; done > l2.fq
    zerohop align -q --plan rule -o rule.sam r.fa l1.fq l2.fq
    zerohop align -q --plan auto --replicas 2 --json run.json -o auto.sam r.fa l1.fq l2.fq
    cmp <(records auto.sam) <(records rule.sam) || fail "--plan auto changes records"
    [[ "$(reason run.json)" == "Tried on the first reads: "* || "$(reason run.json)" == *input* ]] ||
        fail "$(reason run.json)"
    head -n 8000 1.fq > s1.fq; head -n 8000 2.fq > s2.fq
    zerohop align -q --plan auto --replicas 2 --json run.json -o short.sam r.fa s1.fq s2.fq
    [[ "$(reason run.json)" == "The input was short, so nothing was tried." ]] || fail "short: $(reason run.json)"
    [ -n "${LONG-}" ] || return 0
    command -v bowtie2 > /dev/null || { skip_part "bowtie2 is not on the PATH"; return 0; }
    ecoli_index bowtie2-build r.fa
    head -n 600000 l1.fq > m1.fq; head -n 600000 l2.fq > m2.fq
    zerohop align -q --engine bowtie2 --plan rule -o rule.sam r.fa m1.fq m2.fq
    zerohop align -q --engine bowtie2 --plan auto --replicas 2 --json run.json -o auto.sam r.fa m1.fq m2.fq
    cmp <(records auto.sam) <(records rule.sam) || fail "relieved instances change records"
    echo "bowtie2: $(reason run.json)"
    local present; present=$(python3 -c 'import json; print(len(json.load(open("run.json"))["run"]["instances"]))')
    [[ "$(reason run.json)" != Tried* ]] || [ "$present" -ge 3 ] || fail "$present instances"
}

# What ends it leaves no folder of a trial, and none for trials before the first one is saved.
signals() {
    local signal pid parts
    for signal in HUP TERM INT HUP; do
        rm -rf ended
        (exec env --default-signal=INT "$ZEROHOP" tune -q r.fa 1.fq 2.fq --runs ended --no-keep > /dev/null 2>&1) &
        pid=$!
        until [ -e ended ]; do
            kill -0 $pid 2> /dev/null || fail "it has ended before SIG$signal"
        done
        kill -s $signal $pid
        rc=0; wait $pid 2> /dev/null || rc=$?
        [ $rc = $((128 + $(kill -l $signal))) ] || fail "exit status $rc after SIG$signal"
        parts=$(ls -A ended 2> /dev/null || true)
        [ ! -e ended ] || [ "$parts" = trials.jsonl ] || fail "left after SIG$signal: $parts"
    done
    # reads that cannot be read: no folder, either
    : > empty.fq
    rc=0; "$ZEROHOP" tune r.fa empty.fq --runs ended --no-keep > /dev/null 2> stderr || rc=$?
    [ $rc = 1 ] && [ ! -e ended ] || fail "$rc $(cat stderr; ls -A ended)"
}

for part in plans first signals tune external auto; do
    [[ $part =~ ${PART-} ]] || continue
    "$part"
    echo "$part: as it should be"
done
