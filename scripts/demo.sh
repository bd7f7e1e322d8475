#!/bin/bash
# Aligns real reads of E. coli to its genome (both lie in tests/data) and shows what comes out. `make demo` runs it.
set -euo pipefail
source "$(dirname "$0")/env.sh"

reference=$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz
reads=("$DATA/ecoli/ecoli_150_1.fq.gz" "$DATA/ecoli/ecoli_150_2.fq.gz")

heading() { echo; echo "=== $*"; }

# shows a command as one would type it, and runs it
show() { echo "\$ ${*//"$ROOT"\//}"; "$@"; }

heading "build"
cargo build -q --release --locked
"$ZEROHOP" --version

heading "align 10,000 read pairs to E. coli K-12 MG1655"
rm -rf demo-out; mkdir demo-out
show "$ZEROHOP" align -o demo-out/ecoli.bam --json demo-out/ecoli.json --mqc demo-out/ecoli_mqc.json \
    "$reference" "${reads[@]}" 2> >(tee demo-out/ecoli.summary.txt >&2)
wait $! 2>/dev/null || true

heading "check the BAM file"
show samtools quickcheck -v demo-out/ecoli.bam && echo "ok"
show samtools flagstat demo-out/ecoli.bam | tee demo-out/ecoli.flagstat.txt

heading "the report"
show "$MULTIQC" --quiet --force --outdir demo-out/multiqc demo-out

heading "what to look at"
cat <<'END'
demo-out/ecoli.bam                     the alignments:    samtools view demo-out/ecoli.bam | less -S
demo-out/ecoli.summary.txt             what zerohop said: reads, mapped and paired share, time, memory, index pages
demo-out/ecoli.json                    the same for programs
demo-out/ecoli_mqc.json                the same for MultiQC
demo-out/multiqc/multiqc_report.html   MultiQC's report with it, to open in a browser
END
