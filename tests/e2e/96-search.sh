#!/bin/bash
# zerohop search: parts of a database give what one search of the whole gives, on one machine and over ranks of
# OpenMPI and MPICH; every form of the output is that of the program; the laboratory's variants of the exchange give
# the same over both; searches are recorded and replayed; what is interrupted is gone on with; what is killed leaves
# nothing; a launcher without the library, another job and damaged databases are refused. LONG=1: the larger proteins of
# ZEROHOP_DATA, more numbers of parts and of ranks, and both MPIs.
source "$(dirname "$0")/lib.sh"
cd "$WORK"
command -v diamond > /dev/null || skip "diamond is not on the PATH"
protein=${LONG:+${ZEROHOP_DATA:+$ZEROHOP_DATA/protein}}
if [ -n "$protein" ]; then
    awk '/^>/ { n++ } n <= 250' "$protein/ecoli_K12_MG1655.faa" > q.fa
    cat "$protein/prokka_Archaea_sprot.faa" "$protein/prokka_Mitochondria_sprot.faa" > db.fa
else
    cp "$DATA/protein/queries.faa" q.fa
    cp "$DATA/protein/subjects.faa" db.fa
fi
# whole PROGRAM OUT: one search of the whole database, by the program itself
whole() {
    case $1 in
        diamond)
            diamond makedb --quiet --in db.fa -d whole
            steady diamond blastp --no-ranking --quiet -d whole -q q.fa -p 2 -o "$2";;
        blastp)
            makeblastdb -in db.fa -dbtype prot -out wholeb > /dev/null
            blastp -db wholeb -query q.fa -num_threads 2 -outfmt 6 -out "$2";;
    esac
}
# launchers: NAME COMPILER MPIRUN...
mpis() {
    command -v mpirun.openmpi > /dev/null &&
        echo "openmpi mpicc.openmpi mpirun.openmpi --allow-run-as-root --oversubscribe"
    command -v mpirun.mpich > /dev/null && echo "mpich mpicc.mpich mpirun.mpich"
    return 0
}

parts() {
    whole diamond whole.tsv
    [ -s whole.tsv ] || fail "diamond finds nothing"
    for parts in 1 4 ${LONG:+2 8}; do
        zerohop db build -q --engine diamond --partitions $parts -o d$parts db.fa > /dev/null
        zerohop search -q -t 2 --db d$parts -o d$parts.tsv --batch-queries 40 q.fa
        cmp whole.tsv d$parts.tsv || fail "diamond, $parts parts: other results"
    done
    zerohop search -q -t 2 --db d4 q.fa > standard.tsv
    cmp whole.tsv standard.tsv || fail "standard output"
    [ ! -e d4.tsv.progress ] || fail "progress is left"
    command -v blastp > /dev/null || { skip_part "blastp is not on the PATH"; return 0; }
    awk '/^>/ { n++ } n <= 40' q.fa > few.fa && mv q.fa all.fa && mv few.fa q.fa
    whole blastp wholeb.tsv
    for parts in 1 4; do
        zerohop db build -q --engine blastp --partitions $parts -o b$parts db.fa > /dev/null
        zerohop search -q -t 2 --db b$parts -o b$parts.tsv --batch-queries 15 q.fa
        cmp wholeb.tsv b$parts.tsv || fail "blastp, $parts parts: other results"
    done
    mv all.fa q.fa
}

# Hits that print the same E-value stand in diamond's order, far below the smallest that a double holds in full; and
# no subject is lost that diamond gives up on by its ranking: one search of the whole is without it, too.
close() {
    zcat "$DATA/protein/transporters.faa.gz" | cat "$DATA/protein/close.faa" - > near.fa
    awk '/^>/ { is_it = $1 == ">NP_415286.1" } is_it' near.fa > transporter.fa
    diamond makedb --quiet --in near.fa -d near
    local parts queries mode
    for parts in 1 4; do
        zerohop db build -q --engine diamond --partitions $parts -o n$parts near.fa > /dev/null
        while read -r queries mode; do
            steady diamond blastp --quiet --no-ranking -d near -q "$queries" $mode -o near.tsv
            zerohop search -q -t 2 --db n$parts ${mode:+--engine-args "$mode"} -o close.tsv "$queries"
            cmp near.tsv close.tsv || fail "$queries $mode, $parts parts: other results"
        done <<END
$DATA/protein/close.faa
transporter.fa --sensitive
END
    done
    steady diamond blastp --quiet -d near -q transporter.fa --sensitive -o ranked.tsv
    ! cmp -s near.tsv ranked.tsv || fail "the ranking loses nothing here: other proteins are needed"
    rc=0; "$ZEROHOP" search --db n4 --engine-args '--max-hsps 0' transporter.fa 2> stderr || rc=$?
    [ $rc = 2 ] && grep -q -- "--max-hsps 0 cannot be given to diamond" stderr || fail "$rc $(cat stderr)"
}

# without what a program and zerohop each write of their own command line and database
own() { sed -E 's/\tCL:.*//; s/^# (Invocation|Database): .*//' "$1"; }

formats() {
    awk '/^>/ { n++ } n <= 20' q.fa > some.fa
    printf '>nothing at all\nMWMWMWPGPGPCHCHCYW\n' >> some.fa
    gzip -k some.fa && gzip -k db.fa
    diamond makedb --quiet --in db.fa -d whole
    zerohop db build -q --engine diamond --partitions 3 -o f3 db.fa.gz > /dev/null
    local name options program
    while read -r name options; do
        steady diamond blastp --no-ranking --quiet -d whole -q some.fa -p 2 $options > whole.out
        zerohop search -q -t 2 --db f3 --format $name --batch-queries 8 -o parts.out some.fa.gz
        cmp <(own whole.out) <(own parts.out) || fail "diamond, $name: another output"
    done <<END
headed -f 6 --header simple
commented -f 6 --header verbose
sam -f 101
pairwise -f 0
END
    zerohop search -q -t 2 --db f3 - < some.fa.gz > standard.tsv
    zerohop search -q -t 2 --db f3 some.fa > file.tsv
    cmp file.tsv standard.tsv || fail "queries from standard input"
    over_ranks f3 sam
    head -c 2000 some.fa.gz > cut.fa.gz
    rc=0; "$ZEROHOP" search -q --db f3 -o never.tsv cut.fa.gz 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "cut.fa.gz cannot be read" stderr && [ ! -e never.tsv ] || fail "$rc $(cat stderr)"
    rc=0; "$ZEROHOP" search -q --db f3 --format xml some.fa 2> stderr || rc=$?
    [ $rc = 2 ] && grep -q "'xml' is not to be had" stderr || fail "$rc $(cat stderr)"
    rc=0; "$ZEROHOP" search -q --db f3 --resume -o never.tsv - < some.fa 2> stderr || rc=$?
    [ $rc = 2 ] && grep -q "must be in a regular file" stderr || fail "$rc $(cat stderr)"
    command -v blastp > /dev/null || { skip_part "blastp is not on the PATH"; return 0; }
    makeblastdb -in db.fa -dbtype prot -out wholeb > /dev/null
    zerohop db build -q --engine blastp --partitions 3 -o g3 db.fa > /dev/null
    while read -r name options; do
        blastp -db wholeb -query some.fa -num_threads 2 -evalue 1e-3 $options > whole.out
        zerohop search -q -t 2 --db g3 --format $name --engine-args '-evalue 1e-3' --batch-queries 8 -o parts.out \
            some.fa
        cmp <(own whole.out) <(own parts.out) || fail "blastp, $name: another output"
    done <<END
commented -outfmt 7
csv -outfmt 10
END
    grep -q "^# Database: g3$" <(zerohop search -q -t 2 --db g3 --format commented some.fa) ||
        fail "comments do not name the database"
    over_ranks g3 commented
}

# What a program alone completes is completed; what it cannot do is told before the first search, with file and record.
queries() {
    local proteins="$DATA/protein" bad
    zerohop db build -q --engine diamond --partitions 2 -o small "$proteins/subjects.faa" > /dev/null
    # the letters ACGTN alone in a batch: diamond looks at the first ten of all queries
    { cat "$proteins/queries.faa"; printf '>bases\nACGTNACGTNGGGAAATTTCCC\n'; } > mixed.fa
    diamond makedb --quiet --in "$proteins/subjects.faa" -d small-whole
    steady diamond blastp --quiet --no-ranking -d small-whole -q mixed.fa -o mixed.whole
    zerohop search -q --db small --batch-queries 20 -o mixed.tsv mixed.fa
    cmp mixed.whole mixed.tsv || fail "a batch of bases alone: other results"
    for bad in '>bases\nACGTN\n|2|all queries have the letters A, C, G, T and N alone' \
        '>a\nMKV\n>b\n\n|1|bad.fa, record 2, byte 7: b has no letters' \
        ">a\\nMKV\\n>b\\nMK.V\\n|1|bad.fa, record 2, byte 7: the sequence of b has '.', which diamond refuses" \
        '>a\nMKV\n> b\nMKV\n|1|bad.fa, record 2, byte 7: the record has no name'; do
        printf "${bad%%|*}" > bad.fa
        refused "$(cut -d '|' -f 2 <<< "$bad")" "${bad##*|}" search --db small --batch-queries 1 -o unchecked.tsv bad.fa
        [ ! -e unchecked.tsv.progress ] || fail "searched before its queries were checked: $bad"
    done
    printf '>bases\nACGTN\n' | \
        refused 1 "standard input: all queries have the letters A, C, G, T and N alone" search --db small -
    printf '>bases\nACGTN\n' | zerohop search -q --db small --engine-args --ignore-warnings -
    command -v blastp > /dev/null || { skip_part "blastp is not on the PATH"; return 0; }
    zerohop db build -q --engine blastp --partitions 2 -o smallb "$proteins/subjects.faa" > /dev/null
    { head -n 8 "$proteins/queries.faa"; printf '>M\303\274ller\nMKV\n'; } > bad.fa
    refused 1 "bad.fa, record $(grep -c '>' bad.fa), byte" search --db smallb -o never.tsv bad.fa
    grep -q "the name Müller is not ASCII" stderr || fail "$(cat stderr)"
    # a title is no name; what BLAST warns of is told once, although both parts warn
    { awk '/^>/ { n++; $0 = $0 " M\303\274ller" } n <= 3' "$proteins/queries.faa"
        printf '>digits\nMKV1234LLAGGHHKKLL\n'; } > titles.fa
    makeblastdb -in "$proteins/subjects.faa" -dbtype prot -out smallb-whole > /dev/null
    blastp -db smallb-whole -query titles.fa -evalue 1e-3 -outfmt 7 > titles.whole 2> /dev/null
    "$ZEROHOP" search --db smallb --engine-args '-evalue 1e-3' --format commented -o titles.out titles.fa 2> stderr
    cmp <(own titles.whole) <(own titles.out) || fail "titles that are not ASCII"
    [ "$(grep -c "^note: blastp: FASTA-Reader: Ignoring invalid residues" stderr)" = 1 ] \
        || fail "BLAST's warning: $(cat stderr)"
    [ "$(grep -c "^note: " stderr)" = 1 ] || fail "$(cat stderr)"
}

# refused STATUS WORDS ARGUMENTS: zerohop ends so, and says so
refused() {
    local wanted=$1 words=$2 rc=0
    shift 2
    "$ZEROHOP" "$@" > /dev/null 2> stderr || rc=$?
    [ $rc = "$wanted" ] && grep -qF -- "$words" stderr || fail "$rc instead of $wanted, '$words': $* $(cat stderr)"
}

# Queries that can be read once only: all of them are searched, and what was found for others is not gone on with.
streams() {
    local proteins="$DATA/protein"
    [ -e small ] || zerohop db build -q --engine diamond --partitions 2 -o small "$proteins/subjects.faa" > /dev/null
    zerohop search -q --db small -o file.tsv "$proteins/queries.faa"
    zerohop search -q --db small -o named.tsv <(cat "$proteins/queries.faa")
    cmp file.tsv named.tsv || fail "a pipe that has a name"
    { cat "$proteins/close.faa"; printf '> no name\nMKV\n'; } |
        refused 1 "standard input, record 11" search --db small --batch-queries 3 -o once.tsv -
    [ -s once.tsv.progress/rank-0.jsonl ] || fail "no batch was finished: $(cat stderr)"
    rc=0; "$ZEROHOP" search -q --db small --batch-queries 3 -o once.tsv "$proteins/queries.faa" 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "another job (the queries: a stream then" stderr || fail "$rc $(cat stderr)"
    zerohop search -q --db small --batch-queries 3 -o once.tsv - < <(head -n 60 "$proteins/queries.faa")
    zerohop search -q --db small --batch-queries 3 -o file.tsv <(head -n 60 "$proteins/queries.faa")
    cmp file.tsv once.tsv || fail "results of another stream"
    [ ! -e once.tsv.progress ] || fail "progress is left"
}

# until_ended PID: waits until a process has ended; whoever should wait for it may not
until_ended() {
    local i
    for i in $(seq 200); do
        [[ $(cat "/proc/$1/stat" 2> /dev/null) == *") "[!Z]* ]] || return 0
        sleep 0.05
    done
    kill -KILL "$1"
    return 1
}

# What zerohop has started ends with it, also if that is a script with a child, and nothing is left of a database.
killed() {
    local proteins="$DATA/protein" arguments pid i
    [ -e small ] || zerohop db build -q --engine diamond --partitions 2 -o small "$proteins/subjects.faa" > /dev/null
    mkdir -p script making
    cat > script/diamond <<END
#!/bin/bash
[[ \$1 =~ makedb|blastp ]] || exec $(command -v diamond) "\$@"
sleep 1000 &
echo \$! > "$WORK/sleeper.new" && mv "$WORK/sleeper.new" "$WORK/sleeper"
wait
END
    chmod +x script/diamond
    for arguments in "db build -q --engine diamond -o making/db small.fa" "search -q --db small small.fa"; do
        rm -f sleeper
        cp "$proteins/close.faa" small.fa
        PATH="$PWD/script:$PATH" "$ZEROHOP" $arguments > /dev/null 2>&1 & pid=$!
        for i in $(seq 400); do [ ! -e sleeper ] || break; sleep 0.05; done
        kill -KILL $pid
        wait $pid 2> /dev/null || true
        until_ended "$(cat sleeper)" || fail "a child of a program goes on: $arguments"
    done
    for i in $(seq 100); do [ -n "$(ls -A making)" ] || break; sleep 0.05; done
    [ -z "$(ls -A making)" ] || fail "something is left of a database: $(ls -A making)"
}

# A program that works without an end is ended at --hang-limit, also in one process; a database of many names needs
# little memory.
limits() {
    local proteins="$DATA/protein"
    [ -e small ] || zerohop db build -q --engine diamond --partitions 2 -o small "$proteins/subjects.faa" > /dev/null
    mkdir -p endless
    printf '#!/bin/bash\n[ "$1" != blastp ] || while :; do :; done\nexec %s "$@"\n' \
        "$(command -v diamond)" > endless/diamond
    chmod +x endless/diamond
    rc=0
    PATH="$PWD/endless:$PATH" timeout -k 5 60 "$ZEROHOP" search -q --hang-limit 2 --db small -o endless.tsv \
        "$proteins/queries.faa" 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "diamond has not ended after 2 s, the limit of --hang-limit" stderr \
        || fail "$rc $(cat stderr)"
    python3 - "$ZEROHOP" <<'PY' || fail "names need too much memory"
import resource, subprocess, sys
with open('names.fa', 'w') as fasta:
    fasta.writelines(f'>n{number}\nM\n' for number in range(1, 2_500_001))
    fasta.write('>n17\nM\n')
command = [sys.argv[1], 'db', 'build', '-q', '--engine', 'diamond', '-o', 'names', 'names.fa']
run = subprocess.run(command, stderr=subprocess.PIPE, text=True)
assert run.returncode == 1 and 'records 17 and 2500001 are both named n17' in run.stderr, run
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
assert most < 80, f'{most} MiB'
PY
    rm names.fa
}

# over_ranks DATABASE FORMAT: ranks give what one process gives
over_ranks() {
    local name compiler launch
    read -r name compiler launch < <(some_mpis) || return 0
    [ -e "$name.so" ] || zerohop mpi --compiler "$compiler" -o "$WORK/$name.so" > /dev/null
    zerohop search -q -t 2 --db $1 --format $2 --batch-queries 8 -o one.out some.fa
    timeout -k 5 200 $launch -n 3 "$ZEROHOP" search --ranks -q -t 1 --mpi "$WORK/$name.so" --db $1 --format $2 \
        --batch-queries 8 -o ranks.out some.fa \
        > log 2>&1 < /dev/null || { cat log >&2; fail "$name, $2"; }
    cmp one.out ranks.out || fail "$name, $2: another output over ranks"
}

pilot() {
    awk '/^>/ { n++ } n <= 3' q.fa > sample.fa
    zerohop db build -q --engine diamond --partitions 2 --pilot sample.fa -t 1 -o p2 db.fa > said
    grep -q "^pilot: parts of equal letters take" said || fail "$(cat said)"
    zerohop db check p2
    python3 - <<'END' || fail "the pilot in the manifest"
import json
manifest = json.load(open('p2/manifest.json'))
trial = manifest['pilot']['trial']
assert len(trial['equal']) == 2 and manifest['pilot']['threads'] == 1, trial
assert (trial['outcome'] == 'moved') == (len(trial['measured']) == 2), trial
END
}

transports() {
    (cd "$DATA/../.." && cargo build -q --locked --workspace --example ranks --example variants) ||
        fail "the examples cannot be built"
    local examples=${CARGO_TARGET_DIR:-$DATA/../../target}/debug/examples name compiler launch n numbers
    while read -r name compiler launch; do
        zerohop mpi --compiler "$compiler" -o "$WORK/$name.so" > /dev/null
        # 3 ranks of MPICH never give way to each other where there are 2 CPUs
        [ "$name" = mpich ] && numbers=2 || numbers=3
        [ -z "${LONG-}" ] || numbers="2 3"
        for n in $numbers; do
            timeout -k 5 100 $launch -n $n "$examples/ranks" "$WORK/$name.so" > log 2>&1 < /dev/null &&
                grep -q "as it should be" log || { cat log >&2; fail "$name, $n ranks"; }
            rm -rf out && mkdir out
            timeout -k 5 300 $launch -n $n "$examples/variants" "$WORK/$name.so" out > log 2>&1 < /dev/null ||
                { cat log >&2; fail "$name, $n ranks, variants"; }
            [ "$(grep -c "as it should be" log)" = 16 ] || { cat log >&2; fail "$name, $n ranks: not all variants"; }
        done
        echo "$name: every variant with $numbers ranks"
    done < <(some_mpis)
    [ -n "$(mpis)" ] || skip_part "neither OpenMPI nor MPICH is here"
}

ranks() {
    [ -e d4 ] || zerohop db build -q --engine diamond --partitions 4 -o d4 db.fa > /dev/null
    [ -e whole.tsv ] || whole diamond whole.tsv
    local name compiler launch n
    while read -r name compiler launch; do
        [ -e "$name.so" ] || zerohop mpi --compiler "$compiler" -o "$WORK/$name.so" > /dev/null
        for n in 4 2; do
            timeout -k 5 200 $launch -n $n "$ZEROHOP" search --ranks -t 1 --mpi "$WORK/$name.so" \
                --db d4 --batch-queries 60 \
                --json ranks.json -o r.tsv q.fa > log 2>&1 < /dev/null || { cat log >&2; fail "$name, $n ranks"; }
            cmp whole.tsv r.tsv || fail "$name, $n ranks: other results"
            rm r.tsv
        done
        python3 - $(grep -c '^>' q.fa) <<'END' || fail "the report of ranks"
import json, sys
report = json.load(open('ranks.json'))
assert report['queries'] == int(sys.argv[1]) and len(report['ranks']) == 2, report
assert sum(rank['written'] for rank in report['ranks']) == report['ranks'][0]['batches'], report
END
        # without the library it does not run as so many copies of one
        rc=0; timeout -k 5 60 $launch -n 2 "$ZEROHOP" search --ranks -q --db d4 -o never.tsv q.fa > log 2>&1 < \
            /dev/null || rc=$?
        [ $rc != 0 ] && grep -q "the library by which they find each other is not there" log && [ ! -e never.tsv ] ||
            { cat log; fail "$name: without the library it runs"; }
        # a rank that fails ends all of them
        mv d4/manifest.json there
        rc=0; timeout -k 5 60 $launch -n 2 "$ZEROHOP" search --ranks -q --mpi "$WORK/$name.so" --db d4 -o never.tsv \
            q.fa > log 2>&1 < /dev/null || rc=$?
        mv there d4/manifest.json
        [ $rc != 0 ] && [ $rc -lt 124 ] && grep -q "error: rank . of 2: " log || { cat log
        fail "$name: a rank that fails: $rc"; }
        echo "$name: ranks give what one search gives"
    done < <(some_mpis)
}

# What was searched is recorded, and replayed and predicted with other ranks.
recorded() {
    [ -e d4 ] || zerohop db build -q --engine diamond --partitions 4 -o d4 db.fa > /dev/null
    local name compiler launch
    while read -r name compiler launch; do
        [ -e "$name.so" ] || zerohop mpi --compiler "$compiler" -o "$WORK/$name.so" > /dev/null
        timeout -k 5 200 $launch -n 2 "$ZEROHOP" search --ranks -t 1 --mpi "$WORK/$name.so" --db d4 \
            --batch-queries 50 --json run.json \
            --record record.json -o recorded.tsv q.fa > log 2>&1 < /dev/null || { cat log >&2; fail "$name: --record"; }
        grep -q "^ranks      2 (.*)$" log || fail "$name: $(cat log)"
        python3 - <<'PY' || fail "$name: $(cat run.json)"
import json
report = json.load(open('run.json'))
assert list(report) == ['schema_version', 'version', 'command', 'transport', 'queries', 'output_bytes', 'ranks',
    'instances'], list(report)
record = json.load(open('record.json'))['ranks']
assert len(record) == 2 and len({len(rank) for rank in record}) == 1, record
assert sum(one['records'] for rank in record for one in rank) == sum(rank['records'] for rank in report['ranks'])
PY
        zerohop report run.json -o page.html
        grep -q "rank 1, exchange" page.html || fail "$name: there is no time line of both threads"
        echo "$name: a search is recorded"
    done < <(some_mpis)
    zerohop search -t 2 --db d4 --batch-queries 50 --record record.json -o recorded.tsv q.fa
    local recording
    for recording in record.json "$DATA/protein/ecoli-2ranks.recording.json"; do
        zerohop_lab exchange --replay "$recording" --speed 1000 --threads 5 --variants two-sided,flush --repeats 1 -o \
            runs.jsonl --predict 3,64 \
            --predictions predictions.json > table
        grep -q "SIMULATED" table || fail "$(cat table)"
        python3 - "$recording" <<'PY' || fail "$recording: replay"
import json, sys
record = json.load(open(sys.argv[1]))['ranks']
runs = [json.loads(line) for line in open('runs.jsonl')]
assert len(runs) == 4, runs
for run in runs:
    for rank in run['ranks']:
        wanted = record[rank['rank'] % len(record)]
        assert rank['records'] == sum(one['records'] for one in wanted) and rank['batches'] == len(wanted), rank
said = json.load(open('predictions.json'))
assert said['what'] == 'simulated, not measured' and [p['ranks'] for p in said['predictions']] == [5, 3, 64] * 2, said
for p in said['predictions']:
    assert ('measured_wall_s' in p) == (p['ranks'] == 5) and p['simulated_wall_s'] > 0, said
PY
    done
    echo '{"schema_version":1,"command":"","ranks":[[]]}' > none.json
    rc=0; "$ZEROHOP_LAB" exchange --replay none.json 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "it has no rank, or no batch" stderr || fail "$rc $(cat stderr)"
}

resume() {
    [ -e d4 ] || zerohop db build -q --engine diamond --partitions 4 -o d4 db.fa > /dev/null
    # SAM has a header, and lines between hits
    [ -e whole.dmnd ] || diamond makedb --quiet --in db.fa -d whole
    steady diamond blastp --no-ranking --quiet -d whole -q q.fa -p 2 -f 101 > whole.sam
    # batches enough that two are finished long before the last
    local name compiler launch i pid size=$(( $(grep -c '^>' q.fa) / 10 ))
    read -r name compiler launch < <(mpis; echo "alone - env")
    local go=("$ZEROHOP" search -q -t 1 --db d4 --batch-queries $size -o k.tsv --format sam q.fa)
    [ "$name" = alone ] || { [ -e "$name.so" ] || zerohop mpi --compiler "$compiler" -o "$WORK/$name.so" > /dev/null
    go=($launch -n 2 "${go[@]}" --ranks=2 --mpi "$WORK/$name.so"); }
    timeout -k 5 300 "${go[@]}" > log 2>&1 & pid=$!
    for i in $(seq 4000); do
        [ "$(cat k.tsv.progress/rank-*.jsonl 2> /dev/null | grep -c batch)" -ge 2 ] &&
            break; kill -0 $pid 2> /dev/null || break; sleep 0.05
    done
    # one rank is killed: the others end by themselves
    pkill -KILL -n -f "search -q -t 1 --db d4 --batch-queries $size -o k.tsv" || true
    rc=0; wait $pid || rc=$?
    [ ! -e k.tsv ] || fail "k.tsv is there, though a rank was killed"
    local finished; finished=$(cat k.tsv.progress/rank-*.jsonl | grep -c batch)
    [ "$finished" -ge 2 ] || fail "nothing was finished: $(cat log)"
    # other options, other queries: another job
    rc=0; "$ZEROHOP" search -q --db d4 --batch-queries $((size + 1)) -o k.tsv --resume q.fa 2> stderr || rc=$?
    local changes="--format: sam then, tabular now; --batch-queries: $size then, $((size + 1)) now"
    [ $rc = 1 ] && grep -q "another job ($changes)" stderr || fail "$rc $(cat stderr)"
    # queries that were mended meanwhile: what has changed is said
    tail -n +2 q.fa | cat <(echo ">mended") - > mended.fa
    refused 1 "another job (the queries" search -q --db d4 --batch-queries $size -o k.tsv --format sam mended.fa
    # any number of ranks may go on
    zerohop search -t 2 --db d4 --batch-queries $size -o k.tsv --format sam --json k.json q.fa
    grep -q "$finished batches were finished before" "$WORK/zerohop.stderr" ||
        fail "it is not said what was finished: $(cat "$WORK/zerohop.stderr")"
    cmp <(own whole.sam) <(own k.tsv) || fail "what was gone on with gives other results"
    [ ! -e k.tsv.progress ] || fail "progress is left"
    python3 -c "
import json
done = json.load(open('k.json'))['ranks'][0]['batches']
assert done <= -(-$(grep -c '^>' q.fa) // $size) - $finished, done" || fail "finished batches were searched again"
    rc=0; "$ZEROHOP" search -q --db d4 -o k.tsv --resume q.fa 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "there is no progress to resume" stderr || fail "$rc $(cat stderr)"
}

# No output of any command replaces one of its inputs.
destroys_nothing() {
    local program rest output before
    zerohop search -q --db good --record in.json --json run.json -o in.tsv q.fa
    zerohop_lab exchange --replay in.json --speed 1000 -t 2 --variants two-sided,flush --repeats 2 \
        -o runs.jsonl > /dev/null
    zerohop_lab report runs.jsonl run.json -o page.html
    grep -q ">two-sided</th><td>2</td>" page.html && grep -q ">Searches</h2>" page.html \
        || fail "report of an exchange"
    cp in.json library.so && ln -s in.json link.json
    before=$(cat in.json library.so q.fa runs.jsonl good/manifest.json | md5sum)
    while read -r program output rest; do
        ZEROHOP=$program refused 2 "$output is an input and cannot be the output too" $rest
    done <<END
$ZEROHOP_LAB in.json exchange --replay in.json -o in.json
$ZEROHOP_LAB ./in.json exchange --replay in.json -o ./in.json
$ZEROHOP_LAB link.json exchange --replay in.json -o link.json
$ZEROHOP_LAB in.json exchange --replay in.json --predict 8 --predictions in.json
$ZEROHOP_LAB library.so exchange --mpi library.so -o library.so
$ZEROHOP library.so search --db good --mpi library.so -o library.so q.fa
$ZEROHOP library.so search --db good --mpi library.so --json library.so q.fa
$ZEROHOP q.fa search --db good --json q.fa q.fa
$ZEROHOP good/part-0000.dmnd search --db good --record good/part-0000.dmnd q.fa
$ZEROHOP runs.jsonl report runs.jsonl -o runs.jsonl
$ZEROHOP link.json report in.json runs.jsonl -o link.json
END
    ZEROHOP=$ZEROHOP_LAB refused 2 "was given as two outputs" exchange --replay in.json --predict 8 -o x.json \
        --predictions x.json
    refused 1 "q.fa is there already" db build --engine diamond -o q.fa q.fa
    refused 1 "q.fa is there already" db build --engine diamond --pilot q.fa -o q.fa db.fa
    [ "$before" = "$(cat in.json library.so q.fa runs.jsonl good/manifest.json | md5sum)" ] \
        || fail "an input was replaced"
}

# Names of files are bytes: queries, database, temporary files and outputs in a folder whose name is no UTF-8, and not
# ASCII.
names() {
    local folder engine options
    folder=$(printf 'no\377utf \303\274')
    mkdir -p "$folder/tmp"
    cp "$DATA/protein/queries.faa" "$folder/q.fa"
    while read -r engine options; do
        command -v $engine > /dev/null || { skip_part "$engine is not on the PATH"; continue; }
        cp "$DATA/protein/subjects.faa" "$folder/s.fa"
        zerohop db build -q --engine $engine --partitions 2 -o plain-$engine "$folder/s.fa" > /dev/null
        zerohop db build -q --engine $engine --partitions 2 -o "$folder/$engine" "$folder/s.fa" > /dev/null
        zerohop search -q --db plain-$engine --engine-args "$options" -o plain.tsv "$folder/q.fa"
        TMPDIR="$folder/tmp" zerohop search -q --db "$folder/$engine" --engine-args "$options" --json "$folder/j" \
            --record "$folder/r" -o "$folder/o" "$folder/q.fa"
        [ -s plain.tsv ] && cmp plain.tsv "$folder/o" || fail "$engine: other results"
    done <<END
diamond -e 1e-3
blastp -evalue 1e-3
END
    zerohop_lab exchange --replay "$folder/r" --speed 1000 -t 2 --variants two-sided --repeats 1 \
        --folder "$folder" -o "$folder/runs" > /dev/null
    zerohop report "$folder/j" -o "$folder/page.html"
    zerohop_lab report "$folder/runs" "$folder/j" -o "$folder/lab.html"
    zerohop db check "$folder/diamond"
    [ -s "$folder/page.html" ] && [ -s "$folder/lab.html" ] || fail "no page"
}

refusals() {
    rc=0; "$ZEROHOP" search --db nowhere q.fa 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "zerohop db build" stderr || fail "$rc $(cat stderr)"
    zerohop db build -q --engine diamond --partitions 2 -o bad db.fa > /dev/null
    zerohop db check bad
    truncate -s -1 "$(ls bad/*.dmnd | head -n 1)"
    rc=0; "$ZEROHOP" search --db bad q.fa 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "make it again" stderr || fail "$rc $(cat stderr)"
    # one byte of the second part is another one
    rm -r bad
    zerohop db build -q --engine diamond --partitions 2 -o bad db.fa > /dev/null
    python3 -c "
with open('bad/part-0001.dmnd', 'r+b') as part:
    part.seek(-100, 2); byte = part.read(1); part.seek(-100, 2); part.write(bytes([byte[0] ^ 1]))"
    refused 1 "the bytes of part-0001.dmnd are not those that 'zerohop db build' wrote" \
        search --db bad -o damaged.tsv q.fa
    [ ! -e damaged.tsv.progress ] || fail "a damaged database was searched"
    refused 1 "part-0001.dmnd" db check bad
    rc=0; "$ZEROHOP" search --db bad -o q.fa q.fa 2> stderr || rc=$?
    [ $rc = 2 ] && grep -q "cannot be the output too" stderr || fail "$rc $(cat stderr)"
    zerohop db build -q --engine diamond --partitions 2 -o good db.fa > /dev/null
    rc=0; "$ZEROHOP" search --db good -o r.tsv --json r.tsv q.fa 2> stderr || rc=$?
    [ $rc = 2 ] && grep -q "given as two outputs" stderr || fail "$rc $(cat stderr)"
    rc=0; "$ZEROHOP" search --db good --record q.fa q.fa 2> stderr || rc=$?
    [ $rc = 2 ] && grep -q "cannot be the output too" stderr || fail "$rc $(cat stderr)"
    rc=0; "$ZEROHOP" search --db good -o good/manifest.json q.fa 2> stderr || rc=$?
    [ $rc = 2 ] && grep -q "cannot be the output too" stderr || fail "$rc $(cat stderr)"
    rc=0; "$ZEROHOP" search --db good -o q.fa - < q.fa 2> stderr || rc=$?
    [ $rc = 2 ] && grep -q "cannot be the output too" stderr || fail "standard input: $rc $(cat stderr)"
    destroys_nothing
    # who wants no more of it is no failure
    set +o pipefail
    { rc=0; "$ZEROHOP" search --db good --batch-queries 50 q.fa 2> stderr || rc=$?; echo $rc > status; } |
        head -n 1 > /dev/null
    set -o pipefail
    [ "$(cat status)" = 0 ] && ! grep -q error stderr || fail "a broken pipe: $(cat status stderr)"
    rc=0; "$ZEROHOP" search --db good --engine-args '--threads 3' q.fa 2> stderr || rc=$?
    [ $rc != 0 ] && grep -q -- "--threads" stderr || fail "$rc $(cat stderr)"
    rc=0; "$ZEROHOP" search --db good q.fa > /dev/full 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "No space left" stderr || fail "$rc $(cat stderr)"
    rc=0; "$ZEROHOP" search --db good --format csv q.fa 2> stderr || rc=$?
    [ $rc = 2 ] && grep -q "csv is not to be had of diamond" stderr || fail "$rc $(cat stderr)"
    rc=0; "$ZEROHOP" mpi --compiler no-such-compiler -o x.so 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "name the MPI's compiler" stderr && [ ! -e x.so ] || fail "$rc $(cat stderr)"
}

for part in parts close formats queries streams killed limits names pilot transports ranks recorded resume refusals; do
    [[ $part =~ ${PART-} ]] || continue
    "$part"
    echo "$part: as it should be"
done
