#!/bin/bash
# The CWL descriptions are valid, without a warning, and cwltool runs them on real reads, of several lanes, too, and on
# proteins. The records are those of the program run directly. Not tested: the images, which do not exist yet.
source "$(dirname "$0")/pipeline.sh"
needs cwltool/bin/cwltool
command -v node > /dev/null || skip "no Node.js for expressions (scripts/setup.sh dist-test installs it)"
cwltool=$ROOT/.tools/cwltool/bin/cwltool

# run_cwl TOOL FOLDER ARGUMENT...: the outputs go to FOLDER
run_cwl() {
    local tool=$1 folder=$2; shift 2
    quietly "$cwltool" --no-container --preserve-environment PATH --outdir "$folder" \
        "$PIPELINES/cwl/zerohop-$tool.cwl" "$@"
}

# file PATH [FORMAT]: by its number in EDAM; 1930 is FASTQ, 1929 FASTA, 3003 BED
file() { echo "{class: File, path: '$1'${2:+, format: 'http://edamontology.org/format_$2'}}"; }

for tool in index align search; do
    quietly "$cwltool" --strict --validate "$PIPELINES/cwl/zerohop-$tool.cwl"
    ! grep WARNING quietly.log || fail "cwltool warns of zerohop-$tool.cwl"
done

echo "reference: $(file genome.fa 1929)" > index.yml
run_cwl index index index.yml
[ "$(ls index)" = genome.fa.r150.zhi ] || fail "index: $(ls index)"

cat > plain.yml << END
reference: $(file genome.fa 1929)
index: [$(file index/genome.fa.r150.zhi)]
reads: [$(file "${reads[0]}" 1930), $(file "${reads[1]}" 1930)]
sample: s
END
run_cwl align plain plain.yml
same_records plain/s.bam plain.bam
[ "$(ls plain | xargs)" = "s.bam s.json s_mqc.json" ] || fail "plain: $(ls plain | xargs)"

for format in bam cram; do
    cat plain.yml - > $format.yml << END
format: $format
mark_duplicates: true
read_group: '@RG\tID:s\tSM:s'
END
    run_cwl align $format $format.yml
    same_records $format/s.$format marked.$format --sort --mark-duplicates -R '@RG\tID:s\tSM:s'
done
[ "$(ls bam | xargs)" = "s.bam s.bam.bai s.json s.markdup.txt s_mqc.json" ] || fail "bam: $(ls bam | xargs)"
[ -e cram/s.cram.crai ] || fail "cram: $(ls cram | xargs)"
printf 'NC_000913.3\t1000\t200000\n' > exome.bed
cat plain.yml - > qc.yml << END
qc: true
mosdepth: --fast-mode --by exome.bed
picard_metrics: true
targets: $(file exome.bed 3003)
baits: $(file exome.bed 3003)
END
run_cwl align qc qc.yml
[ "$(cat qc/s.bam.flagstat)" = "$(samtools flagstat qc/s.bam)" ] && [ "$(ls qc | wc -l)" = 23 ] &&
    [ -e qc/s.per-base.bed.gz.csi ] && [ -s qc/s.hs_metrics ] || fail "qc: $(ls qc | xargs)"
# cores, a quarter of the memory, and the scratch folder, as the description asks for them
grep -q -- '--threads 4 .*--sort-memory 4000M --tmp-dir /' bam/s.json || fail "resources are not passed"

# the pair twice, as two lanes
sed '/^reads: /s/\[\(.*\)\]/[\1, \1]/' bam.yml > lanes.yml
run_cwl align lanes lanes.yml
[ "$(samtools view -c -F 2304 lanes/s.bam)" = 40000 ] && [ "$(samtools view -c -f 1024 lanes/s.bam)" -ge 18000 ] ||
    fail "no duplicates across lanes"

protein_search
printf '%s\n' "db: {class: Directory, path: db}" "queries: $(file q.fa 1929)" > search.yml
run_cwl search hits search.yml
cmp direct.tsv hits/hits.tsv || fail "other hits"
