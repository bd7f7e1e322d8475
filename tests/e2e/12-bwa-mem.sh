#!/bin/bash
# The embedded bwa mem: its records are those of the program bwa (0.7.17) with the same -K, for every read set, number
# of threads, size of cohorts and form of the input, single reads, pairs and interleaved ones; with each option; as BAM;
# over ranks, and when a run that was killed is finished. Its index is that of bwa where both have a file of the same
# form.
# LONG=1: every set, every number of threads with every size of cohorts, large cohorts, and any two options together.
# PART=REGEX: the parts whose name matches.
source "$(dirname "$0")/lib.sh"
command -v bwa > /dev/null || skip "no bwa here"
zerohop engines > "$WORK/engines.txt"
grep -q '^bwa-mem ' "$WORK/engines.txt" || skip "this zerohop was built without bwa-mem"

# The reference of a set with both indexes, as $WORK/indexed
index() {
    rm -f "$WORK"/indexed*
    gzip -cdf "$1" > "$WORK/indexed"
    bwa index "$WORK/indexed" 2> /dev/null
    for ending in pac ann amb; do mv "$WORK/indexed.$ending" "$WORK/of-bwa.$ending"; done
    zerohop index -q --engine bwa-mem "$WORK/indexed"
    for ending in pac ann amb; do
        cmp "$WORK/of-bwa.$ending" "$WORK/indexed.$ending" || fail "$1: .$ending is not that of bwa"
    done
}

# records FILE: without the header. A read of no bases has an empty SEQ in bwa, which SAM does not know.
records() { grep -v '^@' "$1" | sed 's/\t\t\*\t/\t*\t*\t/'; }

# check NAME 'OPTIONS OF BWA' 'OPTIONS OF ZEROHOP' READS...: both, with the same options
check() {
    local name=$1 options=$2 own=$3; shift 3
    runs=$((runs + 1))
    bwa mem -v 1 -t 2 $options "$WORK/indexed" "$@" > "$WORK/expected.sam" 2> "$WORK/bwa.stderr"
    check_again "$name" "${options/ -p/}" "$own" "$@"
}

# check_again NAME OPTIONS 'OPTIONS OF ZEROHOP' READS...: with what bwa wrote last
check_again() {
    local name=$1 options=$2 own=$3; shift 3
    zerohop align --engine bwa-mem "--engine-args=$options" $own "$WORK/indexed" "$@" > "$WORK/own.sam"
    cmp <(records "$WORK/own.sam") <(records "$WORK/expected.sam") || fail "$name: $options $own $*"
    cmp <(grep '^@SQ' "$WORK/own.sam") <(grep '^@SQ' "$WORK/expected.sam") || fail "$name: the header"
}

# Lines K THREADS
ways() {
    if [ -z "${LONG-}" ]; then echo 1000000 5; return; fi
    local bases threads
    for bases in 100000 1000000 10000000 100000000; do
        for threads in 1 2 5 16; do echo "$bases $threads"; done
    done
}

check_set() {
    local name=$1 reference=$2 first=$3 second=$4 bases bases_last threads runs=0
    if [ ! -f "$first" ]; then echo "$name: not here"; return; fi
    index "$reference"
    some_pairs 2500 "$WORK/some" "$first" "$second"
    mv "$WORK/some_1.fq" "$WORK/1.fq"; mv "$WORK/some_2.fq" "$WORK/2.fq"
    gzip -k "$WORK"/[12].fq
    paste -d '\n' <(paste - - - - < "$WORK/1.fq") <(paste - - - - < "$WORK/2.fq") | tr '\t' '\n' > "$WORK/both.fq"
    check "$name, fast" "-K 1000000 -m 10 -y 0" "-t 5" "$WORK/1.fq" "$WORK/2.fq"
    while read -r bases threads; do
        check "$name" "-K $bases" "-t $threads" "$WORK/1.fq" "$WORK/2.fq"
        bases_last=$bases
    done < <(ways)
    check_again "$name, gzip" "-K $bases_last" "-t 16" "$WORK/1.fq.gz" "$WORK/2.fq.gz"
    check "$name, single" "-K 10000000" "-t 2" "$WORK/1.fq"
    rm "$WORK"/[12].fq.gz
    [ -n "${LONG-}" ] || [ "$name" = ecoli_150 ] || [ "$name" = phix_301 ] || { echo "$name: the same"; return; }
    check "$name, interleaved" "-K 10000000 -p" "-t 2 -p" "$WORK/both.fq"
    check_again "$name, interleaved pipe" "-K 10000000" "-t 2 -p" <(cat "$WORK/both.fq")
    # the farm deals ahead of what workers may hold
    head -n 8000 "$WORK/both.fq" > "$WORK/few.fq"
    check "$name, each pair by itself" "-K 1 -p" "-t 2 -p" "$WORK/few.fq"
    check_again "$name, each pair by itself, pipe" "-K 1" "-t 6 -p" <(cat "$WORK/few.fq")
    echo "$name: $(records "$WORK/expected.sam" | wc -l) records, the same in $runs runs of bwa"
}

# Options, each with a value that changes records
options_of_bwa() {
    cat << 'OPTIONS'
-k 25
-w 20
-d 50
-r 1.0
-y 10
-c 50
-D 0.8
-W 30
-m 5
-S
-P
-S -P
-A 2
-B 6
-O 5,7
-E 2,1
-L 0
-U 5
-x intractg
-x pacbio
-x ont2d
-j
-5
-q
-T 60
-h 2,3
-a
-Y
-M
-I 400
-I 350,60,800,50
-s 5
-G 500
-N 3
-X 0.3
-Q 80
-5 -a -Y
-A 3 -T 50 -M
-d 0
-d 32767
-B 100
-O 254 -E 1
-E 200
OPTIONS
}

# Every option changes what both write in the same way.
check_options() {
    local runs=0 options
    some_pairs 700 "$WORK/few" "$WORK/1.fq" "$WORK/2.fq"
    while read -r options; do
        check options "-K 60000 $options" "-t 2" "$WORK/few_1.fq" "$WORK/few_2.fq"
    done < <(options_of_bwa)
    bwa mem -v 1 -K 200000 -R '@RG\tID:x\tSM:y' "$WORK/indexed" "$WORK/1.fq" "$WORK/2.fq" > "$WORK/expected.sam" \
        2> /dev/null
    check_again "read group" "-K 200000" '-t 2 -R @RG\tID:x\tSM:y' "$WORK/1.fq" "$WORK/2.fq"
    echo "options: the same in $runs runs of bwa"
}

# All shortcuts of the library: other records than bwa's, and said so; the same for all threads and pieces
check_unlike() {
    local threads
    own() {
        zerohop align --engine bwa-mem "--engine-args=-K 500000 $2" -t $1 "$WORK/indexed" "$WORK"/[12].fq
    }
    own 1 --fast-unlike-bwa > "$WORK/one.sam"
    grep -q "(bwa-mem 0.15.0, fast, unlike bwa)" "$WORK/zerohop.stderr" || fail "the summary says nothing"
    grep -q '^@PG.*DS:records unlike those of bwa mem' "$WORK/one.sam" || fail "nor the header"
    for threads in 2 5 16; do
        own $threads --fast-unlike-bwa > "$WORK/more.sam"
        cmp <(records "$WORK/one.sam") <(records "$WORK/more.sam") || fail "$threads threads: other records"
    done
    own 2 "" > "$WORK/own.sam"
    ! cmp -s <(records "$WORK/one.sam") <(records "$WORK/own.sam") || fail "there are no shortcuts"
    ! "$ZEROHOP" align -q --engine bwa-mem --engine-args=--fast "$WORK/indexed" "$WORK/1.fq" > "$WORK/own.sam" \
        2> "$WORK/refused" || fail "--fast is taken"
    grep -q -- "--fast of bwa-mem3 is --fast-unlike-bwa here" "$WORK/refused" || fail "$(cat "$WORK/refused")"
    echo "shortcuts: the same records with 1, 2, 5 and 16 threads"
}

# Any two options together: those of the list of which no letter is in both. (LONG=1)
check_option_pairs() {
    [ -n "${LONG-}" ] || return 0
    local runs=0 one other mate all
    mapfile -t all < <(options_of_bwa)
    for mate in 1 2; do head -n 2000 "$WORK/$mate.fq" > "$WORK/few.$mate.fq"; done
    for one in "${!all[@]}"; do
        for ((other = one + 1; other < ${#all[@]}; other++)); do
            share_a_letter "${all[one]}" "${all[other]}" ||
                check "two options" "-K 50000 ${all[one]} ${all[other]}" "-t 2" "$WORK/few.1.fq" "$WORK/few.2.fq"
        done
    done
    echo "two options: the same in $runs runs of bwa"
}

share_a_letter() {
    [ -n "$(comm -12 <(grep -oE -- '-[a-zA-Z5]( |$)' <<< "$1" | tr -d ' ' | sort) \
        <(grep -oE -- '-[a-zA-Z5]( |$)' <<< "$2" | tr -d ' ' | sort))" ]
}

# BAM is what samtools makes of bwa's records
check_bam() {
    zerohop align --engine bwa-mem --engine-args='-K 200000' -t 2 -o "$WORK/own.bam" "$WORK/indexed" "$WORK/1.fq" \
        "$WORK/2.fq"
    bwa mem -v 1 -K 200000 "$WORK/indexed" "$WORK/1.fq" "$WORK/2.fq" 2> /dev/null | samtools view --no-PG -b - > \
        "$WORK/expected.bam"
    cmp <(samtools view "$WORK/own.bam") <(samtools view "$WORK/expected.bam") || fail "BAM"
    echo "bam: as samtools makes it"
}

# Pages of the size that was asked for, though the library asks for huge ones by itself
check_pages() {
    local enabled pages huge
    enabled=$(cat /sys/kernel/mm/transparent_hugepage/enabled 2> /dev/null || true)
    [[ $enabled =~ \[(always|madvise)\] ]] || { skip_part "this system gives no huge pages"; return; }
    for pages in auto off; do
        zerohop align --engine bwa-mem --huge-pages $pages -t 2 --json "$WORK/run.json" -o "$WORK/own.sam" \
            "$WORK/indexed" "$WORK/1.fq"
        huge=$(python3 -c 'import json, sys; print(sum(copy["census"]["huge"]
            for copy in json.load(open(sys.argv[1]))["replicas"]))' "$WORK/run.json")
        case $pages in
            auto) [ "$huge" -gt 0 ] || { skip_part "no huge page could be had"; return; };;
            off) [ "$huge" = 0 ] || fail "--huge-pages off: $huge bytes";;
        esac
    done
    echo "pages: huge or not, as asked for"
}

# Over ranks, which are granted parts of cohorts: each does whole ones. From files that are read by parts, and from such
# that are read from front to back.
check_ranks() {
    command -v mpirun.openmpi > /dev/null || { skip_part "no OpenMPI here"; return; }
    local n input options=(--engine bwa-mem "--engine-args=-K 1200000" -q)
    zerohop mpi --compiler mpicc.openmpi -o "$WORK/mpi.so" > /dev/null
    export ZEROHOP_MPI="$WORK/mpi.so"
    for n in 1 2; do gzip -cd "$DATA/ecoli/ecoli_150_$n.fq.gz" > "$WORK/$n.fq"; done
    paste -d '\n' <(paste - - - - < "$WORK/1.fq") <(paste - - - - < "$WORK/2.fq") | tr '\t' '\n' > "$WORK/both.fq"
    bwa mem -v 1 -t 2 -K 1200000 "$WORK/indexed" "$WORK/1.fq" "$WORK/2.fq" 2> /dev/null > "$WORK/expected.sam"
    while read -r n input; do
        input=${input//@/$WORK/}
        timeout -k 5 300 mpirun.openmpi --allow-run-as-root --oversubscribe -n $n "$ZEROHOP" align --ranks=$n \
            "${options[@]}" -t 2 -o "$WORK/ranks.sam" "$WORK/indexed" $input > "$WORK/log" 2>&1 < /dev/null ||
            { cat "$WORK/log" >&2; fail "$n ranks, $input"; }
        cmp <(records "$WORK/ranks.sam") <(records "$WORK/expected.sam") || fail "$n ranks, $input: other records"
    done << END
1 @1.fq @2.fq
2 $DATA/ecoli/ecoli_150_1.fq.gz $DATA/ecoli/ecoli_150_2.fq.gz
3 @1.fq @2.fq
3 -p @both.fq
4 @1.fq @2.fq
END
    # killed, and finished by the same command
    local job tries=0 lane
    for n in 1 2; do for lane in {1..5}; do cat "$WORK/$n.fq"; done > "$WORK/long.$n.fq"; done
    options+=("$WORK/indexed" "$WORK/long.1.fq" "$WORK/long.2.fq")
    zerohop align -t 2 -o "$WORK/expected.sam" "${options[@]}"
    options+=(-t 1 --durable -o "$WORK/durable.sam")
    "$ZEROHOP" align "${options[@]}" & job=$!
    while [ -e "/proc/$job" ] && [ $((tries += 1)) -lt 600 ] &&
        ! grep -qs batch "$WORK"/durable.sam.progress/*.jsonl; do sleep 0.05; done
    kill -KILL $job 2> /dev/null || true
    wait $job 2> /dev/null || true
    [ ! -e "$WORK/durable.sam" ] || echo "it was too fast to be killed"
    zerohop align "${options[@]}"
    cmp <(records "$WORK/durable.sam") <(records "$WORK/expected.sam") || fail "a run that was killed: other records"
    # streams of several grains, whose cohorts go on into the next one
    for n in 1 2; do gzip -1 -c "$WORK/long.$n.fq" > "$WORK/long.$n.gz"; done
    timeout 200 "$ZEROHOP" align --engine bwa-mem "--engine-args=-K 2200000" -q -t 2 --durable -o "$WORK/durable.sam" \
        "$WORK/indexed" "$WORK/long.1.gz" "$WORK/long.2.gz" || fail "streams with --durable: exit status $?"
    zerohop align --engine bwa-mem "--engine-args=-K 2200000" -t 2 -o "$WORK/expected.sam" "$WORK/indexed" \
        "$WORK/long.1.gz" "$WORK/long.2.gz"
    cmp <(records "$WORK/durable.sam") <(records "$WORK/expected.sam") || fail "streams with --durable: other records"
    echo "ranks: 1 to 4 give the records of bwa, and a run that was killed is finished"
}

# A cohort of more reads than a rank holds while others are behind, or one process with --durable; of N, which is quick
check_large_cohorts() {
    local input
    python3 -c '
bases, qualities = "N" * 10_000, "#" * 10_000
for n in range(7_000):
    print(f"@n{n}\n{bases}\n+\n{qualities}")' > "$WORK/large.fq"
    cat "$WORK/1.fq" >> "$WORK/large.fq"
    gzip -1 -c "$WORK/large.fq" > "$WORK/large.fq.gz"
    bwa mem -v 1 -t 2 -K 100000000 "$WORK/indexed" "$WORK/large.fq" 2> /dev/null > "$WORK/expected.sam"
    for input in large.fq large.fq.gz; do
        timeout 300 "$ZEROHOP" align --engine bwa-mem "--engine-args=-K 100000000" -q -t 2 --durable \
            -o "$WORK/own.sam" "$WORK/indexed" "$WORK/$input" || fail "$input: exit status $?"
        cmp <(records "$WORK/own.sam") <(records "$WORK/expected.sam") || fail "$input: other records"
    done
    rm "$WORK"/large.fq* "$WORK/own.sam"
    echo "large cohorts: the records of bwa"
}

# What the library does by itself reaches nobody: words, variables of the environment, indexes in shared memory, and an
# end of the process without a word where memory is short.
check_library() {
    local options=(--engine bwa-mem "--engine-args=-K 200000" -t 2 -q) rc limit name ended=0
    bwa mem -v 1 -t 2 -K 200000 "$WORK/indexed" "$WORK/1.fq" "$WORK/2.fq" > "$WORK/expected.sam" 2> /dev/null
    for name in BWA3_LOAD_THREADS BWA3_SMEM_LOCKSTEP_N BWA3_SA_LANES BWAMEM3_DEDUP BWAMEM3_DUMP_PAIRS \
        BWA3_CHAIN_STATS; do
        env "$name=/nowhere/x" "$ZEROHOP" align "${options[@]}" -o "$WORK/own.sam" "$WORK/indexed" "$WORK/1.fq" \
            "$WORK/2.fq" 2> "$WORK/stderr" || fail "with the variable $name: $(cat "$WORK/stderr")"
        [ ! -s "$WORK/stderr" ] || fail "words of the library, with $name: $(cat "$WORK/stderr")"
        cmp <(records "$WORK/own.sam") <(records "$WORK/expected.sam") || fail "other records with $name"
    done
    # reads of another genome, with which the library has something to say
    cp "$DATA/phix/phix.fasta" "$WORK/phix"
    zerohop index -q --engine bwa-mem "$WORK/phix"
    "$ZEROHOP" align "${options[@]}" -o "$WORK/own.sam" "$WORK/phix" "$DATA/ecoli/ecoli_150_1.fq.gz" \
        "$DATA/ecoli/ecoli_150_2.fq.gz" 2> "$WORK/stderr" || fail "reads of another genome: $(cat "$WORK/stderr")"
    [ "$(cat "$WORK/stderr")" = "note: No read was aligned: is $WORK/phix their reference?" ] ||
        fail "words of the library: $(head -n 3 "$WORK/stderr")"
    # libraries for threads look for these before the program begins; none is linked
    ! ldd "$ZEROHOP" | grep 'gomp\|libomp' || fail "a library of OpenMP is linked"
    for name in A=B OMP_PROC_BIND=true OMP_PLACES=cores; do
        env $name "$ZEROHOP" topo --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["allowed"])'
    done > "$WORK/allowed"
    [ "$(uniq "$WORK/allowed" | wc -l)" = 1 ] || fail "with variables of OpenMP: $(cat "$WORK/allowed")"
    in_shared_memory
    # with less and less memory
    for limit in $(seq 120000 20000 420000) 3000000; do
        rc=0
        (ulimit -v $limit; exec "$ZEROHOP" align "${options[@]}" -o "$WORK/small.sam" "$WORK/indexed" \
            "$WORK/1.fq" "$WORK/2.fq") 2> "$WORK/stderr" || rc=$?
        case $rc in
            0) cmp <(records "$WORK/small.sam") <(records "$WORK/expected.sam") || fail "$limit KiB: other records"
                rm "$WORK/small.sam";;
            1) ended=$((ended + 1))
                tail -n 1 "$WORK/stderr" | grep -q '^error: ' || fail "$limit KiB: $(cat "$WORK/stderr")"
                [ -z "$(ls "$WORK"/small.sam* 2> /dev/null)" ] || fail "$limit KiB: something is left";;
            *) fail "$limit KiB of memory: exit status $rc: $(cat "$WORK/stderr")";;
        esac
    done
    [ $ended -gt 3 ] || fail "there was always enough memory"
    echo "library: nothing of it is seen; $ended ends for want of memory, each with words"
}

# bwa has put an index of the same name, and another reference, into a shared memory of our own
in_shared_memory() {
    unshare -m true 2> /dev/null || { skip_part "no namespace for shared memory of our own"; return; }
    mkdir -p "$WORK/other"
    head -c 100000 "$WORK/indexed" > "$WORK/other/indexed"
    bwa index "$WORK/other/indexed" 2> /dev/null
    unshare -m bash -c 'mount -t tmpfs tmpfs /dev/shm && bwa shm "$0/other/indexed" 2> /dev/null && bwa shm -l &&
        exec "$ZEROHOP" align --engine bwa-mem "--engine-args=-K 200000" -q -t 2 -o "$0/own.sam" "$0/indexed" \
        "$0/1.fq" "$0/2.fq"' "$WORK" > "$WORK/log" 2>&1 || fail "with shared memory: $(cat "$WORK/log")"
    grep -q '^indexed' "$WORK/log" || fail "there is no index in shared memory: $(cat "$WORK/log")"
    cmp <(records "$WORK/own.sam") <(records "$WORK/expected.sam") || fail "shared memory: other records"
}

# Comments of contigs and reads, and ALT contigs
check_contigs() {
    local runs=0
    rm -f "$WORK"/indexed*
    python3 - "$WORK" <<'END'
import random, sys
random.seed(5)
folder = sys.argv[1]
letters = lambda n: ''.join(random.choice('ACGT') for _ in range(n))
chromosome = letters(60_000)
alternate = chromosome[20_000:24_000] + letters(200) + chromosome[24_000:28_000]
other = letters(20_000)
iupac = ''.join(random.choice('RYKMN') if random.random() < 0.02 else base for base in letters(20_000))
contigs = [('chr1', ' the\tfirst  one', chromosome), ('chr1_alt', '', alternate), ('chr2', ' x', other),
    ('iupac', ' letters', iupac)]
with open(f'{folder}/indexed', 'w') as out:
    for name, comment, bases in contigs: out.write(f'>{name}{comment}\n{bases}\n')
with open(f'{folder}/indexed.alt', 'w') as out:
    out.write('@SQ\tSN:chr1\tLN:60000\nchr1_alt\t0\tchr1\t20001\t60\t4000M200I4000M\t*\t0\t0\t*\t*\n')
flip = str.maketrans('ACGTRYKMN', 'TGCAYRMKN')
def mutated(read): return ''.join(random.choice('ACGTN') if random.random() < 0.02 else base for base in read)
with open(f'{folder}/1.fq', 'w') as one, open(f'{folder}/2.fq', 'w') as two:
    for i in range(4000):
        bases = random.choice(contigs)[2]
        # the first bases of the first contig, the last of the last, and anything between; also of one base
        at = random.choice((0, 1, random.randrange(len(bases))))
        insert = random.randrange(150, 500)
        piece = bases[at:at + insert]
        length = random.choice((1, 2, 18, 19, 20, 50, 100, 150, 151))
        first, second = mutated(piece[:length]), mutated(piece[::-1].translate(flip)[:random.choice((length, 120))])
        for out, read in ((one, first), (two, second)):
            read = read or 'A'
            out.write(f'@r{i} BC:Z:AC{i}\n{read}\n+\n{"I" * len(read)}\n')
# single reads of up to 10,000 bases
with open(f'{folder}/long.fq', 'w') as out:
    for i, length in enumerate([200, 500, 1000, 2000, 3000, 5000, 7000, 10_000] * 12):
        at = random.choice((0, random.randrange(60_000 - length)))
        read = mutated(chromosome[at:at + length])
        if i % 3 == 0: read = read[::-1].translate(flip)
        out.write(f'@l{i}\n{read}\n+\n{"I" * len(read)}\n')
END
    bwa index "$WORK/indexed" 2> /dev/null
    zerohop index -q --engine bwa-mem "$WORK/indexed"
    check "ALT contigs" "-K 100000" "-t 2" "$WORK/1.fq" "$WORK/2.fq"
    grep -q $'^@SQ.*SN:chr1_alt.*AH:\*' "$WORK/own.sam" || fail "no AH in the header: $(head -n 4 "$WORK/own.sam")"
    grep -q $'\tpa:f:' "$WORK/own.sam" || fail "no record has pa"
    [ "$(head -n 1 "$WORK/own.sam")" = $'@HD\tVN:1.6\tSO:unsorted\tGO:query' ] ||
        fail "@HD: $(head -n 1 "$WORK/own.sam")"
    check "ALT contigs, not counted" "-K 100000 -j" "-t 2" "$WORK/1.fq" "$WORK/2.fq"
    check "comments of contigs" "-K 100000 -V" "-t 2" "$WORK/1.fq" "$WORK/2.fq"
    bwa mem -v 1 -K 100000 -V -C "$WORK/indexed" "$WORK/1.fq" "$WORK/2.fq" 2> /dev/null > "$WORK/expected.sam"
    check_again "comments of contigs and reads" "-K 100000 -V" "-t 2 -C" "$WORK/1.fq" "$WORK/2.fq"
    check "single reads of 1 to 151 bases" "-K 100000" "-t 2" "$WORK/2.fq"
    # names that end in a slash and a digit, once or twice, in FASTQ and FASTA
    awk 'NR % 4 == 1 { n = (NR - 1) / 4; $1 = $1 "/" n % 10 (n % 3 ? "" : "/" 1 + n % 2) } { print }' "$WORK/1.fq" \
        > "$WORK/digits.fq"
    awk 'NR % 4 == 1 { print ">" substr($0, 2) } NR % 4 == 2' "$WORK/digits.fq" > "$WORK/digits.fa"
    check "names with digits" "-K 100000" "-t 2" "$WORK/digits.fq"
    check "names with digits in FASTA" "-K 100000" "-t 2" "$WORK/digits.fa"
    check "long reads" "-K 100000" "-t 2" "$WORK/long.fq"
    check "long reads, pacbio" "-K 100000 -x pacbio" "-t 2" "$WORK/long.fq"
    check "long reads, ont2d" "-K 100000 -x ont2d" "-t 2" "$WORK/long.fq"
    echo "contigs: the same in $runs runs of bwa"
}

check_sets() {
    local name reference first second
    while read -r name reference first second; do
        # the index of a larger genome takes longer than all else
        [ -z "${LONG-}" ] && [ "$name" = human_148 ] || check_set "$name" "$reference" "$first" "$second"
    done < <(read_sets)
}

# The index of E. coli, and the reads of most parts
ecoli() {
    index "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz"
    local mate
    for mate in 1 2; do head -n 8000 < <(gzip -cd "$DATA/ecoli/ecoli_150_$mate.fq.gz") > "$WORK/$mate.fq"; done
}

for part in check_sets ecoli check_options check_unlike check_option_pairs check_bam check_pages check_library \
    check_ranks ${LONG:+check_large_cohorts} check_contigs; do
    [ $part = ecoli ] || [[ $part =~ ${PART-} ]] || continue
    start=$SECONDS
    $part
    [ -z "${TIMES-}" ] || echo "    $part: $((SECONDS - start)) s"
done
