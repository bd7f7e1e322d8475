#!/bin/bash
# zerohop align --sort over ranks, and of one process on record: the bytes of one process, with its duplicates, metrics,
# index and unaligned reads, in memory and with many runs, BAM, CRAM and SAM, embedded and external engines. What was
# killed while it aligned or merged, or had no room, is finished by the same command. LONG=1: every number of ranks with
# every MPI, all formats, 40 kills of each kind instead of 2, and one at every call.
source "$(dirname "$0")/lib.sh"
cd "$WORK"
[ -n "$(mpis)" ] || skip "neither OpenMPI nor MPICH is here"
command -v samtools > /dev/null || skip "samtools is not on the PATH"

# a reference, and pairs of which a third are copies, in two lanes; a few mates are mapped nowhere
python3 - << 'END'
import random
random.seed(11)
genome = ''.join(random.choice('ACGT') for _ in range(300_000))
with open('ref.fa', 'w') as f:
    f.write('>a\n' + genome[:200_000] + '\n>b\n' + genome[200_000:] + '\n')
complement, places = str.maketrans('ACGT', 'TGCA'), []
for lane in 'st':
    with open(lane + '1.fq', 'w') as one, open(lane + '2.fq', 'w') as two:
        for i in range(12_500):
            if places and i % 3 == 0: at, insert = random.choice(places)
            else: at, insert = random.randrange(299_000), random.randrange(250, 450)
            places.append((at, insert))
            fragment = genome[at:at + insert]
            first, second = fragment[:random.choice((100, 120))], fragment[::-1].translate(complement)[:110]
            if i % 1000 == 0: second = ''.join(random.choice('ACGT') for _ in second)
            if i % 2: first, second = second, first
            name = f'@m:1:f:1:{i % 4}:{i % 900}:{i % 1100}'
            one.write(f'{name}\n{first}\n+\n{random.choice("DEFGHI") * len(first)}\n')
            two.write(f'{name}\n{second}\n+\n{"H" * len(second)}\n')
# What follows the header of a BAM file, whose blocks hold nothing else; of other files all
open('body.py', 'w').write("""
import sys, struct, zlib
data = open(sys.argv[1], 'rb').read()
text, at, end = b'', 0, None
while data[:2] == b'\\x1f\\x8b' and end != len(text):
    size = struct.unpack_from('<H', data, at + 16)[0] + 1
    text += zlib.decompress(data[at + 18:at + size - 8], -15)
    at += size
    try:
        end = 8 + struct.unpack_from('<i', text, 4)[0]
        contigs = struct.unpack_from('<i', text, end)[0]
        end += 4
        for _ in range(contigs): end += 8 + struct.unpack_from('<i', text, end)[0]
    except struct.error: end = None
sys.stdout.buffer.write(data[at:])
""")
END
gzip -k s1.fq s2.fq
# the last read closes its chunk, and blank lines follow
{ head -n 40004 s1.fq | cut -c 1-100; echo; echo; } > blank.fq
zerohop index -q -r 110 ref.fa
LANES="s1.fq s2.fq --reads t1.fq t2.fq"
LENGTH="-r 110"
# so many that something is on record, and that a thread merges several parts in a row
MANY="$LANES --reads s1.fq s2.fq --reads t1.fq t2.fq --reads s1.fq s2.fq --reads t1.fq t2.fq"
GROUPS_='-R @RG\tID:x\tSM:s\tLB:one -R @RG\tID:y\tSM:s\tLB:two'
ALL="--sort --mark-duplicates=picard --optical-distance 100 --mate-tags"
records() { samtools view --no-PG -h -T ref.fa "$1" | grep -v '^@PG'; }

QC="--qc --stats-reference --mosdepth=-b500 --picard-metrics"

# beside FILE: options for its metrics, for pairs of which a mate was not aligned, and for reports
beside() {
    local qc=$QC; [[ $1 != *.sam ]] || qc=
    echo "--duplicate-metrics $1.txt --unaligned $1.fq.gz --unaligned-mates any $qc"
}

# rm_all FILE: with all that lies beside it
rm_all() {
    rm -f "$1" "$1".*
    [[ $1 = *.sam ]] || rm -f "${1%.*}".{mosdepth,regions,per-base}.* "${1%.*}".*_metrics
}

# reports FILE: what they say, but for the command line
reports() {
    local file
    [[ $1 != *.sam ]] || return 0
    for file in "$1".{stats,flagstat,idxstats,coverage.txt} \
        "${1%.*}".{mosdepth.*.txt,regions.bed.gz,regions.bed.gz.csi,per-base.bed.gz,per-base.bed.gz.csi,*_metrics}; do
        [ -e "$file" ] || continue
        echo "= ${file#"${1%.*}"}"
        case $file in
            *.gz | *.csi) gzip -cd "$file" | base64;;
            *) grep -Ev '^# (The command line|zerohop|Collect|Quality|MeanQ)' "$file";;
        esac
    done
}

# one NAME OPTION...: the file of one process, with its metrics
one() {
    local name=$1; shift
    rm_all "$name"
    zerohop align -q -t 2 $LENGTH -o "$name" $(beside $name) "$@"
}

# same WHAT OURS THEIRS: a file of ranks, and that of one process: bytes, header, metrics, and what the index finds
same() {
    local region
    cmp <(records "$3") <(records "$2") || fail "$1: other records"
    case $1,$2 in
        # a chunk that does not exist counts, so blocks begin elsewhere
        *"blank.fq --reads"*) ;;
        *.bam) cmp <(python3 body.py "$3") <(python3 body.py "$2") || fail "$1: other bytes";;
    esac
    cmp <(grep -v '^# zerohop align' "$3.txt") <(grep -v '^# zerohop align' "$2.txt") || fail "$1: other metrics"
    cmp <(gzip -cd "$3.fq.gz") <(gzip -cd "$2.fq.gz") || fail "$1: other reads that were not aligned"
    cmp <(reports "$3") <(reports "$2") || fail "$1: other reports"
    [ -z "$QC" ] || [[ $2 = *.sam ]] || [ "$(reports "$2" | grep -c '^= ')" = 19 ] || fail "$1: not all reports"
    if ls "$3".*i > /dev/null 2>&1; then
        cmp <(samtools idxstats "$3") <(samtools idxstats "$2") || fail "$1: another index"
        for region in a:1-100 a:150000-151000 b:70000-100000 b; do
            cmp <(samtools view -T ref.fa "$3" $region) <(samtools view -T ref.fa "$2" $region) || fail "$1: $region"
        done
    fi
    [ ! -e "$2.progress" ] || fail "$1: progress is left"
    rm_all "$2"
}

# ranks NUMBER FILE OPTION...: with $launch
ranks() {
    local number=$1 file=$2; shift 2
    timeout -k 5 120 $launch -n "$number" "$ZEROHOP" align --ranks="$number" -q -t 1 $LENGTH -o "$file" \
        $(beside $file) "$@" > log 2>&1 < /dev/null || { cat log >&2; fail "$number ranks: $*"; }
}

check_ranks() {
    local name compiler launch number memory all="2 3" checks=0
    [ -z "${LONG-}" ] || all="1 2 3 4"
    one one.bam $GROUPS_ $ALL ref.fa $LANES
    while read -r name compiler launch; do
        with_mpi "$name" "$compiler"
        for number in $all; do
            for memory in ${LONG:+""} "--sort-memory 2M"; do
                ranks $number r.bam $GROUPS_ $ALL $memory --json r.json ref.fa $LANES
                python3 - $number << 'END' || fail "the report of $number ranks"
import json, sys
report = json.load(open('r.json'))
found = report['run']['sorted']
assert len(report['ranks']) == int(sys.argv[1])
assert found['spilled'] > 0 and found['duplicates']['paired'] > 45_000, found
assert [library['name'] for library in found['duplicates']['libraries']] == ['one', 'two'], found
END
                same "$name, $number ranks $memory" r.bam one.bam
                checks=$((checks + 1))
            done
        done
        all="${LONG:+1 2 3 }4"
    done < <(mpis)
    echo "ranks: the bytes of one process in $checks runs"
}

# Other formats and orders, other rules, engines that map in cohorts, and programs
check_forms() {
    local name compiler launch file options checks=0 form=0
    read -r name compiler launch < <(mpis)
    with_mpi "$name" "$compiler"
    while IFS='|' read -r file options; do
        [ -n "${LONG-}" ] || [ $((form++ % 2)) = 0 ] || continue
        case $options in
            *minimap2*) command -v minimap2 > /dev/null ||
                { skip_part "minimap2 is not on the PATH"; continue; };;
            *bwa-mem*) "$ZEROHOP" engines | grep -q '^bwa-mem ' ||
                { skip_part "zerohop was built without bwa-mem"; continue; };;
        esac
        LENGTH="-r 110"; [[ $options != *minimap2* ]] || LENGTH=
        QC="--qc --mosdepth=-b500 --picard-metrics"; [[ $options != *=name* ]] || QC=
        one one.$file $options
        ranks 3 r.$file $options
        same "$options" r.$file one.$file
        zerohop align -q -t 2 $LENGTH --durable -o d.$file $(beside d.$file) $options
        same "--durable, $options" d.$file one.$file
        checks=$((checks + 1))
    done << END
bam|--sort --mark-duplicates --remove-duplicates ref.fa s1.fq.gz s2.fq.gz
sam|--sort --mark-duplicates --sort-memory 1M ref.fa $LANES
bam|--sort --mark-duplicates --sort-memory 10M ref.fa $MANY
bam|--sort --mark-duplicates ref.fa blank.fq
bam|--sort --mark-duplicates ref.fa --reads blank.fq --reads t1.fq
bam|--sort=name --mark-duplicates ref.fa $LANES
cram|--sort --mark-duplicates $GROUPS_ ref.fa $LANES
bam|--sort --mark-duplicates --index csi --sort-memory 3M ref.fa s1.fq
bam|--sort --mark-duplicates --engine bwa-mem --build-index --engine-args=-K700000 ref.fa s1.fq s2.fq
bam|--sort --mark-duplicates --engine minimap2 --build-index ref.fa s1.fq s2.fq
END
    # no reads at all
    LENGTH="-r 110" QC="--qc --mosdepth=-b500 --picard-metrics"
    : > empty.fq; : > none.fq
    one one.bam $ALL ref.fa empty.fq none.fq
    ranks 2 r.bam $ALL ref.fa empty.fq none.fq
    same "no reads" r.bam one.bam
    echo "forms: the bytes of one process in $checks forms"
}

# Killed at any moment, by itself and one of two ranks; the same command goes on until it is done.
check_kills() {
    local kills=2 kind name compiler launch round killed=0 began=0 rc job victim whole
    [ -z "${LONG-}" ] || kills=40
    local LANES=$MANY
    one one.bam $ALL ref.fa $LANES
    whole=$(date +%s%N)
    zerohop align -q -t 2 -r 110 --durable -o d.bam $(beside d.bam) $ALL --sort-memory 2M ref.fa $LANES
    whole=$((($(date +%s%N) - whole) / 1000000))
    same "--durable" d.bam one.bam
    read -r name compiler launch < <(mpis)
    with_mpi "$name" "$compiler"
    for kind in alone ranks; do
        local command=("$ZEROHOP" align -q -t 2 -r 110 --durable -o k.bam)
        [ $kind = alone ] ||
            command=(timeout -k 5 120 $launch -n 2 "$ZEROHOP" align --ranks -q -t 1 -r 110 -o k.bam)
        command+=($(beside k.bam) $ALL --sort-memory 2M ref.fa $LANES)
        for round in $(seq $kills); do
            rc=0
            "${command[@]}" > log 2>&1 < /dev/null & job=$!
            sleep "$(python3 -c "import random; print(1.1e-3 * $whole * random.random())")"
            victim=$(zerohops "align .*-o k.bam" | shuf -n 1)
            [ -z "$victim" ] || ! kill -9 "$victim" 2> /dev/null || killed=$((killed + 1))
            { wait $job || rc=$?; } 2> /dev/null
            if [ -e k.bam ]; then
                # where it was killed while it cleared away, the same command does that
                "${command[@]}" --resume > log 2>&1 < /dev/null || true
                same "$kind, killed" k.bam one.bam
            elif [ $rc = 0 ]; then fail "$kind: it ended well, and there is no file"
            fi
            [ ! -e k.bam.bai ] || fail "$kind: an index without its file"
        done
        if [ -e k.bam.progress ]; then
            began=$((began + $(cat k.bam.progress/*.jsonl | grep -c '"batch"' || true)))
            zerohop align -t 2 -r 110 --resume -o k.bam $(beside k.bam) $ALL --sort-memory 2M ref.fa \
                $LANES
            same "$kind, after kills" k.bam one.bam
        fi
    done
    [ $killed -gt 0 ] || fail "nothing was killed"
    echo "kills: $killed processes killed; $began grains were on record at the last go"
}

# What is finished is not aligned again; neither is it if the merge alone is left. Another order is another job.
check_resumed() {
    local job options words
    one one.bam $ALL ref.fa $LANES
    # a limit of the size of files: the runs of records are the largest
    ! (trap '' XFSZ; ulimit -f 2250; exec "$ZEROHOP" align -q -t 1 -r 110 --durable -o p.bam \
        $(beside p.bam) $ALL --sort-memory 1M ref.fa $LANES) > log 2>&1 || fail "there was no limit"
    grep -q "File too large" log && [ "$(grep -c '^error: ' log)" = 1 ] && [ ! -e p.bam ] ||
        { cat log >&2; fail "no clear words"; }
    while IFS='|' read -r words options; do
        ! "$ZEROHOP" align -q -t 1 -r 110 --durable -o p.bam $options ref.fa $LANES > log 2>&1 || fail "$options"
        grep -q "the progress of another job (.*$words.*--restart" log ||
            { cat log >&2; fail "no clear words: $options"; }
    done << END
--sort: coordinate then, name now|--sort=name --mate-tags
--mark-duplicates: .* then, not given now|--sort --mate-tags
--sort: coordinate then, not given now|--mate-tags
END
    zerohop align -t 2 -r 110 --resume -o p.bam $(beside p.bam) $ALL ref.fa $LANES
    grep -q "^note: p.bam.progress: [1-9][0-9,]* reads were finished before" "$WORK/zerohop.stderr" ||
        { cat "$WORK/zerohop.stderr" >&2; fail "it began anew"; }
    same "resumed" p.bam one.bam
    # all was aligned, and the output has no room
    ! (trap '' XFSZ; ulimit -f 6000; exec "$ZEROHOP" align -q -t 2 -r 110 --durable -o p.sam \
        $(beside p.sam) $ALL --sort-memory 1M ref.fa $LANES) > log 2>&1 || fail "there was no limit"
    grep -q "p.sam.progress/output.1.*File too large" log || { cat log >&2; fail "it did not fail in the merge"; }
    one one.sam $ALL ref.fa $LANES
    zerohop align -t 1 -r 110 --resume -o p.sam $(beside p.sam) $ALL ref.fa $LANES
    grep -q "^note: p.sam.progress: 50,000 reads were finished before" "$WORK/zerohop.stderr" ||
        { cat "$WORK/zerohop.stderr" >&2; fail "it began anew"; }
    same "the merge alone" p.sam one.sam
    # the same with a program, which has no reads then
    if command -v minimap2 > /dev/null; then
        LENGTH= one one.sam --sort --mark-duplicates --engine minimap2 --build-index ref.fa s1.fq s2.fq
        ! (trap '' XFSZ; ulimit -f 4500; exec "$ZEROHOP" align -q -t 2 --durable -o p.sam $(beside p.sam) --sort \
            --mark-duplicates --sort-memory 1M --engine minimap2 ref.fa s1.fq s2.fq) > log 2>&1 ||
            fail "there was no limit"
        grep -q "p.sam.progress/output.1.*File too large" log || { cat log >&2; fail "it did not fail in the merge"; }
        zerohop align -t 2 --resume -o p.sam --sort --mark-duplicates $(beside p.sam) --engine minimap2 \
            ref.fa s1.fq s2.fq
        same "the merge alone, minimap2" p.sam one.sam
    else
        skip_part "minimap2 is not on the PATH"
    fi
    # what was recorded, and is not there
    ! (trap '' XFSZ; ulimit -f 2250; exec "$ZEROHOP" align -q -t 1 -r 110 --durable -o p.bam $ALL --sort-memory 1M \
        ref.fa $LANES) > log 2>&1 || fail "there was no limit"
    rm p.bam.progress/sorting.records.*.list
    ! "$ZEROHOP" align -q -t 2 -r 110 --resume -o p.bam $ALL ref.fa $LANES > log 2>&1 || fail "records are lost"
    grep -q "begin anew with --restart" log && [ ! -e p.bam ] ||
        { cat log >&2; fail "records are lost: no clear words"; }
    zerohop align -q -t 2 -r 110 --restart -o p.bam $(beside p.bam) $ALL ref.fa $LANES
    same "begun anew" p.bam one.bam
    ! "$ZEROHOP" align -q --durable --sort --tmp-dir . -o x.bam ref.fa s1.fq > log 2>&1 || fail "--tmp-dir"
    grep -q -- "--tmp-dir is not for --ranks" log && [ ! -e x.bam.progress ] || { cat log >&2; fail "--tmp-dir"; }
    echo "resumed: what is finished is not done again"
}

# Killed at any call that changes a name or waits for the disk, also while earlier progress is thrown away
check_calls() {
    command -v strace > /dev/null && strace -qq -o /dev/null true 2> /dev/null ||
        { skip_part "there is no strace that works"; return 0; }
    local call number rc kills=0 every=29 how
    [ -z "${LONG-}" ] || every=1
    head -n 24000 s1.fq > c1.fq; head -n 24000 s2.fq > c2.fq
    local options="$ALL --sort-memory 500K ref.fa c1.fq c2.fq"
    one one.bam $options
    local job=(align -q -t 2 -r 110 --durable -o c.bam $(beside c.bam) $options)
    for how in "" --restart; do
        for call in mkdir fsync fdatasync rename unlink,unlinkat rmdir; do
            for number in $(seq 1 $every 30); do
                rm -rf c.bam*
                # what is thrown away: all was aligned, and the merge had no room
                [ -z "$how" ] || { (trap '' XFSZ; ulimit -f 500; exec "$ZEROHOP" "${job[@]}") > log 2>&1 || true; }
                rc=0
                # (the shell would tell of each)
                { strace -f -qq -o /dev/null -e trace=$call -e inject=$call:signal=KILL:when=$number \
                    "$ZEROHOP" "${job[@]}" $how > log 2>&1 || rc=$?; } 2> /dev/null
                [ $rc != 0 ] || break
                kills=$((kills + 1))
                zerohop "${job[@]}"
                [ -e c.bam.txt ] || fail "killed at $call $number $how: no metrics"
                same "killed at $call $number $how" c.bam one.bam
            done
        done
    done
    [ $kills -ge $((60 / every)) ] || fail "killed only $kills times"
    echo "calls: killed at $kills, and finished each time"
}

for part in check_ranks check_forms check_kills check_calls check_resumed; do
    if [[ $part =~ ${PART-} ]]; then part $part; fi
done
