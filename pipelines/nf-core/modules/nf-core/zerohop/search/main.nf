process ZEROHOP_SEARCH {
    tag "${meta.id}"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/mulled-v2-06949781aea9f7df739afecfe2e8ec97d84479b9:b3b73b925f15e40c63fa8ae89a3e7aa97b53aba3-0'
        : 'quay.io/biocontainers/mulled-v2-06949781aea9f7df739afecfe2e8ec97d84479b9:b3b73b925f15e40c63fa8ae89a3e7aa97b53aba3-0'}"

    input:
    tuple val(meta), path(queries)
    tuple val(meta2), path(db)

    output:
    tuple val(meta), path("*.tsv"), emit: hits
    tuple val(meta), path("*.zerohop.json"), emit: json
    tuple val("${task.process}"), val('zerohop'), eval("zerohop -V | cut -c9-"), topic: versions, emit: versions_zerohop
    tuple val("${task.process}"), val('diamond'), eval("diamond version | cut -d ' ' -f 3"), topic: versions, emit: versions_diamond
    tuple val("${task.process}"), val('blast'), eval("blastp -version | head -n 1 | cut -d ' ' -f 2"), topic: versions, emit: versions_blast

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
