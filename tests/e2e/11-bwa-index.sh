#!/bin/bash
# The index that `bwa index` made, for the embedded bwa mem: what `zerohop index` makes of it has the bytes of that by
# sorting, and `zerohop align` reads it into place, with the same records. A damaged, unfinished, old or foreign one is
# a message. Where both kinds are there, that of zerohop is read, unless it is older.
# LONG=1: with every reference of ZEROHOP_DATA.
# PART=REGEX: the parts whose name matches.
source "$(dirname "$0")/lib.sh"
command -v bwa > /dev/null || skip "no bwa here"
zerohop engines > "$WORK/engines.txt"
grep -q '^bwa-mem ' "$WORK/engines.txt" || skip "this zerohop was built without bwa-mem"

cd "$WORK"
E=(--engine bwa-mem "--engine-args=-K 100000")

bwa_index() { bwa index "$@" 2> bwa.stderr || fail "bwa index $*: $(cat bwa.stderr)"; }

# refused WORDS ARGUMENTS...: with status 1 and one line that has WORDS; nothing is left
refused() {
    local words=$1 rc=0; shift
    "$ZEROHOP" align -q "${E[@]}" -t 2 -o refused.sam "$@" > out 2> err || rc=$?
    [ $rc = 1 ] && [ "$(wc -l < err)" = 1 ] && grep -q -- "^error: .*$words" err ||
        fail "$words: status $rc, $(cat err)"
    [ -z "$(ls refused.sam* 2> /dev/null)" ] || fail "$words: an output is left"
}

# made_references: what is rare in real ones
made_references() {
    python3 - <<'END_OF_PYTHON'
import random
random.seed(7)
bases = lambda count, letters='ACGT': ''.join(random.choice(letters) for _ in range(count))
reverse = lambda text: text[::-1].translate(str.maketrans('ACGT', 'TGCA'))
unit = bases(50_000)
for name, *contigs in [
    ('one', 'A'), ('one-n', 'N'), ('two', 'AC'), ('of-n', 'N' * 1000), ('poly', 'A' * 100_000),
    *[(f'length-{n}', bases(n)) for n in (31, 32, 33, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097)],
    ('ambiguous', bases(20_000, 'ACGTNRYKMSWBDHVacgtnry'), 'N' * 500 + bases(2_000) + 'n' * 300, bases(1)),
    ('repeats', unit + unit, bases(100) + unit[:20_000], bases(300) * 100),
    ('palindrome', unit + reverse(unit)), ('palindromes', (bases(500) + reverse(bases(500))) * 20, 'ACGT' * 5000),
    ('contigs', *[bases(random.randrange(1, 300)) for _ in range(500)]),
]:
    with open(f'{name}.fa', 'w') as out:
        for number, text in enumerate(contigs):
            out.write(f'>{name}{number} of {len(text)} bases\n')
            out.writelines(text[at:at + 70] + '\n' for at in range(0, len(text), 70))
END_OF_PYTHON
}

references() {
    ls "$PWD"/*.fa
    ls "$DATA"/phix/*.fasta "$DATA"/viral/*.fasta "$DATA"/fly/*.fa.gz "$DATA"/ecoli/*.fna.gz
    [ -n "${ZEROHOP_DATA-}" ] && [ -n "${LONG-}" ] || return 0
    ls "$ZEROHOP_DATA"/*/* | grep -E '\.(fa|fna|fasta)(\.gz)?$' | grep -v /protein/
}

same_bytes() {
    local reference ending count=0 bytes=0
    mkdir made; (cd made; made_references)
    mkdir both ours
    while read -r reference; do
        rm -f both/* ours/*
        gzip -cdf "$reference" > both/r.fa
        cp both/r.fa ours
        bwa_index both/r.fa
        cp -r both bwas
        "$ZEROHOP" index --engine bwa-mem -t $((1 + count % 3)) both/r.fa 2> err || fail "$reference: $(cat err)"
        grep -q '^both/r.fa.bwt.2bit.64: .* made from both/r.fa.bwt in' err && [ "$(wc -l < err)" = 1 ] ||
            fail "$reference: $(cat err)"
        zerohop index -q --engine bwa-mem ours/r.fa
        for ending in bwt.2bit.64 pac ann amb; do
            cmp both/r.fa.$ending ours/r.fa.$ending || fail "$reference: .$ending is another one"
        done
        for ending in bwt sa pac ann amb; do
            cmp both/r.fa.$ending bwas/r.fa.$ending || fail "$reference: .$ending of bwa has changed"
        done
        python3 -c 'import json, sys; sys.exit(len({str(json.load(open(f))["files"]) for f in sys.argv[1:]}) != 1)' \
            {both,ours}/r.fa.bwa-mem.digests || fail "$reference: other digests"
        rm -r bwas
        count=$((count + 1)) bytes=$((bytes + $(stat -c %s both/r.fa.bwt.2bit.64)))
    done < <(cd made; references)
    rm -r made both ours
    echo "same bytes: $count references, $bytes bytes"
}

# The reference of E. coli with some reads, and phiX with some, in folders with bwa's index, ours and both
folders() {
    local name
    for name in ecoli phix; do
        mkdir -p $name/bwa $name/ours
        case $name in
            ecoli) gzip -cd "$DATA"/ecoli/*.fna.gz > ecoli/r.fa
                some_pairs 2000 ecoli/reads "$DATA"/ecoli/ecoli_150_1.fq.gz "$DATA"/ecoli/ecoli_150_2.fq.gz;;
            phix) cp "$DATA"/phix/phix.fasta phix/r.fa
                some_pairs 2000 phix/reads "$DATA"/phix/phix.1.fastq "$DATA"/phix/phix.2.fastq;;
        esac
        cp $name/r.fa $name/bwa; cp $name/r.fa $name/ours
        zerohop index -q --engine bwa-mem $name/ours/r.fa
        bwa_index $name/bwa/r.fa
        zerohop align -q "${E[@]}" -t 2 -o $name/expected.sam $name/ours/r.fa $name/reads_[12].fq
    done
}

same_records() {
    local threads name
    for name in ecoli phix; do
        for threads in 1 2 7; do
            "$ZEROHOP" align "${E[@]}" -t $threads -o own.sam $name/bwa/r.fa $name/reads_[12].fq 2> err ||
                fail "$name: $(cat err)"
            same_alignments own.sam $name/expected.sam
            grep -q "$name/bwa/r.fa.bwt: this index is bwa's, and every run converts it" err ||
                fail "no note: $(cat err)"
            ! grep -q older err || fail "a note: $(cat err)"
        done
        zerohop align -q "${E[@]}" -t 4 --replicas 2 -o own.sam $name/bwa/r.fa $name/reads_[12].fq
        same_alignments own.sam $name/expected.sam
        # the reference is needed for a comparison alone
        mv $name/bwa/r.fa kept.fa
        zerohop align -q "${E[@]}" -o own.sam $name/bwa/r.fa $name/reads_[12].fq
        mv kept.fa $name/bwa/r.fa
        same_alignments own.sam $name/expected.sam
        [ "$(ls $name/bwa | wc -l)" = 6 ] || fail "left are $(ls $name/bwa)"
    done
    [ -z "$(ls "${TMPDIR:-/tmp}" | grep -E "^zerohop-$$-")" ] || fail "names are left"
    echo "same records: of bwa's index as of ours"
}

# Both kinds; --build-index; the names of GATK's bundle
both_kinds() {
    local reads=(phix/reads_[12].fq) note="bwa/r.fa.bwt.2bit.64 is older than it, and was not used"
    cd phix; cp -r bwa kept; cd ..
    zerohop index -q --engine bwa-mem phix/bwa/r.fa
    "$ZEROHOP" align "${E[@]}" -o own.sam phix/bwa/r.fa "${reads[@]}" 2> err
    same_alignments own.sam phix/expected.sam
    ! grep -q "bwa's" err && grep -q 'loaded from phix/bwa/r.fa.bwt.2bit.64' err || fail "not ours: $(cat err)"
    touch -d '2001-01-01' phix/bwa/r.fa.bwt.2bit.64
    "$ZEROHOP" align "${E[@]}" -o own.sam phix/bwa/r.fa "${reads[@]}" 2> err
    same_alignments own.sam phix/expected.sam
    grep -q "$note" err && grep -q 'loaded from phix/bwa/r.fa.bwt[ ,]' err ||
        fail "ours is older: $(cat err)"
    # where that of bwa cannot be used, the older one is
    mv phix/bwa/r.fa.sa sa
    zerohop align -q "${E[@]}" -o own.sam phix/bwa/r.fa "${reads[@]}"
    same_alignments own.sam phix/expected.sam
    mv sa phix/bwa/r.fa.sa
    zerohop align -q "${E[@]}" --build-index -o own.sam phix/bwa/r.fa "${reads[@]}"
    cmp phix/bwa/r.fa.bwt.2bit.64 phix/ours/r.fa.bwt.2bit.64
    [ phix/bwa/r.fa.bwt.2bit.64 -nt phix/bwa/r.fa.bwt ] || fail "--build-index has not made it again"
    rm -r phix/bwa; mv phix/kept phix/bwa

    mkdir phix/64; cp phix/r.fa phix/64; cp phix/bwa/r.fa.bwt phix/64/r.fa.bwt
    bwa_index -6 phix/64/r.fa
    grep '>' phix/r.fa | cut -c 2- | cut -d ' ' -f 1 > phix/64/r.fa.64.alt
    # a read of no bases has an empty SEQ in bwa
    bwa mem -v 1 -K 100000 phix/64/r.fa "${reads[@]}" 2> /dev/null | grep -v '^@' |
        sed 's/\t\t\*\t/\t*\t*\t/' > expected
    zerohop align -q "${E[@]}" -o own.sam phix/64/r.fa "${reads[@]}"
    cmp expected <(grep -v '^@' own.sam) || fail "other records by .64 names"
    grep -q '^@SQ.*AH:' own.sam || fail "the ALT contig is none"
    "$ZEROHOP" index --engine bwa-mem phix/64/r.fa 2> err || fail "$(cat err)"
    grep -q 'made from phix/64/r.fa.64.bwt in' err && grep -q 'r.fa.64.alt: it was copied to phix/64/r.fa.alt' err ||
        fail "$(cat err)"
    cmp phix/64/r.fa.bwt.2bit.64 phix/ours/r.fa.bwt.2bit.64
    "$ZEROHOP" align "${E[@]}" -o own.sam phix/64/r.fa "${reads[@]}" 2> err
    ! grep -q "bwa's" err || fail "ours is newer: $(cat err)"
    cmp expected <(grep -v '^@' own.sam) || fail "other records by the index made from .64 names"
    echo "both kinds: ours first, unless it is older"
}

# What is there while bwa makes it, step by step
unfinished() {
    local reads=(phix/reads_[12].fq) r=new/r.fa
    mkdir new; cp phix/r.fa new
    bwa fa2pac $r 2> /dev/null
    refused "make the index with 'zerohop index --engine bwa-mem $r'" $r "${reads[@]}"
    bwa pac2bwt $r.pac $r.bwt 2> /dev/null
    refused "$r.sa: 'bwa index' has not finished (it does not exist)" $r "${reads[@]}"
    cp phix/bwa/r.fa.sa $r.sa
    refused "$r.bwt: it is damaged, or not of an index of bwa 0.6 or later (it has" $r "${reads[@]}"
    bwa bwtupdate $r.bwt 2> /dev/null
    refused "$r.pac: 'bwa index' has not finished (it holds both strands)" $r "${reads[@]}"
    rm $r.sa
    refused "$r.sa: 'bwa index' has not finished" $r "${reads[@]}"
    "$ZEROHOP" index --engine bwa-mem $r 2> err
    grep -q "^note: bwa's index is not used, and the suffixes are sorted: 'bwa index' has not finished" err ||
        fail "$(cat err)"
    cmp $r.bwt.2bit.64 phix/ours/r.fa.bwt.2bit.64
    rm $r.*[mb46]; rm -f $r.*digests
    bwa fa2pac $r 2> /dev/null; bwa pac2bwt $r.pac $r.bwt 2> /dev/null; bwa bwtupdate $r.bwt 2> /dev/null
    bwa fa2pac -f $r 2> /dev/null
    bwa bwt2sa -i 128 $r.bwt $r.sa 2> /dev/null
    zerohop align -q "${E[@]}" -o own.sam $r "${reads[@]}"
    same_alignments own.sam phix/expected.sam
    rm -r new
    echo "unfinished: told, step by step"
}

# Another reference, and an index of bwa 0.5
foreign() {
    local reads=(phix/reads_[12].fq) r=other/r.fa
    cp -r phix/bwa other
    sed -i '2s/^./N/' $r
    refused "$r.bwt: it was made from another reference, or the reference has changed since" $r "${reads[@]}"
    "$ZEROHOP" index --engine bwa-mem $r 2> err || fail "$(cat err)"
    grep -q "^note: bwa's index is not used, .* $r.bwt was made from another reference" err || fail "$(cat err)"
    zerohop align -q "${E[@]}" -o own.sam $r "${reads[@]}"
    rm -r other
    cp -r phix/bwa other
    sed -i '1s/>/>x/' $r
    refused "$r.bwt: it was made from another reference" $r "${reads[@]}"
    rm -r other
    cp -r phix/bwa other
    cp ecoli/bwa/r.fa.sa $r.sa
    refused "$r.sa: it is damaged, .*(it is not of the text of .bwt): make it again with 'bwa index'" $r "${reads[@]}"
    cp ecoli/bwa/r.fa.bwt $r.bwt
    refused "$r.ann: it is damaged, .*(it is of 5386 bases, and .bwt of 4641652)" $r "${reads[@]}"
    python3 - $r.bwt <<'END_OF_PYTHON'
import struct, sys
counts = 16 * (-(-5386 // 128) + 1)
open(sys.argv[1], 'wb').write(struct.pack('<5I', 4000, 1300, 2600, 3900, 5386) + bytes(4 * -(-5386 // 16) + counts))
END_OF_PYTHON
    refused "$r.bwt: .*(bwa 0.5 or an older one made it)" $r "${reads[@]}"
    rm -r other
    echo "foreign: told"
}

damage() {
    python3 - "$ZEROHOP" <<'END_OF_PYTHON'
import os, random, subprocess, sys
zerohop = sys.argv[1]
random.seed(5)
records = lambda path: [line for line in open(path) if line[0] != '@']
expected = records('phix/expected.sam')
ours = open('phix/ours/r.fa.bwt.2bit.64', 'rb').read()
outcomes = {}

def run(what):
    command = [zerohop, 'align', '-q', '--engine', 'bwa-mem', '--engine-args=-K 100000', '-t', '2', '-o', 'damaged.sam',
        'phix/bwa/r.fa', 'phix/reads_1.fq', 'phix/reads_2.fq']
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    if done.returncode == 1:
        lines = done.stderr.splitlines()
        told = len(lines) == 1 and lines[0].startswith('error: phix/bwa/r.fa')
        assert told and "'zerohop index --engine bwa-mem" in lines[0], f'{what}: {done.stderr}'
        assert not os.path.exists('damaged.sam'), f'{what}: an output is left'
        return 'refused'
    assert done.returncode == 0, f'{what}: status {done.returncode}: {done.stderr}'
    assert records('damaged.sam') == expected, f'{what}: other records'
    os.remove('damaged.sam')
    return 'the same records'

def index(what):
    folder = 'phix/bwa/r.fa'
    done = subprocess.run([zerohop, 'index', '-q', '--engine', 'bwa-mem', folder], capture_output=True, text=True)
    assert done.returncode == 0, f'{what}: {done.stderr}'
    assert open(f'{folder}.bwt.2bit.64', 'rb').read() == ours, f'{what}: another index'
    for ending in ('bwt.2bit.64', 'bwa-mem.digests'):
        os.remove(f'{folder}.{ending}')

def cut(content):
    at = random.randrange(len(content))
    return content[:at], f'cut off at byte {at}'

def flip(content):
    at, bit = random.randrange(len(content)), random.randrange(8)
    return content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1:], f'bit {bit} of byte {at} flipped'

endings = ['bwt', 'sa', 'pac', 'ann', 'amb']
kept = {ending: open(f'phix/bwa/r.fa.{ending}', 'rb').read() for ending in endings}
for number in range(250):
    ending = endings[number % 5]
    changed, what = (cut if number % 6 == 0 else flip)(kept[ending])
    what = f'{ending}, {what}'
    open(f'phix/bwa/r.fa.{ending}', 'wb').write(changed)
    outcome = run(what)
    outcomes[outcome] = outcomes.get(outcome, 0) + 1
    if number % 10 == 3:
        index(what)
        for other in endings:
            open(f'phix/bwa/r.fa.{other}', 'wb').write(kept[other])
    open(f'phix/bwa/r.fa.{ending}', 'wb').write(kept[ending])
print('damage: ' + ', '.join(f'{count} {outcome}' for outcome, count in sorted(outcomes.items())))
END_OF_PYTHON
}

folders
for part in same_records both_kinds unfinished foreign damage same_bytes; do
    [[ ! $part =~ ${PART-} ]] || part $part
done
