#!/bin/bash
# The nf-core modules: nf-core's linter, and Nextflow, which aligns real reads, of several lanes, too, and searches
# proteins with them. The records are those of the program run directly.
#
# The linter wants nf-core/modules from GitHub. NF_CORE_MODULES=FOLDER names a clone of it, with a branch master.
# Without one the linter gets a stand-in whose schemas allow everything: then meta_yml_valid and environment_yml_valid
# say nothing. bioconda_version (a warning) asks anaconda.org for packages that are not there yet; docker_tag and
# singularity_tag need Nextflow 25.04.4, and Maven Central has 24.10.0.
#
# nf-test and its plugin for BAM are on no registry: NF_TEST=nf-test.jar and NFT_BAM=nft-bam.jar, which Maven makes of
# their sources, run tests/main.nf.test of the modules, on reads of SARS-CoV-2 in place of nf-core's, and compare with
# the snapshots. Not tested: conda and containers, which exist when zerohop is on Bioconda.
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

# what the linter has to say of the modules is a line COMPONENT CHECK in findings
lint() {
    (cd modules && XDG_CONFIG_HOME=$WORK/config NFCORE_NO_VERSION_CHECK=1 COLUMNS=400 \
        GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="url.file://$nf_core_modules.insteadOf" \
        GIT_CONFIG_VALUE_0=https://github.com/nf-core/modules.git \
        nf-core --hide-progress modules lint --all --plain-text --dir .) > lint.log 2>&1 || true
    grep -q '[1-9][0-9]* Tests* Passed' lint.log || { cat lint.log >&2; fail "the linter did not finish"; }
    grep -oE '^[a-z_]+(/[a-z]+)? [a-z_]+$' lint.log > findings || true
}

linted() {
    local nf_core_modules=${NF_CORE_MODULES-} schema
    repository modules
    committed modules
    if [ -z "$nf_core_modules" ]; then
        skip_part "no NF_CORE_MODULES (a clone of nf-core/modules): the linter has no schemas"
        nf_core_modules=$WORK/stand-in
        repository stand-in
        for schema in modules/meta-schema modules/environment-schema; do
            echo '{}' > "stand-in/$schema.json"
        done
        committed stand-in
    fi
    lint
    ! grep -vE ' (bioconda_version|docker_tag|singularity_tag)$' findings ||
        { cat lint.log >&2; fail "the linter is not content"; }
}

# nf-test, with reads at the places where nf-core's lie
nf_tests() {
    local data=$WORK/nf-test/data/genomics/sarscov2 mate
    [ -e "${NF_TEST-}" ] && [ -e "${NFT_BAM-}" ] || { skip_part "no NF_TEST and NFT_BAM (jars of nf-test)"; return 0; }
    mkdir -p "$data/genome" "$data/illumina/fastq"
    cp -r "$PIPELINES/nf-core/modules" nf-test/
    cp "$DATA/viral/NC_045512.2.fasta" "$data/genome/genome.fasta"
    cp "$DATA/protein/queries.faa" "$data/genome/proteome.fasta"
    for mate in 1 2; do
        gzip -cd "$DATA/viral/sarscov2_251_$mate.fq.gz" | awk 'NR <= 400' | gzip \
            > "$data/illumina/fastq/test_$mate.fastq.gz"
    done
    cat > nf-test/nextflow.config << END
params.modules_testdata_base_path = '$WORK/nf-test/data/'
nextflow.preview.topic = true
process { cpus = 2; memory = '2.GB' }
END
    cat > nf-test/nf-test.config << END
config {
    testsDir = '.'
    workDir = '.nf-test'
    configFile = 'nextflow.config'
    plugins { loadFromFile '$NFT_BAM' }
}
END
    (cd nf-test && quietly java -jar "$NF_TEST" test --ci modules)
}

# The workflow, with one name for each way to run a process
workflow() {
    local modules=$PIPELINES/nf-core/modules/nf-core/zerohop
    cat << END
nextflow.preview.topic = true
include { ZEROHOP_INDEX; ZEROHOP_INDEX as BWA_INDEX } from '$modules/index/main'
include { ZEROHOP_ALIGN; ZEROHOP_ALIGN as MARKED; ZEROHOP_ALIGN as CRAM } from '$modules/align/main'
include { ZEROHOP_ALIGN as BWA; ZEROHOP_ALIGN as PICARD } from '$modules/align/main'
include { ZEROHOP_ALIGN as LANES; ZEROHOP_ALIGN as SINGLE } from '$modules/align/main'
include { ZEROHOP_SEARCH } from '$modules/search/main'

workflow {
    genome = Channel.value([ [ id:'genome' ], file('$WORK/genome.fa') ])
    none = Channel.value([ [:], [], [] ])
    // the probes are the regions themselves
    exome = Channel.value([ [ id:'exome' ], file('$WORK/exome.bed'), file('$WORK/exome.bed') ])
    sample = Channel.of([ [ id:'s' ], [ file('${reads[0]}'), file('${reads[1]}') ] ])
    // other lanes, whose files have the same names
    lanes = Channel.of([ [ id:'s', single_end:false ], [ file('${reads[0]}'), file('${reads[1]}'),
        file('$WORK/lane2/${reads[0]##*/}'), file('$WORK/lane2/${reads[1]##*/}') ] ])
    single = Channel.of([ [ id:'s', single_end:true ], [ file('${reads[0]}'), file('$WORK/lane2/${reads[0]##*/}') ] ])
    ZEROHOP_INDEX(genome)
    index = ZEROHOP_INDEX.out.index
    // the index has the reference, too
    ZEROHOP_ALIGN(sample, [ [:], [] ], index, none, 'bam', false, false)
    MARKED(sample, genome, index, none, 'bam', true, true)
    // an index in memory
    CRAM(sample, genome, [ [:], [] ], none, 'cram', true, true)
    BWA_INDEX(genome)
    BWA(sample, genome, BWA_INDEX.out.index, none, 'bam', true, true)
    PICARD(sample, genome, index, exome, 'bam', true, true)
    LANES(lanes, genome, index, none, 'bam', true, true)
    SINGLE(single, genome, index, none, 'sam', false, false)
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
    publishDir = [ path: { "results/${task.process}" }, mode: 'copy' ]
    withName: 'BWA_INDEX|BWA' { ext.args = '--engine bwa-mem' }
    withName: 'PICARD' {
        ext.args = '--mark-duplicates=picard --qc --picard-metrics --mosdepth "-n -b exome.bed"'
    }
    withName: 'MARKED' { ext.args = { "-R '@RG\\tID:${meta.id}\\tSM:${meta.id}'" } }
    // a read group for each lane
    withName: 'LANES' { ext.args = { [1, 2].collect { lane -> "-R '@RG\\tID:${lane}\\tSM:${meta.id}'" }.join(' ') } }
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
    published BWA_INDEX genome.fa.{amb,ann,bwa-mem.digests,bwt.2bit.64,pac} genome_index.log
    published ZEROHOP_ALIGN s.bam s.zerohop.json s_mqc.json
    published SINGLE s.sam s.zerohop.json s_mqc.json
    for file in MARKED BWA LANES; do
        published $file s.bam s.bam.bai s.markdup.txt s.zerohop.json s_mqc.json
    done
    published CRAM s.cram s.cram.crai s.markdup.txt s.zerohop.json s_mqc.json
    published PICARD s.bam s.bam.bai s.markdup.txt s.zerohop.json s_mqc.json \
        s.bam.{stats,flagstat,idxstats,coverage.txt} s.mosdepth.{summary,global.dist,region.dist}.txt \
        s.regions.bed.gz{,.csi} s.gc_bias.{detail,summary}_metrics \
        s.{alignment_summary,insert_size,quality_distribution,quality_by_cycle,base_distribution_by_cycle,hs}_metrics
    published ZEROHOP_SEARCH s.tsv s.zerohop.json
    [ "$(awk '{ print $2 }' versions.txt | sort -u | xargs)" = "blast bwa-mem3 diamond strobealign zerohop" ] &&
        ! awk 'NF != 3 || $3 !~ /^[0-9]+(\.[0-9]+)+/' versions.txt | grep . &&
        [ "$(awk '$2 == "zerohop" { print $2, $3 }' versions.txt | sort -u)" = "$(zerohop --version)" ] ||
        fail "versions: $(cat versions.txt)"
    cd ..
}

aligned() {
    protein_search
    printf 'NC_000913.3\t1000\t200000\n' > exome.bed
    mkdir lane2
    cp "${reads[@]}" lane2/
    run real
    same_records real/results/ZEROHOP_ALIGN/s.bam plain.bam
    same_records real/results/MARKED/s.bam marked.bam --mark-duplicates --sort -R '@RG\tID:s\tSM:s'
    same_records real/results/CRAM/s.cram marked.cram --mark-duplicates --sort
    zerohop index -q --engine bwa-mem genome.fa
    same_records real/results/BWA/s.bam bwa-mem.bam --engine bwa-mem --mark-duplicates --sort
    same_records real/results/PICARD/s.bam picard.bam --mark-duplicates=picard --sort
    zerohop align -q -t 2 --mark-duplicates --sort -R '@RG\tID:1\tSM:s' -R '@RG\tID:2\tSM:s' -o direct/lanes.bam \
        genome.fa --reads "${reads[@]}" --reads lane2/*
    same_records real/results/LANES/s.bam lanes.bam
    # each pair of the second lane is a duplicate of one of the first
    [ "$(samtools view -c -f 1024 real/results/LANES/s.bam)" -ge 18000 ] || fail "no duplicates across lanes"
    zerohop align -q -t 2 -o direct/single.sam genome.fa --reads "${reads[0]}" --reads "${reads[0]}"
    same_records real/results/SINGLE/s.sam single.sam
    samtools quickcheck real/results/*/*.bam
    cmp direct.tsv real/results/ZEROHOP_SEARCH/s.tsv || fail "other hits"
    # a quarter of 2 GB
    grep -q -- '--threads 2 .*--sort-memory 512M' real/results/MARKED/s.zerohop.json || fail "no --sort-memory"
    grep -q genome.fa.r150.zhi real/results/ZEROHOP_INDEX/genome_index.log || fail "an empty log"
}

stubbed() {
    run stub -stub
    [ ! -s stub/results/MARKED/s.bam ] || fail "the stub has written records"
}

# Three files are no lanes of mates.
refused() {
    mkdir refused
    cat > refused/main.nf << END
nextflow.preview.topic = true
include { ZEROHOP_ALIGN } from '$PIPELINES/nf-core/modules/nf-core/zerohop/align/main'
workflow {
    lanes = [ file('${reads[0]}'), file('${reads[1]}'), file('${reads[0]}') ]
    genome = [ [:], file('$WORK/genome.fa') ]
    ZEROHOP_ALIGN([ [ id:'s' ], lanes ], genome, [ [:], [] ], [ [:], [], [] ], 'bam', false, false)
}
END
    ! (cd refused && nextflow run main.nf) > refused.log 2>&1 || fail "three files of mates went through"
    grep -q '3 files of mates for s: each lane has two' refused.log || { cat refused.log >&2; fail "other words"; }
}

part linted
part nf_tests
part aligned
part stubbed
part refused
