"""Rows by number that lie in several parts, such as files, one after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from penstock.column.base import IntArray
from penstock.column.chunk import Chunk

__all__ = ["gather_spread", "gather_together"]


def gather_spread(bounds: IntArray, rows: IntArray, of_part: Callable[[int, IntArray], Chunk]) -> Chunk:
    """The rows asked for, in that order, repeats allowed, at least one; each part is asked once.

    Args:
        bounds: Where the rows of each part begin, and the number of all rows.
        rows: Each in [0, bounds[-1]).
        of_part: Gives rows of a part by their numbers there.

    >>> from penstock.column.fixed import FixedColumn
    >>> bounds = np.array([0, 2, 5])
    >>> gather_spread(bounds, np.array([4, 0, 3]), lambda part, rows: Chunk(FixedColumn(rows + 10 * part))).to_list()
    [np.int64(12), np.int64(0), np.int64(11)]
    """
    used, which, inner = _spread(bounds, rows)
    if len(used) == 1:
        return of_part(used[0], inner)
    order, sizes = np.argsort(which, kind="stable"), np.bincount(which)
    of_parts = np.split(inner[order], np.cumsum(sizes)[:-1])
    parts = [of_part(number, some) for number, some in zip(used, of_parts, strict=True)]
    places = np.empty(len(rows), np.int64)
    places[order] = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Chunk.gather_from(parts, which, places)


def gather_together(
    bounds: IntArray,
    rows: IntArray,
    most_parts: int,
    of_parts: Callable[[list[int], IntArray, IntArray], Chunk],
) -> Chunk:
    """As `gather_spread`, where parts are asked together.

    Args:
        bounds: Where the rows of each part begin, and the number of all rows.
        rows: Each in [0, bounds[-1]).
        most_parts: As many are asked together, at least one.
        of_parts: Takes the numbers of parts, and of each row which of those it is in and its number there.

    >>> from penstock.column.fixed import FixedColumn
    >>> def of_parts(parts, which, inner):
    ...     return Chunk(FixedColumn(10 * np.array(parts)[which] + inner))
    >>> gather_together(np.array([0, 2, 5]), np.array([4, 0, 3]), 1, of_parts).to_list()
    [np.int64(12), np.int64(0), np.int64(11)]
    """
    used, which, inner = _spread(bounds, rows)
    if len(used) <= most_parts:
        return of_parts(used, which, inner)
    half = len(rows) // 2
    pieces = [gather_together(bounds, some, most_parts, of_parts) for some in (rows[:half], rows[half:])]
    return Chunk.concat(pieces)


def _spread(bounds: IntArray, rows: IntArray) -> tuple[list[int], IntArray, IntArray]:
    """The parts that rows lie in, rising; of each row which of those it is in, and its number there."""
    numbers = np.searchsorted(bounds, rows, side="right") - 1
    used, which = np.unique(numbers, return_inverse=True)
    return used.tolist(), which.astype(np.int64), rows - bounds[numbers]
