#!/bin/bash
# The summary for machines: JSON that parses, and a file that the real MultiQC puts into its report.
source "$(dirname "$0")/lib.sh"
[ -x "${MULTIQC-}" ] || skip "no MultiQC (scripts/setup.sh test installs it)"

zerohop align -t 2 --replicas 2 --sort --mark-duplicates -o "$WORK/ecoli.bam" --json "$WORK/ecoli.json" \
    --mqc "$WORK/ecoli_mqc.json" "$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz" "$DATA/ecoli/ecoli_100_1.fq.gz" \
        "$DATA/ecoli/ecoli_100_2.fq.gz"
python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$WORK/ecoli.json" || fail "the JSON does not parse"
# the copies are there until the kernel has been asked where their pages lie
python3 -c '
import json, sys
copies = json.load(open(sys.argv[1]))["replicas"]
assert len(copies) == 2 and all(copy["census"]["present"] > 10 << 20 for copy in copies), copies
' "$WORK/ecoli.json" || fail "where the copies lie is not told"
# names by which templates find the columns
for column in zerohop_reads zerohop_duplicates; do
    grep -q "\"$column\": [0-9]" "$WORK/ecoli_mqc.json" || fail "the MultiQC file has no $column"
done
grep -q '^duplicates *[0-9.]* % of mapped reads' "$WORK/zerohop.stderr" || fail "$(cat "$WORK/zerohop.stderr")"
"$MULTIQC" --quiet --force --strict --outdir "$WORK/report" "$WORK" > "$WORK/multiqc.log" 2>&1 ||
    { cat "$WORK/multiqc.log" >&2; fail "MultiQC does not take the file"; }
[ -s "$WORK/report/multiqc_report.html" ] || { cat "$WORK/multiqc.log" >&2; fail "MultiQC wrote no report"; }
grep -qi zerohop "$WORK/report/multiqc_report.html" || fail "MultiQC's report does not name zerohop"
echo "JSON parses; MultiQC $("$MULTIQC" --version | awk '{ print $NF }') shows it"
