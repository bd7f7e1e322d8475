include { ZEROHOP_ALIGN } from '../../../modules/nf-core/zerohop/align/main'

workflow FASTQ_ALIGN_DEDUP_ZEROHOP {
    take:
    ch_reads   // channel: [ val(meta), [ reads ] ]
    ch_fasta   // channel: [ val(meta2), fasta ]
    ch_index   // channel: [ val(meta3), [ index ] ], or [ [:], [] ]: made in memory
    ch_targets // channel: [ val(meta4), targets, baits ], or [ [:], [], [] ]
    format     // string: bam or cram

    main:
    ZEROHOP_ALIGN(ch_reads, ch_fasta, ch_index, ch_targets, format, true, true)

    // one of both is empty
    ch_alignments = ZEROHOP_ALIGN.out.bam.mix(ZEROHOP_ALIGN.out.cram)
    ch_indexes = ZEROHOP_ALIGN.out.bai.mix(ZEROHOP_ALIGN.out.csi, ZEROHOP_ALIGN.out.crai)

    emit:
    alignments = ch_alignments              // channel: [ val(meta), bam or cram ]
    indexes    = ch_indexes                 // channel: [ val(meta), bai, csi or crai ]
    metrics    = ZEROHOP_ALIGN.out.metrics  // channel: [ val(meta), txt ]
    // with ext.args = '--qc'
    stats      = ZEROHOP_ALIGN.out.stats    // channel: [ val(meta), stats ]
    flagstat   = ZEROHOP_ALIGN.out.flagstat // channel: [ val(meta), flagstat ]
    idxstats   = ZEROHOP_ALIGN.out.idxstats // channel: [ val(meta), idxstats ]
    coverage   = ZEROHOP_ALIGN.out.coverage // channel: [ val(meta), txt ]
    mosdepth   = ZEROHOP_ALIGN.out.mosdepth // channel: [ val(meta), [ txt ] ]
    bed        = ZEROHOP_ALIGN.out.bed      // channel: [ val(meta), [ bed.gz ] ]
    // with ext.args = '--qc --picard-metrics'
    picard     = ZEROHOP_ALIGN.out.picard   // channel: [ val(meta), [ metrics ] ]
    json       = ZEROHOP_ALIGN.out.json     // channel: [ val(meta), json ]
    multiqc    = ZEROHOP_ALIGN.out.multiqc  // channel: [ val(meta), json ]
}
