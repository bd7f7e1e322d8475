"""The reports of the records: options, files and figures."""

import gzip
import json
from pathlib import Path

import pytest

import zerohop

SAMTOOLS = {"stats", "flagstat", "idxstats", "coverage"}
MOSDEPTH = {"mosdepth.summary", "mosdepth.global.dist", "mosdepth.region.dist", "regions"}
MORE_OF_MOSDEPTH = {"thresholds", "per-base", "quantized"}
PICARD = {
    "alignment_summary_metrics",
    "insert_size_metrics",
    "quality_distribution_metrics",
    "quality_by_cycle_metrics",
    "base_distribution_by_cycle_metrics",
    "gc_bias.detail_metrics",
    "gc_bias.summary_metrics",
}


@pytest.fixture
def regions(tmp_path: Path) -> Path:
    file = tmp_path / "the regions.bed"
    file.write_text("NC_000913.3\t1000\t200000\n")
    return file


def is_complete(run: zerohop.Summary) -> bool:
    """All files have names that are known, and no others lie there under such names."""
    files = list(run.reports().values())
    indexed = [file for file in files if file.suffix == ".gz"]
    assert all(Path(f"{file}.csi").exists() for file in indexed)
    return bool(run["run"]["sorted"]["reports"]["files"] == len(files) + len(indexed))


def test_beside_the_output(reference: Path, reads: list[Path], tmp_path: Path) -> None:
    run = zerohop.align(reference, *reads, out=tmp_path / "S.x.bam", qc=True, picard_metrics=True, options=["--sort"])
    files = run.reports()
    assert files.keys() == SAMTOOLS | MOSDEPTH | PICARD | {"wgs_metrics"} and is_complete(run)
    assert files["flagstat"] == tmp_path / "S.x.bam.flagstat"
    assert files["flagstat"].read_text().startswith(f"{run.reads} + 0 in total")
    assert files["mosdepth.summary"] == tmp_path / "S.x.mosdepth.summary.txt"
    assert "WgsMetrics" in files["wgs_metrics"].read_text()


def test_regions_and_another_beginning(reference: Path, reads: list[Path], regions: Path, tmp_path: Path) -> None:
    prefix = tmp_path / "it's here"
    words = f"--by '{regions}' --thresholds 1,10 --quantize 0:1:"
    run = zerohop.align(reference, *reads, out=tmp_path / "S.bam", qc=prefix, mosdepth=words, picard_metrics=True,
                        targets=regions, baits=regions, options=["--sort"])
    files = run.reports()
    assert files.keys() == SAMTOOLS | MOSDEPTH | MORE_OF_MOSDEPTH | PICARD | {"hs_metrics"} and is_complete(run)
    assert {file.parent / file.name[:len(prefix.name)] for file in files.values()} == {prefix}
    assert gzip.decompress(files["regions"].read_bytes()).startswith(b"NC_000913.3\t1000\t200000\t")
    assert "HsMetrics" in files["hs_metrics"].read_text()


def test_none_are_asked_for(summary: zerohop.Summary, reference: Path, reads: list[Path], tmp_path: Path) -> None:
    unsorted = zerohop.align(reference, *reads, out=tmp_path / "out.bam")
    for run in (summary, unsorted):
        assert run.reports() == {} and run.qc is None


def test_of_an_earlier_run(reference: Path, reads: list[Path], tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text(f"sample,fastq_1,fastq_2\nS1,{reads[0]},{reads[1]}\n")
    outputs: list[str | Path] = ["--output-dir", tmp_path / "results", "--sort", "--qc"]
    zerohop.run("align", reference, "--samples", tmp_path / "sheet.csv", *outputs)
    run = zerohop.load(tmp_path / "results" / "S1.json")
    assert run.reports().keys() == SAMTOOLS | MOSDEPTH and is_complete(run)
    run.reports()["stats"].unlink()
    assert "stats" not in run.reports()


def test_figures(reference: Path, reads: list[Path], tmp_path: Path) -> None:
    kept = tmp_path / "run.json"
    run = zerohop.align(reference, *reads, out=tmp_path / "S.bam", qc=True, json=kept, options=["--sort"])
    assert run.qc and run.qc["reads"] == run.reads and run.qc["bases"] == run["run"]["tally"]["bases"]
    mean = float(run.reports()["mosdepth.summary"].read_text().splitlines()[1].split("\t")[3])
    assert [contig["name"] for contig in run.qc["contigs"]] == ["NC_000913.3"]
    assert abs(run.qc["contigs"][0]["depth"] - mean) <= 0.005
    # as it was before figures were written
    older = dict(run)
    del older["run"]["sorted"]["reports"]["figures"]
    kept.write_text(json.dumps(older))
    assert zerohop.load(kept).qc is None and zerohop.load(kept).reports() == run.reports()


def test_what_goes_together_is_told_by_the_program(reference: Path, reads: list[Path], tmp_path: Path) -> None:
    with pytest.raises(zerohop.Error, match="--sort"):
        zerohop.align(reference, *reads, out=tmp_path / "out.bam", qc=True)
    with pytest.raises(zerohop.Error, match="--qc"):
        zerohop.align(reference, *reads, out=tmp_path / "out.bam", picard_metrics=True, options=["--sort"])
    assert list(tmp_path.iterdir()) == []
