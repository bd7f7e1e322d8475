"""The files of the reports that `zerohop align --qc` writes."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: How their names end. Those of samtools begin with the name of the output, the others with it less its suffix.
SAMTOOLS = (".stats", ".flagstat", ".idxstats", ".coverage.txt")
MOSDEPTH = (
    ".mosdepth.summary.txt",
    ".mosdepth.global.dist.txt",
    ".mosdepth.region.dist.txt",
    ".regions.bed.gz",
    ".thresholds.bed.gz",
    ".per-base.bed.gz",
    ".quantized.bed.gz",
)
PICARD = (
    ".alignment_summary_metrics",
    ".insert_size_metrics",
    ".quality_distribution_metrics",
    ".quality_by_cycle_metrics",
    ".base_distribution_by_cycle_metrics",
    ".gc_bias.detail_metrics",
    ".gc_bias.summary_metrics",
    ".wgs_metrics",
    ".hs_metrics",
)
METHYLDACKEL = tuple(
    f"_{context}{columns}"
    for context in ("CpG", "CHG", "CHH")
    for columns in (".bedGraph", ".meth.bedGraph", ".counts.bedGraph", ".methylKit")
)


def report_files(summary: Mapping[str, Any]) -> dict[str, Path]:
    """Those that are there, by kind: how their names end, without .txt and .bed.gz."""
    reports = of_run(summary)
    if reports is None:
        return {}
    prefixes = [word[len("--qc="):] for word in shlex.split(summary["command"]) if word.startswith("--qc=")]
    if any(prefixes):
        records = sample = prefixes[0]
    else:
        records = summary["outputs"][0]
        sample = str(Path(records).with_suffix(""))
    suffixes = MOSDEPTH + (PICARD if reports.get("picard") else ())
    suffixes += METHYLDACKEL if reports.get("methyldackel") is not None else ()
    named = [(suffix, Path(records + suffix)) for suffix in SAMTOOLS]
    named += [(suffix, Path(sample + suffix)) for suffix in suffixes]
    return {kind(suffix): path for suffix, path in named if path.exists()}


def report_figures(summary: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What they found, as numbers; None if the summary does not say."""
    figures: Mapping[str, Any] | None = (of_run(summary) or {}).get("figures")
    return figures


def of_run(summary: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What the summary says of the reports; None if there are none."""
    reports: Mapping[str, Any] | None = summary["run"].get("sorted", {}).get("reports")
    return reports


def kind(suffix: str) -> str:
    """The kind of a report whose name ends so."""
    return suffix[1:].removesuffix(".txt").removesuffix(".bed.gz")
