#!/bin/bash
# zerohop align --qc: the reports are those that samtools (of pysam) and mosdepth make of the records that are written,
# line by line, whatever the reads, the format, the threads and the memory; other programs read them; what cannot be
# reported is refused; nothing is left of a run that fails. LONG=1: more sets. PART=REGEX: the parts whose name matches.
source "$(dirname "$0")/lib.sh"
cd "$WORK"
[ -x "${PYTHON_WITH_PYSAM-}" ] || skip "no pysam here"

# Debian's mosdepth looks for the name that only the package for developers has
mkdir lib
hts=$(ldconfig -p | awk '/libhts\.so\.3 / && !found++ { print $NF }')
[ -z "$hts" ] || ln -s "$hts" lib/libhts.so
mosdepth_() {
    LD_LIBRARY_PATH=$WORK/lib command mosdepth "$@" 2> mosdepth.log || { cat mosdepth.log >&2; fail "mosdepth"; }
}

# expected FILE [REFERENCE]: what the programs say of a file of records, in expected.*
expected() {
    rm -f expected.*
    "$PYTHON_WITH_PYSAM" - "$1" $stats_options << 'PYTHON'
import pysam, sys
name, *options = sys.argv[1:]
for tool in ('stats', 'flagstat', 'idxstats', 'coverage'):
    of_tool = options if tool == 'stats' else []
    with open(f'expected.{tool}', 'w') as out: out.write(getattr(pysam.samtools, tool)(*of_tool, name))
PYTHON
    # it goes through all contigs for each of them, and has an array of the longest
    [[ $what != many && $what != far ]] || [ -n "${LONG-}" ] || return 0
    ! command -v mosdepth > /dev/null || mosdepth_ -n --fast-mode --by 500 ${2:+-f "$2"} expected "$1"
}

# same_depth PREFIX [OPTION...]: the files of mosdepth with this prefix are those that it writes of s.bam
same_depth() {
    local prefix=$1 file ours
    shift
    rm -f expected.*
    mosdepth_ "$@" expected s.bam
    for file in expected.*; do
        ours=$prefix.${file#expected.}
        case $file in
            *.csi) [ -e "$ours" ] || fail "$what: no $ours";;
            *.gz) differ <(gzip -cd "$ours") <(gzip -cd "$file");;
            *) differ "$ours" "$file";;
        esac
    done
    for ours in "$prefix".*.gz "$prefix".mosdepth.*; do
        [ -e "expected.${ours#"$prefix".}" ] || fail "$what: mosdepth writes no $ours"
    done
}

# lines of samtools stats that are not compared, and its options
without= stats_options=

# differ OURS THEIRS: says so
differ() {
    diff "$1" "$2" > differences && return
    echo "FAIL: $what: $1 (<) and $2 (>):" >&2
    head -n 20 differences | cut -c 1-200 >&2
    exit 1
}

# picard PROGRAM ARGUMENTS...
picard() {
    _JAVA_OPTIONS="-Xmx512m -XX:+UseSerialGC" PicardCommandLine "$@" VALIDATION_STRINGENCY=SILENT > picard.log 2>&1 ||
        { cat picard.log >&2; fail "Picard"; }
}

# metrics FILE: without comments, and what ends it
metrics() { grep -v '^#' "$1"; }

# same_picard PREFIX REFERENCE [TARGETS]: the metrics with this prefix are those of Picard, of s.bam. Of no pairs Picard
# writes no insert sizes, and takes half a minute to say that nothing covers the genome.
same_picard() {
    local name
    command -v PicardCommandLine > /dev/null || return 0
    rm -f picard.*
    # it asks for R, which makes charts
    mkdir -p no_r
    printf '#!/bin/sh\n' > no_r/Rscript
    chmod +x no_r/Rscript
    [ -e "${2%.fa}.dict" ] || picard CreateSequenceDictionary R="$2" O="${2%.fa}.dict"
    PATH=$PWD/no_r:$PATH picard CollectMultipleMetrics I=s.bam R="$2" O=picard PROGRAM=null \
        PROGRAM=CollectAlignmentSummaryMetrics PROGRAM=CollectInsertSizeMetrics PROGRAM=QualityScoreDistribution \
        PROGRAM=MeanQualityByCycle PROGRAM=CollectBaseDistributionByCycle PROGRAM=CollectGcBiasMetrics
    for name in alignment_summary insert_size quality_distribution quality_by_cycle base_distribution_by_cycle \
        gc_bias.detail gc_bias.summary; do
        [ -e picard.${name}_metrics ] || [ $name = insert_size ] || { cat picard.log >&2; fail "$what: no $name"; }
        [ ! -e picard.${name}_metrics ] ||
            differ <(metrics "$1.${name}_metrics") <(metrics picard.${name}_metrics)
    done
    [ -e picard.insert_size_metrics ] || return 0
    [ -n "${3-}" ] || {
        picard CollectWgsMetrics I=s.bam R="$2" O=picard.wgs
        differ <(metrics "$1.wgs_metrics") <(metrics picard.wgs)
        return 0
    }
    # 3.4.0 has other histograms, and draws other qualities for HET_SNP_SENSITIVITY (bench/runs has these compared)
    picard BedToIntervalList I="$3" O=picard.list SD="${2%.fa}.dict"
    picard CollectHsMetrics I=s.bam R="$2" O=picard.hs TARGET_INTERVALS=picard.list BAIT_INTERVALS=picard.list
    differ <(metrics "$1.hs_metrics" | sed -n '2,3p' | cut -f 2-64,67-) \
        <(metrics picard.hs | sed -n '2,3p' | cut -f 2-64,67-)
    # (which of them it was given is in its comment)
    [ "$(metrics "$1.hs_metrics" | sed -n 3p | cut -f 1)" = "$(basename "${3%%.*}")" ] || fail "the name of the baits"
}

# same FILE PREFIX [REFERENCE]: the reports with this prefix are those of the programs
same() {
    local file=$1 prefix=$2 sample=${2%.bam}; sample=${sample%.cram}
    expected "$file" ${3-}
    differ <(grep -Ev "^#${without:+|$without}" "$prefix.stats") <(grep -Ev "^#${without:+|$without}" expected.stats)
    differ "$prefix.flagstat" expected.flagstat
    differ "$prefix.idxstats" expected.idxstats
    # samtools coverage reads no qualities of CRAM, and takes each for 255
    local columns=1-; [[ $file != *.cram ]] || columns=1-7,9
    differ <(cut -f $columns "$prefix.coverage.txt") <(cut -f $columns expected.coverage)
    [ -e expected.mosdepth.summary.txt ] || return 0
    differ "$sample.mosdepth.summary.txt" expected.mosdepth.summary.txt
    differ "$sample.mosdepth.global.dist.txt" expected.mosdepth.global.dist.txt
    differ "$sample.mosdepth.region.dist.txt" expected.mosdepth.region.dist.txt
    differ <(gzip -cd "$sample.regions.bed.gz") <(gzip -cd expected.regions.bed.gz)
}

check_sets() {
    local name reference first second what options
    while read -r name reference first second; do
        [ -f "$first" ] || continue
        some_pairs 5000 some "$first" "$second"
        reference "$reference"
        # with duplicates
        head -n 4000 some_1.fq >> some_1.fq.more; head -n 4000 some_2.fq >> some_2.fq.more
        for options in "--mark-duplicates" "--sort-memory 300K --remove-duplicates" "--stats-reference"; do
            stats_options=; [[ $options != *-reference ]] || stats_options="-r ref.fa"
            what="$name $options"
            zerohop align -q -t 2 --sort $options --qc -o s.bam ref.fa --reads some_1.fq some_2.fq \
                --reads some_1.fq.more some_2.fq.more
            same s.bam s.bam
        done
        # (with the index that samtools stats -r has left)
        rm -f some* s.* ref.fa*
        echo "$name: the reports of samtools$(! command -v mosdepth > /dev/null || echo " and mosdepth")"
    done < <(read_sets)
}

# reference FILE: as ref.fa
reference() {
    rm -f ref.fa*
    case $1 in *.gz) gzip -cd "$1" > ref.fa;; *) cp "$1" ref.fa;; esac
}

# Other formats, names, engines, numbers of threads, and reads; and the programs that read the reports
check_forms() {
    local what options file
    gzip -cd "$DATA"/ecoli/GCF_*.fna.gz > ref.fa
    # contigs without reads, too
    { head -n 200 ref.fa | sed '1s/.*/>first/'; cat ref.fa; printf '>short\nACGTACGT\n'; } > more.fa; mv more.fa ref.fa
    some_pairs 5000 some "$DATA/ecoli/ecoli_150_1.fq.gz" "$DATA/ecoli/ecoli_150_2.fq.gz"
    zerohop index -q -r 150 ref.fa
    while IFS='|' read -r file options; do
        what="$file $options"
        zerohop align -q --sort --qc -o $file $options
        same $file $file ref.fa
        [[ $options != *--picard* ]] || same_picard s ref.fa
        rm -f s.*
    done << 'END'
s.cram|-t 1 ref.fa some_1.fq some_2.fq
s.bam|-t 5 --sort-memory 200K --mark-duplicates=picard ref.fa some_1.fq some_2.fq
s.bam|-t 2 --picard-metrics ref.fa some_1.fq
s.bam|-t 2 --barcode-name --mark-duplicates --picard-metrics ref.fa some_1.fq some_2.fq
END
    # regions that overlap, touch, lie behind each other's end, and on the contig without reads; as BED and as a list
    awk -v OFS='\t' 'BEGIN { srand(5); for (i = 0; i < 900; i++) {
        start = int(rand() * 4600000); print "NC_000913.3", start, start + 1 + int(rand() * 800), "t" i
        if (i % 9 == 0) print "first", i * 10, i * 10 + 10 } }' > exome.v2.bed
    for options in "-t 3 --targets exome.v2.bed" "-t 1 --sort-memory 200K --targets exome.list"; do
        what="$options"
        zerohop align -q --sort --mark-duplicates --qc --picard-metrics $options -o s.bam ref.fa some_1.fq some_2.fq
        if [ ! -e exome.list ]; then
            same_picard s ref.fa exome.v2.bed
            metrics s.hs_metrics > exome.expected
        fi
        differ <(metrics s.hs_metrics) exome.expected
        [ ! -e s.wgs_metrics ] || fail "$what: metrics of the whole genome"
        awk -v OFS='\t' 'BEGIN { print "@HD\tVN:1.6" } { print $1, $2 + 1, $3, "+", "x" }' exome.v2.bed > exome.list
        rm -f s.*
    done
    # barcodes in fields, which samtools tells of
    awk 'NR % 4 == 1 { $0 = $1 "\tRX:Z:" substr("ACGTTGCA-GGCC", 1, 8 + NR % 6) "\tQX:Z:IIIIHHHH-IIII" } 1' \
        some_1.fq > b_1.fq
    awk 'NR % 4 == 1 { $0 = $1 "\tRX:Z:ACGT-GGCC" } 1' some_2.fq > b_2.fq
    what=barcodes
    mkdir p
    zerohop align -q -C --sort --qc=p/q -o s.bam ref.fa b_1.fq b_2.fq
    same s.bam p/q ref.fa
    tabix -l p/q.regions.bed.gz | cmp - <(grep '^>' ref.fa | cut -c 2- | cut -d ' ' -f 1) || fail "tabix: contigs"
    tabix --csi p/q.regions.bed.gz NC_000913.3:3000001-3001000 > region 2> /dev/null ||
        tabix p/q.regions.bed.gz NC_000913.3:3000001-3001000 > region
    [ "$(cut -f 2 region | tr '\n' ' ')" = "3000000 3000500 " ] || fail "tabix: $(cat region)"
    ! command -v plot-bamstats > /dev/null || plot-bamstats -p plots/ p/q.stats > plot.log 2>&1 ||
        { command -v gnuplot > /dev/null && { cat plot.log >&2; fail "plot-bamstats"; }; }
    # no reads at all
    : > none.fq
    what="no reads"
    zerohop align -q -r 150 --sort --qc -o s.bam ref.fa none.fq
    same s.bam s.bam ref.fa
    rm s.*
    echo "forms: the reports of samtools, and programs read them"
}

# regions FILE.fa SEED: a file of BED of regions that overlap, are empty, or have names
regions() {
    awk -v seed="$2" '
        /^>/ { name = substr($1, 2); order[++n] = name; next }
        { length_of[name] += length($0) }
        END {
            srand(seed)
            print "track name=regions\n# contig, start, end"
            for (i = 1; i <= n; i++) for (j = 0; j < 40; j++) {
                all = length_of[order[i]]
                start = int(rand() * (all + 1)); end = start + int(10 ^ (5 * rand())) - 1
                if (end > all) end = all
                print order[i] "\t" start "\t" end (j % 3 ? "" : "\tregion" j (j % 2 ? "" : "\t0\t+"))
            }
        }' "$1"
}

# The options of mosdepth
check_mosdepth() {
    local what options sort
    command -v mosdepth > /dev/null || { echo "options of mosdepth: SKIPPED, no mosdepth here"; return; }
    [ -f some_1.fq ] && [ -f ref.fa ] || check_forms
    awk 'NR > 4000 { exit } NR % 4 == 1 { $0 = "@again" substr($1, 2) } 1' some_1.fq > again_1.fq
    awk 'NR > 4000 { exit } NR % 4 == 1 { $0 = "@again" substr($1, 2) } 1' some_2.fq > again_2.fq
    regions ref.fa 1 > targets.bed
    regions ref.fa 2 | gzip > targets.bed.gz
    while IFS='|' read -r sort options; do
        what="--mosdepth '$options' $sort"
        zerohop align -q -t 2 -r 150 --sort $sort --mark-duplicates --qc --mosdepth "$options" -o s.bam ref.fa \
            --reads some_1.fq some_2.fq --reads again_1.fq again_2.fq
        same_depth s $options
        rm s.*
    done << 'END'
|
|--fast-mode
--sort-memory 200K|--by 137 --use-median --quantize 0:1:4:
|-n -x --by targets.bed
--sort-memory 200K|-n --by targets.bed --thresholds 5,1,2
|--by targets.bed.gz --use-median --quantize 2:3:9
|-n -x -b 1000 -T 1,3 -q :1
|-n -Q 20 -F 0 -i 64 -b 50
END
    # A contig that is not there, and a region behind the end of its contig, which older ones cannot read
    printf 'NC_000913.3\t4641600\t4641700\tend\nother\t1\t5\n' > targets.bed
    "$ZEROHOP" align -q --sort --qc --mosdepth "-n -x -b targets.bed" -o s.bam ref.fa some_1.fq some_2.fq 2> log ||
        { cat log >&2; fail "$?"; }
    grep -q "note: targets.bed: the reference has no contig other" log || { cat log >&2; fail "no note"; }
    [ "$(gzip -cd s.regions.bed.gz | cut -f -4)" = "$(head -n 1 targets.bed)" ] || fail "a region behind its contig"
    echo "options: the files of mosdepth"
}

# Records of any shape, as an aligner has them that is made up: mates that overlap, lie in each other or pass each
# other, long clips, introns, supplementary and secondary records, long reads, contigs of more than 2^29 bases, and many
# contigs
check_shapes() {
    local what name options picard
    cat > made_up.py << 'PYTHON'
import random, sys

kind = sys.argv[0].rsplit("/", 1)[-1].split(".")[0]
contigs = [("a", 90_000), ("b", 1_500), ("none", 3_000)]
if kind == "many": contigs = [(f"n{i}", 600 + i % 700) for i in range(100_000)]
if kind == "far": contigs = [("far", 540_000_000), ("b", 1_500)]
for name, length in contigs: print(f"@SQ\tSN:{name}\tLN:{length}")
random.seed(3)

def shape(bases):
    """A CIGAR of so many bases, and how long it is on the reference."""
    form, cut, more = random.randrange(9), random.randrange(1, bases) if bases > 1 else 0, random.randrange(1, 40)
    if not cut or form < 4: return f"{bases}M", bases
    if form == 4: return f"{cut}S{bases - cut}M", bases - cut
    if form == 5: return f"{bases - cut}M{cut}S", bases - cut
    if form == 6: return f"{cut}M{more}D{bases - cut}M", bases + more
    if form == 7 and bases - cut > more: return f"{cut}M{more}I{bases - cut - more}M", bases - more
    if kind == "introns": more = random.choice((100, 1600, 20_000))
    return f"{cut}M{more}N{bases - cut}M", bases + more

def place(length, near, span):
    """A position from 1 at which a span fits, near another one."""
    at = near + random.randrange(-120, 300) if near else random.randrange(1, length + 1)
    return max(1, min(at, length - span + 1))

def tell(name, flags, contig, at, cigar, mate, tlen, bases, quality, *tags):
    print(name, flags, contig, at, random.choice((0, 7, 30, 60)), cigar, *mate, tlen, bases, quality, *tags, sep="\t")

files = [open(path) for path in sys.argv[1:3]]
while names := [file.readline().split() for file in files]:
    if not names[0]: break
    reads = [[line.rstrip("\n") for line in (file.readline(), file.readline(), file.readline())] for file in files]
    name, (contig, length) = names[0][0][1:], random.choice(contigs[:2] if kind != "many" else contigs)
    near, mates = 0, []
    for bases, _, quality in reads:
        cigar, span = shape(len(bases))
        if span > length: cigar, span = (f"{length}M{len(bases) - length}S", length) if len(bases) > length else \
            (f"{len(bases)}M", len(bases))
        at = place(length, near, span)
        near = at
        mates.append((at, span, cigar, bases, quality))
    first, second = mates
    tlen = max(at + span for at, span, *_ in mates) - min(at for at, *_ in mates)
    common = random.choice((1, 3, 3, 3, 3, 3 + 512))
    reverse = random.choice(((16, 32), (32, 16), (0, 0), (48, 48)))
    for number, (own, other) in enumerate(((first, second), (second, first))):
        at, span, cigar, bases, quality = own
        flags = common | (64, 128)[number] | reverse[number]
        sign = tlen if (own[0], number) <= (other[0], 1 - number) else -tlen
        nm = f"NM:i:{random.randrange(6)}"
        if random.randrange(50) == 0:
            tell(name, (flags & ~2) | 4, contig, other[0], "*", ("=", other[0]), 0, bases, quality)
            continue
        tell(name, flags, contig, at, cigar, ("=", other[0]), sign, bases, quality, nm)
        if random.randrange(20) == 0 and len(bases) > 60:
            elsewhere = place(length, 0, 40)
            for more, cigar, own in ((2048, f"{len(bases) - 40}H40M", 40), (256, f"{len(bases) - 40}S40M", len(bases))):
                tell(name, flags | more, contig, elsewhere, cigar, ("=", other[0]), 0, bases[-own:], quality[-own:], nm)
PYTHON
    python3 - << 'PYTHON'
import random
random.seed(8)
with open("made.fa", "w") as out:
    for name, length in ("a", 90_000), ("b", 1_500), ("none", 3_000):
        print(f">{name}", file=out)
        bases = "".join(random.choices("ACGTacgtN", k=length))
        for at in range(0, length, 70): print(bases[at:at + 70], file=out)
for kind, pairs in ("shapes", 4000), ("introns", 2000), ("many", 3000), ("far", 400):
    for mate in 1, 2:
        with open(f"{kind}_{mate}.fq", "w") as out:
            for i in range(pairs):
                length = random.choice((1, 36, 75, 100, 150, 150, 301, 700))
                bases = "".join(random.choices("ACGTN", (9, 9, 9, 9, 1), k=length))
                quality = "".join(chr(random.randrange(43, 75)) for _ in range(length))
                print(f"@{kind}{i}\n{bases}\n+\n{quality}", file=out)
PYTHON
    for name in shapes introns many far; do
        python_aligner $name
        sed -i 's/^single = .*/&\npaired = ["{reads_1}", "{reads_2}"]/' $name.toml
        cp made_up.py $name.py
        for options in ${LONG:+""} "--sort-memory 400K"; do
            what=$name
            picard=--picard-metrics; [ $name != many ] && [ $name != far ] || picard=
            # (it ends at introns)
            stats_options=; [ $name != shapes ] || { picard+=" --stats-reference"; stats_options="-r made.fa"; }
            # samtools' own fault: COV of long reads, and of alignments that span more than 1,500 bases
            without='^COV'
            zerohop align -q -t 2 --engine $name --engine-file $name.toml --build-index --sort --mark-duplicates --qc \
                $picard $options -o s.bam made.fa ${name}_1.fq ${name}_2.fq
            same s.bam s.bam
            differ <(awk '/^COV/ { print $3, $4 }' s.bam.stats) <("$PYTHON_WITH_PYSAM" -c 'import pysam
for line in pysam.samtools.depth("-d", "0", "-g", "DUP,QCFAIL", "s.bam").splitlines(): print(line.split()[2])' |
                awk '$1 > 0 { places[$1]++ } END { for (depth in places) print depth, places[depth] }' | sort -n)
            [ $name = shapes ] || [ -n "${LONG-}" ] || continue
            [ -z "$picard" ] || same_picard s made.fa
            [ $name = shapes ] || continue
            # many small regions, so that deletions and introns lie over their ends
            awk -v OFS='\t' 'BEGIN { for (at = 50; at < 89000; at += 90) print "a", at, at + 40 + at % 49
                print "b", 100, 900 }' > made.bed
            zerohop align -q -t 2 --engine $name --engine-file $name.toml --sort --mark-duplicates --qc \
                --picard-metrics --targets made.bed $options -o s.bam made.fa ${name}_1.fq ${name}_2.fq
            same_picard s made.fa made.bed
            zerohop align -q -t 2 --engine $name --engine-file $name.toml --sort --mark-duplicates --qc \
                --mosdepth "--by 700 --quantize 0:1:3:" $options -o s.bam made.fa ${name}_1.fq ${name}_2.fq
            same_depth s --by 700 --quantize 0:1:3:
        done
        rm s.*
    done
    without=
    echo "shapes: the reports of records of any shape, and of many contigs"
}

# Each sample has its reports; one that has none yet is not complete
check_samples() {
    local what=samples
    printf '%s\n' sample,fastq_1,fastq_2 A,some_1.fq,some_2.fq B,b_1.fq,b_2.fq > sheet.csv
    zerohop align -q -r 150 --sort --samples sheet.csv --output-dir results ref.fa
    [ ! -e results/A.bam.stats ] || fail "reports that nobody asked for"
    zerohop align -q -r 150 --sort --qc --resume --samples sheet.csv --output-dir results ref.fa
    same results/A.bam results/A.bam
    same results/B.bam results/B.bam
    if [ -x "${MULTIQC-}" ]; then
        zerohop align -q -r 150 --sort --mark-duplicates --qc --picard-metrics --samples sheet.csv \
            --output-dir named ref.fa
        "$MULTIQC" -q -o multiqc named > multiqc.log 2>&1 || { cat multiqc.log >&2; fail "MultiQC"; }
        local sources=multiqc/multiqc_data/multiqc_sources.txt
        [ "$(cut -f 3 $sources | sed 's|_R[12]$||' | sort -u | xargs)" = "A B Sample Name" ] &&
            [ "$(cut -f 1 $sources | sort -u | xargs)" = "Module Mosdepth Picard Samtools" ] ||
            { cat $sources >&2; fail "names in MultiQC"; }
    fi
    zerohop align -q -r 150 --sort --resume --samples sheet.csv --output-dir results ref.fa
    [ -e results/A.bam ] && [ ! -e results/A.bam.stats ] || fail "reports of other records are left"
    ! "$ZEROHOP" align -q --sort --qc=p --samples sheet.csv --output-dir other ref.fa > log 2>&1 || fail "--qc=PREFIX"
    grep -q "give --qc alone" log && [ ! -e other ] || { cat log >&2; fail "--qc=PREFIX"; }
    echo "samples: the reports of each"
}

# What cannot be reported is said before anything is written; a run that fails leaves no report
check_refused() {
    local words options
    printf 'a\t1\t2\na\t2\t1\n' > wrong.bed
    printf 'first\t1\t2\nfirst\t2\t1\n' > turned.bed
    printf '# f\xfcr\n' > latin.bed
    printf 'a\t1\t2\n' | gzip > y.regions.bed.gz
    local to_bam="-o x.bam ref.fa some_1.fq"
    while IFS='|' read -r words options; do
        options=${options/TO_BAM/$to_bam}
        ! "$ZEROHOP" align -q $options > log 2>&1 || fail "taken: $options"
        grep -q -- "$words" log || { cat log >&2; fail "other words: $options"; }
        [ -z "$(ls x.* 2> /dev/null)" ] || fail "something is written: $options"
    done << 'END'
--qc is for sorted records|--qc -o x.bam ref.fa some_1.fq
--qc is for records that are sorted by coordinate|--sort=name --qc -o x.bam ref.fa some_1.fq
--qc is for BAM and CRAM|--sort --qc -o x.sam ref.fa some_1.fq
--qc names its files after the output|--sort --qc --format bam ref.fa some_1.fq
'--mosdepth <OPTIONS>'|--sort --qc --mosdepth=--d4 -o x.bam ref.fa some_1.fq
--by <BY>|--sort --qc --mosdepth=-T1 -o x.bam ref.fa some_1.fq
no.bed: No such file|--sort --qc --mosdepth=-bno.bed -o x.bam ref.fa some_1.fq
wrong.bed, line 2: this is no line of BED|--sort --qc --mosdepth=-bwrong.bed -o x.bam ref.fa some_1.fq
it is not FASTA; --picard-metrics needs|--sort --qc --picard-metrics -o x.bam ref.fa.r150.zhi some_1.fq
--picard-metrics|--sort --qc --targets wrong.bed -o x.bam ref.fa some_1.fq
turned.bed: line 2: its start is behind its end|--sort --qc --picard-metrics --targets turned.bed TO_BAM
no.bed: No such file|--sort --qc --picard-metrics --targets no.bed -o x.bam ref.fa some_1.fq
is an input and cannot be the output|--sort --qc=y --picard-metrics --targets y.regions.bed.gz TO_BAM
wrong.bed: line 1: the reference has no contig a|--sort --qc --picard-metrics --targets wrong.bed TO_BAM
latin.bed: byte 4: this is no text|--sort --qc --mosdepth=-blatin.bed -o x.bam ref.fa some_1.fq
is an input and cannot be the output|--sort --qc=y --mosdepth=-by.regions.bed.gz -o x.bam ref.fa some_1.fq
--qc|--sort --mosdepth=-n -o x.bam ref.fa some_1.fq
END
    echo "these are notes of mine" > x.bam.stats
    ! "$ZEROHOP" align -q --sort --qc -o x.bam ref.fa some_1.fq > log 2>&1 || fail "written over a file of another kind"
    grep -q "x.bam.stats exists and does not hold a report" log || { cat log >&2; fail "other words"; }
    rm x.bam.stats
    ! (trap '' XFSZ; ulimit -f 200; exec "$ZEROHOP" align -q --sort --qc -o x.bam ref.fa some_1.fq some_2.fq) \
        > log 2>&1 || fail "there was no limit"
    [ -z "$(ls x.* 2> /dev/null)" ] || fail "left of a run that failed: $(ls x.*)"
    echo "refused: before anything is written, and nothing is left"
}

for part in check_sets check_forms check_mosdepth check_shapes check_samples check_refused; do
    if [[ $part =~ ${PART-} ]]; then part $part; fi
done
