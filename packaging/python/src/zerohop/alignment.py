"""Aligning reads."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
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
    options: Iterable[Word] = (),
) -> Summary:
    """Aligns reads to a reference, and returns the summary of the run.

    reference  FASTA, or an index that zerohop made
    reads      one file: single reads; two: pairs; none: `options` name them (--reads)
    out        SAM, BAM or CRAM, by the suffix
    threads    all CPUs that this process may use, unless given
    engine     strobealign, bwa-mem, or an aligner that is installed (`zerohop.run("engines")` lists them)
    json       a file in which the summary is kept, for MultiQC and `zerohop report`
    options    further options of `zerohop align`, word by word, as in ["--sort", "--mark-duplicates"]

    Raises Error if the program fails; no file is left then that looks complete.
    """
    if isinstance(options, str):
        # its letters would be taken for options
        raise TypeError(f"options is a list of words, as in {options.split()}, not the text {options!r}")
    # with =, for names may begin with a dash
    arguments: list[Word] = ["align", f"--output={os.fspath(out)}"]
    if threads is not None:
        arguments.append(f"--threads={threads}")
    if engine is not None:
        arguments.append(f"--engine={engine}")
    arguments += options
    with tempfile.TemporaryDirectory(prefix="zerohop-") as folder:
        summary = Path(folder, "summary.json") if json is None else Path(os.fspath(json))
        run(*arguments, f"--json={summary}", "--", reference, *reads)
        return load(summary)
