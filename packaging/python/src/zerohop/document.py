"""JSON of the program, as a mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Document(Mapping[str, Any]):
    """What the program wrote, unchanged: a mapping from names to values."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content = content

    def __getitem__(self, name: str) -> Any:
        return self._content[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)
