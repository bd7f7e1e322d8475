#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
label: zerohop align
doc: Aligns reads, and sorts them and marks duplicates in the same step.

requirements:
  InlineJavascriptRequirement: {}
  InitialWorkDirRequirement:
    listing:
      # the index is looked for beside the reference
      - $(inputs.reference)
      - $(inputs.index)
      # for the options of mosdepth
      - $(inputs.targets)
hints:
  ResourceRequirement:
    coresMin: 4
    ramMin: 16000
  SoftwareRequirement:
    packages:
      - package: zerohop
        version: ["0.1.0"]

inputs:
  reference:
    type: File
    doc: Reference in FASTA, plain or gzip
  index:
    type: File[]?
    doc: Files that zerohop-index.cwl made; without them an index is made in memory
  reads:
    type: File[]
    doc: One file of single reads, two of mates, or one of BAM, SAM or CRAM
    inputBinding:
      position: 2
  sample:
    type: string
    doc: Name of the sample, and of the files
    inputBinding:
      prefix: --sample
  format:
    type:
      type: enum
      symbols: [bam, cram, sam]
    default: bam
  sort:
    type: boolean
    default: false
    doc: Sort by coordinate
  mark_duplicates:
    type: boolean
    default: false
    doc: Sort by coordinate and mark duplicates
  qc:
    type: boolean
    default: false
    doc: Sort by coordinate, and write what samtools stats, flagstat, idxstats and coverage and mosdepth say
  mosdepth:
    type: string?
    doc: |
      Options of mosdepth for qc, in one word; those of nf-core/sarek by default. The file of targets is named without
      its folder.
    inputBinding:
      prefix: --mosdepth
  picard_metrics:
    type: boolean
    default: false
    doc: With qc, also write what Picard's CollectMultipleMetrics, CollectGcBiasMetrics and CollectWgsMetrics say
    inputBinding:
      prefix: --picard-metrics
  targets:
    type: File?
    doc: |
      Regions that were enriched, in BED or as an interval list, for picard_metrics: CollectHsMetrics in place of
      CollectWgsMetrics
    inputBinding:
      prefix: --targets
  baits:
    type: File?
    doc: Regions of the probes, if they are others
    inputBinding:
      prefix: --baits
  read_group:
    type: string?
    doc: Read group, as in '@RG\tID:x\tSM:y'
    inputBinding:
      prefix: --read-group
  engine:
    type: string?
    doc: Aligner, such as bwa-mem; strobealign by default
    inputBinding:
      prefix: --engine
  extra:
    type: string[]?
    doc: More options of zerohop align, a word each
    inputBinding: {}

baseCommand: [zerohop, align]
arguments:
  - prefix: --threads
    valueFrom: $(runtime.cores)
  # A quarter of the memory is for records; the index and the reads take the rest.
  - valueFrom: |
      ${
        if (!inputs.sort && !inputs.mark_duplicates && !inputs.qc) return null;
        var sorting = ["--sort", "--sort-memory", Math.floor(runtime.ram / 4) + "M", "--tmp-dir", runtime.tmpdir];
        if (inputs.mark_duplicates)
          sorting.push("--mark-duplicates", "--duplicate-metrics", inputs.sample + ".markdup.txt");
        if (inputs.qc)
          sorting.push("--qc");
        return sorting;
      }
  - prefix: --json
    valueFrom: $(inputs.sample).json
  - prefix: --mqc
    valueFrom: $(inputs.sample)_mqc.json
  - prefix: --output
    valueFrom: $(inputs.sample).$(inputs.format)
  - position: 1
    valueFrom: $(inputs.reference.basename)

outputs:
  alignments:
    type: File
    doc: With the index of a sorted BAM or CRAM file beside it
    secondaryFiles: [.bai?, .csi?, .crai?]
    outputBinding:
      glob: $(inputs.sample).$(inputs.format)
  summary:
    type: File
    outputBinding:
      glob: $(inputs.sample).json
  multiqc:
    type: File
    outputBinding:
      glob: $(inputs.sample)_mqc.json
  metrics:
    type: File?
    doc: Duplicates of each library, as Picard writes them
    outputBinding:
      glob: $(inputs.sample).markdup.txt
  reports:
    type: File[]
    doc: What samtools stats, flagstat, idxstats and coverage, mosdepth and Picard say
    outputBinding:
      glob:
        - $(inputs.sample).$(inputs.format).stats
        - $(inputs.sample).$(inputs.format).flagstat
        - $(inputs.sample).$(inputs.format).idxstats
        - $(inputs.sample).$(inputs.format).coverage.txt
        - $(inputs.sample).mosdepth.*.txt
        - $(inputs.sample).*_metrics
  depth:
    type: File[]
    doc: Depth of regions and places, in BED
    secondaryFiles: .csi
    outputBinding:
      glob: $(inputs.sample).*.bed.gz
