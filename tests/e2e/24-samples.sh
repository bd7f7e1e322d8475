#!/bin/bash
# Samples of a sheet on one index: the records of each are those of a run of its own, for any number of threads, sorted
# or not, with embedded engines and programs. A sample that fails leaves nothing, and the others are there; --resume
# does what is left, also after a kill.
# PART=REGEX: the parts whose name matches.
source "$(dirname "$0")/lib.sh"
command -v samtools > /dev/null || skip "no samtools here"

cd "$WORK"
gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > ref.fa
zerohop index -q -r 150 ref.fa
# six samples of 150 bases, one of 100, and one in BAM
mkdir reads
for mate in 1 2; do
    gzip -cd "$DATA/ecoli/ecoli_150_$mate.fq.gz" | split -a 1 -d -l 6668 - "reads/part_$mate."
    for number in 0 1 2 3 4 5; do bgzip -c "reads/part_$mate.$number" > "reads/s${number}_$mate.fq.gz"; done
    cp "$DATA/ecoli/ecoli_100_$mate.fq.gz" "reads/short_$mate.fq.gz"
done
samtools import -r ID:own -r SM:b -1 reads/s4_1.fq.gz -2 reads/s4_2.fq.gz -o reads/b.bam 2> import.log
{
    echo 'sample,fastq_1,fastq_2,bam,rg_pl,strandedness'
    for number in 0 1 2; do echo "s$number,reads/s${number}_1.fq.gz,reads/s${number}_2.fq.gz,,ILLUMINA,auto"; done
    echo 'short,reads/short_1.fq.gz,reads/short_2.fq.gz,,,'
    # two lanes with a row of another sample between them; the second one is of single reads
    echo 'lanes,reads/s3_1.fq.gz,reads/s3_2.fq.gz,,,'
    echo 'b,,,reads/b.bam,,'
    echo 'lanes,reads/part_1.5,,,,'
} > sheet.csv

# alone NAME ARGUMENTS...: the records of a run of its own, in NAME.expected
alone() {
    local name=$1; shift
    zerohop align -q -t 2 -o own.bam "$@"
    samtools view own.bam > "$name.expected"
}

# compared FOLDER: the records of all samples
compared() {
    local name
    for name in s0 s1 s2 short lanes b; do
        samtools quickcheck "$1/$name.bam" || fail "$1/$name.bam"
        cmp <(samtools view "$1/$name.bam") "$name.expected" || fail "$1/$name.bam: other records"
        checks=$((checks + 1))
    done
}

# expected_pairs OPTIONS...: of those samples that are pairs from one lane
expected_pairs() {
    local number
    for number in 0 1 2; do
        alone s$number "$@" -R "@RG\tID:s$number\tPL:ILLUMINA\tSM:s$number\tLB:s$number" ref.fa \
            reads/s${number}_1.fq.gz reads/s${number}_2.fq.gz
    done
    alone short "$@" -R '@RG\tID:short\tSM:short\tLB:short' ref.fa reads/short_1.fq.gz reads/short_2.fq.gz
}

# expected OPTIONS...: of all samples
expected() {
    expected_pairs "$@"
    alone b "$@" ref.fa reads/b.bam
    alone lanes "$@" -R '@RG\tID:lanes.1\tSM:lanes\tLB:lanes' -R '@RG\tID:lanes.2\tSM:lanes\tLB:lanes' ref.fa \
        reads/s3_1.fq.gz reads/s3_2.fq.gz --reads reads/part_1.5
}

check_records() {
    local checks=0 threads engine
    expected
    for threads in 1 2 5; do
        rm -rf out
        zerohop align -q -t $threads --samples sheet.csv --output-dir out ref.fa
        compared out
        [ "$(ls out | wc -l)" = 18 ] || fail "other files: $(ls out)"
    done
    expected --sort --mark-duplicates=picard
    zerohop align -t 2 --sort --mark-duplicates=picard --samples sheet.csv --output-dir out/sorted ref.fa
    grep -q 's0 .*3,334 reads, .* % mapped, .* % of these duplicates' zerohop.stderr ||
        fail "what was said: $(cat zerohop.stderr)"
    grep -q 'columns of the sheet that say nothing to zerohop: strandedness' zerohop.stderr || fail "no note"
    compared out/sorted
    for name in s0 lanes b; do
        samtools idxstats out/sorted/$name.bam > idxstats
        grep -q 'PAIR_ORIENTATION\|METRICS CLASS' out/sorted/$name.markdup.txt || fail "no metrics"
    done
    "$MULTIQC" -q -o multiqc out/sorted > multiqc.log 2>&1 || fail "$(cat multiqc.log)"
    grep -rq '"lanes"\|lanes' multiqc/multiqc_data || fail "MultiQC does not know the samples"
    [ "$(samtools view -H out/b.bam | grep '^@RG')" = $'@RG\tID:own\tSM:b' ] || fail "the read group of BAM is another"
    # one index for all: an engine in our process, and a program
    for engine in bwa-mem minimap2; do
        [ $engine = bwa-mem ] || command -v minimap2 > /dev/null || continue
        sed '/^lanes/d; /^b,/d' sheet.csv > pairs.csv
        expected_pairs --engine $engine --build-index
        rm -rf out
        zerohop align -q -t 3 --engine $engine --build-index --samples pairs.csv --output-dir out ref.fa
        for name in s0 s1 s2 short; do
            cmp <(samtools view out/$name.bam) $name.expected || fail "$engine: $name: other records"
            checks=$((checks + 1))
        done
    done
    zerohop align -q --format sam -t 2 --samples pairs.csv --output-dir out/sam ref.fa
    zerohop align -q --format cram -t 2 --samples pairs.csv --output-dir out/cram ref.fa
    [ "$(samtools view -c out/sam/s0.sam) $(samtools view -c -T ref.fa out/cram/s0.cram)" = "3334 3334" ] ||
        fail "other formats"
    echo "records: those of runs of their own, $checks times"
}

check_failures() {
    expected
    head -c 100000 reads/s1_1.fq.gz > reads/cut_1.fq.gz
    printf 'x\n' > reads/none.fq
    sed 's|s/s1_1|s/cut_1|; s|reads/short_1.fq.gz,reads/short_2.fq.gz|reads/none.fq,|' sheet.csv > bad.csv
    rm -rf out
    local rc=0 name
    "$ZEROHOP" align -t 2 --samples bad.csv --output-dir out ref.fa 2> said || rc=$?
    [ $rc = 1 ] || fail "exit status $rc"
    grep -q "error: sample s1: .*cut_1.fq.gz.*truncated" said && grep -q "error: sample short: .*none.fq" said &&
        grep -q "error: 2 of 6 samples failed: " said || fail "what was said: $(cat said)"
    for name in s1 short; do [ -z "$(ls out | grep "^$name[._]")" ] || fail "left of $name: $(ls out)"; done
    for name in s0 s2 lanes b; do
        cmp <(samtools view out/$name.bam) $name.expected || fail "$name: other records"
        touch -d '2001-01-01' out/$name.bam
    done
    # what is complete stays
    cp reads/s1_1.fq.gz reads/cut_1.fq.gz
    sed -i 's|reads/none.fq,|reads/short_1.fq.gz,reads/short_2.fq.gz|' bad.csv
    "$ZEROHOP" align -t 2 --resume --samples bad.csv --output-dir out ref.fa 2> said || fail "$(cat said)"
    grep -q '^4 of 6 samples are complete already' said || fail "what was said: $(cat said)"
    for name in s0 s1 s2 short lanes b; do
        cmp <(samtools view out/$name.bam) $name.expected || fail "$name after --resume: other records"
    done
    [ "$(find out -name '*.bam' ! -newermt 2002-01-01 | wc -l)" = 4 ] || fail "done again"
    # other options, other reads
    touch reads/s2_1.fq.gz
    "$ZEROHOP" align -t 2 --resume --samples bad.csv --output-dir out ref.fa 2> said || fail "$(cat said)"
    grep -q '^note: sample s2 is aligned again, for something has changed: the reads, file' said || fail "$(cat said)"
    "$ZEROHOP" align -t 2 --resume --level 4 --samples bad.csv --output-dir out ref.fa 2> said || fail "$(cat said)"
    [ "$(grep -c 'is aligned again, for something has changed: the format of the output' said)" = 6 ] ||
        fail "$(cat said)"
    rm out/s0.bam
    "$ZEROHOP" align -t 2 --resume --level 4 --samples bad.csv --output-dir out ref.fa 2> said || fail "$(cat said)"
    grep -q '^5 of 6 samples are complete already' said && [ -f out/s0.bam ] || fail "$(cat said)"
    # files that others have written since, or that belong to other options
    head -c 1000 out/s1.bam > cut && cp cut out/s1.bam
    zerohop align -q -o out/s2.bam ref.fa reads/s3_1.fq.gz
    rm out/lanes_mqc.json
    "$ZEROHOP" align -t 2 --resume --level 4 --samples bad.csv --output-dir out ref.fa 2> said || fail "$(cat said)"
    grep -q '^3 of 6 samples are complete already' said && grep -q 's1.bam is not as it was written' said ||
        fail "$(cat said)"
    zerohop align -q -t 2 --sort --mark-duplicates --unaligned .fq --samples bad.csv --output-dir out ref.fa
    [ -f out/s1.bam.bai ] && [ -f out/s1.markdup.txt ] && [ -f out/s1.unaligned.fq ] || fail "files: $(ls out)"
    "$ZEROHOP" align -t 2 --resume --order any --samples bad.csv --output-dir out ref.fa 2> said || fail "$(cat said)"
    grep -q -- '--mark-duplicates: samtools then, not given now' said && ! grep -q "complete already" said ||
        fail "$(cat said)"
    [ "$(ls out | wc -l)" = 18 ] || fail "left of other options: $(ls out)"
    "$ZEROHOP" align -t 2 --resume --samples bad.csv --output-dir out ref.fa 2> said || fail "$(cat said)"
    [ "$(grep -c -- '--order: any then, input now' said)" = 6 ] || fail "$(cat said)"
    # a sample that fails when it is aligned anew, and one that another run aligns now
    head -c 100000 reads/s1_1.fq.gz > reads/cut_1.fq.gz
    rc=0
    flock out/.s0.lock "$ZEROHOP" align -t 2 --samples bad.csv --output-dir out ref.fa 2> said || rc=$?
    [ $rc = 1 ] && grep -q 'error: 2 of 6 samples failed: ' said &&
        grep -q 'error: sample s0: another run aligns this sample into out now' said || fail "$(cat said)"
    [ ! -e out/s1.json ] && samtools quickcheck out/s0.bam out/s1.bam && [ -e out/s0.json ] || fail "left: $(ls out)"
    # what goes when a sample is aligned anew is not read
    printf 'sample,fastq_1,fastq_2\ns0,reads/s0_1.fq.gz,reads/s0_2.fq.gz\n' > again.csv
    zerohop align -q -t 2 --unaligned .fq --samples again.csv --output-dir again ref.fa
    printf 'sample,fastq_1\ns0,again/s0.unaligned.fq\n' > again.csv
    rc=0
    "$ZEROHOP" align -t 2 -p --samples again.csv --output-dir again ref.fa 2> said || rc=$?
    [ $rc = 2 ] && grep -q 's0.unaligned.fq is an input' said && [ -e again/s0.unaligned.fq ] || fail "$rc: $(cat said)"
    # a full disk, while the last file is written; no reads
    if unshare -m true 2> /dev/null; then
        printf 'sample,fastq_1\nk,reads/part_1.0\n' > k.csv
        for size in 500 520 540 560 580 600; do
            mkdir -p small
            unshare -m bash -c "mount -t tmpfs -o size=${size}k tmpfs small
                if \"\$ZEROHOP\" align -q -t 2 --sort --mark-duplicates --tmp-dir /tmp --samples k.csv \
                    --output-dir small/o ref.fa 2> said; then echo whole; else ls small/o; fi" > left
            [ "$(cat left)" = whole ] || [ ! -s left ] || fail "a disk of $size KiB: $(cat left)"
        done
    fi
    : > reads/empty.fq
    printf 'sample,fastq_1\ne,reads/empty.fq\nk,reads/part_1.0\n' > k.csv
    zerohop align -t 2 --samples k.csv --output-dir empty ref.fa
    grep -q 'sample e: There were no reads' zerohop.stderr || fail "$(cat zerohop.stderr)"
    grep -q 'ref.fa.r150.zhi' empty/e.json || fail "an index for no reads"
    # an index alone: another one
    mkdir -p alone && cp ref.fa.r150.zhi alone/g.fa.r150.zhi
    zerohop align -q -t 2 --samples k.csv --output-dir empty alone/g.fa
    zerohop align -q --resume -t 2 --samples k.csv --output-dir empty alone/g.fa
    touch alone/g.fa.r150.zhi
    "$ZEROHOP" align --resume -t 2 --samples k.csv --output-dir empty alone/g.fa 2> said || fail "$(cat said)"
    [ "$(grep -c 'something has changed: the index, file' said)" = 2 ] || fail "$(cat said)"
    # an index that cannot be had fails those samples that need it
    zerohop index -q -r 100 ref.fa
    cp ref.fa.r100.zhi whole.zhi
    printf x | dd of=ref.fa.r100.zhi bs=1 seek=100000 conv=notrunc 2> dd.log
    rc=0
    "$ZEROHOP" align -t 2 --samples sheet.csv --output-dir damaged ref.fa 2> said || rc=$?
    [ $rc = 1 ] && grep -q 'error: 1 of 6 samples failed: short' said && [ -f damaged/s0.bam ] || fail "$(cat said)"
    rm ref.fa.r100.zhi
    rc=0
    "$ZEROHOP" align -t 2 --engine bwa-mem --samples sheet.csv --output-dir none nowhere.fa 2> said || rc=$?
    [ $rc = 1 ] && grep -q '6 of 6 samples failed' said && [ -z "$(ls none)" ] || fail "$rc: $(cat said)"
    [ "$(grep -c 'its index could not be had, as was said' said)" = 5 ] || fail "$(cat said)"
    echo "failures: a sample that fails leaves nothing, the others are there"
}

# What earlier runs have left: files of other options, files of others, and indexes that have changed
check_left() {
    local rc=0
    # left FILES...: all files in left/
    left() { [ "$(ls -A left | grep -v '[.]lock$' | paste -s -d ' ')" = "$*" ] || fail "left: $(ls -A left)"; }
    printf 'sample,fastq_1\ns0,reads/part_1.0\n' > one.csv
    rm -rf left
    zerohop align -q -t 2 --sort --mark-duplicates --unaligned .fq --samples one.csv --output-dir left ref.fa
    # a run that fails keeps the files, and they are not forgotten
    head -n 3 reads/part_1.0 > reads/part_1.cut
    sed 's/part_1.0/part_1.cut/' one.csv > cut.csv
    "$ZEROHOP" align -q -t 2 --samples cut.csv --output-dir left ref.fa 2> said || rc=$?
    [ $rc = 1 ] && [ -e left/s0.markdup.txt ] && [ ! -e left/s0.json ] || fail "$rc: $(cat said; ls -A left)"
    zerohop align -q -t 2 --resume --samples one.csv --output-dir left ref.fa
    left s0.bam s0.json s0_mqc.json
    # another name for reads that were not aligned
    zerohop align -q -t 2 --resume --unaligned .fq --samples one.csv --output-dir left ref.fa
    zerohop align -q -t 2 --resume --unaligned .fastq --samples one.csv --output-dir left ref.fa
    left s0.bam s0.json s0.unaligned.fastq s0_mqc.json
    # a file that zerohop has not written
    mkdir -p foreign
    echo '{"program": "another"}' > foreign/s0.json
    rc=0
    "$ZEROHOP" align -q -t 2 --samples one.csv --output-dir foreign ref.fa 2> said || rc=$?
    [ $rc = 2 ] && grep -q 'foreign/s0.json is there and is no summary of zerohop' said &&
        grep -q another foreign/s0.json || fail "$rc: $(cat said)"
    # CRAM, of which nothing can be read without the reference
    cp ref.fa moved.fa
    zerohop align -q -t 2 -R '@RG\tID:own\tSM:b' --sort -o own.cram moved.fa reads/part_1.0
    rm moved.fa*
    cp ref.fa cram.fa && cp ref.fa.r150.zhi cram.fa.r150.zhi
    printf 'sample,bam\ncram,own.cram\n' > cram.csv
    zerohop align -q -t 2 --samples cram.csv --output-dir cram cram.fa
    [ "$(samtools view -H cram/cram.bam | grep '^@RG')" = $'@RG\tID:own\tSM:b' ] || fail "the read group of CRAM"
    "$ZEROHOP" align -t 2 --resume --samples cram.csv --output-dir cram cram.fa 2> said || fail "$(cat said)"
    grep -q '^1 of 1 samples are complete already' said || fail "$(cat said)"
    # contigs that stand for others, which the reference does not say
    zerohop align -q -t 2 --engine bwa-mem --build-index --samples one.csv --output-dir left ref.fa
    printf 'other\t0\tNC_000913.3\t1\t60\t9M\t*\t0\t0\t*\t*\n' > ref.fa.alt
    "$ZEROHOP" align -t 2 --engine bwa-mem --resume --samples one.csv --output-dir left ref.fa 2> said ||
        fail "$(cat said)"
    rm ref.fa.alt
    grep -q 'something has changed: the index, file 0: not given then, ref.fa.alt' said || fail "$(cat said)"
    echo "left: files of other options go, files of others stay"
}

check_kills() {
    local kills=0 name try pid complete
    expected
    for try in $(seq 1 12); do
        rm -rf out
        "$ZEROHOP" align -q -t 2 --sort --samples sheet.csv --output-dir out ref.fa & pid=$!
        sleep "0.$((try * 7 % 10))$((try * 3 % 10))"
        if kill -KILL $pid 2> /dev/null; then kills=$((kills + 1)); fi
        wait $pid 2> /dev/null || true
        for name in s0 s1 s2 short lanes b; do
            if [ -e out/$name.json ]; then samtools quickcheck out/$name.bam || fail "$name looks complete"; fi
            if [ -e out/$name.bam ]; then samtools quickcheck out/$name.bam || fail "$name has its name"; fi
        done
    done
    zerohop align -q -t 2 --resume --samples sheet.csv --output-dir out ref.fa
    zerohop align -q -t 2 --samples sheet.csv --output-dir out ref.fa
    local checks=0
    compared out
    echo "kills: $kills, and nothing that looks complete"
}

# Reads that were not aligned, of each sample
check_unaligned() {
    local number
    rm -rf out
    zerohop align -q -t 2 --unaligned .fastq.gz --unaligned-mates any --samples sheet.csv --output-dir out ref.fa
    for number in 0 1 2; do
        zerohop align -q -t 2 --unaligned own.fq --unaligned-mates any -o own.bam ref.fa reads/s${number}_{1,2}.fq.gz
        [ -s own.fq ] && cmp <(gzip -cd out/s$number.unaligned.fastq.gz) own.fq || fail "s$number: other reads"
    done
    rm out/s1.unaligned.fastq.gz
    "$ZEROHOP" align -t 2 --resume --unaligned .fastq.gz --unaligned-mates any --samples sheet.csv --output-dir out \
        ref.fa 2> said || fail "$(cat said)"
    grep -q '^5 of 6 samples are complete already' said || fail "$(cat said)"
    cmp <(gzip -cd out/s2.unaligned.fastq.gz) own.fq || fail "s2: other reads after --resume"
    # a file of each mate
    grep -E '^(sample|s2),' sheet.csv > mates.csv
    zerohop align -q -t 2 --resume --unaligned _%.fq --unaligned-mates any --samples mates.csv --output-dir out ref.fa
    cmp <(paste -d '\n' <(paste - - - - < out/s2.unaligned_1.fq) <(paste - - - - < out/s2.unaligned_2.fq)) \
        <(paste - - - - < own.fq) || fail "s2: other mates"
    [ ! -e out/s2.unaligned.fastq.gz ] || fail "s2: one file stays beside those of mates"
    # single reads have no mates
    printf 'sample;fastq_1;bam\nsingle;reads/s2_1.fq.gz;\nbam;;single.bam\n' > singles.csv
    samtools import -0 reads/s2_1.fq.gz -o single.bam 2> /dev/null
    zerohop align -q -t 2 --unaligned _%.fq --samples singles.csv --output-dir out ref.fa
    zerohop align -q -t 2 --unaligned own.fq -o own.bam ref.fa reads/s2_1.fq.gz
    [ -s own.fq ] && cmp out/single.unaligned.fq own.fq && cmp out/bam.unaligned.fq own.fq || fail "other single reads"
    echo "unaligned reads: those of runs of their own"
}

# Ranks that take one sample after the other: the records of one process; what fails, or is killed, is left to --resume
check_ranks() {
    local name compiler launch number victim job rc checks=0
    [ -n "$(mpis)" ] || { skip_part "neither OpenMPI nor MPICH is here"; return 0; }
    head -c 100000 reads/s1_1.fq.gz > reads/broken_1.fq.gz
    sed 's|s/s1_1|s/broken_1|' sheet.csv > broken.csv
    # ranks NUMBER SHEET OPTIONS...
    ranks() {
        local number=$1 sheet=$2; shift 2
        timeout -k 5 180 $launch -n $number "$ZEROHOP" align --ranks=$number -t 1 --samples "$sheet" --output-dir out \
            "$@" "${REF-ref.fa}" > log 2>&1 < /dev/null
    }
    while read -r name compiler launch; do
        with_mpi "$name" "$compiler"
        expected
        for number in 1 2 4; do
            rm -rf out
            ranks $number sheet.csv || { cat log >&2; fail "$name, $number ranks"; }
            compared out
            [ "$(ls out | wc -l)" = 18 ] || fail "other files: $(ls out)"
            [ "$(grep -c 'reads, .* mapped.* (rank [0-3])' log)" = 6 ] || { cat log >&2; fail "not all are told"; }
        done
        rc=0
        rm -rf out
        ranks 3 broken.csv || rc=$?
        [ $rc != 0 ] && [ $rc -lt 124 ] && grep -q 'error: sample s1: .*broken_1.fq.gz.*truncated' log &&
            [ "$(grep -c 'error: 1 of 6 samples failed: s1' log)" = 1 ] || { cat log >&2; fail "$name: a failure"; }
        [ ! -e out/s1.bam ] || fail "left of s1"
        ranks 3 sheet.csv --resume || { cat log >&2; fail "$name: --resume"; }
        grep -q '^5 of 6 samples are complete already' log && [ "$(grep -c '(rank [0-2])' log)" = 1 ] ||
            { cat log >&2; fail "$name: --resume"; }
        compared out
        rm -rf out
        { ranks 2 sheet.csv --sort || true; } & job=$!
        for _ in $(seq 100); do ls out/*.json > /dev/null 2>&1 && break; sleep 0.1; done
        victim=$(zerohops "align --ranks=2 .*--output-dir out" | tail -n 1)
        kill -9 "$victim" 2> /dev/null || true
        wait $job 2> /dev/null || true
        for number in s0 s1 s2 short lanes b; do
            [ ! -e out/$number.bam ] || samtools quickcheck out/$number.bam || fail "$number has its name"
        done
        expected --sort
        ranks 3 sheet.csv --resume --sort || { cat log >&2; fail "$name: --resume after a kill"; }
        compared out
        # a folder that not all ranks see
        if unshare -m true 2> /dev/null; then
            cat > private.sh << 'END'
[ "${OMPI_COMM_WORLD_RANK-${PMI_RANK-0}}" = 0 ] ||
    exec unshare -m bash -c 'mount -t tmpfs tmpfs private && exec "$@"' - "$@"
exec "$@"
END
            rm -rf private && mkdir private
            rc=0
            timeout -k 5 60 $launch -n 2 bash private.sh "$ZEROHOP" align --ranks=2 -t 1 --samples sheet.csv \
                --output-dir private ref.fa > log 2>&1 < /dev/null || rc=$?
            [ $rc != 0 ] && grep -q 'private: rank 1 cannot see there what the first rank writes' log &&
                [ -z "$(ls -A private)" ] || { cat log >&2; fail "$name: a folder of one rank: $(ls -A private)"; }
        fi
        # what is wrong is said once
        ! ranks 2 missing.csv || fail "no sheet"
        [ "$(grep -c 'missing.csv' log)" = 1 ] || { cat log >&2; fail "no sheet"; }
        # an index that cannot be had ends all: it would take one sample after the other from the others
        cp ref.fa bare.fa
        ! REF=bare.fa ranks 2 sheet.csv --engine bwa-mem || fail "no index"
        grep -q 'its index could not be had' log || { cat log >&2; fail "no index"; }
    done < <(mpis)
    echo "ranks: the records of one process, $checks times"
}

# refused WORDS ARGUMENTS...
refused() {
    local words=$1 rc=0; shift
    "$ZEROHOP" align "$@" 2> said || rc=$?
    [ $rc = 2 ] || fail "exit status $rc, not refused: $*"
    grep -qF -- "$words" said || fail "'$words' is not what was said: $(cat said)"
}

check_refused() {
    local given=(--samples sheet.csv --output-dir refused ref.fa)
    sed 's|reads/s1_1|reads/nowhere|' sheet.csv > missing.csv
    refused 'missing.csv: line 3: reads/nowhere.fq.gz is not there' --samples missing.csv --output-dir refused ref.fa
    # what is read by one sample is not written by another, and no file is that of two
    mkdir other
    cp reads/b.bam other/x.bam
    printf 'sample,bam\nx,reads/b.bam\ny,other/x.bam\n' > over.csv
    refused 'other/x.bam is an input and cannot be the output too' --samples over.csv --output-dir other ref.fa
    cmp reads/b.bam other/x.bam || fail "an input was written over"
    printf 'sample,bam\nA,reads/b.bam\nA_mqc,other/x.bam\n' > over.csv
    refused 'A_mqc.json was given as two outputs' --samples over.csv --output-dir over ref.fa
    cp over.csv other/A.json
    refused 'A.json is an input' --samples other/A.json --output-dir other ref.fa
    printf 'sample,fastq_1\nA,/dev/stdin\n' > pipe.csv
    refused 'is not a regular file' --samples pipe.csv --output-dir over ref.fa < /dev/null
    refused 'for aligners that run as programs of their own' "${given[@]}" --farm
    refused '--output-dir' --samples sheet.csv ref.fa
    refused '--index is for BAM files' "${given[@]}" --format sam --sort --index csi
    refused 'cannot be used with' "${given[@]}" reads/s1_1.fq.gz
    refused 'cannot be used with' "${given[@]}" -o x.bam
    refused 'cannot be used with' "${given[@]}" --durable
    refused '--plan auto cannot be used with --samples' "${given[@]}" --plan auto
    refused '--shards cannot be used with --samples' "${given[@]}" --shards 2
    refused 'this is the ending alone' "${given[@]}" --unaligned x.fq.gz
    refused 'this is the ending alone' "${given[@]}" --unaligned .sam
    refused 'this is the ending alone' "${given[@]}" --unaligned x_%.fq
    refused 'this is the ending alone' "${given[@]}" --unaligned _%.bam
    [ ! -e refused ] || [ -z "$(ls refused)" ] || fail "left: $(ls refused)"
    echo "refused: what is for one output"
}

for part in check_records check_unaligned check_failures check_left check_kills check_ranks check_refused; do
    if [[ $part =~ ${PART-} ]]; then part $part; fi
done
