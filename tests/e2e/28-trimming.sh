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

for mate in 1 2; do bgzip -c s_$mate.fq > b_$mate.fq.gz; gzip -c s_$mate.fq > g_$mate.fq.gz; done
paste <(paste - - - - < s_1.fq) <(paste - - - - < s_2.fq) | tr '\t' '\n' > both.fq
# Those long enough to have barcodes
paste <(paste - - - - < s_1.fq) <(paste - - - - < s_2.fq) | awk -F'\t' 'length($2) > 8 && length($6) > 8' > long.tsv
cut -f 1-4 long.tsv | tr '\t' '\n' > l_1.fq; cut -f 5-8 long.tsv | tr '\t' '\n' > l_2.fq
tr '\t' '\n' < long.tsv > long.fq

records() { grep -v '^@PG' "$1"; }
body() { grep -v "^@" "$1"; }

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
    command -v fastp > /dev/null || { skip_part "no fastp here"; return; }
    equals pairs "" s_1.fq s_2.fq
    equals "quality, lengths, tails" "-q 20 -u 30 -l 50 -x" s_1.fq s_2.fq
    equals windows "--cut_right --cut_front -f 2 -t 1" s_1.fq s_2.fq
    equals "no filter" "-Q -L -G" s_1.fq s_2.fq
    equals single "-A -l 20" s_1.fq
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
    zerohop align -t 3 -r 100 --trim --read-structure 5M+T --read-structure +T -p -o both.sam ref.fa both.fq
    cmp <(records umis.sam) <(records both.sam) || fail "UMIs of interleaved reads: other records"
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

# The reads that stay are those of fastp, and so are those that are dropped, but for pairs of two bad mates, which fastp
# leaves out, and that they are whole here.
saved() {
    local rc=0
    zerohop align -t 3 --trim --save-trimmed 't_%.fq.gz' --save-failed failed.fq -o one.sam ref.fa b_1.fq.gz b_2.fq.gz
    gzip -t t_1.fq.gz t_2.fq.gz
    zerohop align -t 1 --trim --save-trimmed t.fq --save-failed 'f_%.fastq.gz' -o two.sam -p ref.fa both.fq
    interleaved() { paste <(gzip -cd "$1" | paste - - - -) <(gzip -cd "$2" | paste - - - -) | tr '\t' '\n'; }
    cmp <(interleaved t_1.fq.gz t_2.fq.gz) t.fq || fail "trimmed mates in one file and in two differ"
    cmp <(interleaved f_1.fastq.gz f_2.fastq.gz) failed.fq || fail "dropped mates in one file and in two differ"
    [ $(($(grep -c '' t.fq) + $(grep -c '' failed.fq))) = $((8 * 6000)) ] || fail "reads are lost"
    if command -v fastp > /dev/null; then
        fastp -w 1 -i s_1.fq -I s_2.fq -o k_1.fq -O k_2.fq --failed_out k.fq -j f.json -h f.html 2> fastp.log ||
            fail "fastp: $(cat fastp.log)"
        cmp k_1.fq <(gzip -cd t_1.fq.gz) && cmp k_2.fq <(gzip -cd t_2.fq.gz) || fail "other reads than those of fastp"
        # fastp shows what it had left of them by then.
        cmp <(sed -n '1~4p' k.fq) <(sed -n '1~4p' failed.fq | paste - - | grep paired_read_is_failing | tr '\t' '\n') ||
            fail "other reads are dropped than by fastp"
    else
        skip_part "no fastp here"
    fi
    cmp <(sed '1~4s/ [a-z_]*$//' failed.fq | paste - - - -) \
        <(paste - - - - < both.fq | grep -F -f <(sed -n '1~4s/ [a-z_]*$/\t/p' failed.fq)) || fail "reads are not whole"
    # Fields of barcodes are fields of the reads.
    zerohop align -t 2 --trim --read-structure 2M+T --read-structure +T --save-trimmed t.fq -o one.sam -p ref.fa \
        long.fq
    [ "$(grep -c '^@[^	 ]*	RX:Z:[ACGTN][ACGTN]	QX:Z:..$' t.fq)" = $(($(grep -c '' t.fq) / 4)) ] ||
        fail "UMIs are lost"
    zerohop align -t 2 -C --trim --trim-args '-A -G -Q -L' -o two.sam -p ref.fa t.fq
    cmp <(body one.sam | sed 's/	RX:Z.*//') <(body two.sam | sed 's/	RX:Z.*//') ||
        fail "trimmed reads have other records"
    # Samples have files of their own.
    { echo sample,fastq_1,fastq_2; echo "A,s_1.fq,s_2.fq"; echo "B,l_1.fq,"; } > sheet.csv
    zerohop align --trim --samples sheet.csv --output-dir sheet --save-trimmed _%.fq.gz --save-failed .fq ref.fa
    cmp sheet/A.trimmed_1.fq.gz t_1.fq.gz && cmp sheet/A.failed.fq failed.fq && [ -s sheet/B.trimmed.fq.gz ] ||
        fail "no files of each sample: $(ls sheet)"
    # Nothing is left of what failed.
    (ulimit -f 100; "$ZEROHOP" align -q --trim --save-trimmed big.fq -o big.sam ref.fa s_1.fq s_2.fq) 2> stderr || rc=$?
    [ $rc != 0 ] && grep -q 'big.fq' stderr && [ -z "$(ls big.* 2> /dev/null)" ] ||
        fail "no room: $rc $(cat stderr) $(ls big.*)"
}

# BAM, SAM and CRAM of reads that were not aligned: fields stay with the reads, and those of bases are cut with them.
bam() {
    local form threads rc
    command -v samtools > /dev/null || { skip_part "no samtools here"; return; }
    # Every fifth read failed the filters. OQ are the qualities once more.
    samtools import -1 s_1.fq -2 s_2.fq -O sam 2> stderr | awk -F'\t' -v OFS='\t' '
        /^@/ { print; next }
        { if ($1 ~ /[05]$/) $2 += 512; print $0, "XX:Z:" $1, "OQ:Z:" ($11 == "*" ? "" : $11) }' > u.sam
    samtools view -b -o u.bam u.sam
    samtools view -C -o u.cram --output-fmt-option no_ref u.sam
    zerohop align -t 1 --trim -o wanted.sam ref.fa s_1.fq s_2.fq
    for form in u.bam u.sam u.cram "-"; do
        for threads in 1 4; do
            zerohop align -t $threads --trim --fastp-json z.json -o found.sam ref.fa $form < u.bam
            cmp <(records wanted.sam | grep -v '^@') \
                <(records found.sam | awk -F'\t' -v OFS='\t' '!/^@/ && $1 ~ /[05]$/ { $2 -= 512 } 1' |
                    sed 's/\tXX:Z:.*//' | grep -v '^@') || fail "$form, -t $threads: other records"
        done
        python3 - <<'END' || fail "$form: fields are not those of the reads"
from sys import exit
count = 0
for line in open("found.sam"):
    if line[0] == "@": continue
    fields = line.rstrip("\n").split("\t")
    optional = {field[:2]: field[5:] for field in fields[11:]}
    quality = fields[10][::-1] if int(fields[1]) & 16 else fields[10]
    assert optional["XX"] == fields[0] and optional["OQ"] == quality, line
    count += 1
assert count > 1000, count
END
    done
    # Read structures of BAM and of interleaved reads are those of two files.
    samtools import -1 l_1.fq -2 l_2.fq -o long.bam 2> stderr
    zerohop align -t 2 --read-structure 5M+T --read-structure 3S+T -o wanted.sam ref.fa l_1.fq l_2.fq
    zerohop align -t 3 --read-structure 5M+T --read-structure 3S+T -p -o found.sam ref.fa long.fq
    cmp <(records wanted.sam) <(records found.sam) || fail "read structures of interleaved reads: other records"
    zerohop align -t 3 --read-structure 5M+T --read-structure 3S+T -o found.sam ref.fa long.bam
    cmp <(body wanted.sam) <(body found.sam) || fail "read structures of BAM: other records"
    # Bases that are skipped alone give no fields: comments stay what they are.
    zerohop align -t 2 -C --read-structure 5S+T --read-structure 3S+T -o wanted.sam ref.fa l_1.fq l_2.fq
    zerohop align -t 3 -C --read-structure 5S+T --read-structure 3S+T -p -o found.sam ref.fa long.fq
    cmp <(records wanted.sam) <(records found.sam) || fail "skipped bases of interleaved reads: other records"
    zerohop align -t 2 -C --trim --read-structure 5S+T --read-structure 3S+T -o found.sam ref.fa l_1.fq l_2.fq
    [ "$(body found.sam | cut -f 12- | grep -c '[12]:N:0:AC$')" = "$(body found.sam | wc -l)" ] || fail "other comments"
    # Single reads, with the adapter that is found in them; one among pairs is no pair's.
    samtools import -0 s_1.fq -o single.bam 2> stderr
    zerohop align -t 2 --trim -o wanted.sam ref.fa s_1.fq
    zerohop align -t 2 --trim -o found.sam ref.fa single.bam
    cmp <(body wanted.sam) <(body found.sam) || fail "single reads: other records"
    samtools import -1 s_1.fq -2 s_2.fq -o plain.bam 2> stderr
    samtools cat -o mixed.bam plain.bam single.bam
    zerohop align -t 2 --trim --trim-args -A -o mixed.sam ref.fa mixed.bam
    zerohop align -t 2 --trim --trim-args -A -o pairs.sam ref.fa plain.bam
    cmp <(body mixed.sam | awk '$2 % 2') <(body pairs.sam | awk '$2 % 2') ||
        fail "pairs among others: other records"
    rc=0
    "$ZEROHOP" align --read-structure 5M+T --read-structure +T -o bad.sam ref.fa mixed.bam 2> stderr || rc=$?
    [ $rc != 0 ] && grep -q "mixed.bam.*it has no mate, and two read structures are for two mates" stderr ||
        fail "single reads with two read structures: $rc $(cat stderr)"
}

# Over ranks, and resumed: the records and the report of one process
ranks() {
    local name compiler launch input options i rc=0
    for i in 1 2; do cat s_$i.fq s_$i.fq > m_$i.fq; done
    report() { python3 -c 'import json, sys; it = json.load(open(sys.argv[1])); del it["command"]; print(it)' "$1"; }
    # same WHAT: r.sam and r.json are those of one process.
    same() {
        cmp <(body one.sam) <(body r.sam) || fail "$1: other records"
        cmp <(report one.json) <(report r.json) || fail "$1: another report"
        rm r.sam r.json
    }
    files() { for file in $1_1.fq.gz $1_2.fq.gz $1_f.fq.gz; do gzip -cd $file; done; }
    saving() { echo --save-trimmed "$1_%.fq.gz" --save-failed "$1_f.fq.gz"; }
    zerohop align -t 2 --trim --fastp-json one.json $(saving one) -o one.sam ref.fa m_1.fq m_2.fq
    zerohop align -t 2 --durable --trim --fastp-json r.json $(saving r) -o r.sam ref.fa m_1.fq m_2.fq
    same --durable
    cmp <(files one) <(files r) || fail "--durable: other reads are saved"
    # Killed when something is on record, and resumed
    for i in 1 2; do cat s_$i.fq{,,,,,,,} > many_$i.fq; done
    zerohop align -t 2 --trim --fastp-json one.json -o one.sam ref.fa many_1.fq many_2.fq
    "$ZEROHOP" align -q -t 1 --durable --trim --fastp-json r.json -o r.sam ref.fa many_1.fq many_2.fq > stderr 2>&1 &
    i=$!
    for _ in $(seq 2400); do
        kill -0 $i 2> /dev/null && ! grep -qs batch r.sam.progress/rank-0.jsonl || break
        sleep 0.05
    done
    kill -9 $i 2> /dev/null || true
    wait $i || true
    [ -e r.sam ] || zerohop align -t 2 --resume --trim --fastp-json r.json -o r.sam ref.fa many_1.fq many_2.fq
    same --resume
    read -r name compiler launch < <(some_mpis) || { skip_part "neither OpenMPI nor MPICH is here"; return; }
    with_mpi "$name" "$compiler"
    # over WHAT OPTIONS...: by three ranks
    over() {
        local what=$1; shift
        timeout -k 5 120 $launch -n 3 "$ZEROHOP" align --ranks=3 -q -t 1 --trim --fastp-json r.json -o r.sam "$@" \
            > stderr 2>&1 < /dev/null || fail "$what: $(cat stderr)"
        same "$what"
    }
    zerohop align -t 2 --trim --fastp-json one.json -o one.sam ref.fa s_1.fq s_2.fq
    zerohop align -t 2 --trim $(saving one) -o two.sam ref.fa s_1.fq s_2.fq --reads m_1.fq m_2.fq
    for input in "s_1.fq s_2.fq" "b_1.fq.gz b_2.fq.gz" "g_1.fq.gz g_2.fq.gz"; do over "$input" ref.fa $input; done
    for input in s g; do
        timeout -k 5 120 $launch -n 3 "$ZEROHOP" align --ranks=3 -q -t 1 --trim $(saving r) -o r.sam ref.fa \
            $(ls ${input}_1.fq*) $(ls ${input}_2.fq*) --reads m_1.fq m_2.fq > stderr 2>&1 < /dev/null ||
            fail "two lanes: $(cat stderr)"
        cmp <(files one) <(files r) || fail "$input over ranks: other reads are saved"
        rm r_* r.sam
    done
    [ -z "$(ls | grep 'rank-\|partial')" ] || fail "parts of ranks are left: $(ls)"
    options=(--read-structure 2M+T --read-structure +T)
    zerohop align -t 2 --trim --fastp-json one.json -o one.sam "${options[@]}" -p ref.fa long.fq
    over "UMIs of interleaved reads" "${options[@]}" -p ref.fa long.fq
    if command -v samtools > /dev/null; then
        samtools import -1 l_1.fq -2 l_2.fq -o long.bam 2> stderr
        zerohop align -t 2 --trim --fastp-json one.json -o one.sam "${options[@]}" ref.fa long.bam
        over "UMIs of BAM" "${options[@]}" ref.fa long.bam
    fi
    zerohop align -t 2 --engine bwa-mem --build-index --engine-args -K20000 --trim --fastp-json one.json -o one.sam \
        ref.fa s_1.fq s_2.fq
    over bwa-mem --engine bwa-mem --engine-args -K20000 ref.fa s_1.fq s_2.fq
    # What is wrong is told by the rank that comes to it.
    { head -n 16000 s_1.fq; printf '@odd\nACGT\n+\nIII\n'; tail -n +16005 s_1.fq; } > odd.fq
    timeout -k 5 120 $launch -n 3 "$ZEROHOP" align --ranks=3 -q -t 1 --trim -o r.sam ref.fa odd.fq s_2.fq \
        > stderr 2>&1 < /dev/null || rc=$?
    [ $rc != 0 ] && [ $rc != 124 ] && grep -q "odd.fq: record 4001 .*4 bases but 3 qualities" stderr ||
        fail "a damaged read: $rc $(cat stderr)"
    [ ! -e r.sam ] || fail "a file is left"
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
    said "it writes dropped reads with --save-failed" --trim --trim-args '--failed_out x.fq' ref.fa s_1.fq s_2.fq
    said "--bogus" --trim --trim-args --bogus ref.fa s_1.fq s_2.fq
    said "only reads with qualities are trimmed" --trim ref.fa <(sed -n '1~4s/^@/>/p;2~4p' s_1.fq)
    sed -n '1~4s/^@/>/p;2~4p' s_2.fq > s_2.fa
    said "s_2.fa: its reads have no qualities" --trim ref.fa s_1.fq s_2.fa
    mkfifo pipe.fq
    said "regular file" --trim --save-trimmed pipe.fq ref.fa s_1.fq s_2.fq
    said "name the file .fq.gz" --trim --save-failed bad.bam ref.fa s_1.fq s_2.fq
    said "leave out the '%'" --trim --save-failed 'bad_%.fq' ref.fa s_1.fq
    said "s_1.fq is an input" --trim --save-trimmed 's_%.fq' ref.fa s_1.fq s_2.fq
    said "requires\|--trim" --trim-args -x ref.fa s_1.fq s_2.fq
    # What is wrong is told of the file as it is.
    { head -n 8000 s_1.fq; printf '@odd\nACGT\n+\nIII\n'; tail -n +8005 s_1.fq; } > odd.fq
    said "odd.fq: record 2001 .*read 'odd': 4 bases but 3 qualities" --trim --fastp-json bad.json ref.fa odd.fq s_2.fq
    head -c 200000 s_1.fq > cut.fq
    said "cut.fq: record [0-9]* .*truncated" --trim --fastp-json bad.json ref.fa cut.fq s_2.fq
    head -n 20000 s_1.fq > short.fq
    said "short.fq.*s_2.fq\|s_2.fq.*short.fq" --trim --fastp-json bad.json ref.fa short.fq s_2.fq
}

for part in same forms saved bam ranks refused; do
    [[ $part =~ ${PART-} ]] || continue
    part $part
    echo "$part: as it should be"
done
