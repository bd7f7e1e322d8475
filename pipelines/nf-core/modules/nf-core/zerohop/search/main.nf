process ZEROHOP_SEARCH {
    tag "${meta.id}"
    label 'process_high'

    // No image that is published has zerohop, diamond and BLAST: the pipeline names one of its own.
    conda "${moduleDir}/environment.yml"

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
