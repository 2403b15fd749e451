"""Rows by number that lie in several parts, such as files, one after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from penstock.column.base import IntArray
from penstock.column.chunk import Chunk

__all__ = ["gather_spread"]


def gather_spread(bounds: IntArray, rows: IntArray, of_part: Callable[[int, IntArray], Chunk]) -> Chunk:
    """The rows asked for, in that order, repeats allowed, at least one; each part is asked once.

    Args:
        bounds: Where the rows of each part begin, and the number of all rows.
        rows: Each in [0, bounds[-1]).
        of_part: Gives rows of a part, which it takes by their numbers among all.

    >>> from penstock.column.fixed import FixedColumn
    >>> bounds = np.array([0, 2, 5])
    >>> gather_spread(bounds, np.array([4, 0, 3]), lambda part, rows: Chunk(FixedColumn(rows + 10 * part))).to_list()
    [np.int64(14), np.int64(0), np.int64(13)]
    """
    numbers = np.searchsorted(bounds, rows, side="right") - 1
    used, which = np.unique(numbers, return_inverse=True)
    if len(used) == 1:
        return of_part(int(used[0]), rows)
    parts = [of_part(int(number), rows[numbers == number]) for number in used]
    order, sizes = np.argsort(which, kind="stable"), np.bincount(which)
    places = np.empty(len(rows), np.int64)
    places[order] = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Chunk.gather_from(parts, which.astype(np.int64), places)
