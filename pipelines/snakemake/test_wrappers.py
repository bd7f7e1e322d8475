"""What is added to test_wrappers.py of the Snakemake wrapper repository."""


def test_zerohop_index(run):
    run("bio/zerohop/index", ["snakemake", "genome.fa.r150.zhi"])


def test_zerohop_align(run):
    run(
        "bio/zerohop/align",
        ["snakemake", "plain/a.bam", "mapped/a.bam", "mapped/a.cram", "lanes/a.bam"],
    )


def test_zerohop_search(run):
    run("bio/zerohop/search", ["snakemake", "hits/a.tsv"])
