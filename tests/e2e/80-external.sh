#!/bin/bash
# Unmodified aligners as engines: whatever the input, the plan and the output, the records are those of the aligner by
# itself, run with its usual command. Each aligner that is here is tried in some parts; ENGINES="bwa snap" picks some
# for all of them.
# LONG=1: each aligner in every part, page policies with one and with two instances of each, and every option that is
# refused on a command line (a unit test looks at all of them).
source "$(dirname "$0")/lib.sh"
command -v samtools >/dev/null && command -v bgzip >/dev/null || skip "no samtools or no bgzip"

cd "$WORK"
export TMPDIR=$WORK/tmp XDG_CONFIG_HOME=$WORK/config PATH="$(dirname "$STROBEALIGN"):$PATH"
mkdir tmp

# Pieces of E. coli with repeats in them, and pairs that were dealt out among one another: SMALL ones that lie on
# them, and enough of all for three chunks.
python3 - "$DATA/ecoli" <<'END'
import gzip, random, sys
def text(name): return gzip.open(f'{sys.argv[1]}/{name}', 'rt')
genome = ''.join(line.strip() for line in text('GCF_000005845.2_ASM584v2_genomic.fna.gz') if line[0] != '>')
with open('ref.fa', 'w') as out:
    for name, start, end in ('ecoli_1', 0, 700000), ('ecoli_2', 2700000, 2900000), ('ecoli_3', 4100000, 4300000):
        out.write(f'>{name} a piece\n')
        out.writelines(genome[at:min(at + 80, end)] + '\n' for at in range(start, end, 80))
pairs = list(zip(*[zip(*[iter(text(f'ecoli_150_{mate}.fq.gz'))] * 4) for mate in (1, 2)]))
random.seed(3)
for folder, chosen in ('big_', random.sample(pairs, 7000)), ('', random.sample(pairs[:1400], 400)):
    for mate in 0, 1:
        open(f'{folder}{mate + 1}.fq', 'w').writelines(line for pair in chosen for line in pair[mate])
END
for mate in 1 2; do
    gzip -cn $mate.fq > $mate.gz
    bgzip -c $mate.fq > $mate.bgz
    head -n 800 $mate.fq > a_$mate.fq
    tail -n +801 $mate.fq > b_$mate.fq
    awk 'NR % 4 == 1 { print ">" substr($0, 2) } NR % 4 == 2' $mate.fq > $mate.fa
    : > empty_$mate.fq
done
paste <(paste - - - - < 1.fq) <(paste - - - - < 2.fq) | tr '\t' '\n' > i.fq
"$ZEROHOP" engines --json > engines.json || fail "engines --json"

# about ENGINE EXPRESSION: a word of its descriptor `e`
about() {
    python3 -c "import json, sys; e = {e['name']: e for e in json.load(open('$WORK/engines.json'))}['$1']; print($2)"
}

all="bwa bowtie2 bowtie hisat2 snap minimap2 minibwa strobealign-program bwa-mem2 gem3"
engines=
for E in ${ENGINES:-$all}; do
    [ "$(about "$E" 'e["found"]')" = None ] && skip_part "$E is not on the PATH" || engines+=" $E"
done
[ -n "$engines" ] || skip "none of the aligners is on the PATH"

# The command that makes the index of ref.fa, as its users type it
make_index() {
    case $1 in
        bwa | bwa-mem2) $1 index ref.fa;;
        bowtie | bowtie2 | hisat2) $1-build -q ref.fa ref.fa;;
        snap) snap-aligner index ref.fa ref.fa.snap -t2;;
        minimap2) minimap2 -x sr -d ref.fa.sr.mmi ref.fa;;
        minibwa) minibwa index ref.fa;;
        strobealign-program) strobealign -i -r 150 ref.fa;;
        gem3) gem-indexer -i ref.fa -o ref.fa;;
    esac > indexer.log 2>&1 || { cat indexer.log; fail "the index of $1 cannot be made"; }
}

# alone EXPECTED.sam READS_1 [READS_2]: the aligner by itself, with $EXTRA
alone() {
    local out=$1 one=$2 two=${3-} words
    case $E in
        bwa | bwa-mem2) words=($E mem -t 2 -K 10000000 "${EXTRA[@]}" ref.fa $one $two);;
        bowtie2) words=(bowtie2 -p 2 --reorder "${EXTRA[@]}" -x ref.fa);;
        hisat2) words=(hisat2 -p 2 --reorder --no-spliced-alignment "${EXTRA[@]}" -x ref.fa);;
        bowtie) words=(bowtie -S -p 2 --reorder "${EXTRA[@]}" -x ref.fa);;
        # it keeps the order with one thread alone
        snap) words=(snap-aligner $([ -n "$two" ] && echo paired ||
            echo single) ref.fa.snap $one $two -o -sam - -t 1 "${EXTRA[@]}");;
        minimap2) words=(minimap2 -a -x sr -t 2 "${EXTRA[@]}" ref.fa.sr.mmi $one $two);;
        minibwa) words=(minibwa map -t 2 "${EXTRA[@]}" ref.fa $one $two);;
        strobealign-program) words=(strobealign -t 2 --use-index "${EXTRA[@]}" ref.fa $one $two);;
        gem3) words=(gem-mapper -I ref.fa.gem -t 2 "${EXTRA[@]}");;
    esac
    case $E:$two in
        bowtie: ) words+=($one);;
        bowtie2: | hisat2: ) words+=(-U $one);;
        gem3: ) words+=(-i $one);;
        bowtie:* | bowtie2:* | hisat2:* | gem3:*) words+=(-1 $one -2 $two);;
    esac
    "${words[@]}" > "$out" 2> alone.stderr || { cat alone.stderr >&2; fail "${words[*]}"; }
}

records() { grep -v '^@' "$1"; }

# align ARGUMENTS...: with engine $E, within a minute, quietly
align() {
    local rc=0
    timeout -s KILL 60 "$ZEROHOP" align -q --engine "$E" --dna "$@" 2> align.stderr || rc=$?
    [ $rc = 0 ] || { cat align.stderr >&2; fail "exit status $rc: --engine $E $*"; }
}

# own EXPECTED.sam NAME ARGUMENTS...: zerohop's records equal those expected, in their order
own() {
    local expected=$1 name=$2; shift 2
    align "$@" > own.sam
    cmp <(records own.sam) <(records "$expected") || fail "$E: $name ($*)"
    cmp <(grep '^@SQ' own.sam) <(grep '^@SQ' "$expected") || fail "$E: @SQ, $name ($*)"
}

# own_set: the same, in any order; a read's records stay together
own_set() {
    local expected=$1 name=$2; shift 2
    align "$@" > own.sam
    cmp <(records own.sam | sort) <(records "$expected" | sort) || fail "$E: $name ($*)"
}

# refused STATUS WORDS ARGUMENTS...: it ends with STATUS and says WORDS ($WITH: a variable for it alone)
refused() {
    local status=$1 words=$2 rc=0; shift 2
    timeout -s KILL 60 env ${WITH-} "$ZEROHOP" align -q "$@" > refused.out 2> refused.err || rc=$?
    [ $rc = "$status" ] || fail "exit status $rc instead of $status: $*: $(cat refused.err)"
    grep -qF -- "$words" refused.err || fail "$*: no '$words' in: $(cat refused.err)"
    [ ! -s refused.out ] || fail "$*: it writes records all the same"
}

# nothing of ours in /dev/shm, in the temporary folder or beside the outputs
nothing_left() {
    local left
    left=$({ grep -lsF "$WORK" /dev/shm/zerohop-"$(id -u)"/*.json; ls -A tmp; ls -d ./*.partial* 2>/dev/null
        for file in /dev/shm/bwaidx-zerohop-* /dev/shm/zerohop-"$(id -u)"/links-*; do
            [ ! -e "$file" ] || [ -e "/proc/$(sed 's/.*\(zerohop\|links\)-\([0-9]*\).*/\2/' <<< "$file")" ] ||
                echo "$file"
        done; } || true)
    [ -z "$left" ] || { head -n 5 tmp/*/* 2>/dev/null; fail "$E: left behind: $left"; }
}

# ---------------------------------------------------------------------------------------------------------------------

listing() {
    local name
    zerohop engines > engines.txt
    for name in strobealign $all; do grep -q "^$name " engines.txt || fail "zerohop engines does not name $name"; done
    for E in $engines; do
        grep "^$E " engines.txt | grep -qF "$(about $E 'e["found"]')" || fail "engines: where is $E?"
        [[ "$(about $E 'e["found_version"]')" =~ ^v?[0-9] ]] || fail "engines: version of $E"
        [ -n "$(about $E 'e["contract"]["notes"]')" ] || fail "no contract of $E"
    done
    PATH=/nowhere "$ZEROHOP" engines > none.txt || fail "engines without any aligner"
    [ "$(grep -c 'not on the PATH' none.txt)" = $(wc -w <<< "$all") ] ||
        fail "aligners are found where none is"
    cp ref.fa bare.fa
    for E in $engines; do WITH=PATH=/nowhere refused 1 "is on the PATH" --engine $E bare.fa 1.fq; done
    rm bare.fa
}

# the message names the command, and that command makes the index
missing_index() {
    local command
    for E in $engines; do
        rm -rf m && mkdir m && cp ref.fa m/r.fa
        refused 1 "--build-index" --engine $E m/r.fa 1.fq 2.fq
        [ "$(ls m)" = r.fa ] || fail "$E: something was made without --build-index"
        grep -qF "has no index of m/r.fa" refused.err ||
            fail "$E: the message does not name the reference: $(cat refused.err)"
        command=$(tail -n 1 refused.err)
        sh -c "$command" > indexer.log 2>&1 ||
            fail "$E: the command that was named fails: $command: $(tail -n 5 indexer.log)"
        alone expected.sam 1.fq 2.fq
        own expected.sam "with an index made by the command that was named" m/r.fa 1.fq 2.fq
    done
}

build_index() {
    local one two before rc run
    for E in $engines; do
        alone expected.sam 1.fq
        # two runs at once make it once
        rm -rf m && mkdir m && cp ref.fa m/r.fa
        timeout 60 "$ZEROHOP" align -q --engine $E --dna -t 1 --build-index -o one.sam m/r.fa 1.fq & one=$!
        timeout 60 "$ZEROHOP" align -q --engine $E --dna -t 1 --build-index -o two.sam m/r.fa 1.fq & two=$!
        wait $one && wait $two || fail "$E: two runs that build an index at once"
        for run in one two; do
            cmp <(records $run.sam) <(records expected.sam) || fail "$E: records with an index that was built"
        done
        [ -z "$(find m -name '.*' -mindepth 1)" ] || fail "$E: left of the building: $(find m -name '.*')"
        before=$(find m -type f -printf '%p %T@ %i\n' | sort)
        own expected.sam "the index is there already" --build-index m/r.fa 1.fq
        [ "$before" = "$(find m -type f -printf '%p %T@ %i\n' | sort)" ] || fail "$E: the index was built again"
        rm -rf m && mkdir m && gzip -cn ref.fa > m/z.fa.gz
        own expected.sam "built from gzip" --build-index m/z.fa.gz 1.fq
        own expected.sam "built from gzip, again" m/z.fa.gz 1.fq
        # an indexer that fails: its words are told, and nothing is left
        rm -rf m && mkdir m && : > m/r.fa
        rc=0
        timeout 60 "$ZEROHOP" align -q --engine $E --build-index m/r.fa 1.fq > refused.out 2> refused.err || rc=$?
        [ $rc = 1 ] || [ "$E" = minimap2 ] || [ "$E" = bwa ] ||
            echo "note: $E makes an index of an empty reference (exit status $rc)"
        [ -z "$(find m -name '.*' -mindepth 1)" ] || fail "$E: left of a failed building: $(find m)"
        # an index of nothing may be made, and may be more than its aligner can stand: then its log is kept
        rm -rf tmp/zerohop-*
    done
}

inputs() {
    for E in $engines; do
        alone single.sam 1.fq
        alone pairs.sam 1.fq 2.fq
        own single.sam "single reads" ref.fa 1.fq
        own single.sam "gzip" ref.fa 1.gz
        own single.sam "BGZF" ref.fa 1.bgz
        own single.sam "standard input" ref.fa - < 1.fq
        own single.sam "standard input, gzip through a pipe" ref.fa - < <(cat 1.gz)
        own pairs.sam "pairs" ref.fa 1.fq 2.fq
        own pairs.sam "pairs, gzip and BGZF" ref.fa 1.gz 2.bgz
        rm -f one two && mkfifo one two
        cat 1.fq > one & cat 2.gz > two &
        own pairs.sam "named pipes" ref.fa one two
        wait
        own pairs.sam "pairs in one file" -p ref.fa i.fq
        own pairs.sam "pairs in one file, gzip on standard input" -p ref.fa - < <(gzip -c i.fq)
        # the last line of a file may have no end, and lines may end with a carriage return
        own pairs.sam "no end of the last line" ref.fa <(head -c -1 1.fq) 2.fq
        refused 2 "either pairs or single reads" --engine $E ref.fa 1.fq 2.fq --reads 1.fq
        refused 1 "has no mate" --engine $E -p ref.fa <(head -n 12 i.fq)
    done
}

fasta() {
    for E in $engines; do
        if [ "$(about $E 'e["reads"].get("fasta")')" = None ]; then
            refused 1 "takes no reads in FASTA" --engine $E ref.fa 1.fa
            continue
        fi
        case $E in bowtie | bowtie2 | hisat2) EXTRA=(-f);; *) EXTRA=();; esac
        alone single.sam 1.fa
        alone pairs.sam 1.fa 2.fa
        own single.sam "FASTA" ref.fa 1.fa
        own single.sam "FASTA in several lines" ref.fa <(awk \
            '/^[^>]/ { print substr($0, 1, 60); $0 = substr($0, 61) } { print }' 1.fa)
        own pairs.sam "FASTA pairs" ref.fa 1.fa <(gzip -c 2.fa)
        refused 2 "either FASTQ or FASTA" --engine $E ref.fa 1.fq --reads 1.fa
    done
}

# what an aligner warns of is told: minimap2, of an index for other reads
warnings() {
    [[ "$engines " == *" minimap2 "* ]] || return 0
    minimap2 -x map-ont -d ont.mmi ref.fa 2> index.log || fail "$(cat index.log)"
    E=minimap2
    align -o own.sam ont.mmi 1.fq 2.fq
    grep -q "^note: minimap2 says: .*[Ww][Aa][Rr][Nn][Ii][Nn][Gg].*overridden" align.stderr ||
        fail "a warning is not told: $(cat align.stderr)"
    align -o own.sam ref.fa 1.fq 2.fq
    [ ! -s align.stderr ] || fail "a note without a warning: $(cat align.stderr)"
}

# an index is of the options that it depends on: made with them, named after them, and refused with others
index_options() {
    [[ "$engines " == *" minimap2 "* ]] || return 0
    local options
    E=minimap2
    for options in "-x sr -k 11 -w 3" "-x sr -w5" "-x map-pb -Hk 17"; do
        minimap2 -a $options ref.fa 1.fq > expected.sam 2> alone.stderr || fail "minimap2 $options"
        own expected.sam "$options" --build-index --engine-args "$options" ref.fa 1.fq
    done
    for options in sr.k11.w3 sr.w5 map-pb.k17.H; do
        [ -s ref.fa.$options.mmi ] || fail "no $options: $(ls ref.fa*)"
    done
    refused 1 "ref.fa.sr.k12.mmi is missing" --engine $E --engine-args '-k 12' ref.fa 1.fq
    refused 1 "it was made with -k 21, and --engine-args has -k 11" --engine $E --engine-args '-k 11' ref.fa.sr.w5.mmi \
        1.fq
    rm ref.fa.sr.k11.w3.mmi ref.fa.sr.w5.mmi ref.fa.map-pb.k17.H.mmi
}

# an index that is not of the reference as it is now is refused, with the command that makes it anew; one that is older
# than the reference is told of
changed_references() {
    local change
    for E in $engines; do
        rm -rf m && mkdir m && cp ref.fa m/r.fa
        align --build-index -o own.sam m/r.fa 1.fq
        [ ! -s align.stderr ] || fail "$E: a note of a new index: $(cat align.stderr)"
        touch -d 'next hour' m/r.fa
        if [ "$(about $E 'e["index"]["header_names_contigs"]')" = False ]; then
            refused 1 "is older than the reference m/r.fa, which may have changed" --engine $E m/r.fa 1.fq
            find m -type f ! -name r.fa -exec touch -d '2 hours' {} +
            align -o own.sam m/r.fa 1.fq
            continue
        fi
        align -o own.sam m/r.fa 1.fq
        grep -q "^note: The index m/r.fa.* is older than the reference m/r.fa" align.stderr ||
            fail "$E: nothing is said of an older index: $(cat align.stderr)"
        for change in 's/^>ecoli_2 />renamed /' '2s/^/ACG/' '/^>ecoli_3/,$d' '1s/^/>new\nACGT\n/'; do
            sed "$change" ref.fa > m/r.fa
            # newer or not
            touch -d '2000-01-01' m/r.fa
            refused 1 "it was made from another reference, or the reference has changed since (" --engine $E m/r.fa 1.fq
            [ "$(grep -c "make it anew with this command" refused.err)" = 1 ] || fail "$E: $(cat refused.err)"
            rm -r tmp/zerohop-*
        done
    done
}

# mates that are given as single reads have the same names: each record is put to its own read, in whatever order they
# come (SNAP with several threads)
same_names() {
    for E in $engines; do
        [ "$(about $E 'e["contract"]["same_records"]')" = free ] || continue
        # its records depend on the lengths of reads in all files, and on the reads before them in a chunk
        [ $E != strobealign-program ] || continue
        alone one.sam 1.fq
        alone two.sam 2.fq
        cat one.sam two.sam > expected.sam
        align -t 4 -o own.sam ref.fa 1.fq --reads 2.fq
        cmp <(records own.sam) <(records expected.sam) || fail "$E: reads of the same names"
    done
}

# what minimap2 would take for single reads is told so
pairs_as_single_reads() {
    [[ "$engines " == *" minimap2 "* ]] || return 0
    local preset
    E=minimap2
    for preset in splice map-ont asm5; do
        refused 1 "took the mates of pair '" --engine $E --build-index --engine-args "-x $preset" -o x.sam \
            ref.fa 1.fq 2.fq
        grep -q "it aligns pairs with -x sr or --frag=yes" refused.err || fail "$preset: $(cat refused.err)"
        align --engine-args "-x $preset" -o own.sam ref.fa 1.fq --reads 2.fq
    done
    minimap2 -a -x map-ont --frag=yes ref.fa 1.fq 2.fq > expected.sam 2> alone.stderr
    own expected.sam "--frag=yes" --engine-args '-x map-ont --frag=yes' ref.fa 1.fq 2.fq
    rm -r tmp/zerohop-* ref.fa.{splice,map-ont,asm5}.mmi
}

# without its options for DNA, records of hisat2 depend on what an instance has learnt: that is said, and only then
learning() {
    [[ "$engines " == *" hisat2 "* ]] || return 0
    local with
    for with in "" --dna --engine-args=--no-spliced-alignment; do
        zerohop align --engine hisat2 -t 2 --replicas 2 $with -o own.sam ref.fa 1.fq 2.fq
        if [ -z "$with" ]; then
            grep -q "learnt from earlier reads; not with --dna" zerohop.stderr || fail "hisat2: $(cat zerohop.stderr)"
        else
            ! grep -q "learnt" zerohop.stderr || fail "hisat2 $with: $(cat zerohop.stderr)"
        fi
    done
}

# enough reads for three chunks
plans() {
    local pages
    for E in $engines; do
        alone big.sam big_1.fq big_2.fq
        alone big.single.sam big_1.fq
        alone pairs.sam 1.fq 2.fq
        own big.sam "one thread" -t 1 ref.fa big_1.fq big_2.fq
        own big.single.sam "three threads" -t 3 ref.fa big_1.fq
        for pages in local localalloc interleave first-touch; do
            [ -z "${LONG-}" ] || own pairs.sam "$pages" -t 2 --pages $pages ref.fa 1.fq 2.fq
            own pairs.sam "two instances, $pages" -t 2 --replicas 2 --pages $pages ref.fa 1.fq 2.fq
        done
        [ $E != gem3 ] || continue # its pairs depend on where its input is cut
        own big.sam "two instances" -t 2 --replicas 2 --json j.json ref.fa big_1.fq big_2.fq
        python3 - $E <<'END' || fail "$E: the account of the instances"
import json, sys
j = json.load(open('j.json'))
instances = j['run']['instances']
assert len(instances) == 2 and sum(i['reads_in'] for i in instances) == 14000, instances
assert all(i['reads_in'] == i['reads_out'] and i['log'] is None for i in instances), instances
assert sum(i['chunks'] for i in instances) == (1 if 'bwa' in sys.argv[1] else 3), instances
assert j['engine'][0] == sys.argv[1] and j['run']['tally']['reads'] == j['run']['tally']['primary_records'] == 14000
END
        own big.single.sam "three instances" -t 3 --replicas 3 ref.fa big_1.fq
        own_set big.sam "any order" -t 2 --replicas 2 --order any ref.fa big_1.fq big_2.fq
        records own.sam | awk -F '\t' '$1 != last { if ($1 in seen) exit 1; seen[$1]; last = $1 }' ||
            fail "$E: --order any: mates are apart"
        own_set big.sam "equal parts" -t 2 --replicas 2 --deal static --order any ref.fa big_1.fq big_2.fq
        nothing_left
    done
    [[ "$engines " != *" bwa "* ]] || static_in_order
}

# bwa's choices depend on the reads that a process had before: dealt in turn, they are those of a process for every
# second batch and one for the others, with the records put back in order
static_in_order() {
    local i note="process had the reads. Every run with --deal static and as many instances gives these"
    E=bwa
    python3 - <<'END'
records = [list(zip(*[open(f'big_{mate}.fq')] * 4)) for mate in (1, 2)]
files = [[open(f'turn{i}_{mate}.fq', 'w') for mate in (1, 2)] for i in (0, 1)]
batch, bases, turns = 0, 0, open('turns', 'w')
for pair in zip(*records):
    for file, read in zip(files[batch % 2], pair): file.writelines(read)
    turns.write(f'{batch % 2}\n')
    bases += sum(len(read[1]) - 1 for read in pair)
    if bases >= 100000: batch, bases = batch + 1, 0
assert batch > 15
END
    EXTRA=(-K 100000)
    for i in 0 1; do alone turn$i.sam turn${i}_1.fq turn${i}_2.fq; done
    EXTRA=()
    python3 - > expected.sam <<'END'
import itertools
def groups_of(file):
    records = (line for line in open(file) if line[0] != '@')
    return (list(lines) for _, lines in itertools.groupby(records, lambda line: line.split()[0]))
groups = [groups_of(f'turn{i}.sam') for i in (0, 1)]
for turn in open('turns'): print(end=''.join(next(groups[int(turn)])))
END
    grep '^@SQ' turn0.sam >> expected.sam
    for i in 1 2; do
        own expected.sam "equal parts in order" -t $((2 * i)) --replicas 2 --deal static --engine-args '-K 100000' \
            ref.fa big_1.fq big_2.fq
        grep -q "^note: Some records of BWA-MEM .*$note" align.stderr ||
            fail "bwa: what it depends on is not told: $(cat align.stderr)"
    done
    # with two finished chunks at most that an instance may be ahead, and over a pipe
    own expected.sam "equal parts in order, from a pipe" -t 2 --replicas 2 --deal static --engine-args '-K 100000' \
        ref.fa <(cat big_1.fq) <(cat big_2.fq)
    align -t 2 --replicas 2 -o own.sam ref.fa big_1.fq big_2.fq
    grep -q "^note: Some records of BWA-MEM .* use --deal static with as many instances" align.stderr ||
        fail "bwa: two instances without a note: $(cat align.stderr)"
    align -t 2 --replicas 1 -o own.sam ref.fa big_1.fq big_2.fq
    [ ! -s align.stderr ] || fail "bwa: a note of one instance: $(cat align.stderr)"
}

farm() {
    for E in $engines; do
        if [ "$(about $E 'e["sharing"]["how"]')" = none ]; then
            refused 1 "cannot share an index between processes" --engine $E --farm ref.fa 1.fq
            continue
        fi
        alone big.sam big_1.fq big_2.fq
        alone single.sam 1.fq
        own big.sam "farm" -t 2 --farm --json j.json ref.fa big_1.fq big_2.fq
        python3 - <<'END' || fail "$E: the farm is not one of single-threaded processes on one shared index"
import json
instances = json.load(open('j.json'))['run']['instances']
assert [i['plan']['threads'] for i in instances] == [1, 1], instances
assert all(len(i['plan']['cpus']) == 1 for i in instances), instances
assert sum(i['shared']['present'] > 0 for i in instances) >= 1, [i['shared'] for i in instances]
END
        own single.sam "farm, two copies" -t 3 --farm --replicas 2 --pages local ref.fa 1.fq
        own single.sam "farm, interleaved" -t 2 --farm --pages interleave --hang-limit 30 ref.fa 1.fq
        own_set single.sam "farm, any order" -t 2 --farm --order any --pages first-touch ref.fa 1.fq
        nothing_left
    done
    [ -z "$(ls tmp)" ] || fail "left: $(ls tmp)"
}

# Contigs that stand for others (ref.fa.alt) count in a farm, too; and bwa cuts any number off the name of a read.
alternates() {
    [[ " $engines " == *" bwa "* ]] || return 0
    python3 - << 'END'
import random
random.seed(3)
contig = ''.join(random.choice('ACGT') for _ in range(20000))
other = list(contig[4000:9000])
for at in range(0, 5000, 400): other[at] = 'ACGT'['ACGT'.index(other[at]) - 1]
open('alt.fa', 'w').write(f'>c1\n{contig}\n>other\n{"".join(other)}\n')
open('alt.fa.alt', 'w').write('other\t0\tc1\t4001\t60\t5000M\t*\t0\t0\t*\t*\n')
with open('alt.fq', 'w') as reads:
    for i in range(500):
        at = random.randrange(4000, 8900)
        reads.write(f'@r{i}/3\n{contig[at:at + 100]}\n+\n{"I" * 100}\n')
END
    bwa index alt.fa 2> /dev/null
    bwa mem -v 1 -K 10000000 alt.fa alt.fq 2> /dev/null | grep -v '^@' > alt.expected
    bwa mem -v 1 -K 10000000 -j alt.fa alt.fq 2> /dev/null | grep -v '^@' > alt.ignored
    ! cmp -s alt.expected alt.ignored || fail "ALT does not matter"
    local how
    for how in "-t 1" "-t 2 --farm"; do
        zerohop align -q --engine bwa $how alt.fa alt.fq | grep -v '^@' | cmp - alt.expected || fail "ALT, $how"
    done
}

outputs() {
    local i order
    for E in $engines; do
        alone pairs.sam 1.fq 2.fq
        alone big.sam big_1.fq big_2.fq
        align -t 2 -o own.bam ref.fa 1.fq 2.fq
        samtools quickcheck -v own.bam || fail "$E: BAM"
        cmp <(samtools view own.bam) <(samtools view pairs.sam) || fail "$E: BAM is not what samtools reads in its SAM"
        align -t 1 --format bam --level 1 ref.fa 1.fq 2.fq > own.bam
        cmp <(samtools view own.bam) <(samtools view pairs.sam) || fail "$E: BAM on standard output"
        [ $E != gem3 ] || continue
        for order in input any; do
            align -t 2 --replicas 2 --order $order --shards 3 -o s.bam ref.fa big_1.fq big_2.fq
            [ "$(echo s.*)" = "s.1.bam s.2.bam s.3.bam" ] || fail "$E: the shards are $(echo s.*)"
            samtools quickcheck -v s.1.bam s.2.bam s.3.bam || fail "$E: shards"
            cmp <(for i in 1 2 3; do samtools view s.$i.bam; done | sort) <(samtools view big.sam | sort) ||
                fail "$E: the shards together, --order $order"
            rm s.*
        done
    done
}

groups() {
    local line='@RG\tID:x\tSM:s\tPL:ILLUMINA'
    for E in $engines; do
        if [ "$(about $E 'bool(e["read_group"]["option"])')" = True ]; then
            EXTRA=(-R "$line")
            alone expected.sam 1.fq 2.fq
            EXTRA=()
        else
            alone plain.sam 1.fq 2.fq
            sed '/^@/!s/$/\tRG:Z:x/' plain.sam > expected.sam
        fi
        own expected.sam "a read group" -R "$line" ref.fa 1.fq 2.fq
        [ "$(grep -c "^@RG" own.sam)" = 1 ] && grep -q $'^@RG\tID:x\tSM:s\tPL:ILLUMINA' own.sam ||
            fail "$E: @RG: $(grep '^@RG' own.sam)"
        [ "$(samtools view -c -r x own.sam)" = "$(records own.sam | wc -l)" ] ||
            fail "$E: records without their read group"
        own expected.sam "a read group as strobealign takes it" --rg-id x --rg SM:s --rg PL:ILLUMINA ref.fa 1.fq 2.fq
        own expected.sam "a read group, BAM" -R "$line" -t 2 --replicas 2 --format sam ref.fa 1.gz 2.gz
        own expected.sam "one group for two lanes" -R "$line" -t 2 ref.fa a_1.fq a_2.fq --reads b_1.fq b_2.fq
        alone plain.sam 1.fq 2.fq
        # lane A has the first 200 pairs
        awk -F '\t' 'NR == FNR { if (FNR % 4 == 1) a[substr($1, 2)]; next } /^@/ { print; next }
            { sub(/\tRG:Z:[^\t]*/, ""); print $0 "\tRG:Z:" ($1 in a ? "A" : "B") }' \
            <(sed 's/ .*//' a_1.fq) plain.sam > expected.sam
        own expected.sam "two lanes with a group each" -t 2 -R '@RG\tID:A\tSM:s' -R '@RG\tID:B\tSM:t' ref.fa a_1.fq \
            a_2.fq --reads b_1.fq b_2.fq
        [ "$(samtools view -c -r A own.sam) $(samtools view -c -r B own.sam)" != "0 0" ] ||
            fail "$E: samtools finds no groups"
        [ "$(($(samtools view -c -r A own.sam) + $(samtools view -c -r B own.sam)))" = "$(records own.sam | wc -l)" ] ||
            fail "$E: records without a group"
        own plain.sam "two lanes" ref.fa a_1.fq <(gzip -c a_2.fq) --reads b_1.fq b_2.fq
    done
}

comments() {
    local mate
    for mate in 1 2; do
        awk -v m=$mate 'NR % 4 == 1 { print $1 "\tBC:Z:ACGT-" NR "-" m "\tXZ:i:" NR; next } { print }' $mate.fq > \
            c_$mate.fq
    done
    for E in $engines; do
        # with the comments in the reads: bowtie2 and its kin draw their random numbers from the whole header line
        if [ $E = snap ]; then alone plain.sam 1.fq 2.fq; else alone plain.sam c_1.fq c_2.fq; fi
        awk -F '\t' 'FILENAME != ARGV[3] {
                if (FNR % 4 == 1) c[substr($1, 2), FILENAME == ARGV[1] ? 0 : 1] = $2 "\t" $3
                next
            }
            /^@/ { print; next } { print $0 "\t" c[$1, int($2 / 128) % 2] }' c_1.fq c_2.fq plain.sam > expected.sam
        own expected.sam "comments" -C -t 2 --replicas 2 ref.fa c_1.fq c_2.fq
        own plain.sam "comments that nobody wants" ref.fa c_1.fq c_2.fq
        align -C -R '@RG\tID:x' -o own.bam ref.fa c_1.fq c_2.fq
        [ "$(samtools view -d XZ -r x own.bam | grep -c 'BC:Z:ACGT-')" = "$(records plain.sam | wc -l)" ] ||
            fail "$E: comments and a group in BAM"
    done
}

# names that end in /1 and /2, and many reads of one name
names() {
    local mate
    for mate in 1 2; do
        awk -v m=$mate 'NR % 4 == 1 { print "@r" NR "/" m; next } { print }' $mate.fq > slash_$mate.fq
        awk 'NR % 4 == 1 && NR > 300 && NR <= 1500 { print "@dup"; next } { print }' $mate.fq > dup_$mate.fq
    done
    [ "$(grep -c '^@dup$' dup_1.fq)" = 300 ] || fail "there are $(grep -c '^@dup$' dup_1.fq) names"
    for E in $engines; do
        alone expected.sam slash_1.fq slash_2.fq
        own expected.sam "names that end in /1" -t 2 ref.fa slash_1.fq slash_2.fq
        alone expected.sam slash_1.fq
        # through a stream of its own making, a read comes without it
        [ $E != snap ] || sed -i 's,/1\t,\t,' expected.sam
        own expected.sam "names that end in /1, single reads" -t 2 ref.fa slash_1.fq
        # they take reads of one name as parts of one fragment, and stop (signal 6) if these are too many
        [[ $E != mini* ]] || { refused 1 "instance 0 of $E was killed by signal 6" --engine $E ref.fa dup_1.fq \
            dup_2.fq; rm -r tmp/zerohop-*; continue; }
        alone expected.sam dup_1.fq dup_2.fq
        # equal names cannot be put back in order
        [ $E != snap ] || { own_set expected.sam "300 equal names" -t 2 ref.fa dup_1.fq dup_2.fq; continue; }
        own expected.sam "300 equal names" -t 2 ref.fa dup_1.fq dup_2.fq
        alone expected.sam dup_1.fq
        own expected.sam "300 equal names, single reads" -t 2 ref.fa dup_1.fq
    done
}

# with_headers MATE FORM...: the reads on standard input with headers of these forms in turn
with_headers() {
    awk -v mate=$1 -v names="${*:2}" '
    BEGIN { count = split(names, form, " ") }
    NR % 4 != 1 { print; next }
    { n = (NR + 3) / 4 }
    form[n % count + 1] == "ena" { print "@ERR6005894." n " K00287:12023:" n "/" mate }
    form[n % count + 1] == "sra" { print "@SRR3927310." n " " n " length=150" }
    form[n % count + 1] == "split" { print "@SRR3927310." n "." mate " " n " length=150" }
    form[n % count + 1] == "illumina" { print "@A00123:8:H7:1:1101:" n ":1000 " mate ":N:0:ACGT" }
    form[n % count + 1] == "bgi" { print "@V350012345L1C001R001" n "/" mate }
    form[n % count + 1] == "ont" { print "@1ab-" n "-9c runid=ab read=" n " ch=3 start_time=2020-01-01T00:00:00Z" }
    form[n % count + 1] == "underscore" { print "@x" n "_" mate }'
}

# headers as archives and machines write them: the records are those of the aligner, in two files and interleaved
headers() {
    local mate
    for mate in 1 2; do
        with_headers $mate ena sra illumina bgi ont < $mate.fq > header_$mate.fq
        with_headers $mate split underscore < $mate.fq > mate_$mate.fq
    done
    paste <(paste - - - - < header_1.fq) <(paste - - - - < header_2.fq) | tr '\t' '\n' > header_i.fq
    for E in $engines; do
        alone expected.sam header_1.fq header_2.fq
        own expected.sam "headers" ref.fa header_1.fq header_2.fq
        own expected.sam "headers, pairs in one file" -p ref.fa header_i.fq
        alone expected.sam header_1.fq
        [ $E != snap ] || sed -i 's,/1\t,\t,' expected.sam
        own expected.sam "headers, single reads" ref.fa header_1.fq
        case $E in
            # these do not take X.1 and X.2 for mates themselves
            bwa | bwa-mem2 | snap) refused 1 "instance 0 of $E ended" --engine $E -o no.sam ref.fa mate_1.fq mate_2.fq
            rm -r tmp/zerohop-*;;
            *) alone expected.sam mate_1.fq mate_2.fq; own expected.sam "mates with names of their own" ref.fa \
                mate_1.fq mate_2.fq;;
        esac
    done
}

# GEM3 can be installed by few: what its source says of names (src/io/input_fasta.c), on unmapped reads
gem3_names() {
    local mate
    mkdir -p stand-in
    cat > stand-in/gem-mapper <<'END'
#!/usr/bin/env python3
import re, sys
if sys.argv[1] == '--version': print('v3.6.1', file=sys.stderr); sys.exit()
files = [open(sys.argv[sys.argv.index(option) + 1]) for option in ('-1', '-2', '-i') if option in sys.argv]
def read(file):
    header, seq, _, qual = [file.readline() for _ in range(4)]
    if not header: return
    name, *words = re.split('[ \t]', header[1:].rstrip('\n'))
    name = re.sub('/[123]$', '', name)
    for word in words:
        if word.count(':') != 3 and re.search('./[123]$', word): name += '_' + word[:-2]
    return name, seq.strip(), qual.strip()
print('@SQ\tSN:c\tLN:9')
while True:
    for file, flags in zip(files, (77, 141) if len(files) == 2 else (4,)):
        found = read(file)
        if not found: sys.exit()
        print(found[0], flags, '*\t0\t0\t*\t*\t0\t0', *found[1:], sep='\t')
END
    chmod +x stand-in/gem-mapper
    touch stand.fa stand.fa.gem
    for mate in 1 2; do head -n 400 $mate.fq | with_headers $mate ena > ena_$mate.fq; done
    awk 'BEGIN { for (i = 1; i <= 100; i++) print "ERR6005894." i "_K00287:12023:" i }' > expected.names
    PATH=$WORK/stand-in:$PATH zerohop align -q --engine gem3 -t 1 stand.fa ena_1.fq ena_2.fq > own.sam
    cmp <(records own.sam | cut -f 1) <(awk '{ print; print }' expected.names) || fail "names of GEM3"
    PATH=$WORK/stand-in:$PATH zerohop align -q --engine gem3 -t 2 --replicas 2 stand.fa ena_1.fq > own.sam
    cmp <(records own.sam | cut -f 1) expected.names || fail "names of GEM3, single reads"
}

# reads of no bases, as trimming leaves them: of a first mate, of a second, of both
empty_reads() {
    local reads
    awk 'int((NR - 1) / 4) % 40 ~ /^[37]$/ && NR % 2 == 0 { print ""; next } { print }' 1.fq > zero_1.fq
    awk 'int((NR - 1) / 4) % 40 ~ /^[57]$/ && NR % 2 == 0 { print ""; next } { print }' 2.fq > zero_2.fq
    for E in $engines; do
        # bowtie, GEM3 and SNAP by themselves do not take them, nor does minimap2 take such pairs
        case $E in bowtie | gem3 | snap) continue;; esac
        for reads in zero_1.fq "zero_1.fq zero_2.fq"; do
            [ "$E $reads" != "minimap2 zero_1.fq zero_2.fq" ] || continue
            alone expected.sam $reads
            own expected.sam "reads of no bases" ref.fa $reads
            align -o own.bam ref.fa $reads
            cmp <(samtools view own.bam) <(samtools view expected.sam) || fail "$E: reads of no bases, BAM"
            [ "$E $reads" != "bowtie2 zero_1.fq zero_2.fq" ] ||
                grep -qx "note: Bowtie 2 wrote no record of 20 mates of no bases." align.stderr ||
                    fail "$E: what is left out is not told: $(cat align.stderr)"
        done
    done
}

zero_reads() {
    local rc
    for E in $engines; do
        for reads in empty_1.fq "empty_1.fq empty_2.fq"; do
            rc=0
            timeout -s KILL 60 "$ZEROHOP" align -q --engine $E -t 2 -o zero.sam ref.fa $reads 2> zero.err || rc=$?
            # bowtie calls that a failure itself, and writes no header; strobealign's index is made for a length of
            # reads
            [ $rc:$E = 1:bowtie ] && [ ! -e zero.sam ] && grep -q "wrote no header, for there were no reads" zero.err &&
                continue
            [ $rc:$E = 1:strobealign-program ] && [ ! -e zero.sam ] && grep -q "has no index" zero.err && continue
            [ $rc = 0 ] && [ "$(grep -c '^@PG' zero.sam)" -ge 2 ] || fail "$E: no reads: $rc, $(cat zero.err)"
            [ "$(grep -vc '^@' zero.sam)" = 0 ] || fail "$E: records of no reads"
            rm zero.sam
        done
        nothing_left
    done
}

engine_args() {
    for E in $engines; do
        case $E in
            bwa | bwa-mem2) EXTRA=(-K 30000 -T 20 -R '@RG\tID:q\tSM:a b');;
            bowtie2) EXTRA=(--very-fast --rg-id q --rg 'SM:a b');;
            bowtie) EXTRA=(-v 1 --sam-RG 'ID:q' --sam-RG 'SM:a b');;
            hisat2) EXTRA=(--score-min L,0,-0.4 --rg-id q --rg SM:ab);;
            snap) EXTRA=(-d 8 -R '@RG\tID:q\tSM:a b');;
            minimap2) EXTRA=(-s 60 -K 20k -R '@RG\tID:q\tSM:a b');;
            minibwa) EXTRA=(-A 1 -K 30000 -R '@RG\tID:q\tSM:a b');;
            strobealign-program) EXTRA=(-N 2 --rg-id=q '--rg=SM:a b');;
            gem3) EXTRA=(--alignment-max-error 0.08 -r '@RG\tID:q\tSM:a b');;
        esac
        alone expected.sam 1.fq 2.fq
        own expected.sam "--engine-args" --engine-args "$(printf "'%s' " "${EXTRA[@]}")" ref.fa 1.fq 2.fq
        # (the wrapper script of hisat2 does not get such an argument through)
        [ $E = hisat2 ] || grep -q $'^@RG.*SM:a b' own.sam ||
            fail "$E: an argument with a space in it is taken apart: $(grep '^@RG' own.sam)"
        [ "$(grep '^@RG' own.sam)" = "$(grep '^@RG' expected.sam)" ] ||
            fail "$E: the read group that it was given is another"
        refused 2 "quotes do not match" --engine $E --engine-args "'x" ref.fa 1.fq
        # the aligner's own words about an argument that it does not know
        refused 1 "instance 0 of $E" --engine $E --engine-args=--no-such-option ref.fa 1.fq
        # its log is kept then
        [ "$(ls tmp | wc -l)" = 1 ] && rm -r tmp/zerohop-* || fail "$E: kept are: $(ls tmp)"
    done
    [[ " $engines " != *" bwa "* ]] || { refused 2 "must be a number" --engine bwa --engine-args '-K x' ref.fa 1.fq
        refused 2 "1000000000 bases at most" --engine bwa --engine-args '-K 1000000001' ref.fa 1.fq; }
    [[ " $engines " != *" strobealign-program "* ]] || other_read_length
}

# the index is that of the length which the user gives
other_read_length() {
    E=strobealign-program EXTRA=(-r 250)
    align --build-index --engine-args '-r 250' -o own.sam ref.fa 1.fq 2.fq
    [ -s ref.fa.r250.sti ] || fail "$E: no index for reads of 250 bases: $(ls ref.fa*)"
    alone expected.sam 1.fq 2.fq
    own expected.sam "-r 250" --engine-args '-r 250' ref.fa 1.fq 2.fq
    rm ref.fa.r250.sti
    refused 1 "ref.fa.r250.sti is missing" --engine $E --engine-args '-r250' ref.fa 1.fq
    refused 2 "must be a number" --engine $E --engine-args '-r=250' ref.fa 1.fq
}

# everything that a descriptor refuses, whether the aligner is here or not
refusals() {
    local option why rc
    python3 -c '
import json
for e in json.load(open("engines.json")):
    for r in e["refused"]: print(e["name"], r["option"], r["why"], sep="\t")' > refused.tsv
    [ "$(wc -l < refused.tsv)" -gt 100 ] || fail "only $(wc -l < refused.tsv) options are refused"
    [ -n "${LONG-}" ] || sort -u -k 1,1 -o refused.tsv refused.tsv
    while IFS=$'\t' read -r E option why; do
        refused 2 "$why" --engine "$E" "--engine-args=$option 1" ref.fa 1.fq
    done < refused.tsv
    for option in --threads=3 --thr --upto=5 -p3 "--score-min L,0,0 -x other" --sam-no-h; do
        refused 2 "cannot be given to Bowtie 2" --engine bowtie2 "--engine-args=$option" ref.fa 1.fq
    done
    refused 2 "-t4 cannot be given" --engine bwa "--engine-args=-T 9 -t4" ref.fa 1.fq
    refused 2 "there is no engine 'x'" --engine x ref.fa 1.fq
    refused 2 "are for built-in engines" --engine bwa -r 100 ref.fa 1.fq
    refused 2 "--engine-args: 'x' is not an option of strobealign" --engine-args=x ref.fa 1.fq
    refused 2 "--engine-args is for aligners that run as" --engine null --engine-args=x ref.fa 1.fq
    for option in --farm "--deal static" "--logs x" "--compare-with original"; do
        refused 2 "runs inside zerohop" $option ref.fa 1.fq
        grep -q -- "^error: ${option%%[= ]*}.* is for aligners" refused.err || fail "$option: $(cat refused.err)"
    done
    for option in "-o x.bam" "-o x.sam --order any" "-o x.sam -p" "-o x.sam --shards 2" ""; do
        refused 2 "--compare-with needs" --engine bwa --compare-with original $option ref.fa 1.fq
    done
    refused 2 "--compare-with needs" --engine bwa --compare-with original -o x.sam ref.fa - < 1.fq
    [ ! -e x.sam ] && [ ! -e x ] || fail "refused runs leave files"
}

# an aligner that the user describes: a script that writes an unmapped record per read
own_descriptors() {
    cat > mine.sh <<'END'
#!/bin/sh
[ "$1" != --version ] || { echo "mine 7.5"; exit; }
printf '@SQ\tSN:c\tLN:100\n@PG\tID:mine\tPN:mine\tVN:7.5\n'
awk 'NR % 4 == 1 { name = substr($1, 2) } NR % 4 == 2 { seq = $0 }
    NR % 4 == 0 { print name "\t4\t*\t0\t0\t*\t*\t0\t0\t" seq "\t" $0 }' "$2"
END
    chmod +x mine.sh
    cat > mine.toml <<END
name = "mine"
title = "My aligner"
program = ["$WORK/mine.sh"]
[version]
command = ["--version"]
pattern = "mine "
[index]
files = [".mine"]
option = ["{index}"]
build = ["touch", "{index}.mine"]
bytes_per_base = 1.0
[reads]
single = ["{reads_1}"]
[threads]
option = []
[order]
keeps = "always"
END
    ./mine.sh - 1.fq | grep -v '^@' > expected.sam
    mine() {
        zerohop align -q --engine mine "$@" > own.sam
        cmp <(records own.sam) expected.sam || fail "a user's aligner ($*)"
    }
    refused 1 "touch ref.fa.mine" --engine mine --engine-file mine.toml ref.fa 1.fq
    mine --engine-file mine.toml --build-index -t 2 --replicas 2 ref.fa 1.fq
    refused 1 "takes no pairs" --engine mine --engine-file mine.toml ref.fa 1.fq 2.fq
    refused 2 "there is no engine 'mine'" --engine mine ref.fa 1.fq
    mkdir -p config/zerohop/engines
    cp mine.toml config/zerohop/engines
    echo "no descriptor" > config/zerohop/engines/readme.txt
    mine ref.fa 1.fq
    grep -q $'^@PG\tID:mine\tPN:mine\tVN:7.5' own.sam && grep -q $'^@PG\tID:zerohop\t.*PP:mine' own.sam ||
        fail "@PG: $(grep '^@PG' own.sam)"
    zerohop engines > engines.txt
    grep '^mine ' engines.txt | grep -q '7\.5.*mine\.sh' ||
        fail "engines does not list a user's aligner: $(grep mine engines.txt)"
    (unset XDG_CONFIG_HOME; mkdir -p home/.config && cp -r config/zerohop home/.config &&
        HOME=$WORK/home "$ZEROHOP" engines | grep -q '^mine ') ||
        fail "~/.config is not looked at"
    # over a built-in one
    sed 's/^name = .*/name = "bwa"/' mine.toml > config/zerohop/engines/mine.toml
    zerohop align -q --engine bwa ref.fa 1.fq > own.sam
    cmp <(records own.sam) expected.sam || fail "a built-in aligner is not overridden"
    # a file that is wrong is named, and what is wrong with it
    echo 'nonsense = 1' >> config/zerohop/engines/mine.toml
    refused 1 "engines/mine.toml" --engine bwa ref.fa 1.fq
    refused 1 "nonsense" --engine bwa ref.fa 1.fq
    rm -r config
    refused 1 "no-such.toml" --engine mine --engine-file no-such.toml ref.fa 1.fq
}

# the aligner with its version and its command, and zerohop after it
programs() {
    local version id
    for E in $engines; do
        align -t 2 ref.fa 1.fq 2.fq > own.sam
        version=$(about $E 'e["found_version"]')
        id=$(grep '^@PG' own.sam | head -n 1 | sed 's/.*\tID:\([^\t]*\).*/\1/')
        [ "$(grep -c '^@PG' own.sam)" = 2 ] || fail "$E: @PG: $(grep '^@PG' own.sam)"
        grep '^@PG' own.sam | head -n 1 | grep -q "VN:v\?$version" ||
            fail "$E: @PG does not say version $version: $(grep '^@PG' own.sam | head -n 1)"
        grep '^@PG' own.sam | tail -n 1 | grep -q "ID:zerohop.*PP:$id.*CL:zerohop align -q --engine $E" ||
            fail "$E: @PG of zerohop: $(grep '^@PG' own.sam | tail -n 1)"
        samtools view -H own.sam > header || fail "$E: samtools does not take the header"
    done
}

# --compare-with original, under two instances: the same for those whose records depend on nothing else
comparison() {
    local args
    for E in $engines; do
        align --compare-with original --compare-first 100 --json j.json -t 2 -o c.sam ref.fa 1.fq 2.fq
        python3 -c 'import json; c = json.load(open("j.json"))["comparison"]
assert c["fragments"] == 100 and c["records"] >= 200, c' || fail "$E: --compare-first"
        args=(); [[ $E != *bwa* ]] || args=(--engine-args '-K 100000')
        align --compare-with original --json j.json -t 2 --replicas 2 "${args[@]}" -o c.sam ref.fa big_1.fq big_2.fq
        python3 - $E <<'END' || fail "$E: the comparison"
import json, sys
j = json.load(open('j.json'))
c, engine = j['comparison'], sys.argv[1]
records = sum(line[0] != '@' for line in open('c.sam'))
others = {kind: c[kind] for kind in ('ties', 'other_score', 'other_pairing', 'other_fields', 'unmatched')}
assert c['fragments'] == 7000 and c['command'], c
assert c['same'] + sum(others.values()) == c['records'] and abs(c['records'] - records) <= c['unmatched'], (c, records)
assert 'bwa' not in engine or all(i['chunks'] > 1 for i in j['run']['instances']), j['run']['instances']
if engine.startswith('bwa'):
    assert c['other_score'] <= c['records'] / 1000 and sum(others.values()) <= c['records'] / 20, c
elif engine != 'gem3':
    assert c['same'] == c['records'] == records, c
shown = ', '.join(f'{kind} {count}' for kind, count in others.items())
print(f"{engine}, two instances, {c['records']} records: {c['same']} the same; {shown}")
END
        nothing_left
    done
}

# Each of these is about one aligner, or takes no time.
OF_ALL="listing warnings index_options pairs_as_single_reads learning alternates gem3_names refusals own_descriptors"

# engines_of PART NUMBER: those that a part tries. Without LONG these are two, which change from part to part, and bwa
# where it is a case of its own.
engines_of() {
    local all=($engines) number=$2
    [ -z "${LONG-}${ENGINES-}" ] && [[ " $OF_ALL " != *" $1 "* ]] || { echo "$engines"; return; }
    [ "$1" != plans ] || number=0
    echo " ${all[2 * number % ${#all[@]}]} ${all[(2 * number + 1) % ${#all[@]}]} "
}

for E in $engines; do make_index $E; done
found=$engines number=0
for part in listing missing_index build_index inputs fasta warnings index_options changed_references \
    same_names pairs_as_single_reads learning plans farm alternates outputs groups \
    comments names headers gem3_names empty_reads zero_reads engine_args refusals own_descriptors programs \
    comparison; do
    engines=$found
    engines=$(engines_of $part $((number++)))
    [[ $part =~ ${PART-} ]] || continue
    EXTRA=()
    part $part
    echo "$part: as it should be"
done
