#!/bin/bash
# The nf-core modules and the subworkflow: nf-core's linter, and Nextflow, which aligns real reads and searches proteins
# with them. The records are those of the program run directly.
#
# Not tested: conda and containers, which exist when zerohop is on Bioconda; tests/main.nf.test, since nf-test is on no
# registry. The linter wants nf-core/modules from GitHub. Here it gets a stand-in whose schemas allow everything: so
# meta_yml_valid and environment_yml_valid say nothing, nor do bioconda_version (a warning, it asks anaconda.org) and
# meta_yml_containers. docker_tag and singularity_tag need Nextflow 25.04.4, and Maven Central has 24.10.0; and
# zerohop/search names no image (docs/pipelines.md says why).
source "$(dirname "$0")/pipeline.sh"
needs nf-core/bin/nf-core nextflow
export PATH="$ROOT/tests/dist/nextflow:$ROOT/.tools/nf-core/bin:$PATH" NXF_HOME=$WORK/nextflow-home
command -v java > /dev/null || skip "no java (scripts/setup.sh dist-test installs it)"

# A repository of modules is a git repository with a tests/config/nextflow.config.
repository() {
    cp -r "$PIPELINES/nf-core" "$1"
    mkdir -p "$1/tests/config"
    echo "params.modules_testdata_base_path = ''" > "$1/tests/config/nextflow.config"
}

committed() {
    git -C "$1" init -q -b master
    git -C "$1" add -A
    git -C "$1" -c user.name=test -c user.email=test@localhost commit -q -m modules
}

# lint KIND: modules or subworkflows; what the linter has to say is a line COMPONENT CHECK in KIND.findings
lint() {
    (cd modules && XDG_CONFIG_HOME=$WORK/config NFCORE_NO_VERSION_CHECK=1 COLUMNS=400 \
        GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="url.file://$WORK/stand-in.insteadOf" \
        GIT_CONFIG_VALUE_0=https://github.com/nf-core/modules.git \
        nf-core --hide-progress "$1" lint --all --plain-text --dir .) > "$1.log" 2>&1 || true
    grep -q '[1-9][0-9]* Tests* Passed' "$1.log" || { cat "$1.log" >&2; fail "the linter did not finish"; }
    grep -oE '^[a-z_]+(/[a-z]+)? [a-z_]+$' "$1.log" > "$1.findings" || true
}

# only CHECK... KIND.log: the linter has nothing to say of KIND but of these checks
only() {
    local kind=$1 checks; shift
    checks=$(IFS='|'; echo "$*")
    ! grep -vE " ($checks)\$" "$kind.findings" || { cat "$kind.log" >&2; fail "the linter is not content with $kind"; }
}

linted() {
    local schema
    repository modules
    committed modules
    repository stand-in
    for schema in modules/meta-schema modules/environment-schema subworkflows/yaml-schema; do
        echo '{}' > "stand-in/$schema.json"
    done
    committed stand-in
    lint modules
    only modules bioconda_version docker_tag singularity_tag
    lint subworkflows
    # nf-core wants at least two modules in a subworkflow; this one takes the place of two
    only subworkflows main_nf_include
}

# The workflow, with one name for each way to run a process
workflow() {
    local modules=$PIPELINES/nf-core/modules/nf-core/zerohop
    local dedup=$PIPELINES/nf-core/subworkflows/nf-core/fastq_align_dedup_zerohop
    cat << END
nextflow.preview.topic = true
include { ZEROHOP_INDEX; ZEROHOP_INDEX as BWA_INDEX } from '$modules/index/main'
include { ZEROHOP_ALIGN } from '$modules/align/main'
include { ZEROHOP_SEARCH } from '$modules/search/main'
include { FASTQ_ALIGN_DEDUP_ZEROHOP as BAM } from '$dedup/main'
include { FASTQ_ALIGN_DEDUP_ZEROHOP as CRAM } from '$dedup/main'
include { FASTQ_ALIGN_DEDUP_ZEROHOP as BWA } from '$dedup/main'
include { FASTQ_ALIGN_DEDUP_ZEROHOP as PICARD } from '$dedup/main'

workflow {
    genome = Channel.value([ [ id:'genome' ], file('$WORK/genome.fa') ])
    none = Channel.value([ [:], [], [] ])
    // the probes are the regions themselves
    exome = Channel.value([ [ id:'exome' ], file('$WORK/exome.bed'), file('$WORK/exome.bed') ])
    sample = Channel.of([ [ id:'s' ], [ file('${reads[0]}'), file('${reads[1]}') ] ])
    ZEROHOP_INDEX(genome)
    index = ZEROHOP_INDEX.out.index
    // the index has the reference, too
    ZEROHOP_ALIGN(sample, [ [:], [] ], index, none, 'bam', false, false)
    BAM(sample, genome, index, none, 'bam')
    // an index in memory
    CRAM(sample, genome, [ [:], [] ], none, 'cram')
    BWA_INDEX(genome)
    BWA(sample, genome, BWA_INDEX.out.index, none, 'bam')
    PICARD(sample, genome, index, exome, 'bam')
    ZEROHOP_SEARCH([ [ id:'s' ], file('$WORK/q.fa') ], [ [ id:'db' ], file('$WORK/db') ])
    Channel.topic('versions').unique().collectFile(name: 'versions.txt', storeDir: '.') { it.join(' ') + '\n' }
}
END
}

configuration() {
    cat << 'END'
process {
    cpus = 2
    memory = 2.GB
    publishDir = [ path: { "results/${task.process.tokenize(':').first()}" }, mode: 'copy' ]
    withName: 'BWA_INDEX|BWA:ZEROHOP_ALIGN' { ext.args = '--engine bwa-mem' }
    withName: 'PICARD:ZEROHOP_ALIGN' {
        ext.args = '--mark-duplicates=picard --qc --picard-metrics --mosdepth "-n -b exome.bed"'
    }
    withName: 'BAM:ZEROHOP_ALIGN' { ext.args = { "-R '@RG\\tID:${meta.id}\\tSM:${meta.id}'" } }
}
END
}

# published NAME FILE...: these files, and no others, came from the process or subworkflow NAME
published() {
    local name=$1; shift
    [ "$(ls "results/$name" | sort | xargs)" = "$(printf '%s\n' "$@" | sort | xargs)" ] ||
        fail "$PWD/results/$name: $(ls "results/$name" | xargs)"
}

# run FOLDER OPTIONS...: the workflow in a folder of its own
run() {
    local folder=$1 file; shift
    mkdir "$folder"
    workflow > "$folder/main.nf"
    configuration > "$folder/nextflow.config"
    (cd "$folder" && quietly nextflow run main.nf "$@")
    cd "$folder"
    published ZEROHOP_INDEX genome.fa.r150.zhi genome_index.log
    published ZEROHOP_ALIGN s.bam s.zerohop.json s_mqc.json
    published BAM s.bam s.bam.bai s.markdup.txt s.zerohop.json s_mqc.json
    published CRAM s.cram s.cram.crai s.markdup.txt s.zerohop.json s_mqc.json
    # the stub makes no lines of depth
    local lines="s.regions.bed.gz s.regions.bed.gz.csi"; [[ $folder != stub ]] || lines=
    published PICARD s.bam s.bam.bai s.markdup.txt s.zerohop.json s_mqc.json s.bam.{stats,flagstat,idxstats} \
        s.bam.coverage.txt s.mosdepth.{summary,global.dist,region.dist}.txt $lines s.gc_bias.{detail,summary}_metrics \
        s.{alignment_summary,insert_size,quality_distribution,quality_by_cycle,base_distribution_by_cycle,hs}_metrics
    published ZEROHOP_SEARCH s.tsv s.zerohop.json
    [ "$(awk '{ print $2, $3 }' versions.txt | sort -u)" = "$(zerohop --version)" ] ||
        fail "versions: $(cat versions.txt)"
    cd ..
}

aligned() {
    protein_search
    printf 'NC_000913.3\t1000\t200000\n' > exome.bed
    run real
    same_records real/results/ZEROHOP_ALIGN/s.bam plain.bam
    same_records real/results/BAM/s.bam marked.bam --mark-duplicates --sort -R '@RG\tID:s\tSM:s'
    same_records real/results/CRAM/s.cram marked.cram --mark-duplicates --sort
    zerohop index -q --engine bwa-mem genome.fa
    same_records real/results/BWA/s.bam bwa-mem.bam --engine bwa-mem --mark-duplicates --sort
    same_records real/results/PICARD/s.bam picard.bam --mark-duplicates=picard --sort
    samtools quickcheck real/results/*/*.bam
    cmp direct.tsv real/results/ZEROHOP_SEARCH/s.tsv || fail "other hits"
    # a quarter of 2 GB
    grep -q -- '--threads 2 .*--sort-memory 512M' real/results/BAM/s.zerohop.json || fail "no --sort-memory"
    grep -q genome.fa.r150.zhi real/results/ZEROHOP_INDEX/genome_index.log || fail "an empty log"
}

stubbed() {
    run stub -stub
    [ ! -s stub/results/BAM/s.bam ] || fail "the stub has written records"
}

part linted
part aligned
part stubbed
