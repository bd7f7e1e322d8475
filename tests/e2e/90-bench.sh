#!/bin/bash
# The thread-scaling laboratory as a user meets it: points, resuming after a kill, processes, external aligners, the
# page, faults; and the comparisons in bench/, with little data. No time is asserted. PART=REGEX chooses parts. LONG=1:
# up to 4 processes and threads, not 2; all comparisons; and the claims.
source "$(dirname "$0")/lib.sh"
cd "$WORK"
gzip -cd "$DATA/ecoli/ecoli_150_1.fq.gz" | head -n 4000 > 1.fq || true
gzip -cd "$DATA/ecoli/ecoli_150_2.fq.gz" | head -n 4000 > 2.fq || true

lab() { zerohop_lab "$@" > page.txt; }
points() { wc -l < "$1/points.jsonl"; }

# Every arm once, over processes and threads; what is there is not measured again, not even after a kill.
resuming() {
    local to4=${LONG:+,4}
    local arms=(--fragments 500 --threads 1,2$to4 --processes 1,2$to4 --locks ttas,mcs --outputs shared,files \
        --repeats 1 1.fq 2.fq)
    "$ZEROHOP_LAB" scaling -o killed "${arms[@]}" > /dev/null 2>&1 & local pid=$!
    while [ "$(points killed 2>/dev/null || echo 0)" -lt 20 ]; do sleep 0.05; done
    kill -9 $pid; wait $pid || true
    printf '{"arm":' >> killed/points.jsonl
    lab scaling -o killed "${arms[@]}"
    lab scaling -o whole "${arms[@]}"
    [ "$(points killed)" = "$(points whole)" ] || fail "$(points killed) points after a kill, $(points whole) in one go"
    lab scaling -o whole "${arms[@]}"
    [ "$(points killed)" = "$(points whole)" ] || fail "measured again"
    [ -z "$(find whole killed -name 'zerohop-lab-*' -newer page.txt)" ] || fail "work is left"
    python3 - "$to4" <<'END'
import json, sys
points = [json.loads(line) for line in open('whole/points.jsonl')]
arms = {json.dumps(p['arm'], sort_keys=True) for p in points}
# 1x1, 1x2, 2x1 (1x4, 2x2, 4x1); 6 inputs; 2 locks; 2 outputs: both use the lock
assert len(arms) == (6 if sys.argv[1] else 3) * 6 * 2 * 2, len(arms)
assert len(points) == 2 * len(arms)
for p in points:
    reads = sum(t['reads'] for process in p['processes'] for t in process['threads'])
    assert reads == 2 * 500 * p['arm']['threads'], p['arm']
    assert len(p['processes']) == p['arm']['processes']
END
}

page() {
    lab scaling -o shown --fragments 300 --threads 1,2 --inputs B,survey --locks futex --outputs shared,ordered \
        --repeats 1 1.fq
    [ "$(cat page.txt)" = shown/index.html ] || fail "the page is not named"
    python3 - <<'END'
import glob
from html.parser import HTMLParser
class Count(HTMLParser):
    tags = {}
    def handle_starttag(self, tag, attributes):
        self.tags[tag] = self.tags.get(tag, 0) + 1
text = open('shown/index.html').read()
Count().feed(text)
assert Count.tags['svg'] == len(glob.glob('shown/chart-*.svg')) > 2, Count.tags
assert 'http' not in text.replace('http://www.w3.org/2000/svg', ''), 'the page needs nothing else'
assert 'Predicted' in text and 'B | futex | shared | 1x2' in open('shown/summary.md').read().replace('  ', ' ')
END
    rm shown/index.html
    lab page shown
    [ -s shown/index.html ] || fail "no page"
}

engines() {
    gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > ref.fa
    lab scaling -o engines --engine synthetic --work-us 5 --accesses 10 --table-mib 8 --skew 100:50 --fragments 200 \
        --threads 2 \
        --locks mcs --outputs files --repeats 1 1.fq 2.fq
    lab scaling -o engines --engine strobealign --reference ref.fa --fragments 200 --threads 2 --locks futex --outputs \
        ordered --repeats 1 1.fq 2.fq
    if command -v bwa > /dev/null; then
        ecoli_index bwa ref.fa
        # enough that mapping is more than what the time of loading varies by
        lab scaling -o engines --engine bwa --reference ref.fa --fragments 6000 --threads 2 --processes 1,2 \
            --repeats 1 1.fq 2.fq
        grep -q '"name":"bwa"' engines/points.jsonl || fail "no point of bwa"
    else
        echo "no bwa: external aligners not tried"
    fi
    lab farm -o farm --engine synthetic --work-us 2 --accesses 5 --table-mib 8 --threads 1,2 --fragments 200 --repeats \
        1 1.fq
    [ "$(grep -o '"pinned":[a-z]*,"interleaved":[a-z]*,"mixed":[a-z]*' farm/points.jsonl | sort -u | wc -l)" = 6 ] ||
        fail "the farm's six experiments"
}

# Whether claims hold depends on the machine; that each is judged does not.
claims() {
    local rc=0
    "$ZEROHOP_LAB" claims -o claims --fragments 2000 --repeats 2 1.fq > table.md 2> stderr || rc=$?
    [ $rc = 0 ] || { [ $rc = 1 ] && grep -qE 'claims? do(es)? not hold here|the claims were not judged' stderr; } ||
        fail "exit status $rc: $(cat stderr)"
    [ "$(grep -cE '^\| (hold|[LPCZ][0-9]) ' table.md)" = 11 ] || fail "not eleven claims: $(cat table.md)"
    ! grep -q NaN table.md || fail "a claim was not measured: $(cat table.md)"
    [ $rc = $(( $(grep -cE 'FAILS|not judged' table.md) > 0 )) ] || fail "exit status $rc, but: $(cat table.md)"

    # on a machine that others keep busy, nothing is judged
    local busy=() cpu
    for cpu in $(seq "$(nproc)"); do
        timeout 600 sh -c 'while :; do :; done' & busy+=($!)
    done
    rc=0; "$ZEROHOP_LAB" claims -o disturbed --fragments 500 --repeats 1 1.fq > table.md 2> stderr || rc=$?
    for cpu in "${busy[@]}"; do end "$cpu"; done
    [ $rc = 1 ] && grep -q "other programs kept [0-9.]* CPUs busy meanwhile, so the claims were not judged" stderr ||
        fail "on a busy machine it ends with $rc: $(cat stderr)"
    grep -q "| not judged |" table.md && ! grep -qE '\| (holds|FAILS) \|' table.md ||
        fail "on a busy machine: $(cat table.md)"
}

# Held is a part of claiming, and nobody ends before it began.
sense() {
    lab scaling -o sense --fragments 2000 --threads 1 --inputs O,D,B,L --locks mcs --outputs shared --repeats 3 1.fq
    python3 - <<'END'
import collections, json
held = collections.defaultdict(list)
for p in map(json.loads, open('sense/points.jsonl')):
    thread, = p['processes'][0]['threads']
    assert p['processes'][0]['input_hold_s'] > 0, p
    assert p['slowest_s'] >= thread['wall_s'], p
    held[json.dumps(p['arm'])].append(p['processes'][0]['input_hold_s'] / thread['claim_s'])
# what is held is estimated from one claim in 16: one that is interrupted makes much of a run, but not of all runs
assert len(held) == 4 and all(min(shares) <= 1.5 for shares in held.values()), held
END
    # another batch is another experiment
    lab scaling -o sense --fragments 2000 --threads 1 --inputs B --locks mcs --outputs shared --repeats 1 --batch 8 1.fq
    [ "$(grep -c '"batch":8' sense/points.jsonl)" = 2 ] || fail "another experiment was not measured"
    # threads that cannot be started (their stacks alone take 6 GB) end the run, with words
    local rc=0
    (ulimit -v 3000000; timeout 60 "$ZEROHOP_LAB" scaling -o many --threads 3000 --fragments 1 --inputs B --locks \
        futex --outputs shared --repeats 0 1.fq) 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q '^error: .*cannot start a thread: ' stderr ||
        fail "threads that cannot be started: $rc $(tail -n 3 stderr)"
}

faults() {
    local rc=0
    { head -n 400 1.fq; printf '@broken\nACGT\n+\nI\n'; } > broken.fq
    "$ZEROHOP_LAB" scaling -o faulty --fragments 1000 --threads 2 --repeats 0 broken.fq > out.txt 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "broken.fq: record 101.*4 bases but 1 qualities" stderr ||
        fail "a broken read: $rc $(cat stderr)"
    rc=0; "$ZEROHOP_LAB" scaling -o faulty --threads 3 --processes 2 1.fq 2> stderr || rc=$?
    [ $rc = 2 ] || fail "nothing to measure: $rc $(cat stderr)"
    rc=0; "$ZEROHOP_LAB" scaling -o faulty --inputs Q 1.fq 2> stderr || rc=$?
    [ $rc = 2 ] && grep -q "there is no 'Q': choose among O, D, B, L, survey, farm" stderr || fail "$rc $(cat stderr)"
    rc=0; "$ZEROHOP_LAB" scaling -o faulty --engine bwa 1.fq 2> stderr || rc=$?
    [ $rc = 2 ] && grep -q "needs --reference" stderr || fail "$rc $(cat stderr)"
    echo ">r" > bare.fa
    rc=0; "$ZEROHOP_LAB" scaling -o faulty --engine bwa --reference bare.fa --threads 1 --fragments 10 1.fq 2> \
        stderr || rc=$?
    [ $rc = 1 ] && grep -q "bwa index" stderr || fail "an aligner without its index: $rc $(cat stderr)"
    rc=0; "$ZEROHOP_LAB" page nowhere 2> stderr || rc=$?
    [ $rc = 1 ] && [ ! -e nowhere ] || fail "a page of nothing: $rc $(cat stderr)"
    rc=0; "$ZEROHOP_LAB" claims -o faulty --repeats 0 1.fq 2> stderr || rc=$?
    [ $rc = 2 ] || fail "claims without a measurement: $rc"
    rc=0; echo '{' | "$ZEROHOP_LAB" process 2> stderr || rc=$?
    [ $rc = 1 ] || fail "a process without a task: $rc"
}

# What belongs to a program: its version, manual, completions; its exit status where nobody can read what it prints.
manual() {
    [[ "$("$ZEROHOP_LAB" --version)" == "zerohop-lab "* ]] || fail "--version"
    zerohop_lab man scaling > scaling.1
    grep -q '^\.TH' scaling.1 && grep -q 'fragments' scaling.1 || fail "man scaling"
    zerohop_lab completions bash > completions
    bash -n completions && bash -c 'source completions; complete -p zerohop-lab' > /dev/null ||
        fail "bash does not take the completions"
    local rc=0
    "$ZEROHOP_LAB" man bogus 2> stderr || rc=$?
    [ $rc = 2 ] && grep -q "there is no command 'bogus'" stderr || fail "man bogus: $rc $(cat stderr)"
    rc=0; "$ZEROHOP_LAB" man >&- 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "standard output is closed" stderr || fail "closed: $rc $(cat stderr)"
    rc=0; "$ZEROHOP_LAB" man > /dev/full 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "standard output: cannot write: No space left" stderr || fail "full: $rc $(cat stderr)"
    "$ZEROHOP_LAB" man | true
    [ "${PIPESTATUS[0]}" = 0 ] || fail "a reader that goes away is no failure"
}

# Cohorts: simulated, and measured with workers that sleep.
cohorts() {
    lab cohorts --workers 1,1024 --measure 3 --pieces-per-worker 10 --first-ms 2 --second-ms 1 -o cohorts.json
    python3 - <<'END'
import json
rows = {row['workers']: row for row in json.load(open('cohorts.json'))}
assert list(rows) == [1, 3, 1024], rows
assert abs(rows[1]['simulated'] - 1) < 1e-6, rows[1]
assert rows[1024]['simulated'] > rows[1024]['with_barriers'], rows[1024]
assert 0 < rows[3]['measured'] < 1.01 and 'measured' not in rows[1], rows
END
    [ "$(wc -l < page.txt)" = 4 ] || fail "the table: $(cat page.txt)"
}

# The comparison of aligners, with little data.
aligners() {
    command -v bcftools > /dev/null && command -v bwa > /dev/null ||
        { skip_part "no bcftools or no bwa here"; return; }
    "$ZEROHOP" engines | grep -q '^bwa-mem ' || { skip_part "no bwa-mem in this zerohop"; return; }
    gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" | head -n 1000 | gzip > small.fa.gz || true
    python3 "$DATA/../../bench/aligners.py" --engines strobealign,bwa-mem,bwa,rammap --repeats 1 --coverage 20 \
        --sets ecoli,ecoli-ont,ecoli-hifi --reference small.fa.gz \
        --zerohop "$ZEROHOP" --simulate "$(dirname "$ZEROHOP")/simulate" \
        --work "$WORK/aligners" --out "$WORK/compared" > table.md 2> stderr || fail "aligners.py: $(cat stderr)"
    python3 - <<'END'
import json
rows = [json.loads(line) for line in open('compared/raw.jsonl')]
for engine in ('strobealign', 'bwa-mem', 'bwa'):
    own = [row for row in rows if row['engine'] == engine]
    reads = next(row['reads'] for row in own if 'reads' in row)
    assert reads['reads'] > 10_000 and reads['right'] > 0.98 * reads['reads'], reads
    snv = next(row['variants'] for row in own if 'variants' in row)['snv']
    assert snv['right'] > 50 and snv['right'] > 20 * (snv['missed'] + snv['false']), snv
same = [[row.get('reads'), row.get('variants')] for row in rows if row['engine'] == 'bwa']
assert same == [[row.get('reads'), row.get('variants')] for row in rows if row['engine'] == 'bwa-mem']
for kind in ('ont', 'hifi'):
    own = [row for row in rows if row['set'] == f'ecoli-{kind}']
    reads = next(row['reads'] for row in own if 'reads' in row)
    assert {row['engine'] for row in own} == {'rammap'} and reads['right'] > 0.98 * reads['reads'] > 30, reads
    snvs = [row['variants']['snv'] for row in own if 'variants' in row]
    assert len(snvs) == (kind == 'hifi'), snvs
    assert all(snv['right'] > 10 * (snv['missed'] + snv['false']) for snv in snvs), snvs
END
}

# The comparison from one thread to all, with little data: all its sets; both arms of each have the same records.
threads() {
    command -v bwa > /dev/null && command -v bgzip > /dev/null ||
        { skip_part "no bwa or no bgzip here"; return; }
    "$ZEROHOP" engines | grep -q '^bwa-mem ' || { skip_part "no bwa-mem in this zerohop"; return; }
    python3 "$DATA/../../bench/threads.py" --threads 1,2 --pairs 200 --reference sim300K --repeats 1 \
        --zerohop "$ZEROHOP" --strobealign "$STROBEALIGN" --simulate "$(dirname "$ZEROHOP")/simulate" \
        --work "$WORK/threads" --out "$WORK/from-one" > table.md 2> stderr || fail "threads.py: $(cat stderr)"
    [ "$(grep -cE '^\| [12] \|' from-one/summary.md)" = 28 ] || fail "not all arms: $(cat from-one/summary.md)"
    [ "$(wc -l < from-one/raw.jsonl)" = 56 ] || fail "not all runs: $(cat from-one/raw.jsonl)"
}

# A folder as cargo's, with the programs under test, for scripts that take them from there
mkdir target
ln -s "$(dirname "$ZEROHOP")" target/release

# The other comparisons whose inputs compare.py makes, with little data.
comparisons() {
    command -v samtools > /dev/null && command -v bgzip > /dev/null ||
        { skip_part "no samtools or no bgzip here"; return; }
    local bench=$DATA/../../bench
    local -x CARGO_TARGET_DIR=$WORK/target
    compared() {
        python3 "$bench/$1.py" --pairs 200 --repeats 1 --out "$WORK/$1" "${@:2}" > table.md 2> stderr ||
            fail "$1.py: $(cat stderr)"
    }
    compared compare --reference sim300K --input plain --output sam --arms before,zerohop --before "$ZEROHOP"
    compared compare --reference sim300K --input plain --output sam --arms before,zerohop --before "$ZEROHOP" \
        --use-indexes
    grep -q '| yes |$' table.md || fail "compare.py: other records: $(cat table.md)"
    compared sort --reference sim300K --sort-arms unsorted,marked,pipe-u --zerohop "$ZEROHOP" \
        --strobealign "$STROBEALIGN"
    [ "$(grep -cE '^\| (unsorted|marked|pipe-u) ' table.md)" = 3 ] || fail "sort.py: $(cat table.md)"
    if command -v mosdepth > /dev/null; then
        compared qc --qc-arms marked,qc,tools --reference sim300K --zerohop "$ZEROHOP"
        [ "$(grep -cE '^\| (marked|qc|tools) ' table.md)" = 3 ] || fail "qc.py: $(cat table.md)"
    else
        skip_part "no mosdepth for qc.py"
    fi
    compared serial
    [ "$(grep -cE '^\| (plain|gz|bgzf) ' table.md)" = 9 ] || fail "serial.py: $(cat table.md)"
    compared ranks --reference sim300K --only one,copies
    grep -q 'The records of all runs are the same' table.md || fail "ranks.py: $(cat table.md)"

    # a BAM file that samtools cannot read has no duplicates to compare
    truncate -s -200 target/bench-work/sort-marked.bam
    python3 - "$bench" 2> stderr <<'END' || fail "sort.py: $(cat stderr)"
import pathlib, sys, types
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import sort
try:
    sort.duplicates(types.SimpleNamespace(work=pathlib.Path('target/bench-work')), 'marked', 'sim300K.fa')
except sort.Failure as failure:
    assert 'samtools cannot read sort-marked.bam' in str(failure), failure
else:
    sys.exit('duplicates of a broken file were compared')
END
}

# Aligners by themselves: parts that were made for other threads are not taken, and an arm that lacks reads is an error.
external() {
    command -v bwa > /dev/null && command -v samtools > /dev/null ||
        { skip_part "no bwa or no samtools here"; return; }
    local work=target/bench-work/external-200
    mkdir -p $work
    ecoli_index bwa $work/ref.fa
    local -x CARGO_TARGET_DIR=$WORK/target
    external_py() {
        python3 "$DATA/../../bench/external.py" --pairs 200 --repeats 1 --arms parts,alone --out "$WORK/external" \
            --threads "$1" > table.md 2> stderr
    }
    external_py 2 || fail "external.py: $(cat stderr)"
    external_py 1 || fail "external.py with other threads: $(cat stderr)"
    sed -i '401,$d' $work/part0of1.r{1,2}.fq
    ! external_py 1 && grep -q '^external.py: bwa, parts: 200 of 400 reads have records' stderr ||
        fail "half of the reads were aligned: $(cat stderr)"
}

# The contract of external aligners, without aligning: sets that failed are named, and those that were there.
contract() {
    python3 - "$DATA/../../bench" <<'END'
import contextlib, io, pathlib, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import contract
# the third one without its reference
for file in [*contract.SETS['ecoli_150'], *contract.SETS['lambda'], contract.SETS['fly_48'][1]]:
    pathlib.Path('sets', file).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path('sets', file).touch()
contract.output_of = lambda *words: '[{"name": "bwa", "found": "/bwa", "sharing": {"how": "bwa-shm"}}]'
contract.compare = lambda options, engine, name, layout, plan: ({'failed': 'error: it fell over'}
    if (name, plan) == ('lambda', '2x1') else dict.fromkeys(contract.COUNTS, 7))
sys.argv[1:] = ['--data', 'sets', '--work', 'work', '--out', 'contract']
try:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        contract.main()
except contract.Failure as failure:
    assert str(failure).startswith('2 of 16 runs failed'), failure
else:
    sys.exit('a contract with runs that failed is a success')
summary = pathlib.Path('contract/summary.md').read_text()
assert '| bwa | paired | 2x1 | lambda | 7 |' in summary and '| bwa | paired | 1x2 | none | 14 |' in summary, summary
assert '- bwa, single, 2x1, lambda: it fell over\n' in summary, summary
assert 'sets: ecoli_150, lambda\n' in pathlib.Path('contract/README.md').read_text()
END
}

# The model of the exchange, with programs that only write predictions: what it needs, where it ends, and its tables.
exchange_model() {
    local script=$DATA/../../bench/exchange-model.sh variable
    local -x PATH=$WORK/bin:$PATH CALLS=$WORK/calls LIBS=libs
    mkdir bin libs
    cat > bin/zerohop-lab <<'END'
#!/usr/bin/env python3
import json, os, sys
words = sys.argv[1:]
open(os.environ['CALLS'], 'a').write(' '.join(words) + '\n')
after = lambda name: words[words.index(name) + 1]
predictions = [{'variant': 'fence', 'ranks': int(ranks), 'simulated_wall_s': 1}
    for ranks in after('--predict').split(',')]
predictions.append({'variant': 'fence', 'simulated_wall_s': 1, 'measured_wall_s': 1, 'error_percent': 0})
json.dump({'predictions': predictions}, open(after('--predictions'), 'w'))
END
    printf '#!/bin/bash\nwhile [[ $1 != *zerohop-lab ]]; do shift; done\nexec "$@"\n' > bin/mpirun.openmpi
    cp bin/mpirun.openmpi bin/mpirun.mpich
    chmod +x bin/*
    # by the variable that bench/README.md names
    variable=$(sed -n 's/^ *\(ZEROHOP[A-Z_]*\)=.* bash bench\/exchange-model.sh .*/\1/p' "${script%/*}/README.md")
    model() { env -u ZEROHOP_LAB "$variable=$1" bash "$script" "$2" 2> stderr; }
    model bin/zerohop-lab results || fail "exchange-model.sh: $(cat stderr)"
    grep -q '^| fence | 1.000 / 1.000 (+0) |' results/tables.md || fail "tables: $(cat results/tables.md)"
    [ "$(grep -c -- "--predict-cores $(nproc) " calls)" = 11 ] || fail "other cores than this machine's: $(cat calls)"
    ! model bin/zerohop-lab results && grep -q 'results is not empty' stderr ||
        fail "results of an earlier run are taken: $(cat stderr)"
    ! model "$(command -v false)" failed && [ ! -e failed/tables.md ] || fail "a run failed, and there are tables"
}

for part in resuming page engines cohorts comparisons external contract exchange_model sense faults manual \
    ${LONG:+aligners threads claims}; do
    [[ $part =~ ${PART-} ]] || continue
    $part
    echo "$part: as it should be"
done
