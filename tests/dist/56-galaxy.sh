#!/bin/bash
# The Galaxy tool: planemo's linters, and the command that Galaxy's templates make of it, run by bash on real reads. The
# records are those of the program run directly, and on the tool's own test data those that its tests expect.
#
# Not tested: the tool's own <tests> in a Galaxy server, which planemo loads from GitHub; that conda finds zerohop,
# which is not on Bioconda yet. The linters would ask bio.tools and the Tool Shed: BioToolsValid and version_bumped are
# left out.
source "$(dirname "$0")/pipeline.sh"
needs planemo/bin/planemo
tool=$PIPELINES/galaxy/zerohop_align.xml

HOME=$WORK "$ROOT/.tools/planemo/bin/planemo" shed_lint --tools --ensure_metadata --fail_level warn \
    --skip BioToolsValid,version_bumped "$PIPELINES/galaxy" > lint.log 2>&1 ||
    { cat lint.log >&2; fail "planemo is not content"; }
grep -q 'TestsNoValid): 4 test' lint.log || { cat lint.log >&2; fail "planemo has not read the tests of the tool"; }

# galaxy FOLDER VALUES: runs the command of the tool in FOLDER, with these values (Python) in place of the defaults, on
# the files of the shell's genome and reads
galaxy() {
    mkdir "$1"
    cd "$1"
    # Galaxy makes the files of the outputs, empty, before it starts the job
    touch alignments.dat metrics.dat summary.dat multiqc.dat
    "$ROOT/.tools/planemo/bin/python" - "$tool" "$genome" "${reads[@]}" "$2" << 'PYTHON' > command.sh
import os, sys
from galaxy.tool_util.parser import get_tool_source
from galaxy.util.template import fill_template

class Dataset(str):
    element_identifier = property(os.path.basename)

tool, genome, first, second, other = sys.argv[1:]
fasta, forward, reverse = Dataset(genome), Dataset(first), Dataset(second)
values = {
    'reference': {'source': 'history', 'fasta': fasta},
    'input': {'type': 'paired', 'forward': forward, 'reverse': reverse},
    'engine': 'strobealign',
    'records': {'order': 'coordinate', 'duplicates': 'samtools', 'qc': False, 'mosdepth': '', 'targets': None},
    'format': 'bam',
    'read_group': {'set': 'no'},
    **{name: f'{name}.dat' for name in ('alignments', 'metrics', 'summary', 'multiqc')},
    **eval(other),
}
command = fill_template(get_tool_source(tool).parse_command(), context=values, python_template_version='3.7')
# as Galaxy does
print(command.replace('\n', ' ').strip())
PYTHON
    quietly env GALAXY_SLOTS=2 GALAXY_MEMORY_MB=2048 bash -eu command.sh
    cd ..
}

genome=$WORK/genome.fa
galaxy marked "{'read_group': {'set': 'yes', 'sample': 's', 'library': 'l', 'platform': 'ILLUMINA'}}"
same_records marked/alignments.dat marked.bam --sort --mark-duplicates -R '@RG\tID:s\tSM:s\tLB:l\tPL:ILLUMINA'
grep -q READ_PAIR_DUPLICATES marked/metrics.dat || fail "no counts of duplicates"
grep -q -- '--threads 2 --sort --sort-memory 512M' marked/summary.dat || fail "resources are not passed"
grep -q ecoli_150_1.fq.gz marked/multiqc.dat || fail "the name of the sample is missing"

galaxy single "{'input': {'type': 'single', 'reads': forward}, 'records': {'order': 'input'}}"
zerohop align -q -t 2 -o direct/single.bam genome.fa "${reads[0]}"
same_records single/alignments.dat single.bam
[ ! -s single/metrics.dat ] || fail "counts of duplicates that were not looked for"

printf 'NC_000913.3\t1000\t200000\n' > regions.bed
galaxy cram "{'format': 'cram', 'records': {'order': 'coordinate', 'duplicates': 'none', 'qc': True,
        'mosdepth': '--fast-mode --by targets', 'picard_metrics': True, 'targets': '$WORK/regions.bed',
        'baits': None},
    'input': {'type': 'collection', 'pair': type('Pair', (), {'forward': forward, 'reverse': reverse,
        'element_identifier': 'a name'})}}"
same_records cram/alignments.dat sorted.cram --sort
[ "$(cat cram/qc.flagstat)" = "$(samtools flagstat cram/alignments.dat)" ] &&
    [ "$(gzip -cd cram/qc.regions.bed.gz | cut -f 3)" = 200000 ] && grep -q HsMetrics cram/qc.hs_metrics ||
    fail "reports: $(ls cram | xargs)"
grep -q a_name cram/multiqc.dat || fail "the name of the collection is missing"

# of this server, with the index beside it, and the other engine
zerohop index -q --engine bwa-mem genome.fa
galaxy cached "{'engine': 'bwa-mem', 'reference': {'source': 'cached',
    'index': type('Option', (), {'fields': type('Fields', (), {'path': genome})})}}"
same_records cached/alignments.dat bwa-mem.bam --engine bwa-mem --sort --mark-duplicates

# as_expected FOLDER FILE FTYPE: what Galaxy compares in the tool's own tests
as_expected() {
    "$ROOT/.tools/planemo/bin/python" - "$1/alignments.dat" "$PIPELINES/galaxy/test-data/$2" "$3" << 'PYTHON' ||
import sys
from galaxy.tool_util.verify import verify
got, expected, ftype = sys.argv[1:]
verify(got, open(got, 'rb').read(), {'ftype': ftype, 'compare': 'diff', 'lines_diff': 2}, filename=expected,
    get_filename=lambda name: name)
PYTHON
        fail "$1 is not what the tool's tests expect"
}
test_data=$PIPELINES/galaxy/test-data
genome=$test_data/phix.fasta reads=("$test_data"/phix.{1,2}.fastq)
galaxy own-marked "{'read_group': {'set': 'yes', 'sample': 'phix', 'library': 'library', 'platform': 'ILLUMINA'}}"
as_expected own-marked phix.marked.bam bam
galaxy own-lanes "{'input': {'type': 'lanes', 'lanes': type('Lanes', (list,), {'name': 'phix'})(
    2 * [type('Pair', (), {'forward': forward, 'reverse': reverse})])}}"
as_expected own-lanes phix.lanes.bam bam
galaxy own-single "{'input': {'type': 'single', 'reads': forward}, 'records': {'order': 'input'}}"
as_expected own-single phix.single.bam unsorted.bam
