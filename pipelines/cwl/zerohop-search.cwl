#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
label: zerohop search
doc: Searches a database in parts with diamond or BLAST.

hints:
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
    outputBinding:
      glob: $(inputs.output_name)
  summary:
    type: File
    outputBinding:
      glob: $(inputs.output_name).json
