"""Aligning reads."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from zerohop.program import Word, run
from zerohop.summary import Summary, load


def align(
    reference: Word,
    *reads: Word,
    out: Word,
    threads: int | None = None,
    engine: str | None = None,
    json: Word | None = None,
    qc: bool | Word = False,
    mosdepth: str | None = None,
    picard_metrics: bool = False,
    targets: Word | None = None,
    baits: Word | None = None,
    options: Iterable[Word] = (),
) -> Summary:
    """Aligns reads to a reference, and returns the summary of the run.

    reference       FASTA, or an index that zerohop made
    reads           one file: single reads; two: pairs; none: `options` name them (--reads)
    out             SAM, BAM or CRAM, by the suffix
    threads         all CPUs that this process may use, unless given
    engine          strobealign, bwa-mem, or an aligner that is installed (`zerohop.run("engines")` lists them)
    json            a file in which the summary is kept, for MultiQC and `zerohop report`
    qc              reports of the sorted records: beside `out` (True), or with names that begin so
    mosdepth        what they hold of mosdepth: its own options, as in "--by targets.bed --thresholds 1,10"
    picard_metrics  whether metrics of Picard are among them
    targets         the regions that were enriched, for Picard
    baits           those of the probes, if they are others
    options         further options of `zerohop align`, word by word, as in ["--sort", "--mark-duplicates"]

    Raises Error if the program fails; no file is left then that looks complete.
    """
    if isinstance(options, str):
        # its letters would be taken for options
        raise TypeError(f"options is a list of words, as in {options.split()}, not the text {options!r}")
    # with =, for names may begin with a dash
    arguments: list[Word] = ["align", f"--output={os.fspath(out)}"]
    arguments += words({
        "--threads": threads,
        "--engine": engine,
        "--qc": qc,
        "--mosdepth": mosdepth,
        "--picard-metrics": picard_metrics,
        "--targets": targets,
        "--baits": baits,
    })
    arguments += options
    with tempfile.TemporaryDirectory(prefix="zerohop-") as folder:
        summary = Path(folder, "summary.json") if json is None else Path(os.fspath(json))
        run(*arguments, f"--json={summary}", "--", reference, *reads)
        return load(summary)


def words(options: Mapping[str, bool | int | Word | None]) -> list[str]:
    """Options with their values; one that is True has none, one that is False or None is left out."""
    given = [(option, value) for option, value in options.items() if value is not None and value is not False]
    values = {option: value if isinstance(value, int) else os.fspath(value) for option, value in given}
    return [option if value is True else f"{option}={value}" for option, value in values.items()]
