#!/bin/bash
# Duplicates: `align --sort --mark-duplicates` sets the flag 0x400 where `samtools fixmate -m`, `sort` and `markdup` set
# it on the same records: for any engine, number of threads and memory; pairs, single reads, unmapped mates, clips,
# copies with equal and with other qualities, barcodes. --mark-duplicates=picard sets it where Picard's MarkDuplicates
# does, for several libraries and read groups, and writes the same metrics, with optical duplicates.
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

# located READS_1 READS_2 NAME: the same reads as NAME_1.fq and NAME_2.fq, in random order; most of their names say
# where they were on the flow cell, in five or in seven fields, many of them near each other. Each has a barcode in
# its comment, one of two.
located() {
    python3 - "$@" << 'PYTHON'
import random, sys
random.seed(11)
def records(path):
    lines = open(path).read().splitlines()
    return [lines[at:at + 4] for at in range(0, len(lines), 4)]
pairs = list(zip(records(sys.argv[1]), records(sys.argv[2])))
random.shuffle(pairs)
def name(number):
    spot = f"{random.randrange(1101, 1103)}:{random.randrange(500)}:{random.randrange(500)}"
    lane = random.randrange(1, 3)
    return random.choice([f"S{number}", f"M{number}:{lane}:{spot}#AC"] + 4 * [f"M{number}:7:1:{lane}:{spot}"])
names = [name(number) for number in range(len(pairs))]
barcodes = [random.choice(["ACGT", "TTTA"]) for _ in pairs]
for mate in (0, 1):
    with open(f"{sys.argv[3]}_{mate + 1}.fq", "w") as file:
        for name, barcode, pair in zip(names, barcodes, pairs):
            _, bases, _, quality = pair[mate]
            file.write(f"@{name} RX:Z:{barcode}\n{bases}\n+\n{quality}\n")
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
        samtools sort -u -T "$WORK/sort" - |
        samtools markdup ${barcodes-} -l 100000 -f "$WORK/stats" - "$WORK/marked.bam" \
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
    local engine checks=0 marked engines="bwa-mem minimap2"
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

# picard WHAT 'OPTIONS OF PICARD' 'OPTIONS' READS...: the flags and the metrics of Picard
picard() {
    local what=$1 theirs=$2 options=$3; shift 3
    rm -f "$WORK"/own.bam* "$WORK/metrics.txt"
    zerohop align -q --sort $options -o "$WORK/sorted.bam" "$@"
    PicardCommandLine MarkDuplicates QUIET=true VERBOSITY=ERROR $theirs "I=$WORK/sorted.bam" "O=$WORK/marked.bam" \
        "M=$WORK/theirs.txt" 2> "$WORK/picard.stderr" || { cat "$WORK/picard.stderr"; fail "Picard"; }
    # its @PG is in the records, too
    samtools view "$WORK/marked.bam" | flags > "$WORK/expected.flags"
    local ours=""
    [[ $theirs != *BARCODE_TAG* ]] || ours="--barcode-tag RX"
    [[ $theirs != *DISTANCE=* ]] || ours="$ours --optical-distance ${theirs##*DISTANCE=}"
    zerohop align -q --sort --mark-duplicates=picard --duplicate-metrics "$WORK/metrics.txt" --sort-memory 1M \
        $ours $options -o "$WORK/own.bam" "$@"
    samtools view "$WORK/own.bam" | flags > "$WORK/own.flags"
    cmp "$WORK/own.flags" "$WORK/expected.flags" ||
        fail "$what: other flags: $(diff "$WORK/own.flags" "$WORK/expected.flags" | head -n 5)"
    diff <(sed -n '/METRICS CLASS/,$p' "$WORK/metrics.txt") <(sed -n '/METRICS CLASS/,$p' "$WORK/theirs.txt") ||
        fail "$what: other metrics"
    checks=$((checks + 1))
    echo "$what: $(samtools view -c -f 1024 "$WORK/own.bam") duplicates, those of Picard"
}

check_picard() {
    local checks=0
    command -v PicardCommandLine > /dev/null || skip "no Picard here"
    gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > "$WORK/ref.fa"
    copies "$DATA/ecoli/ecoli_100_1.fq.gz" "$DATA/ecoli/ecoli_100_2.fq.gz" "$WORK/copies"
    located "$WORK/copies_1.fq" "$WORK/copies_2.fq" "$WORK/located"
    local reads=("$WORK/located_1.fq" "$WORK/located_2.fq") mate
    for mate in 1 2; do
        awk -v out="$WORK/lane" -v mate=$mate 'int((NR - 1) / 4) % 3 == 0 { print > (out "1_" mate ".fq"); next }
            int((NR - 1) / 4) % 3 == 1 { print > (out "2_" mate ".fq"); next } { print > (out "3_" mate ".fq") }' \
            "$WORK/located_$mate.fq"
    done
    local lanes=("$WORK/ref.fa" "$WORK/lane1_1.fq" "$WORK/lane1_2.fq" --reads "$WORK/lane2_1.fq" "$WORK/lane2_2.fq"
        --reads "$WORK/lane3_1.fq" "$WORK/lane3_2.fq")
    local groups='-R @RG\tID:a\tSM:s\tLB:x -R @RG\tID:b\tSM:s\tLB:y -R @RG\tID:c\tSM:s\tLB:x'
    picard "two libraries in three read groups" "" "-t 3 $groups" "${lanes[@]}"
    awk '$1 == "x" && $8 > 0 { found = 1 } END { exit !found }' "$WORK/metrics.txt" || fail "no optical duplicates"
    picard "barcodes, supplementary records" "BARCODE_TAG=RX" "--engine bwa-mem --build-index -t 2 -C" \
        "$WORK/ref.fa" "${reads[@]}"
    picard "single reads" "" "-t 2" "$WORK/ref.fa" "${reads[0]}"
    # read groups of BAM: no library but theirs
    samtools import -r ID:a -r SM:s -r LB:one -1 "${reads[0]}" -2 "${reads[1]}" -o "$WORK/reads.bam" 2> "$WORK/import"
    picard "read groups of BAM" "" "-t 2" "$WORK/ref.fa" "$WORK/reads.bam"
    ! grep -q "Unknown Library" "$WORK/metrics.txt" && grep -q CoverageMult "$WORK/metrics.txt" ||
        fail "libraries: $(cat "$WORK/metrics.txt")"
    if [ -n "${LONG-}" ]; then
        picard "optical duplicates farther apart" "OPTICAL_DUPLICATE_PIXEL_DISTANCE=250" "-t 2" \
            "$WORK/ref.fa" "${reads[@]}"
        local name reference first second
        while read -r name reference first second; do
            [ -f "$first" ] || { echo "$name: not here"; continue; }
            rm -f "$WORK"/set.fa*
            gzip -cdf "$reference" > "$WORK/set.fa"
            copies "$first" "$second" "$WORK/copies"
            located "$WORK/copies_1.fq" "$WORK/copies_2.fq" "$WORK/located"
            picard "$name" "" "-t 2" "$WORK/set.fa" "${reads[@]}"
            picard "$name, bwa-mem" "" "-t 2 --engine bwa-mem --build-index" "$WORK/set.fa" "${reads[@]}"
            picard "$name, single" "" "-t 2" "$WORK/set.fa" "${reads[0]}"
        done < <(read_sets)
    fi
    # what MultiQC says of the metrics
    mkdir -p "$WORK/metrics"; cp "$WORK/metrics.txt" "$WORK/metrics/sample.txt"
    "$MULTIQC" --quiet --module picard --outdir "$WORK/multiqc" "$WORK/metrics" > "$WORK/multiqc.log" 2>&1 ||
        { cat "$WORK/multiqc.log"; fail "MultiQC"; }
    grep -q '^sample' "$WORK"/multiqc/multiqc_data/multiqc_picard_dups.txt || fail "MultiQC finds no metrics"
    echo "Picard: the flags and the metrics of MarkDuplicates in $checks runs"
}

# tags: of SAM, each record's name, kind and MQ, MC, ms, in one order (fixmate writes supplementary records first)
tags() {
    python3 -c '
import sys
for line in sys.stdin:
    fields = line.rstrip("\n").split("\t")
    if int(fields[1]) & 0x900: print(*fields[:11], *sorted(fields[11:]))
    else: print(fields[0], int(fields[1]) & 0xfc, *sorted(f for f in fields[11:] if f[:2] in ("MQ", "MC", "ms")))' |
        sort
}

# --mate-tags: those of samtools fixmate -m, at the same place, in SAM, BAM and CRAM, from engines and programs
check_mate_tags() {
    local engine form
    gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > "$WORK/ref.fa"
    # what samtools made of another reference of this name
    rm -f "$WORK/ref.fa.fai"
    copies "$DATA/ecoli/ecoli_100_1.fq.gz" "$DATA/ecoli/ecoli_100_2.fq.gz" "$WORK/copies"
    local reads=("$WORK/copies_1.fq" "$WORK/copies_2.fq")
    zerohop engines > "$WORK/engines.txt"
    for engine in strobealign ${LONG:+bwa-mem} minimap2; do
        grep -q "^$engine  *.*[0-9]" "$WORK/engines.txt" || { echo "$engine: not here"; continue; }
        local options="--engine $engine --build-index -t 2 -R @RG\\tID:a\\tSM:s"
        zerohop align -q $options --format bam "$WORK/ref.fa" "${reads[@]}" | samtools fixmate -m - - |
            samtools view > "$WORK/expected.sam"
        for form in sam bam cram; do
            zerohop align -q $options --mate-tags -o "$WORK/own.$form" "$WORK/ref.fa" "${reads[@]}"
            samtools view --input-fmt-option decode_md=0 -T "$WORK/ref.fa" "$WORK/own.$form" > "$WORK/own.txt"
            cmp <(tags < "$WORK/own.txt") <(tags < "$WORK/expected.sam") ||
                fail "$engine, $form: $(diff <(tags < "$WORK/own.txt") <(tags < "$WORK/expected.sam") | head -n 4)"
        done
        # all fields, where fixmate corrects none (CRAM puts RG behind all others)
        samtools view "$WORK/own.bam" > "$WORK/own.txt"
        grep -c -xFf <(head -n 2000 "$WORK/expected.sam") "$WORK/own.txt" > "$WORK/same" || true
        [ "$(cat "$WORK/same")" -gt 1000 ] || fail "$engine: only $(cat "$WORK/same") of 2000 records are the same"
        # nothing is left to do for markdup
        zerohop align -q $options --mate-tags --sort -o "$WORK/sorted.bam" "$WORK/ref.fa" "${reads[@]}"
        samtools markdup -l 100000 "$WORK/sorted.bam" "$WORK/marked.bam" 2> "$WORK/samtools.stderr" ||
            { cat "$WORK/samtools.stderr"; fail "markdup"; }
        zerohop align -q $options --sort --mark-duplicates -o "$WORK/own.bam" "$WORK/ref.fa" "${reads[@]}"
        cmp <(samtools view "$WORK/own.bam" | flags) <(samtools view "$WORK/marked.bam" | flags) ||
            fail "$engine: markdup marks others"
        echo "$engine: MQ, MC and ms as with fixmate; $(cat "$WORK/same") of 2000 records are the same as a whole"
    done
}

# Barcodes, by the rules of samtools.
check_barcodes() {
    local marked checks=0
    cp "$DATA/phix/phix.fasta" "$WORK/ref.fa"
    copies "$DATA/phix/phix.1.fastq" "$DATA/phix/phix.2.fastq" "$WORK/copies"
    located "$WORK/copies_1.fq" "$WORK/copies_2.fq" "$WORK/located"
    barcodes="--barcode-tag RX" expect "-C -t 2" "$WORK/ref.fa" "$WORK/located_1.fq" "$WORK/located_2.fq"
    local with=$marked
    check "barcodes" "-C -t 2 --barcode-tag RX" "$WORK/ref.fa" "$WORK/located_1.fq" "$WORK/located_2.fq"
    expect "-C -t 2" "$WORK/ref.fa" "$WORK/located_1.fq" "$WORK/located_2.fq"
    local without=$marked
    [ "$with" -lt "$without" ] || fail "barcodes make no difference: $with and $without duplicates"
    local mate
    for mate in 1 2; do
        awk 'NR % 4 == 1 { split($2, tag, ":"); print "@1:1:1:1:1:" NR ":1:" tag[3]; next } { print }' \
            "$WORK/located_$mate.fq" > "$WORK/named_$mate.fq"
    done
    barcodes="--barcode-name" expect "-t 2" "$WORK/ref.fa" "$WORK/named_1.fq" "$WORK/named_2.fq"
    check "barcodes in names" "-t 2 --barcode-name" "$WORK/ref.fa" "$WORK/named_1.fq" "$WORK/named_2.fq"
    local rc=0
    "$ZEROHOP" align -q --sort --mark-duplicates --barcode-tag RX -o "$WORK/no.bam" "$WORK/ref.fa" \
        "$WORK/located_1.fq" 2> "$WORK/stderr" || rc=$?
    [ $rc = 2 ] && grep -q -- "-C" "$WORK/stderr" || fail "--barcode-tag without -C: $rc, $(cat "$WORK/stderr")"
    zerohop align -q -C --sort --mark-duplicates --barcode-tag ZZ -o "$WORK/no.bam" "$WORK/ref.fa" \
        "$WORK/located_1.fq" "$WORK/located_2.fq"
    grep -q "No read has the tag ZZ" "$WORK/zerohop.stderr" || fail "a tag that no read has: no note"
    zerohop align -q -C --sort --mark-duplicates --barcode-tag RX -o "$WORK/no.bam" "$WORK/ref.fa" \
        "$WORK/located_1.fq" "$WORK/located_2.fq"
    [ ! -s "$WORK/zerohop.stderr" ] || fail "said of barcodes: $(cat "$WORK/zerohop.stderr")"
    sed '1~4s/ RX:Z:.*//' "$WORK/located_2.fq" > "$WORK/bare_2.fq"
    zerohop align -q -C --sort --mark-duplicates --barcode-tag RX -o "$WORK/no.bam" "$WORK/ref.fa" \
        "$WORK/located_1.fq" "$WORK/bare_2.fq"
    grep -q "pairs one mate has a barcode" "$WORK/zerohop.stderr" || fail "barcodes of first mates alone: no note"
    echo "barcodes: $with duplicates with them, those of samtools; $without without"
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
    [ $rc = 2 ] && grep -q -- "--mark-duplicates is done while records are sorted: give --sort" "$WORK/stderr" ||
        fail "without --sort: $rc, $(cat "$WORK/stderr")"
    echo "forms: the same duplicates"
}

# Records that have no base on the reference, a mark that the aligner made itself, and whole templates; what comes out
# of samtools and Picard, in SAM, BAM and CRAM
check_odd() {
    local form rules theirs
    python3 - "$WORK" << 'PYTHON'
import random, sys
random.seed(3)
bases = "".join(random.choice("ACGT") for _ in range(80000))
complement = str.maketrans("ACGT", "TGCA")
with open(f"{sys.argv[1]}/ref.fa", "w") as out:
    out.write(f">c\n{bases}\n")
# each record is that of the read with its name
with open(f"{sys.argv[1]}/reads.fq", "w") as reads, open(f"{sys.argv[1]}/records.sam", "w") as records:
    def put(name, flags, position, cigar, length, quality):
        seq, qual = bases[position - 1:position - 1 + length], quality * length
        if flags & 2048 == 0:
            own = seq[::-1].translate(complement) if flags & 16 else seq
            reads.write(f"@{name}\n{own}\n+\n{qual}\n")
        records.write(f"{name}\t{flags}\tc\t{position}\t60\t{cigar}\t*\t0\t0\t{seq}\t{qual}\n")
    for number, cigar in enumerate(["12S", "12I", "5S7I", "7I5S", "3H12S4H", "12M", "4S8M", "8M4S"]):
        for strand in (0, 16):
            for offset in range(-22, 23):
                place = 1000 + 100 * (90 * number + 45 * (strand // 16) + offset + 22)
                put(f"o{number}.{strand}.{offset}", strand, place, cigar, 12, "I")
                put(f"m{number}.{strand}.{offset}", strand, place + offset, "12M", 12, "5")
    put("alone", 1024, 100, "20M", 20, "I")
    put("best", 1024, 200, "20M", 20, "I")
    put("worse", 0, 200, "20M", 20, "5")
    put("worse", 2048, 300, "20M", 20, "5")
PYTHON
    # an aligner that has these records in a file
    cat > "$WORK/odd.py" << 'PYTHON'
import os, sys
open(sys.argv[1]).read()
print("@SQ\tSN:c\tLN:80000")
print(open(os.path.join(os.path.dirname(sys.argv[0]), "records.sam")).read(), end="")
PYTHON
    python_aligner odd
    touch "$WORK/ref.fa.odd"
    local aligner="-t 1 --engine odd --engine-file $WORK/odd.toml"
    samtools view -b -o "$WORK/unsorted.bam" -t <(printf 'c\t80000\n') "$WORK/records.sam" 2> /dev/null
    samtools sort -o "$WORK/sorted.bam" "$WORK/unsorted.bam" 2> /dev/null
    samtools markdup -l 100000 "$WORK/sorted.bam" "$WORK/samtools.bam" 2> /dev/null
    samtools markdup -r -l 100000 "$WORK/sorted.bam" "$WORK/samtools-r.bam" 2> /dev/null
    local all="samtools samtools-r"
    if command -v PicardCommandLine > /dev/null; then
        PicardCommandLine MarkDuplicates QUIET=true VERBOSITY=ERROR VALIDATION_STRINGENCY=SILENT \
            "I=$WORK/sorted.bam" "O=$WORK/picard.bam" "M=$WORK/theirs.txt" 2> /dev/null
        PicardCommandLine MarkDuplicates QUIET=true VERBOSITY=ERROR VALIDATION_STRINGENCY=SILENT \
            REMOVE_DUPLICATES=true "I=$WORK/sorted.bam" "O=$WORK/picard-r.bam" "M=$WORK/theirs.txt" 2> /dev/null
        all="$all picard picard-r"
    fi
    for theirs in $all; do
        rules=${theirs%-r}
        samtools view "$WORK/$theirs.bam" | cut -f 1,2,4 | sort > "$WORK/expected"
        local options="--mark-duplicates=$rules"
        [ $theirs = $rules ] || options="$options --remove-duplicates"
        for form in sam bam cram; do
            zerohop align -q $aligner --sort $options -o "$WORK/own.$form" "$WORK/ref.fa" "$WORK/reads.fq"
            samtools view -T "$WORK/ref.fa" "$WORK/own.$form" | cut -f 1,2,4 | sort > "$WORK/own"
            diff "$WORK/own" "$WORK/expected" > "$WORK/diff" || fail "$theirs, $form: $(head -n 5 "$WORK/diff")"
        done
    done
    zerohop align -q $aligner --sort --remove-duplicates=templates -o "$WORK/own.bam" "$WORK/ref.fa" "$WORK/reads.fq"
    cmp <(samtools view "$WORK/own.bam" | cut -f 1,2,4 | sort) \
        <(samtools view "$WORK/samtools-r.bam" | cut -f 1,2,4 | awk '$2 != 2048' | sort) || fail "whole templates"
    echo "odd records: as with $all"
}

for part in check_sets check_engines check_forms check_odd check_barcodes check_mate_tags check_picard; do
    if [[ $part =~ ${PART-} ]]; then part $part; fi
done
