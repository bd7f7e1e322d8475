#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  edam: http://edamontology.org/
label: zerohop search
doc: Searches a database in parts with diamond or BLAST.

hints:
  DockerRequirement:
    # multi-package container of zerohop, diamond and BLAST
    dockerPull:
      quay.io/biocontainers/mulled-v2-06949781aea9f7df739afecfe2e8ec97d84479b9:b3b73b925f15e40c63fa8ae89a3e7aa97b53aba3-0
  ResourceRequirement:
    coresMin: 4
    ramMin: 16000
  SoftwareRequirement:
    packages:
      - package: zerohop
        version: ["0.1.0"]
      - package: diamond
      - package: blast

inputs:
  db:
    type: Directory
    doc: Folder that zerohop db build wrote
    inputBinding:
      prefix: --db
  queries:
    type: File
    format: edam:format_1929 # FASTA
    doc: Queries in FASTA, plain or gzip
    inputBinding:
      position: 1
  output_name:
    type: string
    default: hits.tsv
    inputBinding:
      prefix: --output
  max_target_seqs:
    type: int?
    doc: Subjects to report for each query
    inputBinding:
      prefix: --max-target-seqs
  extra:
    type: string[]?
    doc: More options of zerohop search, a word each
    inputBinding: {}

baseCommand: [zerohop, search]
arguments:
  - prefix: --threads
    valueFrom: $(runtime.cores)
  - prefix: --json
    valueFrom: $(inputs.output_name).json

outputs:
  hits:
    type: File
    format: edam:format_2330 # text; its columns are those of --format
    outputBinding:
      glob: $(inputs.output_name)
  summary:
    type: File
    format: edam:format_3464 # JSON
    outputBinding:
      glob: $(inputs.output_name).json
