from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=True, stderr=True)

summary = snakemake.output.get("json")
options = ["--json", summary] if summary else []

hits = snakemake.output[0]
shell(
    "zerohop search {extra} --threads {snakemake.threads} {options:q} --output {hits:q}"
    " --db {snakemake.input.db:q} {snakemake.input.queries:q} {log}"
)
