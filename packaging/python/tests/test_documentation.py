"""The Python code of docs/python.md and of README.md works as it stands there."""

import re
import shutil
from pathlib import Path

import pytest

import zerohop

PACKAGE = Path(__file__).parents[1]
PAGES = [PACKAGE.parents[1] / "docs" / "python.md", PACKAGE / "README.md"]
BLOCKS = [block for page in PAGES for block in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S)]


@pytest.fixture
def folder(reference: Path, reads: list[Path], summary: zerohop.Summary, tmp_path: Path) -> Path:
    """A folder with the files that the pages name."""
    shutil.copy(reference, tmp_path / "ref.fa")
    for mate, file in enumerate(reads, 1):
        shutil.copy(file, tmp_path / f"reads_{mate}.fq.gz")
    (tmp_path / "exome.bed").write_text("NC_000913.3\t1000\t200000\n")
    (tmp_path / "reads.fq").write_text("@first\nACGT\n+\nIIII\n@second\nACGT\n+\nIII\n")
    rows = [f"S1,{reads[0]},{reads[1]}", f"S2,{tmp_path}/reads_1.fq.gz,{tmp_path}/reads_2.fq.gz"]
    (tmp_path / "sheet.csv").write_text("\n".join(["sample,fastq_1,fastq_2", *rows]))
    zerohop.run("align", reference, "--samples", tmp_path / "sheet.csv", "--output-dir", tmp_path / "results")
    return tmp_path


@pytest.mark.parametrize("block", BLOCKS)
def test_code(block: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    if "import pandas" in block:
        pytest.importorskip("pandas")
    monkeypatch.chdir(folder)
    exec(block, {"zerohop": zerohop})
    if "zerohop.Error" in block:
        assert capsys.readouterr().out == re.findall("# (.*\n)", block)[-1]
