#!/bin/bash
# Aligns real reads of E. coli to its genome (both lie in tests/data) and shows what comes out. `make demo` runs it.
set -euo pipefail
source "$(dirname "$0")/env.sh"

genome=$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz
reference=demo-out/ecoli.fa
reads=("$DATA/ecoli/ecoli_150_1.fq.gz" "$DATA/ecoli/ecoli_150_2.fq.gz")

heading() { echo; echo "=== $*"; }

# shows a command as one would type it, and runs it
show() { echo "\$ ${*//"$ROOT"\//}"; "$@"; }

heading "build"
cargo build -q --release --locked
"$ZEROHOP" --version

heading "align 10,000 read pairs to E. coli K-12 MG1655"
rm -rf demo-out; mkdir demo-out
gzip -cd "$genome" > "$reference"
show "$ZEROHOP" align -o demo-out/ecoli.bam --json demo-out/ecoli.json --mqc demo-out/ecoli_mqc.json \
    "$reference" "${reads[@]}" 2> >(tee demo-out/ecoli.summary.txt >&2)
wait $! 2>/dev/null || true

heading "the same with bwa mem inside, whose index is made first"
show "$ZEROHOP" align --engine bwa-mem --build-index -o demo-out/bwa-mem.bam "$reference" "${reads[@]}"

heading "check the BAM files"
show samtools quickcheck -v demo-out/ecoli.bam demo-out/bwa-mem.bam
echo "ok"
show samtools flagstat demo-out/ecoli.bam | tee demo-out/ecoli.flagstat.txt
show samtools flagstat demo-out/bwa-mem.bam

heading "the report"
show "$MULTIQC" --quiet --force --outdir demo-out/multiqc demo-out

heading "what to look at"
cat <<'END'
demo-out/ecoli.bam                     the alignments:    samtools view demo-out/ecoli.bam | less -S
demo-out/bwa-mem.bam                   those of bwa mem
demo-out/ecoli.summary.txt             what zerohop said: reads, mapped and paired share, time, memory, index pages
demo-out/ecoli.json                    the same for programs
demo-out/ecoli_mqc.json                the same for MultiQC
demo-out/multiqc/multiqc_report.html   MultiQC's report with it, to open in a browser
END
