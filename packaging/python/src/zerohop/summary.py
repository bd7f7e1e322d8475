"""The summary of an alignment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zerohop.document import Document
from zerohop.program import Word
from zerohop.reports import report_figures, report_files

SCHEMA_VERSION = 1
STAGES = ("claim", "wait_input", "parse", "map", "encode", "commit", "wait_output", "wall")

Row = dict[str, Any]
"""A row of a table: plain numbers, words and None."""


class Summary(Document):
    """What `zerohop align --json` writes, as a mapping, with properties for what is needed most, and tables of it.

    Tables are lists of flat dicts: `pandas.DataFrame(run.workers())`.
    """

    @property
    def sample(self) -> str:
        """The name of the sample."""
        return str(self["sample"])

    @property
    def reads(self) -> int:
        """Reads that came in; all of them are accounted for."""
        return int(self["figures"]["reads"])

    @property
    def mapped(self) -> float:
        """Reads mapped, in percent."""
        return float(self["figures"]["mapped"])

    @property
    def proper(self) -> float | None:
        """Paired reads properly paired, in percent; None for single reads."""
        return optional(self["figures"]["proper"])

    @property
    def duplicates(self) -> float | None:
        """Mapped reads that are duplicates, in percent; None if they were not looked for."""
        return optional(self["figures"]["duplicates"])

    @property
    def qc(self) -> Mapping[str, Any] | None:
        """What the reports found, as numbers: depths, insert sizes, qualities. None if the summary does not say."""
        return report_figures(self)

    @property
    def seconds(self) -> float:
        """From the start of the program to its end."""
        return seconds(self["wall"])

    def row(self) -> Row:
        """The run as one row, for a table of several runs."""
        engine, version = self["engine"]
        tally, resources = self["run"]["tally"], self["resources"]
        counted = ("fragments", "bases", "primary_records", "other_records")
        return {
            "sample": self.sample,
            "engine": engine,
            "engine_version": version,
            "zerohop_version": self["version"],
            "output": " ".join(self["outputs"]),
            **self["figures"],
            **{name: tally[name] for name in counted},
            "workers": len(self["plan"]["workers"]),
            "index_copies": len(self["plan"]["replicas"]),
            "seconds": self.seconds,
            "mapping_seconds": seconds(self["run"]["wall"]),
            "user_seconds": seconds(resources["user"]),
            "system_seconds": seconds(resources["system"]),
            "peak_memory": resources["peak_memory"],
        }

    def workers(self) -> list[Row]:
        """A row per worker: its node, the index copy that it read, and where its time went, in seconds."""
        planned = self["plan"]["workers"]
        return [
            {
                "sample": self.sample,
                "worker": number,
                "node": planned[number]["node"] if number < len(planned) else None,
                "copy": worker["replica"],
                "chunks": worker["chunks"],
                **{stage: seconds(worker[stage]) for stage in STAGES},
            }
            for number, worker in enumerate(self["run"]["workers"])
        ]

    def memory(self) -> list[Row]:
        """A row per index copy (or instance of an external aligner) and node: bytes found there, and whether this node
        was asked for. None means that no node was."""
        pieces = [(f"copy {i}", copy["placement"], copy["census"]) for i, copy in enumerate(self["replicas"])]
        for i, instance in enumerate(self["run"]["instances"]):
            for what in ("private", "shared"):
                pieces.append((f"instance {i}, {what}", instance["plan"]["placement"], instance[what]))
        return [
            {
                "sample": self.sample,
                "memory": name,
                "node": node,
                "bytes": found,
                "asked_for": node in asked["nodes"] if asked["pages"] in ("local", "interleave") else None,
            }
            for name, asked, census in pieces
            for node, found in census["per_node"]
        ]

    def insert_sizes(self) -> list[Row]:
        """A row per insert size that occurs: proper pairs that have it."""
        counts = enumerate(self["run"]["tally"]["insert"]["counts"])
        return [{"sample": self.sample, "insert_size": size, "pairs": pairs} for size, pairs in counts if pairs]

    def reports(self) -> dict[str, Path]:
        """The files of the reports (`qc` of `align`) that are there, by kind: "stats", "mosdepth.summary", "regions".

        The index of a .bed.gz file lies beside it (.csi). Relative names are seen from the folder of the run.
        """
        return report_files(self)


def load(file: Word) -> Summary:
    """The summary that an earlier run has left (`zerohop align --json`, or NAME.json of `--samples`).

    Raises ValueError if the file is something else.
    """
    content = json.loads(Path(file).read_text(encoding="utf-8"))
    if not isinstance(content, dict) or not {"run", "figures"} <= content.keys():
        raise ValueError(f"{file}: this is not what 'zerohop align --json' writes")
    version = content.get("schema_version")
    if version != SCHEMA_VERSION:
        raise ValueError(f"{file}: it is version {version} of this form; {SCHEMA_VERSION} is known")
    return Summary(content)


def seconds(time: Mapping[str, int]) -> float:
    """A time of the program, in seconds."""
    return time["secs"] + time["nanos"] / 1e9


def optional(value: float | None) -> float | None:
    """A number that may be missing."""
    return None if value is None else float(value)
