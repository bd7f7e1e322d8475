#!/bin/bash
# Trimming: `align --trim` has the records of `fastp` and the aligner one after the other, for both built-in engines and
# an aligner of its own, any number of threads, and plain, gzip, BGZF, interleaved and piped files; dropped reads are
# counted as fastp counts them. fastp of Debian is 0.23.2; what it does otherwise than 1.3.6 is not compared here
# (bench/runs/ has that). PART=REGEX: the parts whose name matches.
source "$(dirname "$0")/lib.sh"
cd "$WORK"
cp "$DATA/phix/phix.fasta" ref.fa
# Inserts of every length with adapters behind them, tails of G, N, bad and short reads, names of two colours
python3 - <<'END'
import random
random.seed(9)
genome = "".join(line.strip() for line in open("ref.fa") if line[0] != ">").upper()
reverse = lambda bases: bases[::-1].translate(str.maketrans("ACGTN", "TGCAN"))
adapters = "AGATCGGAAGAGCACACGTCTGAACTCCAGTCA", "AGATCGGAAGAGCGTCGTGTAGGGAAAGAGTGT"
noise = lambda length: "".join(random.choice("ACGT") for _ in range(length))
with open("s_1.fq", "w") as first, open("s_2.fq", "w") as second:
    for number in range(6000):
        length = number % 400 or 1
        at = random.randrange(len(genome) - 400)
        insert = "".join(base if random.random() > 0.004 else random.choice("ACGTN") for base in genome[at:at + length])
        reads = [(bases + adapter + noise(150))[:150] for bases, adapter in zip((insert, reverse(insert)), adapters)]
        if number % 50 == 0:
            reads[0] = reads[0][:60] + "G" * 90
        if number % 61 == 0:
            reads[1] = reads[1][:random.randrange(40)]
        if number % 73 == 0:
            reads[0] = reads[0][:20] + "N" * 12 + reads[0][32:]
        for mate, (file, bases) in enumerate(zip((first, second), reads)):
            letters = "##,:" if number % 9 == 4 else "FFFF:,#"
            quality = "".join(random.choice(letters) for _ in bases)
            file.write(f"@A00:1:HX:1:{number % 100}:{number}:{number} {mate + 1}:N:0:AC\n{bases}\n+\n{quality}\n")
END

records() { grep -v '^@PG' "$1"; }

# equals NAME 'OPTIONS OF FASTP' READS...: --trim equals fastp before, with each engine
equals() {
    local name=$1 words=$2 engine one two
    shift 2
    one=(-i s_1.fq -o k_1.fq) two=(k_1.fq)
    [ $# = 1 ] || { one+=(-I s_2.fq -O k_2.fq); two+=(k_2.fq); }
    fastp -w 1 "${one[@]}" -j f.json -h f.html $words 2> fastp.log || fail "fastp: $(cat fastp.log)"
    for engine in strobealign "bwa-mem --build-index --engine-args -K20000"; do
        zerohop align -t 2 --engine $engine -o wanted.sam ref.fa "${two[@]}"
        zerohop align -t 3 --engine $engine --trim --trim-args="$words" --fastp-json z.json -o found.sam ref.fa "$@"
        cmp <(records wanted.sam) <(records found.sam) || fail "$name, $engine: other records"
    done
    python3 - <<'END' || fail "$name: other counts"
import json
theirs, ours = json.load(open("f.json")), json.load(open("z.json"))
for part in ("before_filtering", "after_filtering"):
    for key, value in theirs["summary"][part].items():
        assert ours["summary"][part][key] == value, (part, key, value, ours["summary"][part][key])
for key, value in theirs["filtering_result"].items():
    assert ours["filtering_result"][key] == value, (key, value, ours["filtering_result"][key])
assert ours["filtering_result"]["passed_filter_reads"] > 100
END
}

same() {
    local mate
    command -v fastp > /dev/null || { skip_part "no fastp here"; return; }
    equals pairs "" s_1.fq s_2.fq
    equals "quality, lengths, tails" "-q 20 -u 30 -l 50 -x" s_1.fq s_2.fq
    equals windows "--cut_right --cut_front -f 2 -t 1" s_1.fq s_2.fq
    equals "no filter" "-Q -L -G" s_1.fq s_2.fq
    equals single "-A -l 20" s_1.fq
    for mate in 1 2; do bgzip -c s_$mate.fq > b_$mate.fq.gz; gzip -c s_$mate.fq > g_$mate.fq.gz; done
    equals BGZF "" b_1.fq.gz b_2.fq.gz
    equals gzip "" g_1.fq.gz g_2.fq.gz
}

# However reads come, and whoever trims them
forms() {
    local threads
    zerohop align -t 1 --trim --sort --mark-duplicates -o one.sam ref.fa s_1.fq s_2.fq
    grep -q '^trimmed .* reads stayed, .*dropped: .* of low quality' zerohop.stderr || fail "$(cat zerohop.stderr)"
    for threads in 2 5; do
        zerohop align -t $threads --trim --sort --mark-duplicates -o some.sam ref.fa s_1.fq s_2.fq
        cmp <(records one.sam) <(records some.sam) || fail "-t $threads: other records"
    done
    # The length of reads is not known of a pipe before they are trimmed.
    zerohop align -t 1 -r 100 --trim -o file.sam ref.fa s_1.fq s_2.fq
    zerohop align -t 2 -r 100 --trim -o pipe.sam ref.fa <(cat s_1.fq) <(cat s_2.fq)
    cmp <(records file.sam) <(records pipe.sam) || fail "pipes: other records"
    paste <(paste - - - - < s_1.fq) <(paste - - - - < s_2.fq) | tr '\t' '\n' > both.fq
    zerohop align -t 3 -r 100 --trim -p -o both.sam ref.fa both.fq
    cmp <(records file.sam) <(records both.sam) || fail "interleaved: other records"
    if command -v bwa > /dev/null; then
        bwa index ref.fa 2> stderr || fail "bwa index: $(cat stderr)"
        zerohop align -t 2 --engine bwa --engine-args -K20000 --trim -o own.sam ref.fa s_1.fq s_2.fq
        zerohop align -t 2 --engine bwa-mem --build-index --engine-args -K20000 --trim -o built-in.sam ref.fa s_1.fq \
            s_2.fq
        cmp <(grep -v '^@' own.sam) <(grep -v '^@' built-in.sam) || fail "bwa: other records"
    else
        skip_part "no bwa here"
    fi
    # UMIs go first.
    zerohop align -t 2 -r 100 --trim --read-structure 5M+T --read-structure +T -o umis.sam ref.fa s_1.fq s_2.fq
    [ "$(grep -v '^@' umis.sam | grep -c 'RX:Z:[ACGTN]\{5\}	')" = "$(grep -vc '^@' umis.sam)" ] ||
        fail "not all records have their UMI"
    # Samples
    cp s_1.fq other.fq
    { echo sample,fastq_1,fastq_2; echo "A,s_1.fq,s_2.fq"; echo "B,other.fq,"; } > sheet.csv
    zerohop align --trim --samples sheet.csv --output-dir sheet ref.fa
    [ -s sheet/A.fastp.json ] && [ -s sheet/B.fastp.json ] || fail "no report of each sample"
    if [ -n "${MULTIQC-}" ]; then
        "$MULTIQC" -q -o report sheet 2> stderr || fail "MultiQC: $(cat stderr)"
        python3 - <<'END'
import json
raw = json.load(open("report/multiqc_data/multiqc_data.json"))["report_saved_raw_data"]
assert set(raw["multiqc_fastp"]) == {"A", "B"}, raw["multiqc_fastp"].keys()
END
    fi
    # Nothing stays.
    zerohop align --trim --trim-args '-l 1000' -o none.sam ref.fa s_1.fq s_2.fq
    [ "$(grep -vc '^@' none.sam || true)" = 0 ] || fail "records of reads that were dropped"
}

refused() {
    local rc words
    said() {
        rc=0; words=$1; shift
        "$ZEROHOP" align -o bad.sam "$@" > /dev/null 2> stderr || rc=$?
        [ $rc != 0 ] && grep -q -- "$words" stderr || fail "$*: $rc $(cat stderr)"
        [ ! -e bad.sam ] && [ ! -e bad.json ] || fail "$*: a file is left"
    }
    said "-c is not for zerohop: it trims reads, and never changes a base" --trim --trim-args -c ref.fa s_1.fq s_2.fq
    said "--bogus" --trim --trim-args --bogus ref.fa s_1.fq s_2.fq
    said "only FASTQ is trimmed" --trim ref.fa <(sed -n '1~4s/^@/>/p;2~4p' s_1.fq)
    said "not trimmed with --ranks, --durable" --trim --durable ref.fa s_1.fq s_2.fq
    said "requires\|--trim" --trim-args -x ref.fa s_1.fq s_2.fq
    # What is wrong is told of the file as it is.
    { head -n 8000 s_1.fq; printf '@odd\nACGT\n+\nIII\n'; tail -n +8005 s_1.fq; } > odd.fq
    said "odd.fq: record 2001 .*read 'odd': 4 bases but 3 qualities" --trim --fastp-json bad.json ref.fa odd.fq s_2.fq
    head -c 200000 s_1.fq > cut.fq
    said "cut.fq: record [0-9]* .*truncated" --trim --fastp-json bad.json ref.fa cut.fq s_2.fq
    head -n 20000 s_1.fq > short.fq
    said "short.fq.*s_2.fq\|s_2.fq.*short.fq" --trim --fastp-json bad.json ref.fa short.fq s_2.fq
}

for part in same forms refused; do
    [[ $part =~ ${PART-} ]] || continue
    part $part
    echo "$part: as it should be"
done
