process ZEROHOP_INDEX {
    tag "${fasta}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/zerohop:0.1.0--0'
        : 'quay.io/biocontainers/zerohop:0.1.0--0'}"

    input:
    tuple val(meta), path(fasta)

    output:
    tuple val(meta), path("${fasta}.*"), emit: index
    tuple val(meta), path("*_index.log"), emit: log
    tuple val("${task.process}"), val('zerohop'), eval("zerohop -V | cut -c9-"), topic: versions, emit: versions_zerohop
    tuple val("${task.process}"), val('strobealign'), eval("zerohop engines | grep '^strobealign ' | tr -s ' ' | cut -d ' ' -f 2"), topic: versions, emit: versions_strobealign
    tuple val("${task.process}"), val('bwa-mem3'), eval("zerohop engines | grep '^bwa-mem ' | tr -s ' ' | cut -d ' ' -f 2"), topic: versions, emit: versions_bwamem3

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    zerohop index \\
        ${args} \\
        --threads ${task.cpus} \\
        ${fasta} \\
        2> ${prefix}_index.log || { status=\$?; cat ${prefix}_index.log >&2; exit \$status; }
    """

    stub:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    // An index of strobealign is for a range of lengths, and its file is named after one of them.
    def asked = args =~ /(?:^|\s)(?:-r|--read-length)[ =]?(\d+)/
    def length = asked ? asked[0][1].toInteger() : 150
    def ranges = [[70, 50], [90, 75], [110, 100], [135, 125], [175, 150], [375, 250], [length, 400]]
    def name = ranges.find { range -> length <= range[0] }[1]
    def suffixes = args =~ /--engine[ =]bwa-mem/
        ? ['amb', 'ann', 'bwa-mem.digests', 'bwt.2bit.64', 'pac']
        : ["r${name}.zhi"]
    def files = suffixes.collect { suffix -> "${fasta}.${suffix}" }.join(' ')
    """
    touch ${files} ${prefix}_index.log
    """
}
