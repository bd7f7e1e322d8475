#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
$namespaces:
  edam: http://edamontology.org/
label: zerohop index
doc: Makes the index of a reference for zerohop-align.cwl.

requirements:
  InitialWorkDirRequirement:
    listing:
      # the index is written beside the reference
      - $(inputs.reference)
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
  engine:
    type: string?
    doc: strobealign (the default) or bwa-mem
    inputBinding:
      prefix: --engine
  read_length:
    type: int?
    doc: Mean length of the reads, for strobealign; 150 by default
    inputBinding:
      prefix: --read-length
  extra:
    type: string[]?
    doc: More options of zerohop index, a word each
    inputBinding: {}

baseCommand: [zerohop, index]
arguments:
  - prefix: --threads
    valueFrom: $(runtime.cores)
  - position: 1
    valueFrom: $(inputs.reference.basename)

outputs:
  index:
    type: File[]
    outputBinding:
      glob: $(inputs.reference.basename).*
