#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  edam: http://edamontology.org/
label: zerohop align
doc: Aligns reads, and sorts them and marks duplicates in the same step.

requirements:
  InlineJavascriptRequirement:
    expressionLib:
      - |
        function formatOf(name) {
          var formats = {bam: "format_2572", cram: "format_3462", sam: "format_2573"};
          return "http://edamontology.org/" + formats[name];
        }
  InitialWorkDirRequirement:
    listing:
      # the index is looked for beside the reference
      - $(inputs.reference)
      - $(inputs.index)
      # for the options of mosdepth
      - $(inputs.targets)
hints:
  DockerRequirement:
    dockerPull: quay.io/biocontainers/zerohop:0.1.0--0
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
    format: edam:format_1929 # FASTA
    doc: Reference in FASTA, plain or gzip
  index:
    type: File[]?
    doc: Files that zerohop-index.cwl made; without them an index is made in memory
  reads:
    type: File[]
    format:
      - edam:format_1930 # FASTQ
      - edam:format_1929 # FASTA
      - edam:format_2572 # BAM
      - edam:format_2573 # SAM
      - edam:format_3462 # CRAM
    doc: |
      One file of single reads, two of mates, or one of BAM, SAM or CRAM. Of a sample with several lanes the files of
      all, one lane after the other.
  single:
    type: boolean
    default: false
    doc: |
      Each of several files is a lane: of single reads, or of mates that follow one another. That of BAM, SAM or CRAM
      always is.
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
    format: [edam:format_3003, edam:format_2330] # BED, or text: interval lists have no format in EDAM
    doc: |
      Regions that were enriched, in BED or as an interval list, for picard_metrics: CollectHsMetrics in place of
      CollectWgsMetrics
    inputBinding:
      prefix: --targets
  baits:
    type: File?
    format: [edam:format_3003, edam:format_2330]
    doc: Regions of the probes, if they are others
    inputBinding:
      prefix: --baits
  trim:
    type: boolean
    default: false
    doc: Trim reads, and drop bad ones, as fastp does, and write its report
    inputBinding:
      prefix: --trim
  trim_args:
    type: string?
    doc: Options of fastp for trim, in one word
    inputBinding:
      prefix: --trim-args
  umi:
    type: string?
    doc: Duplicates by molecule, such as adjacency or paired:1, with mark_duplicates; and the sizes of their families
    inputBinding:
      prefix: --umi
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
  # CRAM names the reference, not the folder of the job: the same bytes come out of each.
  - valueFrom: |
      ${ return inputs.format == "cram" ? ["--reference-uri", inputs.reference.basename] : null; }
  - valueFrom: |
      ${ return inputs.trim ? ["--fastp-json", inputs.sample + ".fastp.json"] : null; }
  - valueFrom: |
      ${ return inputs.umi ? ["--umi-metrics", inputs.sample] : null; }
  - prefix: --json
    valueFrom: $(inputs.sample).json
  - prefix: --mqc
    valueFrom: $(inputs.sample)_mqc.json
  - prefix: --output
    valueFrom: $(inputs.sample).$(inputs.format)
  - position: 1
    valueFrom: $(inputs.reference.basename)
  - position: 2
    valueFrom: |
      ${
        var isRecords = function (file) { return /\.(bam|sam|cram)$/.test(file.basename); };
        var files = inputs.reads;
        var ofLane = inputs.single || files.length == 1 || files.every(isRecords) ? 1 : 2;
        if (files.length % ofLane)
          throw files.length + " files of mates: each lane has two, one after the other";
        var lanes = [];
        for (var i = 0; i < files.length; i += ofLane)
          lanes = lanes.concat("--reads", files.slice(i, i + ofLane).map(function (file) { return file.path; }));
        return lanes;
      }

outputs:
  alignments:
    type: File
    format: $(formatOf(inputs.format))
    doc: With the index of a sorted BAM or CRAM file beside it
    secondaryFiles: [.bai?, .csi?, .crai?]
    outputBinding:
      glob: $(inputs.sample).$(inputs.format)
  summary:
    type: File
    format: edam:format_3464 # JSON
    outputBinding:
      glob: $(inputs.sample).json
  multiqc:
    type: File
    format: edam:format_3464
    outputBinding:
      glob: $(inputs.sample)_mqc.json
  metrics:
    type: File?
    format: edam:format_2330 # text
    doc: Duplicates of each library, as Picard writes them
    outputBinding:
      glob: $(inputs.sample).markdup.txt
  fastp:
    type: File?
    format: edam:format_3464
    doc: fastp's report of the reads before and after trimming
    outputBinding:
      glob: $(inputs.sample).fastp.json
  molecules:
    type: File[]
    format: edam:format_2330
    doc: Sizes of UMI families, and why reads were left out, as fgbio writes them
    outputBinding:
      glob:
        - $(inputs.sample).family_sizes.txt
        - $(inputs.sample).grouping_metrics.txt
  saved_reads:
    type: File[]
    format: edam:format_1930 # FASTQ
    doc: What --save-trimmed and --save-failed in extra name so, after the sample
    outputBinding:
      glob: $(inputs.sample).*.fastq.gz
  reports:
    type: File[]
    format: edam:format_2330
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
    format: edam:format_3003 # BED
    doc: Depth of regions and places, in BED
    secondaryFiles: .csi
    outputBinding:
      glob: $(inputs.sample).*.bed.gz
