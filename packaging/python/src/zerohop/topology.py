"""The machine."""

from __future__ import annotations

import json

from zerohop.document import Document
from zerohop.program import run
from zerohop.summary import Row


class Topology(Document):
    """What `zerohop topo --json` prints, as a mapping, and its nodes as a table."""

    def nodes(self) -> list[Row]:
        """A row per NUMA node: CPUs, those that may be used, memory and free memory in bytes."""
        allowed = set(self["allowed"]["cpus"])
        return [
            {
                "node": node["id"],
                "cpus": len(node["cpus"]),
                "allowed_cpus": len(allowed.intersection(node["cpus"])),
                "memory": node["memory"],
                "free": node["free"],
            }
            for node in self["nodes"]
        ]


def topology() -> Topology:
    """The NUMA nodes, CPUs, caches and memory of this machine, and what of it this process may use."""
    return Topology(json.loads(run("topo", "--json")))
