"""What the tests need: real reads of E. coli (DATA is the folder tests/data of zerohop)."""

import gzip
import os
from pathlib import Path

import pytest

import zerohop


@pytest.fixture(scope="session")
def data() -> Path:
    return Path(os.environ["DATA"], "ecoli")


@pytest.fixture(scope="session")
def reference(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    plain = tmp_path_factory.mktemp("reference") / "ref.fa"
    plain.write_bytes(gzip.decompress((data / "GCF_000005845.2_ASM584v2_genomic.fna.gz").read_bytes()))
    return plain


@pytest.fixture(scope="session")
def reads(data: Path) -> list[Path]:
    return [data / f"ecoli_100_{mate}.fq.gz" for mate in (1, 2)]


@pytest.fixture(scope="session")
def summary(reference: Path, reads: list[Path], tmp_path_factory: pytest.TempPathFactory) -> zerohop.Summary:
    """A run with all that a summary can tell."""
    out = tmp_path_factory.mktemp("run") / "out.bam"
    options = ["--sort", "--mark-duplicates", "--replicas", "2", "--sample", "S1"]
    return zerohop.align(reference, *reads, out=out, threads=2, options=options)
