"""Rows of several datasets in one structure: their dict entries may stand in different orders."""

from __future__ import annotations

from typing import Any

from penstock.column.chunk import Chunk
from penstock.errors import InvalidArgumentError
from penstock.spec import flatten, form, pack, paths

__all__ = ["chunk_in_form", "row_in_form"]


def chunk_in_form(chunk: Chunk, structure: Any) -> Chunk:
    """The columns in the order of a structure with the same paths.

    Raises:
        InvalidArgumentError: It has others.
    """
    if form(chunk.template) == form(structure):
        return chunk
    return Chunk(row_in_form(chunk.structure, structure), len(chunk)).came_from(chunk)


def row_in_form(row: Any, structure: Any) -> Any:
    """A row in the order of a structure with the same paths.

    Raises:
        InvalidArgumentError: It has others.

    >>> row_in_form({"b": 1, "a": 2}, {"a": None, "b": None})
    {'a': 2, 'b': 1}
    """
    names, wanted = paths(row), paths(structure)
    if set(names) != set(wanted):
        shown = " and ".join(", ".join(map(repr, one)) for one in (wanted, names))
        raise InvalidArgumentError(f"rows of different structures come after each other: of {shown}.")
    named = dict(zip(names, flatten(row), strict=True))
    return pack(structure, [named[path] for path in wanted])
