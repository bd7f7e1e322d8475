#!/bin/bash
# Duplicates: `align --sort --mark-duplicates` sets the flag 0x400 where `samtools fixmate -m`, `sort` and `markdup` set
# it on the same records: for any engine, number of threads and memory; pairs, single reads, unmapped mates, clips,
# copies with equal and with other qualities.
# LONG=1: every set, and more engines. PART=REGEX: the parts whose name matches.
source "$(dirname "$0")/lib.sh"
command -v samtools > /dev/null || skip "no samtools here"

# copies READS_1 READS_2 NAME: the reads and copies of many of them as NAME_1.fq and NAME_2.fq, in another order. Some
# copies have other qualities, some lack bases at an end, some have a mate that is nowhere.
copies() {
    python3 - "$@" << 'PYTHON'
import gzip, random, sys
random.seed(7)
def records(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    lines = [line.rstrip("\n") for line in opened]
    return [(lines[at][1:].split()[0].removesuffix("/1").removesuffix("/2"), lines[at + 1], lines[at + 3])
        for at in range(0, len(lines), 4)]
pairs = list(zip(records(sys.argv[1]), records(sys.argv[2])))
if len(pairs) > 8000:
    pairs = pairs[:8000]
out = list(pairs)
def changed(read, name):
    _, bases, quality = read
    if bases and random.random() < 0.4:
        quality = "".join(chr(max(33, ord(q) - random.randrange(8))) for q in quality)
    if len(bases) > 60 and random.random() < 0.2:
        cut = random.randrange(20)
        bases, quality = (bases[:-cut], quality[:-cut]) if cut else (bases, quality)
    if len(bases) > 60 and random.random() < 0.1:
        bases = "".join(random.choice("ACGT") for _ in range(12)) + bases[12:]
    return name, bases, quality
def nowhere(read):
    return read[0], "".join(random.choice("ACGT") for _ in read[1]), read[2]
for number, (one, two) in enumerate(pairs):
    while random.random() < 0.3:
        name = f"copy{random.randrange(10 ** 9)}:{number}"
        pair = [changed(one, name), changed(two, name)]
        if random.random() < 0.2:
            at = random.randrange(2)
            pair[at] = nowhere(pair[at])
        if random.random() < 0.1:
            pair.reverse()
        out.append(tuple(pair))
random.shuffle(out)
for mate in (0, 1):
    with open(f"{sys.argv[3]}_{mate + 1}.fq", "w") as file:
        for pair in out:
            name, bases, quality = pair[mate]
            file.write(f"@{name}\n{bases}\n+\n{quality}\n")
PYTHON
}

# flags: of SAM, which records are which read's, of what kind, and whether they are duplicates
flags() {
    python3 -c '
import sys
for line in sys.stdin:
    name, flags, _ = line.split("\t", 2)
    print(name, int(flags) & 0xfc0)' | sort
}

# expect 'OPTIONS' REFERENCE READS...: what samtools makes of the records, as $WORK/expected.flags
expect() {
    local options=$1; shift
    zerohop align -q $options --format bam --level 1 "$@" > "$WORK/unsorted.bam"
    # without collate: records of one name follow each other, and it would change which of equal single reads is first
    samtools fixmate -m -u "$WORK/unsorted.bam" - |
        samtools sort -u -T "$WORK/sort" - | samtools markdup -l 100000 -f "$WORK/stats" - "$WORK/marked.bam" \
        2> "$WORK/samtools.stderr" || { cat "$WORK/samtools.stderr"; fail "samtools"; }
    samtools view "$WORK/marked.bam" | flags > "$WORK/expected.flags"
    marked=$(samtools view -c -f 1024 "$WORK/marked.bam")
    rm -f "$WORK/first.bam"
}

# check WHAT 'OPTIONS' READS...: the same flags, and the same records as in the run before
check() {
    local what=$1 options=$2; shift 2
    rm -f "$WORK"/own.bam*
    zerohop align -q --sort --mark-duplicates --json "$WORK/own.json" $options -o "$WORK/own.bam" "$@"
    samtools view "$WORK/own.bam" | flags > "$WORK/own.flags"
    cmp "$WORK/own.flags" "$WORK/expected.flags" ||
        fail "$what: other flags: $(diff "$WORK/own.flags" "$WORK/expected.flags" | head -n 5)"
    [ -e "$WORK/first.bam" ] || cp "$WORK/own.bam" "$WORK/first.bam"
    cmp <(samtools view "$WORK/own.bam") <(samtools view "$WORK/first.bam") || fail "$what: other records"
    checks=$((checks + 1))
}

check_sets() {
    local name reference first second checks=0 marked
    while read -r name reference first second; do
        if [ ! -f "$first" ]; then echo "$name: not here"; continue; fi
        rm -f "$WORK"/set.fa*
        gzip -cdf "$reference" > "$WORK/set.fa"
        zerohop index -q -r 150 "$WORK/set.fa"
        copies "$first" "$second" "$WORK/copies"
        local reads=("$WORK/copies_1.fq" "$WORK/copies_2.fq")
        expect "-t 2 -r 150" "$WORK/set.fa" "${reads[@]}"
        check "$name" "-t 2 -r 150" "$WORK/set.fa" "${reads[@]}"
        check "$name, spilled" "-t 5 -r 150 --sort-memory 300K" "$WORK/set.fa" "${reads[@]}"
        echo "$name: $marked duplicates, those of samtools"
        expect "-t 2 -r 150" "$WORK/set.fa" "${reads[0]}"
        check "$name, single" "-t 3 -r 150 --sort-memory 1M" "$WORK/set.fa" "${reads[0]}"
        if [ -z "${LONG-}" ] && [ "$name" = sarscov2_251 ]; then break; fi
    done < <(read_sets)
    echo "sets: the flags of samtools markdup in $checks runs"
}

check_engines() {
    local engine checks=0 marked engines="bwa-mem bwa minimap2"
    [ -z "${LONG-}" ] || engines="bwa-mem bwa bowtie2 hisat2 minimap2 snap strobealign-program"
    gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > "$WORK/ref.fa"
    copies "$DATA/ecoli/ecoli_100_1.fq.gz" "$DATA/ecoli/ecoli_100_2.fq.gz" "$WORK/copies"
    local reads=("$WORK/copies_1.fq" "$WORK/copies_2.fq")
    zerohop engines > "$WORK/engines.txt"
    for engine in $engines; do
        grep -q "^$engine  *.*[0-9]" "$WORK/engines.txt" || { echo "$engine: not here"; continue; }
        expect "--engine $engine --build-index -t 2" "$WORK/ref.fa" "${reads[@]}"
        check "$engine" "--engine $engine -t 2" "$WORK/ref.fa" "${reads[@]}"
        check "$engine, spilled" "--engine $engine -t 2 --sort-memory 1M" "$WORK/ref.fa" "${reads[@]}"
    done
    echo "engines: the flags of samtools markdup in $checks runs"
}

# SAM, duplicates left out, by name; lanes; what the summary says
check_forms() {
    local marked checks=0
    cp "$DATA/phix/phix.fasta" "$WORK/ref.fa"
    copies "$DATA/phix/phix.1.fastq" "$DATA/phix/phix.2.fastq" "$WORK/copies"
    local reads=("$WORK/copies_1.fq" "$WORK/copies_2.fq")
    expect "-t 2" "$WORK/ref.fa" "${reads[@]}"
    check "BAM" "-t 2" "$WORK/ref.fa" "${reads[@]}"
    python3 - "$WORK/own.json" "$marked" << 'PYTHON' || fail "the summary: $(cat "$WORK/stats")"
import json, sys
found = json.load(open(sys.argv[1]))["run"]["sorted"]["duplicates"]
assert found["paired_duplicates"] + found["single_duplicates"] == int(sys.argv[2]), (found, sys.argv[2])
PYTHON
    zerohop align -q -t 3 --sort --mark-duplicates -o "$WORK/own.sam" "$WORK/ref.fa" "${reads[@]}"
    cmp <(samtools view "$WORK/own.sam") <(samtools view "$WORK/own.bam") || fail "SAM: other records"
    zerohop align -q -t 3 --sort --remove-duplicates -o "$WORK/less.sam" "$WORK/ref.fa" "${reads[@]}"
    cmp <(samtools view "$WORK/less.sam") <(samtools view -F 1024 "$WORK/own.bam") || fail "left out: other records"
    zerohop align -q -t 3 --sort --remove-duplicates -o "$WORK/less.bam" "$WORK/ref.fa" "${reads[@]}"
    cmp <(samtools view "$WORK/less.bam") <(samtools view "$WORK/less.sam") || fail "left out of BAM: other records"
    samtools quickcheck "$WORK/less.bam"
    cp "$WORK/less.bam" "$WORK/theirs.bam"; samtools index "$WORK/theirs.bam"
    cmp <(samtools idxstats "$WORK/less.bam") <(samtools idxstats "$WORK/theirs.bam") ||
        fail "the index without duplicates"
    zerohop align -q -t 3 --sort=name --mark-duplicates -o "$WORK/name.bam" "$WORK/ref.fa" "${reads[@]}"
    cmp <(samtools view "$WORK/name.bam" | sort) <(samtools view "$WORK/own.bam" | sort) || fail "by name"
    # two lanes are one sample; read groups make no difference
    local groups='-R @RG\tID:a\tSM:s\tLB:x -R @RG\tID:b\tSM:s\tLB:y'
    sed '1~4s/^@/@second-/' "${reads[0]}" > "$WORK/s1.fq"; sed '1~4s/^@/@second-/' "${reads[1]}" > "$WORK/s2.fq"
    expect "-t 2 $groups" "$WORK/ref.fa" "${reads[@]}" --reads "$WORK/s1.fq" "$WORK/s2.fq"
    check "lanes" "-t 3 $groups" "$WORK/ref.fa" "${reads[@]}" --reads "$WORK/s1.fq" "$WORK/s2.fq"
    # mates of different names are mates all the same, also where the aligner is a program
    local mate
    for mate in 1 2; do sed "1~4s/\$/.$mate/" "$WORK/copies_$mate.fq" > "$WORK/n$mate.fq"; done
    zerohop align -q -t 2 --sort --mark-duplicates -o "$WORK/own.bam" "$WORK/ref.fa" "$WORK/n1.fq" "$WORK/n2.fq"
    PATH=$(dirname "$STROBEALIGN"):$PATH zerohop align -q -t 2 --sort --mark-duplicates --engine strobealign-program \
        --build-index -o "$WORK/program.bam" "$WORK/ref.fa" "$WORK/n1.fq" "$WORK/n2.fq"
    cmp <(samtools view "$WORK/own.bam" | flags) <(samtools view "$WORK/program.bam" | flags) || fail "numbered mates"
    local rc=0
    "$ZEROHOP" align -q --mark-duplicates -o "$WORK/no.bam" "$WORK/ref.fa" "${reads[@]}" 2> "$WORK/stderr" || rc=$?
    [ $rc = 2 ] && grep -q -- "--sort" "$WORK/stderr" || fail "without --sort: $rc, $(cat "$WORK/stderr")"
    echo "forms: the same duplicates"
}

for part in check_sets check_engines check_forms; do
    if [[ $part =~ ${PART-} ]]; then part $part; fi
done
