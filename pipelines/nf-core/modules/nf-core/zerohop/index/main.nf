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
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${fasta}.r150.zhi ${prefix}_index.log
    """
}
