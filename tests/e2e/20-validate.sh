#!/bin/bash
# What other programs think of our BAM and SAM: samtools quickcheck and flagstat, Picard ValidateSamFile.
source "$(dirname "$0")/lib.sh"
command -v samtools >/dev/null || skip "no samtools"
command -v PicardCommandLine >/dev/null || skip "no Picard"

# Picard warns of reads without qualities; phiX has two empty reads.
picard() {
    PicardCommandLine ValidateSamFile "I=$1" MODE=SUMMARY IGNORE=QUALITY_NOT_STORED QUIET=true VERBOSITY=ERROR \
        > "$WORK/picard.txt" 2> "$WORK/picard.stderr" ||
        { cat "$WORK/picard.txt" "$WORK/picard.stderr" >&2; fail "Picard on $2"; }
}

check_set() {
    local name=$1 reference=$2 first=$3 second=$4 format reads records
    reads=$(($(gzip -cdf "$first" "$second" | wc -l) / 4))
    for format in bam sam; do
        zerohop align -t 2 -R '@RG\tID:one\tSM:sample\tPL:ILLUMINA' -o "$WORK/out.$format" "$reference" "$first" \
            "$second"
        samtools quickcheck -v "$WORK/out.$format" || fail "samtools quickcheck: $name as $format"
        records=$(samtools view -c -F 0x900 "$WORK/out.$format")
        [ "$records" = "$reads" ] || fail "$name as $format: $reads reads, $records primary records"
        picard "$WORK/out.$format" "$name as $format"
    done
    echo "$name: $reads reads, BAM and SAM are valid"
}

unset ZEROHOP_DATA # the small sets show all that matters here, and Picard is slow to start
while read -r name reference first second; do
    check_set "$name" "$reference" "$first" "$second"
done < <(read_sets)
