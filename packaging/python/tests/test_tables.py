"""The summary, its tables, and the machine."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import zerohop


def is_flat(rows: list[dict[str, object]]) -> bool:
    return all(isinstance(value, (str, int, float, type(None))) for row in rows for value in row.values())


def test_the_summary_is_what_the_program_wrote(summary: zerohop.Summary) -> None:
    assert isinstance(summary, Mapping) and len(summary) == len(list(summary))
    tally = summary["run"]["tally"]
    assert summary.sample == "S1"
    assert summary.reads == tally["reads"] == tally["primary_records"]
    assert summary.mapped == 100 * tally["mapped"] / tally["reads"]
    assert summary.proper == 100 * tally["properly_paired"] / tally["paired"]
    found = summary["run"]["sorted"]["duplicates"]
    marked = found["paired_duplicates"] + found["single_duplicates"]
    assert summary.duplicates == 100 * marked / (found["paired"] + found["single"])
    assert summary.seconds == summary["wall"]["secs"] + summary["wall"]["nanos"] / 1e9


def test_a_row_per_run(summary: zerohop.Summary) -> None:
    row = summary.row()
    assert is_flat([row])
    assert row["sample"] == "S1" and row["workers"] == 2 and row["index_copies"] == 2
    assert row["reads"] == summary.reads and row["bases"] == summary["run"]["tally"]["bases"]


def test_a_row_per_worker(summary: zerohop.Summary) -> None:
    rows = summary.workers()
    assert is_flat(rows) and len(rows) == 2
    assert {row["copy"] for row in rows} == {0, 1}
    for row, worker in zip(rows, summary["run"]["workers"]):
        assert row["map"] == worker["map"]["secs"] + worker["map"]["nanos"] / 1e9


def test_where_memory_lies(summary: zerohop.Summary) -> None:
    rows = summary.memory()
    assert is_flat(rows) and {row["memory"] for row in rows} == {"copy 0", "copy 1"}
    present = sum(copy["census"]["present"] for copy in summary["replicas"])
    assert sum(row["bytes"] for row in rows) == present > 0


def test_insert_sizes(summary: zerohop.Summary) -> None:
    rows, tally = summary.insert_sizes(), summary["run"]["tally"]
    assert is_flat(rows)
    assert sum(row["pairs"] for row in rows) + tally["insert"]["longer"] == tally["properly_paired"] / 2
    half = sum(row["pairs"] for row in rows if row["insert_size"] <= summary["figures"]["insert"])
    assert half >= tally["properly_paired"] / 4


def test_the_machine() -> None:
    topology = zerohop.topology()
    printed = json.loads(subprocess.check_output([zerohop.program(), "topo", "--json"]))
    assert topology["cpu_model"] == printed["cpu_model"]
    nodes = topology.nodes()
    assert is_flat(nodes) and [row["node"] for row in nodes] == [node["id"] for node in printed["nodes"]]
    assert sum(row["allowed_cpus"] for row in nodes) == len(printed["allowed"]["cpus"])


def test_as_a_module() -> None:
    version = subprocess.check_output([sys.executable, "-m", "zerohop", "--version"], text=True)
    assert version == subprocess.check_output([zerohop.program(), "--version"], text=True)


def test_types_are_declared() -> None:
    assert Path(zerohop.__file__).with_name("py.typed").exists()
