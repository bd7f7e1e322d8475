from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell(stdout=True, stderr=True)

# zerohop writes the index beside the reference
for path in snakemake.output:
    if not path.startswith(f"{snakemake.input.ref}."):
        raise ValueError(
            f"{path}: an index lies beside its reference, as {snakemake.input.ref}.*"
        )

shell(
    "zerohop index {extra} --threads {snakemake.threads} {snakemake.input.ref:q} {log}"
)
