#!/bin/bash
# What can be asked for: kinds of input and output, lanes and read groups, order, shards, copies of the index. Whatever
# it is, the records are those of the strobealign program. (Notes on odd input are a table in
# crates/cli/tests/program.)
source "$(dirname "$0")/lib.sh"
[ -x "$STROBEALIGN" ] || skip "no strobealign program at $STROBEALIGN"
command -v samtools >/dev/null && command -v bgzip >/dev/null || skip "no samtools or no bgzip"

cd "$WORK"
gzip -cd "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" > ref.fa
for mate in 1 2; do
    gzip -cd "$DATA/ecoli/ecoli_150_$mate.fq.gz" > $mate.fq
    gzip -cn $mate.fq > $mate.gz
    head -n 8000 $mate.fq > a_$mate.fq
    tail -n 8000 $mate.fq > b_$mate.fq
done
strobealign -t 2 ref.fa 1.fq 2.fq > pairs.sam
strobealign -t 2 ref.fa 1.fq > single.sam
zerohop index -q -r 150 ref.fa

records() { grep -v '^@' "$1"; }

# own EXPECTED.sam NAME ARGUMENTS...: zerohop's SAM on standard output equals EXPECTED
own() {
    local expected=$1 name=$2; shift 2
    zerohop align "$@" > own.sam
    same_alignments own.sam "$expected" "$name ($*)"
}

# pairs in one file; with "single" every 7th mate is missing
interleave() {
    paste <(paste - - - - < 1.fq) <(paste - - - - < 2.fq) |
        awk -F '\t' -v single="${1-}" '{ print $1 "\n" $2 "\n" $3 "\n" $4 }
            !(single && NR % 7 == 0) { print $5 "\n" $6 "\n" $7 "\n" $8 }'
}

interleaved() {
    local threads
    interleave > i.fq
    interleave single > mixed.fq
    gzip -cn mixed.fq > mixed.gz
    strobealign -t 2 --interleaved ref.fa mixed.fq > mixed.sam
    strobealign -t 2 --interleaved ref.fa i.fq > i.sam
    for threads in 1 3; do
        own pairs.sam "pairs in one file" -t $threads -p ref.fa i.fq
        own i.sam "pairs in one file, as the program" -t $threads --interleaved ref.fa i.fq
        own mixed.sam "pairs and single reads" -t $threads -p ref.fa mixed.fq
        own mixed.sam "pairs and single reads, gzip" -t $threads -p ref.fa mixed.gz
    done
    own mixed.sam "pairs and single reads on standard input" -p ref.fa - < mixed.fq
}

streams() {
    own single.sam "standard input" ref.fa - < 1.fq
    own single.sam "standard input, a pipe" ref.fa - < <(cat 1.fq)
    own single.sam "standard input, gzip" ref.fa - < 1.gz
    own single.sam "standard input, BGZF" ref.fa - < <(bgzip -c 1.fq)
    own pairs.sam "one mate on standard input" ref.fa - 2.fq < 1.gz
    own pairs.sam "process substitution" -t 3 ref.fa <(cat 1.fq) <(cat 2.gz)
    own pairs.sam "a pipe and a file" -t 3 ref.fa 1.fq <(cat 2.fq)
    mkfifo one two out
    cat 1.fq > one & cat 2.fq > two &
    cat out > through.sam & local reader=$!
    zerohop align -t 2 -o out ref.fa one two
    wait $reader
    same_alignments through.sam pairs.sam "named pipes on both sides"
    [ -p out ] || fail "the named pipe is gone"
    samtools view -h --no-PG <("$ZEROHOP" align -q --format bam ref.fa 1.fq 2.fq) > through.sam
    samtools view -h --no-PG pairs.sam > expected.sam
    same_alignments through.sam expected.sam "BAM through a pipe"
}

fasta() {
    local mate
    for mate in 1 2; do
        awk 'NR % 4 == 1 { print ">" substr($0, 2) } NR % 4 == 2' a_$mate.fq > $mate.fa
        awk '/^>/ { print; next } { print substr($0, 1, 60); if (length($0) > 60) print substr($0, 61) }' $mate.fa > \
            $mate.wrapped.fa
    done
    strobealign -t 2 ref.fa 1.fa > expected.sam
    own expected.sam "FASTA" -t 3 ref.fa 1.fa
    own expected.sam "FASTA in lines of 60" -t 3 ref.fa 1.wrapped.fa
    own expected.sam "FASTA, gzip" ref.fa - < <(gzip -c 1.fa)
    strobealign -t 2 ref.fa 1.fa 2.fa > expected.sam
    own expected.sam "FASTA pairs" -t 3 ref.fa 1.fa 2.wrapped.fa
}

# each lane is as if it were aligned alone, and has its own read group
lanes() {
    local threads
    zerohop align -r 150 -R '@RG\tID:A\tSM:s\tLB:x' ref.fa a_1.fq a_2.fq > a.sam
    zerohop align -r 150 -R '@RG\tID:B\tSM:t' ref.fa b_1.fq > b.sam
    { records a.sam; records b.sam; records a.sam | sed 's/\tRG:Z:A/\tRG:Z:C/'; } > expected.sam
    for threads in 1 3; do
        zerohop align -t $threads -r 150 -R '@RG\tID:A\tSM:s\tLB:x' -R '@RG\tID:B\tSM:t' -R '@RG\tID:C' ref.fa \
            --reads a_1.fq a_2.fq --reads b_1.fq --reads a_1.fq <(gzip -c a_2.fq) > own.sam
        cmp <(records own.sam) expected.sam || fail "three lanes, -t $threads"
    done
    [ "$(grep '^@RG' own.sam)" = $'@RG\tID:A\tSM:s\tLB:x\n@RG\tID:B\tSM:t\n@RG\tID:C' ] ||
        fail "read groups: $(grep '^@RG' own.sam)"
    [ "$(records own.sam | grep -c 'RG:Z:[ABC]$')" = "$(records own.sam | wc -l)" ] ||
        fail "a record without its read group"
    zerohop align -r 150 -R '@RG\tID:A\tSM:s\tLB:x' ref.fa a_1.fq a_2.fq --reads b_1.fq > own.sam
    cmp <(records own.sam) <(records a.sam; records b.sam | sed 's/\tRG:Z:B/\tRG:Z:A/') ||
        fail "one read group for two lanes"
    # Lanes count in the order of the command line.
    zerohop align -r 150 -R '@RG\tID:A\tSM:s\tLB:x' -R '@RG\tID:B\tSM:t' --reads a_1.fq a_2.fq ref.fa b_1.fq > own.sam
    cmp <(records own.sam) <(records a.sam; records b.sam) || fail "a lane of --reads before one without"
    zerohop align -r 150 -R '@RG\tID:A\tSM:s\tLB:x' -R '@RG\tID:B\tSM:t' -R '@RG\tID:C' --reads a_1.fq a_2.fq ref.fa \
        b_1.fq --reads a_1.fq a_2.fq > own.sam
    cmp <(records own.sam) expected.sam || fail "a lane without --reads between two others"
    grep -q '^note .*a_2.fq was read in lane 1 and again in lane 3.$' "$WORK/zerohop.stderr" ||
        fail "a lane twice: $(cat "$WORK/zerohop.stderr")"
}

# SAM that samtools does not read is what the program writes, and is told; so are contigs whose names htsjdk refuses
unread_by_others() {
    head -n 400 1.fq | awk 'NR % 4 == 1 { sub("/1$", "", $1); $0 = $1 " 1:N:0:ACGT" } { print }' > comment_1.fq
    awk -v long="$(printf '%0250d' 0)" 'NR % 4 == 1 { $1 = $1 long } { print }' comment_1.fq > long.fq
    strobealign -t 2 -r 150 -C ref.fa long.fq > expected.sam
    zerohop align -q -r 150 -C -o told.sam ref.fa long.fq
    same_alignments told.sam expected.sam
    [ "$(grep -c 'samtools does not read such SAM' "$WORK/zerohop.stderr")" = 2 ] ||
        fail "names and comments that samtools does not read: $(cat "$WORK/zerohop.stderr")"
    sed '1s/.*/>odd(1)/' ref.fa > odd.fa
    zerohop align -q -r 150 -o told.bam odd.fa comment_1.fq
    grep -qF "The name of the contig 'odd(1)'" "$WORK/zerohop.stderr" || fail "a name: $(cat "$WORK/zerohop.stderr")"
}

# The read length is that of the first 500 reads over all lanes, as of the lanes' files put one after the other.
lanes_and_read_length() {
    : > none.fq; gzip -cn none.fq > none.gz
    head -n 400 b_1.fq | awk 'NR % 2 == 0 { $0 = substr($0, 1, 60) } { print }' > short.fq
    own single.sam "an empty first lane" -t 2 ref.fa --reads none.fq --reads 1.fq
    own pairs.sam "two empty lanes" -t 3 ref.fa --reads none.gz none.fq --reads none.fq --reads 1.gz 2.gz
    own single.sam "an empty first lane, standard input" ref.fa --reads none.fq --reads - < <(cat 1.fq)
    cat short.fq 1.fq > all.fq
    strobealign -t 2 ref.fa all.fq > expected.sam
    own expected.sam "short reads first" --json one.json ref.fa all.fq
    # Chunks, and with them random numbers, begin anew with each lane: so the read length is compared.
    zerohop align --json two.json -o /dev/null ref.fa --reads short.fq --reads 1.fq
    python3 -c '
import json
one, two = (json.load(open(f))["index"]["mean_read_length"] for f in ("one.json", "two.json"))
assert one == two == (100 * 60 + 400 * 150) // 500, (one, two)' ||
        fail "the read length of two lanes is another than of one file"
    zerohop align ref.fa --reads none.fq --reads none.gz > own.sam
    strobealign -t 2 ref.fa none.fq > expected.sam
    same_alignments own.sam expected.sam "nothing but empty lanes"
    grep -q '^@SQ' own.sam || fail "nothing but empty lanes: no header"
}

read_groups() {
    strobealign -t 2 --rg-id=x --rg=SM:s --rg=PL:ILLUMINA ref.fa a_1.fq a_2.fq > expected.sam
    own expected.sam "read group as strobealign takes it" --rg-id=x --rg=SM:s --rg=PL:ILLUMINA ref.fa a_1.fq a_2.fq
    own expected.sam "read group as bwa takes it" -R '@RG\tID:x\tSM:s\tPL:ILLUMINA' ref.fa a_1.fq a_2.fq
    strobealign -t 2 --rg=SM:s ref.fa a_1.fq > expected.sam
    own expected.sam "read group without ID" --rg=SM:s ref.fa a_1.fq
    strobealign -t 2 --rg-id=x ref.fa a_1.fq > expected.sam
    own expected.sam "read group without fields" --rg-id=x ref.fa a_1.fq
}

comments() {
    local mate
    for mate in 1 2; do
        awk 'NR % 4 == 1 { print $1 "\tBC:Z:ACGT-" NR "\tXN:i:" NR; next } { print }' a_$mate.fq > c_$mate.fq
    done
    strobealign -t 2 -C ref.fa c_1.fq c_2.fq > expected.sam
    grep -q 'BC:Z:ACGT-1' expected.sam || fail "the strobealign program copies no comments"
    own expected.sam "comments" -C ref.fa c_1.fq c_2.fq
    strobealign -t 2 -C --rg-id=x ref.fa c_1.fq > expected.sam
    own expected.sam "comments and a read group" -C --rg-id=x ref.fa c_1.fq
    zerohop align -q -C --rg-id=x -o own.bam ref.fa c_1.fq
    cmp <(samtools view own.bam) <(records expected.sam) || fail "comments in BAM"
}

# the records of a read or pair stay together, in their order
any_order() {
    local input=$1; shift
    zerohop align -t 3 --order any ref.fa "$@" > own.sam
    cmp <(records own.sam | sort) <(records pairs.sam | sort) || fail "--order any, $input: other records"
    records own.sam | awk -F '\t' '$1 != last { if ($1 in seen) exit 1; seen[$1]; last = $1 }' ||
        fail "--order any, $input: mates are apart"
}

orders() { any_order plain 1.fq 2.fq; any_order gzip 1.gz 2.gz; }

shards() {
    local order i
    for order in input any; do
        zerohop align -t 3 --order $order --shards 3 -o s.bam ref.fa 1.fq 2.fq
        [ "$(ls s.*)" = "s.1.bam"$'\n'"s.2.bam"$'\n'"s.3.bam" ] || fail "the shards are $(ls s.*)"
        samtools quickcheck -v s.1.bam s.2.bam s.3.bam || fail "shards"
        for i in 1 2 3; do
            cmp <(samtools view -H --no-PG s.$i.bam | grep -v '^@PG') <(grep '^@' pairs.sam | grep -v '^@PG') ||
                fail "header of shard $i"
        done
        cmp <(for i in 1 2 3; do samtools view s.$i.bam; done | sort) <(records pairs.sam | sort) ||
            fail "the shards together, --order $order"
        rm s.*
    done
    zerohop align -t 3 --shards 2 -o s.sam ref.fa 1.gz 2.gz
    cmp <(records s.1.sam | cat - <(records s.2.sam) | sort) <(records pairs.sam | sort) || fail "shards as SAM"
}

copies() {
    local pages
    # copies of an index that each run builds
    ln -s ref.fa bare.fa
    own pairs.sam "no huge pages" --huge-pages off bare.fa 1.fq 2.fq
    for pages in local localalloc interleave first-touch; do
        own pairs.sam "two copies" -t 3 --replicas 2 --pages $pages bare.fa 1.fq 2.fq
        own pairs.sam "three copies" -t 4 --replicas 3 --pages $pages --huge-pages off bare.fa 1.gz 2.gz
        own pairs.sam "one copy" -t 2 --pages $pages bare.fa 1.fq 2.fq
    done
}

formats() {
    local level size sizes=
    zerohop align -o a.sam ref.fa a_1.fq a_2.fq
    zerohop align -o a.bam ref.fa a_1.fq a_2.fq
    zerohop align -o A.BAM ref.fa a_1.fq a_2.fq
    zerohop align -o bam.sam --format bam ref.fa a_1.fq a_2.fq
    zerohop align -o sam.bam --format sam ref.fa a_1.fq a_2.fq
    zerohop align -o neither.txt --format sam ref.fa a_1.fq a_2.fq
    records a.sam > expected
    [ "$(head -c 3 a.sam)$(head -c 3 sam.bam)$(head -c 3 neither.txt)" = "@HD@HD@HD" ] ||
        fail "SAM by suffix or --format"
    for file in a.bam A.BAM bam.sam sam.bam neither.txt; do
        cmp <(samtools view "$file") expected || fail "records of $file"
    done
    for file in a.bam A.BAM bam.sam; do samtools quickcheck -v $file || fail "$file is no BAM"; done
    for level in 0 1 2 3 4 5 6 7 8 9; do
        zerohop align --level $level -o l.bam ref.fa a_1.fq a_2.fq
        samtools quickcheck -v l.bam && cmp <(samtools view l.bam) expected || fail "--level $level"
        bgzip -t l.bam || fail "--level $level: bgzip does not take it"
        sizes+=" $(stat -c %s l.bam)"
    done
    set -- $sizes
    [ "$1" -gt "$2" ] && [ "$2" -gt "$7" ] && [ "$7" -ge "${10}" ] || fail "sizes of levels 0 to 9:$sizes"
}

# BAM's records, inflated and without the header
payload() {
    bgzip -dc "$1" | python3 -c '
import struct, sys
data = sys.stdin.buffer.read()
at = 8 + struct.unpack_from("<I", data, 4)[0]
count, at = struct.unpack_from("<I", data, at)[0], at + 4
for _ in range(count):
    at += 8 + struct.unpack_from("<I", data, at)[0]
sys.stdout.buffer.write(data[at:])'
}

# strobealign's SAM, made BAM by samtools: the same bytes
bam_bytes() {
    local name reference first second
    while read -r name reference first second; do
        strobealign -t 2 --rg-id=x "$reference" "$first" "$second" > expected.sam
        samtools view -b -o expected.bam expected.sam
        zerohop align --rg-id=x -o own.bam "$reference" "$first" "$second"
        cmp <(payload own.bam) <(payload expected.bam) ||
            fail "$name: BAM is not what samtools makes of strobealign's SAM"
    done < <(unset ZEROHOP_DATA; read_sets)
}

index_is_mapped() {
    python3 -c 'import json, sys; sys.exit(not json.load(open("i.json"))["index"]["is_mapped"])'
}

index_file() {
    cp ref.fa i.fa
    zerohop index -r 150 i.fa
    grep -q '^i.fa.r150.zhi: .* for reads of about 150 bases, made in ' zerohop.stderr ||
        fail "zerohop index says $(cat zerohop.stderr)"
    own pairs.sam "with an index file" -t 3 --json i.json i.fa 1.fq 2.fq
    own pairs.sam "with an index file, two copies" -t 3 --replicas 2 i.fa 1.fq 2.fq
    python3 -c 'import json; assert json.load(open("i.json"))["index"]["origin"] == {"file": "i.fa.r150.zhi"}' ||
        fail "the index file was not used"
    # few reads beside their index: it is read where it lies, unless that is not wanted, or more may come
    head -n 400 1.fq > few_1.fq
    head -n 400 2.fq > few_2.fq
    strobealign -t 2 i.fa few_1.fq few_2.fq > expected.sam
    own expected.sam "few reads with an index file" -t 2 --json i.json i.fa few_1.fq few_2.fq
    index_is_mapped || fail "few reads: the index file was loaded: $(cat zerohop.stderr)"
    own expected.sam "few reads, no huge pages" -t 2 --huge-pages off --json i.json i.fa few_1.fq few_2.fq
    index_is_mapped && fail "the index file was mapped with --huge-pages off"
    own expected.sam "few reads, two copies" -t 2 --replicas 2 --json i.json i.fa few_1.fq few_2.fq
    index_is_mapped && fail "the index file was mapped for two copies"
    own expected.sam "few reads from a pipe" -t 2 --json i.json i.fa <(cat few_1.fq) few_2.fq
    index_is_mapped && fail "the index file was mapped for a pipe"
    # it does not fit reads of another length, which is no fault
    head -n 4000 1.fq | awk 'NR % 2 == 0 { print substr($0, 1, 50); next } { print }' > short.fq
    strobealign -t 2 i.fa short.fq > expected.sam
    own expected.sam "reads that the index file is not for" i.fa short.fq
    grep -q '^index  *built from the reference' zerohop.stderr || fail "an index for other reads was used"
}

# from 64 MiB on, an index file is mapped for any number of reads, if the file cache has it on huge pages
big_index() {
    [ -n "${LONG-}" ] || return 0
    python3 -c '
import random
random.seed(1)
for contig in range(6):
    print(f">random{contig}")
    print("".join(random.choices("ACGT", k=5_000_000)))' > big.fa
    cat ref.fa >> big.fa
    zerohop index -q -r 150 big.fa
    zerohop align -t 2 --huge-pages off big.fa 1.fq 2.fq > expected.sam
    own expected.sam "a large index" -t 2 --json i.json big.fa 1.fq 2.fq
    index_is_mapped && echo "the large index was mapped" || echo "the large index was loaded"
    own expected.sam "a large index, reads from a pipe" -t 3 big.fa <(cat 1.fq) 2.fq
}

words() {
    local shell
    zerohop topo > topo.txt
    grep -qi node topo.txt || fail "topo says $(cat topo.txt)"
    zerohop topo --json > topo.json
    python3 -c '
import json
m = json.load(open("topo.json"))
assert m["nodes"] and all(n["memory"] > 0 for n in m["nodes"] if n["cpus"]), m["nodes"]
assert len(m["distances"]) == len(m["nodes"])
assert set(m["allowed"]["cpus"]) <= {c for n in m["nodes"] for c in n["cpus"]}' ||
        fail "topo --json"
    zerohop man align > align.1
    grep -q '^\.TH' align.1 && grep -q 'replicas' align.1 || fail "man align"
    zerohop man > zerohop.1
    grep -q '^\.TH zerohop' zerohop.1 || fail "man"
    for shell in bash zsh fish; do
        zerohop completions $shell > completions
        grep -q replicas completions || fail "completions $shell"
    done
    zerohop completions bash > completions
    bash -n completions && bash -c 'source completions; complete -p zerohop' > /dev/null ||
        fail "bash does not take the completions"
    zerohop align --help | grep -q -- --interleaved || fail "--help"
    [ "$(zerohop --version)" = "zerohop $(zerohop --version | awk '{ print $2 }')" ] || fail "--version"
    zerohop align -q -o q.sam ref.fa a_1.fq
    [ ! -s zerohop.stderr ] || fail "--quiet says $(cat zerohop.stderr)"
}

json() {
    zerohop align -t 3 -o j.bam --json j.json --mqc j_mqc.json ref.fa 1.fq 2.fq
    python3 - <<'END' || fail "--json"
import json, os, subprocess
j = json.load(open('j.json'))
count = lambda *flags: int(subprocess.check_output(['samtools', 'view', '-c', *flags, 'j.bam']))
t = j['run']['tally']
assert j['schema_version'] == 1 and j['inputs'] == [['1.fq', '2.fq']] and j['outputs'] == ['j.bam']
assert t['reads'] == t['primary_records'] == 2 * t['fragments'] == count('-F', '0x900') == 20000, t
assert t['mapped'] == count('-F', '0x904'), t['mapped']
assert t['properly_paired'] == count('-f', '0x2', '-F', '0x900'), t['properly_paired']
assert t['other_records'] == count() - count('-F', '0x900'), t['other_records']
assert t['bases'] == sum(len(l) - 1 for f in ('1.fq', '2.fq') for i, l in enumerate(open(f)) if i % 4 == 1)
assert len(j['run']['workers']) == len(j['plan']['workers']) == 3
assert sum(w['chunks'] for w in j['run']['workers']) == 3, 'chunks of a million bases'
assert 0 <= os.path.getsize('j.bam') - j['run']['bytes_out'] < 2000, 'all but header and end marker'
assert j['resources']['peak_memory'] > 10 << 20
assert json.load(open('j_mqc.json'))
END
}

for part in interleaved streams fasta lanes lanes_and_read_length read_groups comments orders shards copies \
    formats unread_by_others \
    bam_bytes index_file big_index words json; do
    [[ $part =~ ${PART-} ]] || continue
    part $part
    echo "$part: as it should be"
done
