"""zerohop.align: files, options and the summary."""

import gzip
import json
import subprocess
from pathlib import Path

import pytest

import zerohop


def lines(file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if not line.startswith("@PG")]


def reads_in(files: list[Path]) -> int:
    return sum(gzip.decompress(file.read_bytes()).count(b"\n") // 4 for file in files)


def test_records_are_those_of_the_command(reference: Path, reads: list[Path], tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.sam", tmp_path / "theirs.sam"
    summary = zerohop.align(reference, *reads, out=ours, threads=2)
    subprocess.run([zerohop.program(), "align", "-q", "-o", theirs, reference, *reads], check=True)
    assert lines(ours) == lines(theirs)
    assert summary.reads == reads_in(reads)


def test_single_reads(reference: Path, reads: list[Path], tmp_path: Path) -> None:
    summary = zerohop.align(str(reference), str(reads[0]), out=str(tmp_path / "out.bam"))
    assert summary.reads == reads_in(reads[:1])
    assert summary.proper is None and summary.duplicates is None


def test_lanes_among_the_options(reference: Path, reads: list[Path], tmp_path: Path) -> None:
    lanes: list[str | Path] = ["--reads", reads[0], "--reads", reads[1]]
    summary = zerohop.align(reference, out=tmp_path / "out.sam", options=lanes)
    assert summary["inputs"] == [[str(file)] for file in reads]
    assert summary.reads == reads_in(reads)


def test_engine_and_threads_are_passed_on(reference: Path, reads: list[Path], tmp_path: Path) -> None:
    summary = zerohop.align(reference, *reads, out=tmp_path / "out.sam", threads=1, engine="strobealign")
    assert summary["engine"][0] == "strobealign"
    assert len(summary.workers()) == 1
    with pytest.raises(zerohop.Error, match="no-such-aligner") as failure:
        zerohop.align(reference, *reads, out=tmp_path / "other.sam", engine="no-such-aligner")
    assert failure.value.exit_code != 0


def test_json_is_kept_where_it_is_asked_for(reference: Path, reads: list[Path], tmp_path: Path) -> None:
    kept = tmp_path / "run.json"
    summary = zerohop.align(reference, *reads, out=tmp_path / "out.sam", json=kept)
    assert dict(summary) == json.loads(kept.read_text()) == dict(zerohop.load(kept))


def test_any_command(reference: Path, tmp_path: Path) -> None:
    assert "strobealign" in zerohop.run("engines")
    zerohop.run("index", "-r", "100", reference)
    assert list(reference.parent.glob("*.zhi"))
