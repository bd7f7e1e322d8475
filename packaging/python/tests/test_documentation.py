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
    (tmp_path / "reads.fq").write_text("@first\nACGT\n+\nIIII\n@second\nACGT\n+\nIII\n")
    (tmp_path / "results").mkdir()
    zerohop.align(reference, *reads, out=tmp_path / "S1.bam", json=tmp_path / "results" / "S1.json")
    return tmp_path


@pytest.mark.parametrize("block", BLOCKS)
def test_code(block: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    if "import pandas" in block:
        pytest.importorskip("pandas")
    monkeypatch.chdir(folder)
    exec(block, {"zerohop": zerohop})
    if "zerohop.Error" in block:
        assert capsys.readouterr().out == re.findall("# (.*\n)", block)[-1]
