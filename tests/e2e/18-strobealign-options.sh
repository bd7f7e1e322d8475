#!/bin/bash
# The options of strobealign in the embedded engine (--engine-args): records, PAF (-x) and abundances (--aemb) are those
# of the program with the same options, each alone on four sets of reads and any two together, of pairs and single
# reads; at any number of threads and over ranks. Index files are named after their parameters, and refused for others.
# What cannot be had is refused by name, and leaves nothing.
# LONG=1: any two options together, not a sample; more threads. PART=REGEX: the parts whose name matches.
source "$(dirname "$0")/lib.sh"
[ -x "$STROBEALIGN" ] || skip "no strobealign program at $STROBEALIGN"
cd "$WORK"

# A genome of 120 copies of a sequence, some with differences, in several contigs; pairs of it, some of them of
# elsewhere, some with gaps; names with /1 and /2
python3 - <<'END'
import random
random.seed(11)
letters = lambda n: ''.join(random.choice('ACGT') for _ in range(n))
def mutated(bases, rate): return ''.join(random.choice('ACGT') if random.random() < rate else base for base in bases)
repeat, contigs = letters(400), []
for number in range(3):
    contigs.append(''.join(letters(150) + mutated(repeat, 0 if copy % 4 else 0.01) for copy in range(40)))
contigs.append(letters(40))
with open('repeats.fa', 'w') as out:
    for number, bases in enumerate(contigs): out.write(f'>c{number} x\n{bases}\n')
flip = str.maketrans('ACGT', 'TGCA')
with open('repeats.1.fq', 'w') as one, open('repeats.2.fq', 'w') as two:
    for i in range(120):
        bases = random.choice(contigs[:3]) if i % 10 else letters(2000)
        at, insert = random.randrange(len(bases) - 600), random.randrange(200, 500)
        fragment = mutated(bases[at:at + insert], random.choice((0, 0.01, 0.05)))
        if i % 4 == 1: fragment = fragment[:60] + fragment[60 + i % 9:]
        if i % 4 == 2: fragment = fragment[:90] + letters(1 + i % 20) + fragment[90:]
        if i % 7 == 3: fragment = letters(25) + fragment
        first, second = fragment[:random.choice((100, 150))], fragment[::-1].translate(flip)[:random.choice((60, 150))]
        if i % 13 == 5: second = letters(100)
        if i % 2: first, second = second, first
        one.write(f'@r{i}/1 a b\n{first}\n+\n{"I" * len(first)}\n')
        two.write(f'@r{i}/2 a b\n{second}\n+\n{"H" * len(second)}\n')
END
head -n 1600 < <(gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz") > ecoli.fa
for n in 1 2; do
    cp "$DATA/phix/phix.$n.fastq" phix.$n.fq
    head -n 1200 < <(gzip -cd "$DATA/viral/sarscov2_251_$n.fq.gz") > sarscov2.$n.fq
done
cp "$DATA/phix/phix.fasta" phix.fa; cp "$DATA/viral/NC_045512.2.fasta" sarscov2.fa
# of the reads of the whole genome those of its beginning, and a few others
strobealign -t 2 "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" "$DATA/ecoli/ecoli_150_1.fq.gz" |
    awk '!/^@/ && ($4 < 130000 || NR % 500 == 0) { print $1 }' > names
for n in 1 2; do
    gzip -cd "$DATA/ecoli/ecoli_150_$n.fq.gz" | paste - - - - |
        awk -F '\t' 'NR == FNR { wanted["@" $1]; next } { split($1, name, /[ \/]/) } name[1] in wanted' names - |
        tr '\t' '\n' > ecoli.$n.fq
done
SETS='phix ecoli sarscov2 repeats'

# Options, each with a value that changes something
options_of_strobealign() {
    cat << 'OPTIONS'
-A 4
-B 2
-O 4
-E 4
-L 0
--ssw
--bw 2
-k 18
-l 2 -u 4
-u 25
-s 10
-m 60
-c 20
-b 9
--aux-len 4
-P noisy
-N 3
-N -1
--st 0.5
--mcs rescue
--mcs off
--mcs first-strobe
-f 0.5
-S 0.9
-M 2
-R 0
-R 10
-H 0
--gd 3
--gl 1.5
--vp 0.3
--sg 30
--mw 5
--mr 1.05
-U
--eqx
--details
--no-PG
-x
--aemb
OPTIONS
}
# What changes no line but @PG, and what changes none without another option
WITHOUT_EFFECT='-b 9
--no-PG
--st 0.5'

lines() { grep -v '^@PG' "$1" || true; }

# check NAME 'OPTIONS' REFERENCE READS...: both programs, with the same options
check() {
    local name=$1 options=$2; shift 2
    runs=$((runs + 1))
    strobealign -t 1 $options "$@" > expected
    check_again "$name" "$options" "$@"
}

# check_again NAME OPTIONS ARGUMENTS...: with what the program wrote last
check_again() {
    local name=$1 options=$2; shift 2
    zerohop align -q -t 2 "--engine-args=$options" "$@" > own
    cmp <(lines own) <(lines expected) || fail "$name: $options: $(diff <(lines own) <(lines expected) | head -n 4)"
}

# Every option changes what both write in the same way.
check_options() {
    local runs=0 set options
    for set in $SETS; do
        check "$set" '' $set.fa $set.1.fq $set.2.fq
        lines expected > default.$set
    done
    while read -r options; do
        changed=
        for set in $SETS; do
            check "$set" "$options" $set.fa $set.1.fq $set.2.fq
            cmp -s <(lines expected) default.$set || changed=1
            check "$set, single" "$options" $set.fa $set.2.fq
        done
        [ -n "$changed" ] || grep -qxF -- "$options" <<< "$WITHOUT_EFFECT" || fail "$options changes nothing"
    done < <(options_of_strobealign)
    echo "options: the same in $runs runs of strobealign"
}

# Whether they cannot be given together
share_a_name() {
    case "$1 $2" in *"-x "*--aemb* | *"-x --aemb") return 0;; esac
    [ -n "$(comm -12 <(grep -oE -- '(^| )--?[a-zA-Z-]+' <<< "$1" | tr -d ' ' | sort) \
        <(grep -oE -- '(^| )--?[a-zA-Z-]+' <<< "$2" | tr -d ' ' | sort))" ]
}

# Any two options together, on the set where all matter
check_option_pairs() {
    local runs=0 one other all number=0 step=19
    [ -z "${LONG-}" ] || step=1
    mapfile -t all < <(options_of_strobealign)
    for one in "${!all[@]}"; do
        for ((other = one + 1; other < ${#all[@]}; other++)); do
            [ $((number++ % step)) = 0 ] || continue
            share_a_name "${all[one]}" "${all[other]}" && continue
            check "two options" "${all[one]} ${all[other]}" repeats.fa repeats.1.fq repeats.2.fq
            [ -z "${LONG-}" ] || check "two options, single" "${all[one]} ${all[other]}" repeats.fa repeats.1.fq
        done
    done
    echo "two options: the same in $runs runs of strobealign"
}

# Options beside those of zerohop: read groups, comments, BAM, sorted output
check_beside() {
    local runs=0 bam=(-q -t 2 "--engine-args=-U --eqx --details -N 4") set=repeats
    strobealign --details -N 4 --st 0.5 -U --rg-id=x --rg=SM:y -C $set.fa $set.1.fq $set.2.fq > expected
    check_again "read group and comments" '--details -N 4 --st 0.5 -U' --rg-id=x --rg=SM:y -C $set.fa $set.1.fq \
        $set.2.fq
    strobealign -U --eqx --details -N 4 $set.fa $set.1.fq $set.2.fq > expected
    zerohop align "${bam[@]}" -o own.bam $set.fa $set.1.fq $set.2.fq
    cmp <(samtools view own.bam) <(grep -v '^@' expected) || fail "BAM"
    zerohop align "${bam[@]}" --sort -o own.bam $set.fa $set.1.fq $set.2.fq
    cmp <(samtools view own.bam | sort) <(grep -v '^@' expected | sort) || fail "sorted"
    zerohop align -q --engine-args --no-PG $set.fa $set.1.fq > own
    [ "$(grep '^@PG' own | cut -f 2)" = ID:zerohop ] || fail "--no-PG: $(grep '^@PG' own)"
    # what is left out is accounted for
    zerohop align -t 2 --engine-args -U --json run.json $set.fa $set.1.fq $set.2.fq > own
    python3 - <<'END' || fail "the summary of -U"
import json
tally = json.load(open('run.json'))['run']['tally']
assert tally['reads'] == 240 and 0 < tally['left_out'] < 60, tally
assert tally['primary_records'] + tally['left_out'] == 240 and tally['mapped'] <= tally['primary_records'], tally
END
    echo "beside: read groups, comments, BAM and order are those of zerohop"
}

# many NAME: the reads of ecoli so often that they are several chunks, as NAME.1.fq and NAME.2.fq, and interleaved with
# single reads among them
many() {
    local n
    for n in 1 2; do for _ in {1..12}; do cat ecoli.$n.fq; done > $1.$n.fq; done
    paste -d '\n' <(paste - - - - < $1.1.fq) <(paste - - - - < $1.2.fq) | awk 'NR % 14 != 4' | tr '\t' '\n' > $1.both.fq
}

# PAF and abundances at any number of threads
check_modes() {
    local mode threads input runs=0
    many many
    for mode in -x --aemb; do
        while read -r input; do
            strobealign -t 1 $mode ecoli.fa $input > expected
            runs=$((runs + 1))
            [ $(wc -l < expected) -gt 0 ] || fail "$mode: nothing is to be compared"
            for threads in 1 2 5 ${LONG:+16}; do
                zerohop align -q -t $threads --engine-args=$mode ecoli.fa $input > own
                cmp own expected || fail "$mode at -t $threads: $input: $(diff own expected | head -n 4)"
            done
        done <<< 'many.1.fq many.2.fq
many.1.fq
-p many.both.fq'
    done
    # as files, from pipes and BGZF; the summary says how many reads are mapped, and of no pair that it is proper
    zerohop align -t 2 --engine-args=-x --json run.json -o own.paf ecoli.fa <(cat many.1.fq) <(cat many.2.fq)
    grep -q "^mapped" "$WORK/zerohop.stderr" && ! grep -q proper "$WORK/zerohop.stderr" ||
        fail "the summary of PAF: $(cat "$WORK/zerohop.stderr")"
    strobealign -t 1 -x ecoli.fa many.1.fq many.2.fq > expected
    cmp own.paf expected || fail "PAF of pipes"
    [ $(python3 -c 'import json; print(json.load(open("run.json"))["run"]["tally"]["mapped"])') = \
        $(wc -l < expected) ] || fail "other reads are mapped"
    zerohop align -q -t 3 --engine-args=-x -o own.paf ecoli.fa many.1.fq many.2.fq || fail "PAF over PAF"
    cmp own.paf expected || fail "PAF over PAF"
    zerohop align -q -t 3 --engine-args=-x --shards 3 -o own.paf ecoli.fa many.1.fq many.2.fq
    cmp <(cat own.{1,2,3}.paf | sort) <(sort expected) || fail "PAF in shards"
    zerohop align -q -t 3 --order any --engine-args=-x ecoli.fa many.1.fq many.2.fq | sort > own
    cmp own <(sort expected) || fail "PAF in any order"
    strobealign -t 1 --aemb ecoli.fa many.1.fq many.2.fq > expected
    for _ in 1 2; do zerohop align -q -t 2 --engine-args=--aemb -o own.tsv ecoli.fa many.1.fq many.2.fq; done
    cmp own.tsv expected || fail "abundances as a file"
    zerohop align -q -t 2 --engine-args=--aemb -o own.tsv repeats.fa repeats.1.fq repeats.2.fq
    [ $(wc -l < own.tsv) = 4 ] && grep -q $'^c3\t0.000000$' own.tsv || fail "a line for each contig: $(cat own.tsv)"
    # nothing that looks complete is left of a run that fails
    head -c 2000000 many.2.fq > short.2.fq
    for mode in -x --aemb; do
        ! "$ZEROHOP" align -q -t 2 --engine-args=$mode -o gone ecoli.fa many.1.fq short.2.fq > log 2>&1 ||
            fail "$mode: mates are missing"
        [ -z "$(ls gone* 2> /dev/null)" ] || fail "$mode: something is left: $(ls gone*)"
    done
    echo "modes: PAF and abundances are the same as in $runs runs of strobealign, at any number of threads"
}

# PAF over ranks, and when a run that was recorded is finished
check_ranks() {
    local name compiler launch n
    many many
    zerohop align -q -t 2 --engine-args=-x -o expected.paf ecoli.fa many.1.fq many.2.fq
    zerohop align -q -t 2 --durable --engine-args=-x -o own.paf ecoli.fa many.1.fq many.2.fq
    cmp own.paf expected.paf || fail "PAF with --durable"
    [ -n "$(mpis)" ] || { skip_part "neither OpenMPI nor MPICH is here"; return; }
    read -r name compiler launch < <(mpis)
    with_mpi "$name" "$compiler"
    for n in 1 2 3; do
        timeout -k 5 120 $launch -n $n "$ZEROHOP" align --ranks=$n -q -t 1 --engine-args=-x -o own.paf ecoli.fa \
            many.1.fq many.2.fq > log 2>&1 < /dev/null || { cat log >&2; fail "$name, $n ranks"; }
        cmp own.paf expected.paf || fail "$name, $n ranks: other lines"
    done
    echo "ranks: PAF is the same over 1 to 3 ranks"
}

# refused STATUS WORDS ARGUMENTS...: it ends so, with these words, and leaves no output
refused() {
    local status=$1 words=$2 rc=0; shift 2
    "$ZEROHOP" "$@" > log 2>&1 < /dev/null || rc=$?
    [ $rc = $status ] || fail "exit status $rc, not $status: $*: $(cat log)"
    grep -qF -- "$words" log || fail "other words: $*: $(cat log)"
    [ -z "$(ls gone* 2> /dev/null)" ] || fail "something is left: $*: $(ls gone*)"
}

# Index files and their parameters
check_indexes() {
    local options name length reads=(repeats.1.fq repeats.2.fq)
    cp repeats.fa indexed.fa
    zerohop index -q indexed.fa -r 150
    ! grep -aq '"options"' indexed.fa.r150.zhi || fail "an index of defaults has other bytes than before"
    while read -r name options; do
        # not to be given with -P
        case $options in *noisy*) length=;; *) length='-r 150';; esac
        strobealign $length $options repeats.fa "${reads[@]}" > expected
        zerohop index -q --engine-args="$options -A 3 -N 4" -r 150 indexed.fa
        [ -e "indexed.fa.$name.zhi" ] || fail "$options: $(ls indexed.fa*)"
        mv indexed.fa elsewhere
        check_again "index file" "$options" -r 150 indexed.fa "${reads[@]}"
        check_again "index given" "$options" -r 150 "indexed.fa.$name.zhi" "${reads[@]}"
        mv elsewhere indexed.fa
        refused 1 "made with --engine-args '$options', not with strobealign's defaults" \
            align -q -r 150 -o gone.sam "indexed.fa.$name.zhi" "${reads[@]}"
        refused 1 "not with --engine-args '-k 30'" \
            align -q -r 150 --engine-args '-k 30' -o gone.sam "indexed.fa.$name.zhi" "${reads[@]}"
        # under the name of another
        cp "indexed.fa.$name.zhi" other.fa.r150.zhi
        cp indexed.fa other.fa
        refused 1 "made with --engine-args '$options', not with strobealign's defaults: make it anew" \
            align -q -r 150 -o gone.sam other.fa "${reads[@]}"
        rm indexed.fa.$name.zhi other.fa*
    done << 'END'
r150.k22 -k 22
r150.s14.l2.u6 -s 14 -l 2 -u 6
r150.m60.c12.aux-len10 -m 60 -c 12 --aux-len 10
r150.b10.f0.5 -b 10 -f 0.5
noisy -P noisy
noisy.k18 -P noisy -k 18
END
    refused 1 "made with strobealign's defaults, not with --engine-args '-k 30'" \
        align -q -r 150 --engine-args '-k 30' -o gone.sam indexed.fa.r150.zhi "${reads[@]}"
    # for reads of any length
    zerohop index -q --engine-args='-P noisy' indexed.fa
    strobealign -P noisy repeats.fa phix.1.fq > expected
    check_again "noisy, of longer reads" '-P noisy' indexed.fa.noisy.zhi phix.1.fq
    # built in memory where there is none, and written where it should be
    rm indexed.fa.*zhi
    strobealign -r 150 -k 18 repeats.fa "${reads[@]}" > expected
    check_again "no index file" '-k 18' -r 150 indexed.fa "${reads[@]}"
    [ -z "$(ls indexed.fa.*zhi 2> /dev/null)" ] || fail "an index was written"
    zerohop align -q --build-index -r 150 --engine-args '-k 18' indexed.fa "${reads[@]}" > own
    cmp <(lines own) <(lines expected) || fail "--build-index"
    [ "$(ls indexed.fa.*)" = indexed.fa.r150.k18.zhi ] || fail "--build-index: $(ls indexed.fa.*)"
    zerohop align -q --no-index -r 150 --engine-args '-k 18' indexed.fa "${reads[@]}" > own
    cmp <(lines own) <(lines expected) || fail "--no-index"
    refused 2 "-t cannot be given here" index --engine-args='-t 3' indexed.fa
    refused 2 "must be an even number" index --engine-args='-s 15' indexed.fa
    refused 2 "--engine-args: null takes no arguments" index --engine null --engine-args='-s 15' indexed.fa
    echo "indexes: named after their parameters, and used for no others"
}

check_refusals() {
    local words option options reads=(phix.fa phix.1.fq phix.2.fq)
    while IFS='|' read -r options words; do
        refused 2 "--engine-args: $words" align -o gone --engine-args="$options" "${reads[@]}"
    done << 'END'
-t 4|-t cannot be given here: use -t of zerohop
-o x|-o cannot be given here: use -o of zerohop
-p|-p cannot be given here: use -p of zerohop
-C|-C cannot be given here: use -C of zerohop
-r 100|-r cannot be given here: use -r of zerohop
--rg SM:x|--rg cannot be given here: use --rg of zerohop
--rg-id x|--rg-id cannot be given here: use --rg-id of zerohop
-v|-v cannot be given here: the summary
--no-progress|--no-progress cannot be given here: use -q of zerohop
-i|-i cannot be given here: use 'zerohop index'
--use-index|--use-index cannot be given here: an index file that is there is used
--chunk-size 5|--chunk-size cannot be given here: chunks have
--nonsense|'--nonsense' is not an option of strobealign
reads.fq|'reads.fq' is not an option of strobealign
-k 40|-k 40: it must be 8 to 31
-k 20 -k 21|-k is given twice
-s 15|(k - s) must be an even number
-l 5|w_min is greater than w_max
-m 3|max seed length must be between k and k + 255
--st 2|--st 2: it must be 0 to 1
-O 1 -E 2|invalid scoring scheme
-x --aemb|-x and --aemb cannot be given together
END
    while read -r options; do
        refused 2 "--engine-args: -x writes PAF" align --engine-args=-x $options "${reads[@]}"
        refused 2 "--engine-args: --aemb writes " align --engine-args=--aemb $options "${reads[@]}"
    done << 'END'
-o gone.sam
-o gone.bam
-o gone.cram
-o gone.paf.gz
-o gone --format bam
-o gone --sort
-o gone -R @RG\tID:x
-o gone --rg SM:x
-o gone -C
-o gone --mate-tags
-o gone --tags-to-reverse cd
END
    for option in --shards=2 '--order any' --durable --ranks=1 --resume --restart; do
        refused 2 "--aemb writes one table: it cannot be combined with" align --engine-args=--aemb -o gone $option \
            "${reads[@]}"
        grep -q -- "combined with .*${option%%[= ]*}" log || fail "$option: $(cat log)"
    done
    refused 2 "PAF is what strobealign writes with --engine-args=-x" align -o gone.paf "${reads[@]}"
    refused 2 "--aemb writes a table as text" align --engine-args=--aemb -o gone.paf "${reads[@]}"
    # files of another kind are not written over
    zerohop align -q "${reads[@]}" > there
    ! "$ZEROHOP" align -q --engine-args=-x -o there "${reads[@]}" > log 2>&1 || fail "PAF over SAM"
    grep -q 'does not hold PAF' log || fail "PAF over SAM: $(cat log)"
    "$ZEROHOP" align --help | tr -s ' \n' ' ' | grep -q "strobealign's -x" || fail "--help does not know -x"
    "$ZEROHOP" index --help | grep -q -- --engine-args || fail "'index --help' does not know --engine-args"
    echo "refusals: by name, and nothing is left"
}

for part in check_options check_option_pairs check_beside check_modes check_ranks check_indexes check_refusals; do
    [[ $part =~ ${PART-} ]] || continue
    start=$SECONDS
    $part
    [ -z "${TIMES-}" ] || echo "    $part: $((SECONDS - start)) s"
done
