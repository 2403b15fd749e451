"""The places of rows that could not be made, as a mark says them: rising numbers by the name of the error.

So they are as small in a state as the positions of rows on hold, however many they are.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from penstock.column.base import IntArray
from penstock.graph.plain_values import are_rising

__all__ = [
    "Failed",
    "FailedRows",
    "are_failed_rows",
    "is_among",
    "rows_before",
    "rows_by_name",
]

FailedRows: TypeAlias = tuple[tuple[str, IntArray], ...]
"""(name of an error, int64[k] rising), of each name. States of before have (row, name) of each error."""

_NONE: Final = np.zeros(0, np.int64)
_MOST: Final = 1 << 62


class Failed:
    """The errors that an edge has raised in an epoch, as far back as rows may have to be made again.

    Attributes:
        n: Of the whole epoch.
    """

    def __init__(self) -> None:
        self.n = 0
        self._positions: dict[str, array[int]] = {}
        self._known: tuple[int, tuple[int, FailedRows, tuple[()] | None]] | None = None

    def add(self, position: int, error: Exception) -> None:
        """Take note of an error at a position behind all others."""
        self.n += 1
        self._positions.setdefault(type(error).__name__, array("q")).append(position)
        self._known = None

    def forget(self) -> None:
        """No rows have to be made again; how many failed is kept."""
        self._positions.clear()
        self._known = None

    def notes(self, first: int, here: Any) -> tuple[Any, ...]:
        """The notes of a mark after which rows are made again from a position on; errors before it are forgotten.

        The same object as before where nothing has changed.

        Args:
            first: The position.
            here: Where the rows stand that come next, where that is apart from it: not where a row has failed. Empty
                at the end.
        """
        if here:
            return (0, (), here)
        if not self.n and here is None:
            return ()
        if self._known is None or (self._known[0], self._known[1][2]) != (first, here):
            self._known = first, (self.n, tuple(self._rows_from(first)), here)
        return self._known[1]

    def _rows_from(self, first: int) -> Iterator[tuple[str, IntArray]]:
        for name, positions in list(self._positions.items()):
            rows = np.array(positions, np.int64) - first
            n_old = int(np.searchsorted(rows, 0))
            del positions[:n_old]
            if positions:
                yield name, rows[n_old:]
            else:
                del self._positions[name]


def are_failed_rows(value: Any) -> bool:
    """Whether a value that was read from somewhere has one of the two forms."""
    return isinstance(value, tuple) and (all(map(_is_of_before, value)) or all(map(_is_entry, value)))


def _is_of_before(entry: Any) -> bool:
    if not (isinstance(entry, tuple) and len(entry) == 2):
        return False
    row, name = entry
    return type(row) is int and 0 <= row <= _MOST and type(name) is str


def _is_entry(entry: Any) -> bool:
    if not (isinstance(entry, tuple) and len(entry) == 2):
        return False
    name, rows = entry
    return type(name) is str and are_rising(rows) and (not len(rows) or bool(rows[-1] <= _MOST))


def rows_by_name(failed: Any) -> dict[str, IntArray]:
    """The rows of each name, of either form."""
    if not (failed and type(failed[0][0]) is int):
        return dict(failed)
    found: dict[str, list[int]] = {}
    for row, name in failed:
        found.setdefault(name, []).append(row)
    return {name: np.array(rows, np.int64) for name, rows in found.items()}


def is_among(by_name: Mapping[str, IntArray], row: int, error: Exception) -> bool:
    """Whether a row failed by an error of the same name."""
    rows = by_name.get(type(error).__name__, _NONE)
    i = int(np.searchsorted(rows, row))
    return i < len(rows) and int(rows[i]) == row


def rows_before(failed: Any, row: int) -> FailedRows:
    """Those that come before a row."""
    parts = ((name, rows[rows < row]) for name, rows in rows_by_name(failed).items())
    return tuple((name, rows) for name, rows in parts if len(rows))
