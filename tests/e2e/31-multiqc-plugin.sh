#!/bin/bash
# The plugin for MultiQC (packaging/multiqc_zerohop), installed from its wheel, in the real MultiQC: what is in
# multiqc_data is what the JSON of several samples says, those of a machine with 8 nodes among them. With
# PLUGIN_IS_INSTALLED=1 (tests/dist/45-multiqc-plugin.sh) the plugin is that of $MULTIQC.
source "$(dirname "$0")/lib.sh"
[ -x "${MULTIQC-}" ] || skip "no MultiQC (scripts/setup.sh test installs it)"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)

# Beside MultiQC's own packages, not among them: other tests want MultiQC without it.
if [ -z "${PLUGIN_IS_INSTALLED-}" ]; then
    [ -x "${PYTHON_TOOLS-}/pip" ] || skip "no flit_core (scripts/setup.sh test installs it)"
    pip() { "$PYTHON_TOOLS/pip" -q --disable-pip-version-check --no-input "$@"; }
    pip wheel --no-index --no-deps --no-build-isolation -w "$WORK" "$ROOT/packaging/multiqc_zerohop"
    pip install --no-index --no-deps --target "$WORK/plugin" "$WORK"/multiqc_zerohop-*.whl
    export PYTHONPATH="$WORK/plugin"
fi
told='from importlib.metadata import version; print(version("multiqc_zerohop"))'
version=$("$(dirname "$MULTIQC")/python" -c "$told")
[ "zerohop $version" = "$("$ZEROHOP" --version)" ] || fail "the plugin is of version $version, zerohop of another one"

# multiqc FOLDER: its report of the folder is in FOLDER.report
multiqc() {
    local folder=$1
    PYTHONDONTWRITEBYTECODE=1 "$MULTIQC" --force --strict --data-format json \
        --outdir "$folder.report" "$folder" > "$folder.log" 2>&1 || { cat "$folder.log" >&2; fail "MultiQC"; }
}

reference=$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz
mkdir "$WORK/runs"
cd "$WORK/runs"
for length in 100 150; do
    zerohop align -q -t 2 --replicas 2 --sort --mark-duplicates=picard -R "@RG\tID:L1\tSM:S$length\tLB:L1" \
        -o "$WORK/out.bam" --json "S$length.json" --mqc "S${length}_mqc.json" "$reference" \
        "$DATA/ecoli/ecoli_${length}_1.fq.gz" "$DATA/ecoli/ecoli_${length}_2.fq.gz"
done
# single reads, whose sample has the name of the file; and a sample of which there is no JSON
zerohop align -q -o "$WORK/out.sam" --json single.json "$reference" "$DATA/ecoli/ecoli_100_1.fq.gz"
zerohop align -q -o "$WORK/out.sam" --sample other --mqc other_mqc.json "$reference" "$DATA/ecoli/ecoli_100_1.fq.gz"
if command -v bwa > /dev/null; then
    ecoli_index bwa "$WORK/ref.fa"
    zerohop align -q --engine bwa -t 2 --sample bwa -o "$WORK/out.sam" --json bwa.json "$WORK/ref.fa" \
        "$DATA/ecoli/ecoli_100_1.fq.gz" "$DATA/ecoli/ecoli_100_2.fq.gz"
else
    echo "no bwa: external aligners not tried"
fi
# a run on a machine with 8 nodes and 64 CPUs, made of a real one
(cd "$WORK" && python3 "$ROOT/tests/e2e/large-machine.py" runs/S150.json "$ROOT/docs/machines/amd-opteron-6376.json")
sed 's/"sample": "S150"/"sample": "large"/' "$WORK/large.json" > large.json
# neither of them is a run
zerohop topo --json > topo.json
echo '{"command": "zerohop align, in words"}' > words.json
python3 -c 'import json; json.dump({"a": "zerohop align"}, open("other.json", "w"))'

cd "$WORK"
sed 's/"schema_version": 1/"schema_version": 7/' runs/S100.json > later.json
mkdir later; cp later.json runs/S150.json later
multiqc runs
multiqc later
grep -q 'later.json: it is another version' later.log || fail "a later version: $(cat later.log)"

python3 "$ROOT/tests/e2e/multiqc-data.py"

# the files of a sheet, as they lie in their folder
printf 'sample,fastq_1\nA,%s\nB,%s\n' "$DATA/ecoli/ecoli_100_1.fq.gz" "$DATA/ecoli/ecoli_150_1.fq.gz" > sheet.csv
zerohop align -q "$reference" --samples sheet.csv --output-dir sheet
multiqc sheet
! grep 'another version' sheet.log || fail "the summaries of a sheet are not taken"
# like the lines of MultiQC's own modules
grep -q '^ *zerohop | Found 2 reports$' sheet.log || fail "what the plugin says: $(cat sheet.log)"
python3 - << 'PYTHON'
import json
found = json.load(open("sheet.report/multiqc_data/multiqc_data.json"))["report_saved_raw_data"]["multiqc_zerohop"]
assert set(found) == {"A", "B"}, found
PYTHON

# with reports of --qc: what MultiQC's own modules show is not shown again
mkdir qc
for rule in samtools picard; do
    zerohop align -q -t 2 --sort --mark-duplicates=$rule --qc --sample $rule -o qc/$rule.bam --json qc/$rule.json \
        --duplicate-metrics qc/$rule.markdup.txt -R "@RG\tID:L1\tSM:$rule\tLB:L1" "$reference" \
        "$DATA/ecoli/ecoli_100_1.fq.gz" "$DATA/ecoli/ecoli_100_2.fq.gz"
done
# families of UMIs, which the module for fgbio shows
printf 'family_size\tcount\tfraction\tfraction_gt_or_eq_family_size\n1\t3\t0.75\t1\n2\t1\t0.25\t0.25\n' \
    > qc/samtools.family_sizes.txt
multiqc qc
python3 - << 'PYTHON'
import json
raw = json.load(open("qc.report/multiqc_data/multiqc_data.json"))["report_saved_raw_data"]
assert set(raw["multiqc_zerohop"]) == {"samtools", "picard"}, raw["multiqc_zerohop"]
columns = {sample: {name for name in row if name.startswith("zerohop-")}
           for sample, row in raw["multiqc_general_stats"].items()}
size = lambda sample: raw["multiqc_zerohop"][sample].get("library_size")
for sample in ("samtools", "picard"):
    own = {"zerohop-reads_per_second"}
    if sample == "picard" and size(sample) is not None:
        own.add("zerohop-library_size")
    assert columns[sample] == own, columns
assert set(raw["multiqc_fgbio_umi"] if "multiqc_fgbio_umi" in raw else raw["fgbio_umi"]) == {"samtools"}, raw.keys()
html = open("qc.report/multiqc_report.html").read()
for section in ("zerohop-reads", "zerohop-insert-sizes", "zerohop-duplicates", "zerohop-libraries"):
    assert f'id="{section}"' not in html, section
assert 'id="zerohop-nodes"' in html
PYTHON

# reads of bisulfite sequencing: methylated cytosines, once, though custom content tells of them, too
if "$ZEROHOP" engines | grep -q '^bwa-mem '; then
    mkdir converted
    head -n 2000 < <(gzip -cd "$reference") | sed '1s/.*/>lambda/' > converted/ref.fa
    python3 "$ROOT/tests/e2e/bisulfite.py" simulate converted/ref.fa converted/reads directional 2000 > /dev/null
    zerohop index --engine bwa-mem --meth converted/ref.fa
    mkdir cytosines
    zerohop align -q --engine bwa-mem --meth --sample S -o out.bam --json cytosines/S.json \
        --mqc cytosines/S_mqc.json converted/ref.fa converted/reads_[12].fq
    multiqc cytosines
    python3 - << 'PYTHON'
import json
raw = json.load(open("cytosines.report/multiqc_data/multiqc_data.json"))
tables = json.dumps(raw["report_plot_data"]["zerohop_cytosines"])
assert tables.count("S: all") and tables.count("S: lambda"), tables[:3000]
bias = json.dumps(raw["report_plot_data"]["zerohop_m_bias"]["datasets"])
lines = [f"S ({mate} reads, original {strand})" for mate in ("first", "second") for strand in ("top", "bottom")]
counts = {bias.count(f'"name": "{line}"') for line in lines}
# CpG, CHG, CHH
assert counts == {3}, (counts, bias[:3000])
assert not any(key.endswith("m_bias_plot") for key in raw["report_plot_data"]), raw["report_plot_data"].keys()
PYTHON
else
    echo "no bwa-mem in this zerohop: methylated cytosines are not tried"
fi
for section in Reads 'Insert sizes' Duplicates Libraries 'NUMA nodes' Placement; do
    grep -q "$section" runs.report/multiqc_report.html || fail "the report has no section $section"
done
