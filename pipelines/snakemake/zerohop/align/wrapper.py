from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
sort = snakemake.params.get("sort", "none")
mark_duplicates = snakemake.params.get("mark_duplicates", False)
qc = snakemake.params.get("qc", False)
picard_metrics = snakemake.params.get("picard_metrics", False)
trim = snakemake.params.get("trim", False)
umi = snakemake.params.get("umi", "")
log = snakemake.log_fmt_shell(stdout=True, stderr=True)

# the files of all lanes, one lane after the other
reads = snakemake.input.reads
if isinstance(reads, str):
    reads = [reads]
single = snakemake.params.get("single", False) or all(
    path.endswith((".bam", ".cram", ".sam")) for path in reads
)
files_of_lane = 1 if single or len(reads) == 1 else 2
if len(reads) % files_of_lane:
    raise ValueError(
        f"{len(reads)} files of mates: each lane has two, one after the other"
    )
lanes = []
for first in range(0, len(reads), files_of_lane):
    lanes += ["--reads", *reads[first : first + files_of_lane]]

# files that may be given beside reads and reference, and those that are wanted beside the alignments
options = []
for files, name, option in [
    (snakemake.input, "targets", "--targets"),
    (snakemake.input, "baits", "--baits"),
    (snakemake.output, "json", "--json"),
    (snakemake.output, "mqc", "--mqc"),
    (snakemake.output, "metrics", "--duplicate-metrics"),
    (snakemake.output, "fastp_json", "--fastp-json"),
]:
    path = files.get(name)
    if path:
        options += [option, path]

if mark_duplicates:
    sort = "coordinate"
    options.append(
        "--mark-duplicates"
        if mark_duplicates is True
        else f"--mark-duplicates={mark_duplicates}"
    )
if qc:
    sort = "coordinate"
    options.append("--qc")
    if qc is not True:
        options += ["--mosdepth", qc]
if picard_metrics:
    options.append("--picard-metrics")
if trim:
    options.append("--trim")
    if trim is not True:
        options += ["--trim-args", trim]
if umi:
    options += ["--umi", umi]
    # zerohop puts the ending behind a prefix
    sizes = snakemake.output.get("family_sizes")
    if sizes:
        options += ["--umi-metrics", sizes.removesuffix(".family_sizes.txt")]
if sort != "none":
    options.append(f"--sort={sort}")
    # a quarter is for records; the index and the reads take the rest
    memory = snakemake.resources.get("mem_mb")
    if memory and "--sort-memory" not in extra:
        options += ["--sort-memory", f"{memory // 4}M"]
    if "--tmp-dir" not in extra:
        options += ["--tmp-dir", snakemake.resources.tmpdir]

alignments = snakemake.output[0]
shell(
    "zerohop align {extra} --threads {snakemake.threads} {options:q} --output {alignments:q}"
    " {snakemake.input.ref:q} {lanes:q} {log}"
)
