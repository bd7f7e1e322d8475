process ZEROHOP_SEARCH {
    tag "${meta.id}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/zerohop:0.1.0--0'
        : 'quay.io/biocontainers/zerohop:0.1.0--0'}"

    input:
    tuple val(meta), path(queries)
    tuple val(meta2), path(db)

    output:
    tuple val(meta), path("*.tsv"), emit: hits
    tuple val(meta), path("*.zerohop.json"), emit: json
    tuple val("${task.process}"), val('zerohop'), eval("zerohop -V | cut -c9-"), topic: versions, emit: versions_zerohop

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    zerohop search \\
        ${args} \\
        --threads ${task.cpus} \\
        --db ${db} \\
        --json ${prefix}.zerohop.json \\
        --output ${prefix}.tsv \\
        ${queries}
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.tsv ${prefix}.zerohop.json
    """
}
