#!/bin/bash
# Bad input: for each fault one exact line on stderr, exit status 1 (2 for wrong usage), and nothing left that looks
# complete; as SAM and BAM, with one worker and three, plain, gzip and BGZF. Also the odd inputs that are fine.
# PART=REGEX chooses parts.
source "$(dirname "$0")/lib.sh"
command -v bgzip >/dev/null || skip "no bgzip"
command -v samtools >/dev/null || skip "no samtools"

# The same names in three folders: what a file is, is found out by its content.
CODINGS="plain gzip bgzf"
cd "$WORK"
mkdir $CODINGS out
cp "$DATA/phix/phix.fasta" ref.fa
cp "$DATA/phix/phix.1.fastq" good_1.fq
cp "$DATA/phix/phix.2.fastq" good_2.fq
gzip -cd "$DATA/ecoli/ecoli_150_1.fq.gz" > many_1.fq
gzip -cd "$DATA/ecoli/ecoli_150_2.fq.gz" > many_2.fq

failures=0
wrong() { echo "FAIL: $*" >&2; failures=$((failures + 1)); }

# zerohop's exit status goes to rc, its words to the files stdout and stderr
attempt() {
    rc=0
    timeout -k 1 30 "$ZEROHOP" "$@" > "$WORK/stdout" 2> "$WORK/stderr" < /dev/null || rc=$?
}

# fault LINE ARGUMENTS...: the run fails with this line alone and leaves nothing
fault() {
    local line="error: $1" format threads; shift
    for format in sam bam; do
        for threads in 1 3; do
            attempt align -t $threads -o "$WORK/out/x.$format" "$@"
            [ $rc = 1 ] || wrong "exit status $rc with -t $threads, $format, in ${PWD##*/}: $*"
            [ "$(cat "$WORK/stderr")" = "$line" ] ||
                wrong "-t $threads, $format, in ${PWD##*/}: $*"$'\n'"  wanted: $line"$'\n'"  got:    $(head -c 600 \
                    "$WORK/stderr")"
            [ ! -s "$WORK/stdout" ] || wrong "something on standard output: $*"
            [ -z "$(ls -A "$WORK/out")" ] || { wrong "left $(ls -A "$WORK/out"): $*"; rm -f "$WORK"/out/*; }
        done
    done
}

# usage LINE ARGUMENTS...: exit status 2, and LINE is the first on stderr
usage() {
    local line="error: $1"; shift
    attempt "$@"
    [ $rc = 2 ] || wrong "exit status $rc: $*"
    [ "$(head -n 1 "$WORK/stderr")" = "$line" ] ||
        wrong "$*"$'\n'"  wanted: $line"$'\n'"  got:    $(head -n 1 "$WORK/stderr")"
    [ ! -s "$WORK/stdout" ] || wrong "something on standard output: $*"
}

# reads FILE: takes standard input as FILE in all three codings
reads() {
    cat > "plain/$1"
    gzip -cn "plain/$1" > "gzip/$1"
    bgzip -c "plain/$1" > "bgzf/$1"
}

# read_fault LINE [OPTIONS...] [FILES...]: the same fault in each coding; by default single reads in 1.fq
read_fault() {
    local line=$1 coding; shift
    [ $# -gt 0 ] || set -- 1.fq
    for coding in $CODINGS; do
        cd "$coding"
        fault "$line" ../ref.fa "$@"
        cd ..
    done
}

first_records() { head -n $((4 * $2)) "$1"; }
size() { stat -c %s "$1"; }

# flip FILE OFFSET: another byte there (from the end if negative)
flip() {
    python3 - "$1" "$2" <<'END'
import sys
path, at = sys.argv[1], int(sys.argv[2])
data = bytearray(open(path, 'rb').read())
data[at] ^= 0x41
open(path, 'wb').write(data)
END
}

# blocks FILE: the offset of each BGZF block
blocks() {
    python3 - "$1" <<'END'
import sys
data, at = open(sys.argv[1], 'rb').read(), 0
while at < len(data):
    print(at)
    at += int.from_bytes(data[at + 16:at + 18], 'little') + 1
END
}

# --- records --------------------------------------------------------------------------------------------------------

# odd_record LINE TEXT: a record after three good ones; LINE is what is said of it
odd_record() {
    { first_records good_1.fq 3; printf "$2"; } | reads 1.fq
    read_fault "1.fq: record 4 (byte $(first_records good_1.fq 3 | wc -c))$1"
}

odd_records() {
    local cut_off="the file ends in the middle of this record: it is truncated"
    odd_record ", read 'x': 4 bases but 3 qualities" '@x\nACGT\n+\n###\n'
    odd_record ", read 'x': 4 bases but 5 qualities" '@x\nACGT\n+\n#####\n@y\nA\n+\n#\n'
    odd_record ", read 'x': its third line does not start with '+'" '@x\nACGT\n####\n@y\nACGT\n+\n####\n'
    odd_record ", read 'x': its third line does not start with '+'" '@x y\nACGT\nACGT\n+\n########\n'
    odd_record ", read 'x': its sequence holds '1', which is no base" '@x\nAC1T\n+\n####\n'
    odd_record ", read 'x': its sequence holds '\\xff', which is no base" '@x\nAC\xffT\n+\n####\n'
    odd_record ", read 'x': its sequence holds ' ', which is no base" '@x\nACG \n+\n####\n'
    odd_record ", read 'x': its qualities hold a character that is none (allowed are '!' to '~')" '@x\nACGT\n+\n## #\n'
    odd_record ", read 'x\\x1b[31m\\x07': its name holds '\\x1b', which SAM does not allow" \
        '@x\033[31m\a\nACGT\n+\n####\n'
    odd_record ": the read has no name" '@\nACGT\n+\n####\n'
    odd_record ": the read has no name" '@ x\nACGT\n+\n####\n'
    odd_record ": a record must start with '@', but here is an empty line" '\n@x\nACGT\n+\n####\n'
    odd_record ": a record must start with '@', but here is 'A'" 'ACGT\n+\n####\n'
    odd_record ": a record must start with '@', but here is '>'" '>x\nACGT\n'
    odd_record ", read 'x': $cut_off" '@x'
    odd_record ", read 'x': $cut_off" '@x\n'
    odd_record ", read 'x': $cut_off" '@x\nAC'
    odd_record ", read 'x': $cut_off" '@x\nACGT\n'
    odd_record ", read 'x': $cut_off" '@x\nACGT\n+'
    odd_record ", read 'x': $cut_off" '@x\nACGT\n+\n'
    odd_record ", read 'x': 4 bases but 2 qualities" '@x\nACGT\n+\n##'
}

# Deep in a file of several chunks, so that workers are busy when it is found.
deep_record() {
    { first_records many_1.fq 8000; printf '@x\nACGT\n+\n###\n'; tail -n +32005 many_1.fq; } | reads 1.fq
    reads 2.fq < many_2.fq
    local line="1.fq: record 8001 (byte $(first_records many_1.fq 8000 | wc -c)), read 'x': 4 bases but 3 qualities"
    read_fault "$line"
    read_fault "$line" 1.fq 2.fq
}

# What SAM can hold and BAM cannot: file, record and read are named, and of a long name its beginning.
records_for_bam() {
    local long coding what="its name has more than 254 bytes, which BAM cannot hold: write SAM" shown
    long=$(head -c 70000 /dev/zero | tr '\0' x)
    shown=${long::80}…
    { first_records good_1.fq 3; printf "@$long\nACGT\n+\n####\n"; } | reads 1.fq
    { first_records good_2.fq 3; printf "@$long\nACGT\n+\n####\n"; } | reads 2.fq
    for coding in $CODINGS; do
        attempt align -t 2 -o out/x.bam ref.fa $coding/1.fq $coding/2.fq
        [ "$rc $(cat stderr)" = "1 error: $coding/1.fq: record 4, read '$shown': $what" ] ||
            wrong "a name of 70,000 bytes ($coding): $rc, $(head -c 300 stderr)"
    done
    # interleaved, and a single read in between
    { first_records good_1.fq 1; printf '@y z\nACGT\n+\n####\n@y z%s\nACGT\n+\n####\n' "$long"; } > plain/1.fq
    what="its comment 'z${long::79}…' does not consist of SAM fields (such as BC:Z:ACGT), so it cannot be copied to BAM"
    what+=": drop -C, or write SAM"
    sed -i '1s/ .*//; 5s/ .*//' plain/1.fq
    attempt align -C -p -o out/x.bam ref.fa plain/1.fq
    [ "$rc $(cat stderr)" = "1 error: plain/1.fq: record 3, read 'y': $what" ] ||
        wrong "a comment of 70,000 bytes: $rc, $(head -c 600 stderr)"
    first_records good_1.fq 1 | sed '1s/ .*//' > plain/1.fq
    first_records good_2.fq 1 | sed '1s/ .*//; 1s/$/ odd/' > plain/2.fq
    attempt align -C -o out/x.bam ref.fa plain/1.fq plain/2.fq
    grep -q "^error: plain/2.fq: record 1, read '.*': its comment 'odd' does not" stderr ||
        wrong "a comment of a mate: $(cat stderr)"
    [ -z "$(ls -A out)" ] || wrong "left $(ls -A out)"
}

long_read() {
    local bases=$1
    first_records good_1.fq 3
    python3 -c "n = $bases
print('@long and a comment', 'ACGT' * (n // 4) + 'A' * (n % 4), '+', '#' * n, sep='\n')"
    tail -n +13 good_1.fq
}

long_reads() {
    long_read $(((1 << 20) + 1)) | reads 1.fq
    local at; at="1.fq: record 4 (byte $(first_records good_1.fq 3 | wc -c))"
    local long="$at, read 'long': the read has more than 1048576 bases, the longest that the engine can take"
    read_fault "$long: leave it out, or take another --engine"
    long_read 9000000 | reads 1.fq
    read_fault "$long: leave it out, or take another --engine"
}

mates() {
    local what="they are not the two files of one run, or one of them is truncated" set n
    for set in good many; do
        n=$(($(wc -l < ${set}_1.fq) / 4))
        reads 1.fq < ${set}_1.fq; first_records ${set}_2.fq $((n - 1)) | reads 2.fq
        read_fault "2.fq: the file has $((n - 1)) reads, but its mate file 1.fq has more: $what" 1.fq 2.fq
        read_fault "2.fq: the file has $((n - 1)) reads, but its mate file 1.fq has more: $what" 2.fq 1.fq
    done
    reads 2.fq < /dev/null
    read_fault "2.fq: the file has 0 reads, but its mate file 1.fq has more: $what" 1.fq 2.fq
    sed '5s/.*/@other/' good_2.fq | reads 2.fq
    reads 1.fq < good_1.fq
    local name; name=$(sed -n '5s/^@\([^ /]*\).*/\1/p' good_1.fq)
    what="2.fq: record 2 (byte $(first_records good_2.fq 1 | wc -c)), read 'other': its name differs from that of its"
    read_fault "$what mate, '$name' in 1.fq: the files are not in step" 1.fq 2.fq
}

not_reads() {
    local not="1.fq: record 1 (byte 0): none of FASTQ, FASTA, BAM, SAM and CRAM: it starts with"
    echo "Dear reader" | reads 1.fq;          read_fault "$not 'D'"
    printf '\x7fELF\x02\x01' | reads 1.fq;    read_fault "$not '\\x7f'"
    head -c 3000 /dev/zero | reads 1.fq;      read_fault "$not '\\x00'"
    printf '\n@x\nA\n+\n#\n' | reads 1.fq;    read_fault "$not '\\n'"
    printf 'BAM' | reads 1.fq;                read_fault "$not 'B'"
    printf 'BZh91AY&SY' | reads 1.fq
    read_fault "1.fq: record 1 (byte 0): it is compressed by bzip2; zerohop inflates gzip and BGZF: 'bzip2 -dc FILE' \
inflates it, and '-' reads standard input"
    printf '@HD\tVN:1.6\n@SQ\tSN:a\tLN:9\nr\t4\t*\n' | reads 1.fq
    read_fault "1.fq: record 1 of all in it, or what follows, is damaged or truncated, or is on a contig, and the \
header has no @SQ line"
}

# --- compression ----------------------------------------------------------------------------------------------------

gzip_faults() {
    local cut truncated="the compressed data end early: the file is truncated" length
    gzip -cn good_1.fq > whole.gz
    for cut in 3 10 11 100 $(($(size whole.gz) / 2)) $(($(size whole.gz) - 9)) $(($(size whole.gz) - 8)) \
        $(($(size whole.gz) - 1)); do
        head -c "$cut" whole.gz > 1.fq
        fault "1.fq: $truncated" ref.fa 1.fq
    done
    cp whole.gz 1.fq; flip 1.fq -6
    fault "1.fq: the compressed data are damaged: corrupt gzip stream does not have a matching checksum" ref.fa 1.fq
    cp whole.gz 1.fq; flip 1.fq -1
    fault "1.fq: the compressed data are damaged: corrupt gzip stream does not have a matching checksum" ref.fa 1.fq
    # where what was inflated until then is more than is read ahead
    gzip -cn many_1.fq > whole.gz
    length=$(size many_1.fq)
    for cut in 8 1; do
        head -c -$cut whole.gz > 1.fq
        fault "1.fq: byte $length: $truncated" ref.fa 1.fq
    done
    cp whole.gz 1.fq; flip 1.fq -6
    fault "1.fq: byte $length: the compressed data are damaged: corrupt gzip stream does not have a matching checksum" \
        ref.fa 1.fq
}

bgzf_faults() {
    local at last
    bgzip -c good_1.fq > whole.bgzf
    head -c 1000 whole.bgzf > 1.fq
    fault "1.fq: the compressed data end early: the file is truncated" ref.fa 1.fq
    bgzip -c many_1.fq > whole.bgzf
    last=$(blocks whole.bgzf | tail -n 2 | head -n 1)
    for at in $((last + 1)) $((last + 17)) $((last + 18)) $((last + 2000)) $(($(size whole.bgzf) - 29)); do
        head -c "$at" whole.bgzf > 1.fq
        fault "1.fq: the file ends inside a BGZF block: it is truncated (at compressed offset $last)" ref.fa 1.fq
    done
    # the checksum stands in front of the length, and both in front of the end marker
    cp whole.bgzf 1.fq; flip 1.fq $(($(size whole.bgzf) - 28 - 5))
    fault "1.fq: a BGZF block does not match its checksum (CRC): the file is damaged (at compressed offset $last)" \
        ref.fa 1.fq
    cp whole.bgzf 1.fq; flip 1.fq $((last + 1000))
    fault "1.fq: the compressed data of a BGZF block are damaged (at compressed offset $last)" ref.fa 1.fq
    cp whole.bgzf 1.fq; flip 1.fq "$last"
    fault "1.fq: $(garbage "$last")" ref.fa 1.fq
}

# garbage OFFSET: what is said of trailing garbage
garbage() {
    echo "trailing garbage follows the compressed data, from compressed offset $1 on: if nothing is missing," \
        "keep the first $1 bytes alone ('head -c $1'); otherwise the file is damaged: get it again"
}

# One rule for gzip and BGZF, files and pipes: zeros behind the last member are padding, anything else is garbage.
trailing_bytes() {
    local coding zeros end
    zerohop align -t 2 ref.fa good_1.fq > expected.sam
    gzip -cn good_1.fq > whole.gzip; bgzip -c good_1.fq > whole.bgzf
    for coding in gzip bgzf; do
        end=$(size whole.$coding)
        for zeros in 1 1000; do
            head -c $zeros /dev/zero | cat whole.$coding - > 1.fq
            zerohop align -t 2 ref.fa 1.fq > own.sam
            same_alignments own.sam expected.sam "$coding, $zeros zeros of padding"
            ! grep -q '^note' zerohop.stderr || wrong "$coding, $zeros zeros of padding: $(grep '^note' zerohop.stderr)"
            zerohop align -t 2 ref.fa - < <(cat 1.fq) > own.sam
            same_alignments own.sam expected.sam "$coding, $zeros zeros of padding, a pipe"
            cat whole.$coding >> 1.fq
            fault "1.fq: $(garbage $((end + zeros)))" ref.fa 1.fq
            ! "$ZEROHOP" align -q -o out/x.sam ref.fa - 2> stderr < <(cat 1.fq) ||
                wrong "$coding, a pipe: a member behind padding is taken"
            [ "$(cat stderr)" = "error: standard input: $(garbage $((end + zeros)))" ] ||
                wrong "$coding, a pipe: $(cat stderr)"
        done
        { cat whole.$coding; echo "and text"; } > 1.fq
        fault "1.fq: $(garbage "$end")" ref.fa 1.fq
        head -c "$end" 1.fq > 2.fq; cmp -s 2.fq whole.$coding || wrong "$coding: the advice does not help"
    done
}

# Cut exactly between two blocks it can be a whole file: it is used, and the missing end marker is said.
bgzf_without_end() {
    local note="note       1.fq lacks the end marker of BGZF: it may be truncated between two blocks."
    bgzip -c good_1.fq | head -c -28 > 1.fq
    zerohop align -t 2 ref.fa 1.fq > own.sam
    [ "$(grep -c '^note' zerohop.stderr)" = 1 ] && grep -qxF "$note" zerohop.stderr ||
        wrong "a missing end marker is not said"
    zerohop align -t 2 ref.fa good_1.fq > expected.sam
    same_alignments own.sam expected.sam "without the end marker"
    ! grep -q '^note' zerohop.stderr || wrong "a note without a cause: $(grep '^note' zerohop.stderr)"
}

# --- files ----------------------------------------------------------------------------------------------------------

files() {
    local none="cannot open: No such file or directory (os error 2)" words engine rc
    mkdir -p folder
    fault "none.fq: $none" ref.fa none.fq
    fault "none.fq: $none" ref.fa good_1.fq none.fq
    fault "none.fa: $none" none.fa good_1.fq
    fault "folder: is a directory, not a file of reads" ref.fa folder
    fault "folder: is a directory, not a file of reads" ref.fa good_1.fq folder
    fault "folder: is a directory, not a reference in FASTA" folder good_1.fq
    mkfifo ref.fifo
    words="ref.fifo: the reference must be a file, plain or gzip: it is read more than once"
    fault "$words" ref.fifo good_1.fq
    for engine in strobealign bwa-mem; do
        rc=0; timeout -k 5 60 "$ZEROHOP" index --engine $engine ref.fifo 2> stderr || rc=$?
        [ "$rc $(cat stderr)" = "1 error: $words" ] || wrong "index --engine $engine of a FIFO: $rc $(cat stderr)"
    done
    attempt align -o nowhere/x.bam ref.fa good_1.fq
    [ "$rc $(cat stderr)" = "1 error: nowhere/x.bam: cannot write: there is no folder nowhere; make it first" ] ||
        wrong "no output folder: $rc $(cat stderr)"
    attempt align -o folder ref.fa good_1.fq
    [ "$rc $(cat stderr)" = "1 error: folder: cannot write: Is a directory (os error 21)" ] ||
        wrong "a folder as output: $rc $(cat stderr)"
}

# As somebody who is not root, for whom permissions do not count.
permissions() {
    [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null ||
        { echo "permissions: not tested, that needs root and setpriv"; return; }
    local nobody="setpriv --reuid=65534 --regid=65534 --clear-groups" denied="Permission denied (os error 13)" file rc
    chmod 711 "$WORK"; chmod 755 out
    cp "$ZEROHOP" program; cp good_1.fq secret.fq; cp ref.fa secret.fa; chmod 600 secret.*
    for file in "secret.fq: cannot open:-o /dev/null ref.fa secret.fq" \
        "secret.fa: cannot open:-o /dev/null secret.fa good_1.fq" \
        "out/x.bam: cannot write:-o out/x.bam ref.fa good_1.fq"; do
        rc=0
        $nobody ./program align ${file##*:} > stdout 2> stderr || rc=$?
        [ "$rc $(cat stderr)" = "1 error: ${file%:*}: $denied" ] ||
            wrong "no permission: ${file##*:}: $rc $(cat stderr)"
    done
}

references() {
    local text what
    reference_fault() {
        printf "$1" > bad.fa; fault "bad.fa: $2" bad.fa good_1.fq; gzip -n bad.fa; mv bad.fa.gz bad.fa
        fault "bad.fa: $2" bad.fa good_1.fq
    }
    reference_fault '>a\nACGT\n>b\nAC\n>a c\nAC\n' "record 3 (byte 14): two sequences have the name 'a'"
    reference_fault '' "the reference holds no sequence"
    reference_fault '\n\n' "the reference holds no sequence"
    reference_fault '>a\n>b\n' "the reference holds no sequence"
    reference_fault '>a\nACGT\nAC1T\n' "record 1 (byte 8): sequence 'a' holds '1', which is no base"
    reference_fault '>a\nAC GT\n' "record 1 (byte 3): sequence 'a' holds ' ', which is no base"
    reference_fault '>\nACGT\n' "record 1 (byte 0): a sequence has no name"
    reference_fault '>a\xc3\xa9\nACGT\n' "record 1 (byte 0): the name 'aé' holds '\\xc3', which SAM does not allow"
    reference_fault 'ACGT\n' "record 1 (byte 0): not FASTA: it must start with '>', but starts with 'A'"
    fault "good_1.fq: record 1 (byte 0): not FASTA: it must start with '>', but starts with '@': the reference \
comes first, then the reads" good_1.fq good_2.fq
    # 2^31 bases, as lines of a mebibyte in members of 64 lines
    python3 -c '
import gzip, sys
out, line = sys.stdout.buffer, b"A" * (1 << 20) + b"\n"
out.write(gzip.compress(b">a\nACGT\n>chr1A\n", mtime=0) + gzip.compress(64 * line, 1, mtime=0) * 32)' > bad.fa
    attempt align --engine null -o out/x.bam bad.fa good_1.fq
    what="the contig 'chr1A' has 2147483648 bases, and SAM and BAM can hold positions up to 2147483647: split it"
    [ "$rc $(cat stderr)" = "1 error: bad.fa: record 2: $what" ] && [ -z "$(ls -A out)" ] ||
        { wrong "a contig of 2^31 bases: $rc $(head -c 600 stderr)"; rm -f out/*; }
    gzip -cn ref.fa | head -c 1000 > bad.fa
    fault "bad.fa: the compressed data end early: the file is truncated" bad.fa good_1.fq
    bgzip -c ref.fa > bad.fa; flip bad.fa $(($(size bad.fa) - 28 - 6))
    fault "bad.fa: the compressed data are damaged: corrupt gzip stream does not have a matching checksum" bad.fa \
        good_1.fq
}

# --- index files ----------------------------------------------------------------------------------------------------

# index_fault LINE [ARGUMENTS]: with what now is the index of ix.fa; and what makes it anew, as far as that is known
index_fault() {
    fault "$index: $1: make it anew with 'zerohop index${2-}'" ix.fa good_1.fq good_2.fq
    cp good.zhi "$index"
}

# sections FILE: NAME OFFSET BYTES of each section of an index file
sections() {
    python3 - "$1" <<'END'
import json, struct, sys
data = open(sys.argv[1], 'rb').read()
description = json.loads(data[24:24 + struct.unpack_from('<I', data, 12)[0]])
for name in 'sequence', 'randstrobes', 'bucket_starts':
    print(name, description[name]['offset'], description[name]['bytes'])
END
}

index_files() {
    local changed="it was made from another reference, or the reference has changed since" what name offset bytes at
    cp ref.fa ix.fa
    zerohop align -t 2 ix.fa good_1.fq good_2.fq > built.sam
    zerohop index --reads good_1.fq ix.fa
    index=$(ls ix.fa.*.zhi)
    [ "$(ls -d ix.fa*)" = "ix.fa"$'\n'"$index" ] || wrong "zerohop index left $(ls -d ix.fa*)"
    cp "$index" good.zhi
    for threads in 1 3; do
        zerohop align -t $threads ix.fa good_1.fq good_2.fq > loaded.sam
        same_alignments loaded.sam built.sam "with the index file"
        grep -q "^index  *loaded from $index in " zerohop.stderr ||
            wrong "the summary does not say that the index was loaded"
    done
    zerohop align --no-index ix.fa good_1.fq good_2.fq > rebuilt.sam
    grep -q '^index  *built from the reference in ' zerohop.stderr || wrong "--no-index uses the index file"

    # it holds the reference, which need not be there, and is not read as a whole if it has not changed
    mv ix.fa gone.fa
    zerohop align ix.fa good_1.fq good_2.fq > loaded.sam
    same_alignments loaded.sam built.sam "with the index file alone"
    what="ix.fa is not there: $index holds the reference, too, and was used without it."
    grep -qxF "note       $what" zerohop.stderr ||
        wrong "nothing is said of a reference that is not there"
    cp "$index" alone.zhi
    zerohop align alone.zhi good_1.fq good_2.fq > loaded.sam
    same_alignments loaded.sam built.sam "with the index file as reference"
    what="it is an index for reads of about 250 bases, and these have 100: give the reference in FASTA, or use the"
    fault "alone.zhi: $what index all the same with -r 250" -r 100 alone.zhi good_1.fq
    usage "alone.zhi is an index: one is made of the reference in FASTA" align --no-index alone.zhi good_1.fq
    mv gone.fa ix.fa
    if command -v strace > /dev/null; then
        # it is opened once, to see what it is, and again for parts of it; once more where it is read
        strace -f -o trace -e trace=openat "$ZEROHOP" align -q -o out/x.sam ix.fa good_1.fq good_2.fq
        [ "$(grep -c '"ix.fa"' trace)" = 2 ] || wrong "a reference that has not changed is read"
    fi
    touch ix.fa
    if command -v strace > /dev/null; then
        strace -f -o trace -e trace=openat "$ZEROHOP" align -q -o out/x.sam ix.fa good_1.fq good_2.fq; rm out/x.sam
        [ "$(grep -c '"ix.fa"' trace)" = 2 ] || wrong "a reference of another time is not read"
    fi
    zerohop align ix.fa good_1.fq good_2.fq > loaded.sam
    same_alignments loaded.sam built.sam "with another time of the reference"

    printf '>other\nACGTACGTACGTCCCATGACTAG\n' > other.fa
    zerohop index --reads good_1.fq other.fa
    cp "$(ls other.fa.*.zhi)" "$index"; index_fault "$changed" " -r 250"
    sed -i '2s/^...../ACGTA/' ix.fa; index_fault "$changed" " -r 250"; cp ref.fa ix.fa
    echo >> ix.fa; index_fault "$changed" " -r 250"; cp ref.fa ix.fa
    zerohop index -r 50 ix.fa; mv ix.fa.r50.zhi "$index"; index_fault "it was made with other parameters" " -r 250"
    : > "$index"; index_fault "it is no index of zerohop, or cut off"
    cp ref.fa "$index"; index_fault "it is no index of zerohop"
    for at in 1 23; do head -c $at good.zhi > "$index"; index_fault "it is no index of zerohop, or cut off"; done
    for at in 24 500 70000 $(($(size good.zhi) - 1)); do
        head -c $at good.zhi > "$index"; index_fault "it is cut off"
    done
    flip "$index" 3; index_fault "it is no index of zerohop"
    printf '\x03' | dd of="$index" bs=1 seek=8 conv=notrunc status=none
    index_fault "it has version 3 of the format, and this zerohop reads 2"
    # the length of the description, and it
    flip "$index" 15; index_fault "it is cut off"
    for at in 16 23 24 300; do flip "$index" $at; index_fault "its description is damaged"; done
    while read -r name offset bytes; do
        for at in 0 $((bytes / 2)) $((bytes - 1)); do
            flip "$index" $((offset + at))
            index_fault "it is damaged between bytes $offset and $((offset + bytes))" " -r 250"
        done
    done < <(sections good.zhi)
}

# --- usage ----------------------------------------------------------------------------------------------------------

usage_errors() {
    usage "no reads were given: name one or two files, or '-' for standard input" align ref.fa
    usage "standard input ('-') can be read only once" align ref.fa - -
    usage "standard input ('-') can be read only once" align ref.fa - --reads -
    usage "good_1.fq was given as both files of a pair" align ref.fa good_1.fq good_1.fq
    usage "good_1.fq was given as both files of a pair" align ref.fa --reads good_1.fq good_1.fq
    usage "with --interleaved each lane has one file" align ref.fa -p --reads good_1.fq good_2.fq
    usage "the read group line 'garbage' must start with '@RG' and a tab (or \\t), as in '@RG\\tID:x\\tSM:y'" align -R \
        garbage ref.fa good_1.fq
    usage "the read group line '@RG"$'\t'"SM:x' must have one ID, of characters of ASCII" \
        align -R '@RG\tSM:x' ref.fa good_1.fq
    usage "'sample' is not a read group field: it must be two letters, a colon and a value, as in 'SM:sample'" align \
        --rg sample ref.fa good_1.fq
    usage "the read group 'x' has more than one SM" align -R '@RG\tID:x\tSM:a\tSM:b' ref.fa good_1.fq
    usage "the read group '1' has more than one ID" align --rg SM:a --rg ID:b ref.fa good_1.fq
    usage "2 read groups (-R) were given for one lane: give one for all, or one each" align -R '@RG\tID:a' -R \
        '@RG\tID:b' ref.fa good_1.fq
    usage "two different read groups have the ID 'a'" align -R '@RG\tID:a' -R '@RG\tID:a\tSM:b' ref.fa good_1.fq \
        --reads good_2.fq
    usage "--shards needs an output file (-o)" align --shards 2 ref.fa good_1.fq
    usage "invalid value '0' for '--replicas <auto|K>': it must be 'auto' or a number from 1 on" align --replicas 0 \
        ref.fa good_1.fq
    usage "invalid value 'two' for '--replicas <auto|K>': it must be 'auto' or a number from 1 on" align --replicas \
        two ref.fa good_1.fq
    usage "invalid value '0' for '--threads <N>': 0 is not in 1..=65536" align -t 0 ref.fa good_1.fq
    usage "invalid value '10' for '--level <LEVEL>': 10 is not in 0..=9" align --level 10 ref.fa good_1.fq
    usage "--level is for BAM and CRAM, and for compressed files of unaligned reads: name the output .bam or .cram" \
        align --level 3 -o out/x.sam ref.fa good_1.fq
    usage "--cram-version is for CRAM: name the output .cram, or give --format cram" \
        align --cram-version 3.1 -o out/x.bam ref.fa good_1.fq
    usage "-r, --reads: the index of bwa-mem is for reads of any length" index --engine bwa-mem -r 100 ref.fa
    usage "--buffer 4.0 KiB: it must be 1.0 MiB or more" topo --measure --buffer 4K
    usage "write --ranks=2: what stands apart is taken for a file" align --ranks 2 ref.fa good_1.fq
    usage "the argument '--interleaved' cannot be used with '[READS_2]'" align -p ref.fa good_1.fq good_2.fq
    usage "unexpected argument '--threds' found" align --threds 2 ref.fa good_1.fq
    usage "zerohop has no option -N. One of the aligner is passed on by --engine-args, as in --engine-args '-N ...'; \
'zerohop align --help' shows those of zerohop" align -N 5 ref.fa good_1.fq
    usage "zerohop has no option -@: threads are -t" align -@ 2 ref.fa good_1.fq
    usage "zerohop has no option -1: name REF and then the files of reads, without options" align -1 good_1.fq ref.fa
    usage "zerohop has no option -S: name the output by -o, as in -o out.bam" align -S x.sam ref.fa good_1.fq
    usage "'third.fq' is one file too many: REF, and one file of reads or the two of pairs. Each further lane needs \
--reads, as in --reads L2_1.fq.gz L2_2.fq.gz" align ref.fa good_1.fq good_2.fq third.fq
    usage "--output-dir is for the samples of a sheet (--samples)" align --output-dir samples ref.fa good_1.fq
    usage "--engine-args: -d 100000 cannot be had: it must be 0 to 32767, and 0 turns it off" align --engine bwa-mem \
        --engine-args '-d 100000' ref.fa good_1.fq
    : > shard.2.sam; : > shard.3.sam
    usage "shard.3.sam is there, from a run with more shards, and would pass for a shard of this one: remove it and \
those after it, or name another output" align --shards 2 -o shard.sam ref.fa good_1.fq
    usage "write --sort=name: what stands apart is taken for a file" align --sort name ref.fa good_1.fq good_2.fq
    usage "write --mark-duplicates=picard: what stands apart is taken for a file" align --mark-duplicates picard \
        ref.fa good_1.fq
    usage "out.sam.gz: SAM is not written compressed: name the file .bam" align -o out.sam.gz ref.fa good_1.fq
    usage "bwa makes its index itself: 'zerohop align --engine bwa --build-index' has it do so" index --engine bwa \
        ref.fa
    usage "unrecognized subcommand 'bogus'" bogus
    usage "there is no command 'bogus'" man bogus
    cp good_1.fq same.fq; cp ref.fa same.fa; ln -s same.fq link.fq
    usage "same.fq is an input and cannot be the output too" align -o same.fq ref.fa same.fq
    usage "./same.fq is an input and cannot be the output too" align -o ./same.fq ref.fa good_2.fq same.fq
    usage "link.fq is an input and cannot be the output too" align -o link.fq ref.fa same.fq
    usage "same.fa is an input and cannot be the output too" align -o same.fa same.fa good_1.fq
    local option
    for option in --json --mqc; do
        usage "same.fq is an input and cannot be the output too" align -o out.sam $option same.fq ref.fa same.fq
        attempt align -o out.sam $option ./out.sam ref.fa good_1.fq
        [ $rc = 2 ] || wrong "exit status $rc: $option writes over the output"
    done
    cmp -s same.fq good_1.fq && cmp -s same.fa ref.fa || wrong "an input was changed"
}

# --- outputs that would destroy something ---------------------------------------------------------------------------

# stays FILE WORDS ARGUMENTS...: exit status 2, FILE is what it was, and the message is "FILE WORDS"
stays() {
    local file=$1 words=$2; shift 2
    cp "$file" "$WORK/before"
    attempt "$@"
    cmp -s "$file" "$WORK/before" || { wrong "$file was destroyed: $*"; cp "$WORK/before" "$file"; }
    [ $rc = 2 ] || wrong "exit status $rc: $*"
    [[ "$(head -n 1 "$WORK/stderr")" == "error: $file $words"* ]] || wrong "$*: $(head -n 1 "$WORK/stderr")"
}

destroyed_inputs() {
    local input="is an input and cannot be the output too" other="is there and does not hold"
    local option file
    mkdir stay; cd stay
    cp ../good_1.fq 1.fq; cp ../good_2.fq 2.fq; cp ../ref.fa .
    zerohop index --reads 1.fq ref.fa
    zerohop plan --reference ref.fa -o plan.json > /dev/null
    zerohop topo --json > machine.json
    zerohop align -o out.sam --json run.json ref.fa 1.fq
    zerohop align -o out.bam ref.fa 1.fq
    sed 's/^name = .*/name = "mine"/' "$DATA/../../crates/engines/external/descriptors/bwa.toml" > mine.toml
    ln 1.fq hard.fq; ln plan.json hard.json; ln -s plan.json soft.json; cp /bin/true program
    # inputs, under any of their names
    for option in -o --json --mqc; do
        stays hard.fq "$input" align $option hard.fq ref.fa 1.fq
        stays "$(ls ref.fa.*.zhi)" "$other" align $option "$(ls ref.fa.*.zhi)" ref.fa 1.fq
        stays mine.toml "$input" align --engine mine --engine-file mine.toml $option mine.toml ref.fa 1.fq
        stays program "$input" align --mpi program $option program ref.fa 1.fq
        for file in plan hard soft; do
            stays $file.json "$input" align --plan plan.json $option $file.json ref.fa 1.fq
        done
    done
    rc=0; "$ZEROHOP" align -o hard.fq ref.fa - < 1.fq > /dev/null 2>&1 || rc=$?
    [ $rc = 2 ] && cmp -s 1.fq ../good_1.fq || wrong "standard input is destroyed"
    stays machine.json "$input" plan --machine machine.json --index-size 1G -o machine.json
    stays ref.fa "$input" plan --reference ref.fa -o ref.fa
    stays mine.toml "$input" plan --reference ref.fa --engine-file mine.toml -o mine.toml
    stays 2.fq "$input" tune ref.fa 1.fq 2.fq -o 2.fq
    stays "$(ls ref.fa.*.zhi)" "$other" tune ref.fa 1.fq 2.fq -o "$(ls ref.fa.*.zhi)"
    stays "$(ls ref.fa.*.zhi)" "$other" plan --reference ref.fa -o "$(ls ref.fa.*.zhi)"
    ZEROHOP=$ZEROHOP_LAB stays hard.fq "$input" block 1.fq -o hard.fq
    stays run.json "$input" report run.json -o run.json
    stays program "$input" run -q --json program -- ./program
    stays program "$input" mpi --compiler ./program -o program
    ln -s ref.fa ref.fa.r50.zhi
    attempt index -r 50 ref.fa
    [ $rc = 2 ] && cmp -s ref.fa ../ref.fa || wrong "the index is written over the reference: $rc"
    # files of another kind, which nobody reads
    for file in 2.fq mine.toml run.json program; do
        stays $file "$other SAM, BAM or CRAM" align -o $file ref.fa 1.fq
        stays $file "$other an HTML page" report -o $file plan.json
    done
    for file in 2.fq mine.toml out.sam out.bam program; do
        for option in --json --mqc; do stays $file "$other JSON" align -o x.sam $option $file ref.fa 1.fq; done
        stays $file "$other JSON" plan --index-size 1G -o $file
        stays $file "$other JSON" run -q --json $file -- true
        [ $file = 2.fq ] || ZEROHOP=$ZEROHOP_LAB stays $file "$other FASTQ" block 1.fq -o $file
        stays $file "$other a library" mpi -o $file
    done
    stays ref.fa "$other SAM, BAM or CRAM" align -o ref.fa ../ref.fa 1.fq
    [ ! -e x.sam ] || wrong "an output although another was refused"
    # the like is replaced, whatever its format, and what is empty
    : > empty; printf 'r\t4\t*\t0\t0\t*\t*\t0\t0\tA\t#\n' > bare.sam
    for file in out.sam out.bam bare.sam empty; do
        zerohop align --format bam -o $file ref.fa 1.fq
        samtools quickcheck $file || wrong "$file is not replaced"
    done
    zerohop align --json run.json --mqc plan.json ref.fa 1.fq > /dev/null
    zerohop_lab block 1.fq -o b.fq; zerohop_lab block 1.fq -o b.fq
    zerohop report run.json -o page.html; zerohop report run.json -o page.html
    cd ..
}

# --- odd, but fine --------------------------------------------------------------------------------------------------

# fine NAME OPTIONS...: 1.fq and 2.fq give, in each coding, the records of the good pair
fine() {
    local name=$1 coding; shift
    zerohop align -t 2 ref.fa good_1.fq good_2.fq > expected.sam
    for coding in $CODINGS; do
        zerohop align -t 3 ref.fa $coding/1.fq $coding/2.fq > own.sam
        same_alignments own.sam expected.sam "$name, $coding"
    done
}

fine_inputs() {
    head -c -1 good_1.fq | reads 1.fq; head -c -1 good_2.fq | reads 2.fq; fine "no newline at the end"
    sed 's/$/\r/' good_1.fq | reads 1.fq; sed 's/$/\r/' good_2.fq | reads 2.fq; fine "CRLF"
    sed 's/$/\r/' good_1.fq | head -c -2 | reads 1.fq; fine "CRLF without the last one"
    { cat good_1.fq; printf '\n\n'; } | reads 1.fq; { cat good_2.fq; printf '\r\n\n'; } | reads 2.fq
    fine "blank lines at the end"
    reads 1.fq < good_1.fq; reads 2.fq < good_2.fq; fine "as they are"
}

# Pairs that are taken as single reads, and the other way: a note says so, and the records are there
mistaken_inputs() {
    paste -d '\n' <(paste - - - - < good_1.fq) <(paste - - - - < good_2.fq) | tr '\t' '\n' | reads 1.fq
    local coding
    for coding in $CODINGS; do
        zerohop align -q -o x.sam ref.fa $coding/1.fq
        grep -q "its first two reads have the same name: are they pairs (-p)?" "$WORK/zerohop.stderr" ||
            wrong "pairs as single reads ($coding): $(cat "$WORK/zerohop.stderr")"
        zerohop align -q -p -o x.sam ref.fa $coding/1.fq
        [ ! -s "$WORK/zerohop.stderr" ] || wrong "pairs ($coding): $(cat "$WORK/zerohop.stderr")"
    done
    zerohop align -q -p -o x.sam ref.fa good_1.fq
    grep -q "with -p all reads were single ones" "$WORK/zerohop.stderr" || wrong "single reads with -p"
    zerohop align -q -o x.sam ref.fa good_1.fq
    [ ! -s "$WORK/zerohop.stderr" ] || wrong "single reads: $(cat "$WORK/zerohop.stderr")"
}

empty_inputs() {
    local coding format
    reads 1.fq < /dev/null; reads 2.fq < /dev/null
    for coding in $CODINGS; do
        for format in sam bam; do
            zerohop align -t 3 -o x.$format ref.fa $coding/1.fq
            samtools quickcheck x.$format && [ "$(samtools view -c x.$format)" = 0 ] ||
                wrong "an empty file ($coding) as $format"
            zerohop align -t 3 -o x.$format ref.fa $coding/1.fq $coding/2.fq
            samtools quickcheck x.$format && [ "$(samtools view -c x.$format)" = 0 ] ||
                wrong "two empty files ($coding) as $format"
        done
    done
    zerohop align ref.fa - < /dev/null > x.sam
    [ "$(grep -vc '^@' x.sam)" = 0 ] && grep -q '^@SQ' x.sam || wrong "empty standard input"
    printf '@e\n\n+\n\n@f\nACGT\n+\n####\n' | reads 1.fq
    for coding in $CODINGS; do
        zerohop align ref.fa $coding/1.fq > x.sam
        [ "$(grep -v '^@' x.sam | head -n 1 | cut -f 1-11 | tr '\t' ' ')" = "e 4 * 0 0 * * 0 0 * *" ] ||
            wrong "an empty read: $(grep -v '^@' x.sam)"
        [ "$(grep -vc '^@' x.sam)" = 2 ] || wrong "an empty read swallows the next"
    done
}

# Mates with names of their own: what the strobealign program writes of them.
mate_names() {
    local form mate
    for form in . _ /; do
        for mate in 1 2; do
            awk -v end=$form$mate 'NR % 4 == 1 { print "@r" (NR + 3) / 4 end; next } { print }' good_$mate.fq > $mate.fq
            awk 'NR % 4 == 1 { print ">" substr($0, 2) } NR % 4 == 2' $mate.fq > $mate.fa
        done
        strobealign ref.fa 1.fq 2.fq > expected.sam
        zerohop align -t 3 ref.fa 1.fq 2.fq > own.sam
        same_alignments own.sam expected.sam "mates named x${form}1 and x${form}2"
        strobealign ref.fa 1.fa 2.fa > expected.sam
        zerohop align -t 3 ref.fa 1.fa 2.fa > own.sam
        same_alignments own.sam expected.sam "mates named x${form}1 and x${form}2, FASTA"
        # in one file, equal names alone make mates
        paste <(paste - - - - < 1.fq) <(paste - - - - < 2.fq) | tr '\t' '\n' > i.fq
        strobealign --interleaved ref.fa i.fq > expected.sam
        zerohop align -t 3 -p ref.fa i.fq > own.sam
        same_alignments own.sam expected.sam "mates named x${form}1 and x${form}2, interleaved"
    done
    sed 's,/2$,.3,' 2.fq > 3.fq
    what="3.fq: record 1 (byte 0), read 'r1.3': its name differs from that of its mate, 'r1' in 1.fq"
    fault "$what: the files are not in step" ref.fa 1.fq 3.fq
}

# --- the reader of the output goes away -----------------------------------------------------------------------------

broken_pipes() {
    local status format
    for format in sam bam; do
        for threads in 1 3; do
            set +e
            timeout -k 1 30 "$ZEROHOP" align -t $threads --format $format ref.fa many_1.fq many_2.fq 2> stderr |
                head -c 1 > /dev/null
            status=${PIPESTATUS[0]}
            set -e
            [ "$status" = 0 ] && [ ! -s stderr ] ||
                wrong "a broken pipe ($format, -t $threads): exit status $status, $(head -c 300 stderr)"
        done
    done
    set +e
    "$ZEROHOP" man align 2> stderr | true; status=${PIPESTATUS[0]}
    set -e
    [ "$status" = 0 ] && [ ! -s stderr ] || wrong "a broken pipe (man): exit status $status"
}

for part in odd_records deep_record records_for_bam long_reads mates mate_names not_reads gzip_faults bgzf_faults \
    trailing_bytes bgzf_without_end files permissions references index_files usage_errors destroyed_inputs fine_inputs \
    mistaken_inputs empty_inputs broken_pipes; do
    [[ $part =~ ${PART-} ]] || continue
    before=$failures
    $part
    echo "$part: $([ $failures = $before ] && echo as it should be || echo "$((failures - before)) wrong")"
done
[ $failures = 0 ] || fail "$failures of the above"
