process ZEROHOP_ALIGN {
    tag "${meta.id}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/zerohop:0.1.0--0'
        : 'quay.io/biocontainers/zerohop:0.1.0--0'}"

    input:
    tuple val(meta), path(reads, stageAs: "input*/*")
    tuple val(meta2), path(fasta)
    tuple val(meta3), path(index)
    tuple val(meta4), path(targets), path(baits, stageAs: 'baits/*')
    val format
    val sort
    val mark_duplicates

    output:
    tuple val(meta), path("*.bam"), emit: bam, optional: true
    tuple val(meta), path("*.cram"), emit: cram, optional: true
    tuple val(meta), path("*.sam"), emit: sam, optional: true
    tuple val(meta), path("*.bai"), emit: bai, optional: true
    tuple val(meta), path("*.bam.csi"), emit: csi, optional: true
    tuple val(meta), path("*.crai"), emit: crai, optional: true
    tuple val(meta), path("*.markdup.txt"), emit: metrics, optional: true
    // what ext.args = '--qc' adds
    tuple val(meta), path("*.stats"), emit: stats, optional: true
    tuple val(meta), path("*.flagstat"), emit: flagstat, optional: true
    tuple val(meta), path("*.idxstats"), emit: idxstats, optional: true
    tuple val(meta), path("*.coverage.txt"), emit: coverage, optional: true
    tuple val(meta), path("*.mosdepth.*.txt"), emit: mosdepth, optional: true
    tuple val(meta), path("*.bed.gz"), emit: bed, optional: true
    tuple val(meta), path("*.bed.gz.csi"), emit: bed_csi, optional: true
    // what ext.args = '--qc --picard-metrics' adds
    tuple val(meta), path("*_metrics"), emit: picard, optional: true
    // what ext.args = '--trim' adds, and, named *.fastq.gz, --save-trimmed and --save-failed
    tuple val(meta), path("*.fastp.json"), emit: fastp, optional: true
    tuple val(meta), path("*.fastq.gz"), emit: reads, optional: true
    // what ext.args = '--umi adjacency' adds
    tuple val(meta), path("*.{family_sizes,grouping_metrics}.txt"), emit: umis, optional: true
    tuple val(meta), path("*.zerohop.json"), emit: json
    tuple val(meta), path("*_mqc.json"), emit: multiqc
    tuple val("${task.process}"), val('zerohop'), eval("zerohop -V | cut -c9-"), topic: versions, emit: versions_zerohop
    tuple val("${task.process}"), val('strobealign'), eval("zerohop engines | grep '^strobealign ' | tr -s ' ' | cut -d ' ' -f 2"), topic: versions, emit: versions_strobealign
    tuple val("${task.process}"), val('bwa-mem3'), eval("zerohop engines | grep '^bwa-mem ' | tr -s ' ' | cut -d ' ' -f 2"), topic: versions, emit: versions_bwamem3

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    // All lanes of the sample: one file each of single reads, of interleaved mates, or of BAM, SAM or CRAM, else two
    def files = [reads].flatten()
    def single = meta.single_end || files.size() == 1 || args =~ /(^|\s)(-p|--interleaved)(\s|$)/ ||
        files.every { file -> file.name ==~ /.*\.(bam|cram|sam)/ }
    if (!single && files.size() % 2) {
        error("ZEROHOP_ALIGN: ${files.size()} files of mates for ${meta.id}: each lane has two, one after the other")
    }
    def lanes = files.collate(single ? 1 : 2).collect { lane -> "--reads ${lane.join(' ')}" }.join(' ')
    if (!(format in ['bam', 'cram', 'sam'])) {
        error("ZEROHOP_ALIGN: format is bam, cram or sam, not '${format}'")
    }
    // An index of strobealign holds the reference, too.
    def reference = fasta ?: index
    def sorting = sort || mark_duplicates ? '--sort' : ''
    // ext.args may choose the rules: --mark-duplicates=picard
    def marking = mark_duplicates && !args.contains('--mark-duplicates') ? '--mark-duplicates' : ''
    def duplicates = mark_duplicates ? "--duplicate-metrics ${prefix}.markdup.txt" : ''
    // CRAM names the reference, not the task's folder: the same bytes come out of each.
    def uri = format == 'cram' && !args.contains('--reference-uri') ? "--reference-uri ${reference.name}" : ''
    // A quarter of the task's memory is for records; the index and the reads take the rest.
    def memory = sorting && task.memory && !args.contains('--sort-memory')
        ? "--sort-memory ${task.memory.toMega().intdiv(4)}M"
        : ''
    // The regions are there for --mosdepth, too.
    def regions = args.contains('--picard-metrics')
        ? [targets ? "--targets ${targets}" : '', baits ? "--baits ${baits}" : ''].join(' ')
        : ''
    def trimming = args =~ /(^|\s)--trim(\s|$)/ && !args.contains('--fastp-json')
        ? "--fastp-json ${prefix}.fastp.json"
        : ''
    def umis = args =~ /(^|\s)--umi[\s=]/ && !args.contains('--umi-metrics') ? "--umi-metrics ${prefix}" : ''
    """
    zerohop align \\
        ${args} \\
        --threads ${task.cpus} \\
        ${sorting} ${marking} ${duplicates} ${memory} ${regions} ${uri} ${trimming} ${umis} \\
        --sample ${meta.id} \\
        --json ${prefix}.zerohop.json \\
        --mqc ${prefix}_mqc.json \\
        --output ${prefix}.${format} \\
        ${reference} \\
        ${lanes}
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    def sorted_index = (sort || mark_duplicates) && format != 'sam'
        ? "${prefix}.${format}.${format == 'cram' ? 'crai' : 'bai'}"
        : ''
    def metrics = mark_duplicates ? "${prefix}.markdup.txt" : ''
    def args = task.ext.args ?: ''
    def of_tools = ["${format}.stats", "${format}.flagstat", "${format}.idxstats", "${format}.coverage.txt",
        'mosdepth.summary.txt', 'mosdepth.global.dist.txt', 'mosdepth.region.dist.txt', 'regions.bed.gz.csi']
    def of_picard = ['alignment_summary', 'insert_size', 'quality_distribution', 'quality_by_cycle',
        'base_distribution_by_cycle', 'gc_bias.detail', 'gc_bias.summary', targets ? 'hs' : 'wgs']
    def suffixes = (args.contains('--qc') ? of_tools : []) +
        (args.contains('--picard-metrics') ? of_picard.collect { name -> "${name}_metrics" } : [])
    def of_reads = (args =~ /(^|\s)--trim(\s|$)/ ? ['fastp.json'] : []) +
        (args =~ /(^|\s)--umi[\s=]/ ? ['family_sizes.txt', 'grouping_metrics.txt'] : [])
    def reports = (suffixes + of_reads).collect { suffix -> "${prefix}.${suffix}" }.join(' ')
    def regions = args.contains('--qc') ? "echo \"\" | gzip > ${prefix}.regions.bed.gz" : ''
    """
    touch ${prefix}.${format} ${prefix}.zerohop.json ${prefix}_mqc.json ${sorted_index} ${metrics} ${reports}
    ${regions}
    """
}
