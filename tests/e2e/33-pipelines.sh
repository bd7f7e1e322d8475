#!/bin/bash
# The files in pipelines/, without the engines that run them (tests/dist/50 to 56 do that): every option that they pass
# to zerohop exists, they ask for this version of it, and the commands of the nf-core modules run. Their script and stub
# blocks are taken out of main.nf; Groovy's variables get values from here.
source "$(dirname "$0")/lib.sh"
PIPELINES=$(cd "$(dirname "$0")/../../pipelines" && pwd)
cd "$WORK"
mkdir bin
ln -s "$(readlink -f "$ZEROHOP")" bin/zerohop
export PATH="$WORK/bin:$PATH"

# options COMMAND FILE...: all long options in these files are the command's. (Of short ones they use -V alone.)
options() {
    local command=$1 wanted option; shift
    # the help of Galaxy's tools and comments name options of zerohop, too
    wanted=$(grep -ohE '(^|[^-a-z])--[a-z][a-z-]*' "$@" | grep -oE -- '--[a-z-]+' | sort -u)
    [ "$(wc -l <<< "$wanted")" -ge 3 ] || fail "zerohop $command: hardly an option in $*"
    zerohop "$command" --help > help.txt
    for option in $wanted; do
        [ "$option" = --version ] || grep -qE -- "(^|[ ,])$option([[ <=]|\$)" help.txt ||
            fail "zerohop $command has no $option: $(grep -lF -- "$option" "$@" | xargs)"
    done
}

all_options() {
    local command
    for command in index align search; do
        options $command "$PIPELINES"/nf-core/modules/nf-core/zerohop/$command/{main.nf,tests/main.nf.test} \
            "$PIPELINES"/snakemake/zerohop/$command/{wrapper.py,meta.yaml,test/Snakefile} \
            "$PIPELINES/cwl/zerohop-$command.cwl" $(compgen -G "$PIPELINES/galaxy/zerohop_$command.xml")
    done
}

# what conda and Galaxy are asked for, and the images
versions() {
    local version other program
    version=$(zerohop --version | cut -d ' ' -f 2)
    grep -rhIE 'zerohop ?[=:]+ ?[0-9]|"@TOOL_VERSION@">[0-9]|version: \["' "$PIPELINES" > versions.txt
    other=$(grep -vF "$version" versions.txt || true)
    [ -z "$other" ] || fail "this is $version: $other"
    [ "$(wc -l < versions.txt)" -ge 10 ] || fail "versions are written otherwise: $(cat versions.txt)"
    # the snapshots of nf-test, and the aligners that are built in
    { echo "zerohop $version"; zerohop engines | awk '/^(strobealign|bwa-mem) /{ print $1, $2 }'; } |
        sed 's/^bwa-mem /bwa-mem3 /' | while read -r program version; do
        grep -rhA 1 "^ *\"$program\",\$" "$PIPELINES"/nf-core/modules/nf-core/zerohop/*/tests/*.snap > snapshots.txt
        ! grep -vE "^ *\"($program\",|$version\")\$|^--\$" snapshots.txt ||
            fail "snapshots have another version of $program than $version"
    done
}

# block MODULE KIND NAME=VALUE...: the script or stub of an nf-core module
block() {
    python3 - "$PIPELINES/nf-core/modules/nf-core/zerohop/$1/main.nf" "${@:2}" << 'PYTHON'
import re, sys
path, kind, *values = sys.argv[1:]
values = dict(value.split('=', 1) for value in values)
text = re.search(rf'^    {kind}:\n.*?^    """\n(.*?)^    """', open(path).read(), re.M | re.S).group(1)
text = re.sub(r'\$\{([^}]*)\}', lambda name: values[name.group(1)], text)
print(text.replace('\\$', '$').replace('\\\\', '\\'))
PYTHON
}

# aligns RULES NAME=VALUE...: the script of the module marks duplicates by these rules
aligns() {
    local rules=$1 file; shift
    block align script "${values[@]}" "$@" > align.sh
    bash -ue align.sh 2> /dev/null
    zerohop align -q -t 2 --sort --mark-duplicates="$rules" -o direct.sam genome.fa phix.1.fastq phix.2.fastq
    same_alignments <(samtools view -h --no-PG s.bam) direct.sam "zerohop/align, $rules"
    for file in s.bam.bai s.zerohop.json s_mqc.json s.markdup.txt; do
        [ -s "$file" ] || fail "zerohop/align: there is no $file"
        rm "$file"
    done
}

# no_output: the files in reports/ that are none of these names, in which * is anything (standard input)
no_output() {
    sed 's/\./\\./g; s/\*/.*/g; s/{\(.*\),\(.*\)}/(\1|\2)/' > names.txt
    ls reports | grep -vxE -f names.txt || true
}

# All that --qc writes is among the outputs of the nf-core module, and of the CWL description.
reports() {
    local left_out of_reads='--trim --umi exact --barcode-name --save-trimmed reports/s.trimmed_%.fastq.gz'
    printf 'NC_001422.1\t1000\t3000\n' > regions.bed
    mkdir reports
    block align script "${values[@]}" prefix=reports/s marking=--mark-duplicates \
        args='--qc --picard-metrics --mosdepth "--by regions.bed --thresholds 1 --quantize 0:1:" '"$of_reads" \
        trimming='--fastp-json reports/s.fastp.json' umis='--umi-metrics reports/s' \
        duplicates='--duplicate-metrics reports/s.markdup.txt' regions='--targets regions.bed' > reports.sh
    bash -ue reports.sh 2> /dev/null
    [ -s reports/s.hs_metrics ] && [ -s reports/s.thresholds.bed.gz ] && [ -s reports/s.family_sizes.txt ] &&
        [ -s reports/s.trimmed_2.fastq.gz ] || fail "reports: $(ls reports)"
    left_out=$(sed -n 's/.*path("\(\*[^"]*\)").*/\1/p' "$PIPELINES/nf-core/modules/nf-core/zerohop/align/main.nf" |
        no_output)
    [ -z "$left_out" ] || fail "the nf-core module has no output for $left_out"
    # indexes lie beside their files
    rm reports/s.zerohop.json reports/*.{bai,csi}
    left_out=$(sed -n 's/.*\$(inputs.sample)/s/p' "$PIPELINES/cwl/zerohop-align.cwl" | sed 's/\$(inputs.format)/bam/' |
        no_output)
    [ -z "$left_out" ] || fail "the CWL description has no output for $left_out"
}

# Of a zerohop that is killed Nextflow gets the exit status, by which pipelines decide whether to try again, and the
# words.
ends_as_zerohop() {
    local rc=0
    mkdir killed
    printf '#!/bin/sh\necho words of zerohop >&2\nkill -KILL $$\n' > killed/zerohop
    chmod +x killed/zerohop
    PATH=$WORK/killed:$PATH bash -ue index.sh 2> said || rc=$?
    [ $rc = 137 ] && grep -q 'words of zerohop' said || fail "index: exit status $rc of a zerohop that was killed"
}

# image ENVIRONMENT: the name that BioContainers gives the image of these packages: that of the one package, or the sums
# of the sorted names and of the versions
image() {
    python3 - "$1" << 'PYTHON'
import hashlib, re, sys
packages = sorted(re.findall(r'^  - bioconda::(.+)=(.+)$', open(sys.argv[1]).read(), re.M))
names, versions = (hashlib.sha1('\n'.join(part).encode()).hexdigest() for part in zip(*packages))
print(f'mulled-v2-{names}:{versions}-0' if len(packages) > 1 else '{}:{}--0'.format(*packages[0]))
PYTHON
}

# The images of an nf-core module, and that of the CWL description, have all that the module's environment.yml has.
images() {
    local module image
    for module in "$PIPELINES"/nf-core/modules/nf-core/zerohop/*; do
        image=$(image "$module/environment.yml")
        grep -q "'quay.io/biocontainers/$image'" "$module/main.nf" &&
            grep -q "'https://depot.galaxyproject.org/singularity/$image'" "$module/main.nf" &&
            grep -q "quay.io/biocontainers/$image\$" "$PIPELINES/cwl/zerohop-$(basename "$module").cwl" ||
            fail "$module: its image is not $image"
    done
}

# Galaxy knows the offset of qualities; zerohop converts none.
qualities() {
    ! grep -rE 'fastq(illumina|solexa|cssanger)|"fastq(\.gz)?"' "$PIPELINES/galaxy" ||
        fail "the Galaxy tool takes qualities with another offset than 33"
}

nf_core() {
    local reads=("$DATA"/phix/phix.{1,2}.fastq) values
    cp "$DATA/phix/phix.fasta" genome.fa
    cp "${reads[@]}" .
    values=(args= task.cpus=2 fasta=genome.fa prefix=s files=genome.fa.r150.zhi)
    block index script "${values[@]}" args='--read-length 250' > index.sh
    bash -ue index.sh 2> /dev/null
    [ -e genome.fa.r250.zhi ] && [ -s s_index.log ] || fail "index: $(ls)"
    ends_as_zerohop

    values+=(meta.id=s format=bam reference=genome.fa lanes='--reads phix.1.fastq phix.2.fastq'
        sorting=--sort duplicates='--duplicate-metrics s.markdup.txt' memory='--sort-memory 64M' regions= uri= trimming=
        umis=)
    aligns samtools marking=--mark-duplicates
    # what Groovy makes of ext.args
    grep -qF "marking = mark_duplicates && !args.contains('--mark-duplicates') ? '--mark-duplicates' : ''" \
        "$PIPELINES/nf-core/modules/nf-core/zerohop/align/main.nf" || fail "the rules of ext.args are not taken"
    aligns picard args=--mark-duplicates=picard marking=
    reports
    values+=(sorted_index=s.bam.bai metrics=s.markdup.txt reports=s.bam.stats regions=)
    for module in index align search; do
        block $module stub "${values[@]}" > stub.sh
        bash -ue stub.sh
    done
    [ -e s.bam.bai ] && [ -e genome.fa.r150.zhi ] && [ -e s.tsv ] || fail "stubs: $(ls)"

    command -v diamond > /dev/null || { skip_part "diamond is not on the PATH"; return 0; }
    zerohop db build -q --engine diamond -o db "$DATA/protein/subjects.faa" > /dev/null
    block search script "${values[@]}" db=db queries="$DATA/protein/queries.faa" > search.sh
    bash -ue search.sh 2> /dev/null
    zerohop search -q -t 2 --db db -o direct.tsv "$DATA/protein/queries.faa"
    cmp direct.tsv s.tsv || fail "zerohop/search: other hits"
}

part all_options
part versions
part images
part qualities
part nf_core
