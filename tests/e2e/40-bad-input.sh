#!/bin/bash
# Bad input: for each fault one exact line on stderr, exit status 1 (2 for wrong usage), and nothing left that looks
# complete; as SAM and BAM, with one worker and three, plain, gzip and BGZF. Also the odd inputs that are fine.
# Faults of files, and wrong usage, are tables in crates/cli/tests/program.
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

# --- records --------------------------------------------------------------------------------------------------------

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

# --- compression ----------------------------------------------------------------------------------------------------

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
    local words engine rc
    mkdir -p folder
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
    local what
    # 2^31 bases, as lines of a mebibyte in members of 64 lines
    python3 -c '
import gzip, sys
out, line = sys.stdout.buffer, b"A" * (1 << 20) + b"\n"
out.write(gzip.compress(b">a\nACGT\n>chr1A\n", mtime=0) + gzip.compress(64 * line, 1, mtime=0) * 32)' > bad.fa
    attempt align --engine null -o out/x.bam bad.fa good_1.fq
    what="the contig 'chr1A' has 2147483648 bases, and SAM and BAM can hold positions up to 2147483647: split it"
    [ "$rc $(cat stderr)" = "1 error: bad.fa: record 2: $what" ] && [ -z "$(ls -A out)" ] ||
        { wrong "a contig of 2^31 bases: $rc $(head -c 600 stderr)"; rm -f out/*; }
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
    usage "alone.zhi is an index: give the reference in FASTA" align --no-index alone.zhi good_1.fq
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
    local short="it is not an index of zerohop, or it is truncated"
    : > "$index"; index_fault "$short"
    cp ref.fa "$index"; index_fault "it is not an index of zerohop"
    for at in 1 23; do head -c $at good.zhi > "$index"; index_fault "$short"; done
    for at in 24 500 70000 $(($(size good.zhi) - 1)); do
        head -c $at good.zhi > "$index"; index_fault "it is truncated"
    done
    flip "$index" 3; index_fault "it is not an index of zerohop"
    printf '\x02' | dd of="$index" bs=1 seek=8 conv=notrunc status=none
    index_fault "it has version 2 of the format, and this zerohop reads 3"
    # the length of the description, and it
    flip "$index" 15; index_fault "it is truncated"
    for at in 16 23 24 300; do flip "$index" $at; index_fault "its description is damaged"; done
    while read -r name offset bytes; do
        for at in 0 $((bytes / 2)) $((bytes - 1)); do
            flip "$index" $((offset + at))
            index_fault "it is damaged between bytes $offset and $((offset + bytes))" " -r 250"
        done
    done < <(sections good.zhi)
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
    local input="is an input and cannot be the output too" other="exists and does not hold"
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

for part in records_for_bam mate_names trailing_bytes bgzf_without_end files permissions references index_files \
    destroyed_inputs fine_inputs empty_inputs broken_pipes; do
    [[ $part =~ ${PART-} ]] || continue
    before=$failures
    $part
    echo "$part: $([ $failures = $before ] && echo as it should be || echo "$((failures - before)) wrong")"
done
[ $failures = 0 ] || fail "$failures of the above"
