"""Traces of functions that look at values which may be missing: for which rows they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from penstock.column.chunk import Chunk
from penstock.nodes.effects import is_same_without
from penstock.trace import Trace, Untraceable

__all__ = ["Lacking"]

# What is missing in a row is a number of so many bits.
_MOST_LEAVES: Final = 60
# Each way in which rows lack values calls the function once.
_MOST_WAYS: Final = 200


class Lacking:
    """For which rows a trace holds, by what they lack of the leaves that its function looks at.

    `x is None` cannot be seen while a function is traced. So it is called once more for each way in which rows lack
    values, with None in their place: where it does the same as before, one trace is right for all of these rows.
    """

    def __init__(self, made: Trace, function: Callable[..., Any]) -> None:
        self._made, self._function, self._leaves = made, function, list(made.looked)
        self._known = {0: True}

    def refused(self) -> Untraceable | None:
        """Where the function looks at a value for which it does something else once that one is missing."""
        if len(self._leaves) > _MOST_LEAVES:
            return next(iter(self._made.looked.values()))
        wrong = (leaf for i, leaf in enumerate(self._leaves) if not self._holds(1 << i))
        return next((self._made.looked[leaf] for leaf in wrong), None)

    def hold(self, rows: Chunk) -> bool:
        """Whether the trace holds for all rows of a chunk."""
        if not self._leaves:
            return True
        ways = np.zeros(len(rows), np.int64)
        columns = rows.columns
        for i, leaf in enumerate(self._leaves):
            valid = columns[leaf].valid
            if valid is not None:
                ways |= np.where(valid, 0, 1 << i)
        return all(map(self._holds, np.unique(ways).tolist()))

    def _holds(self, way: int) -> bool:
        if way not in self._known:
            if len(self._known) > _MOST_WAYS:
                return False
            missing = [leaf for i, leaf in enumerate(self._leaves) if way >> i & 1]
            self._known[way] = is_same_without(self._made, self._function, missing)
        return self._known[way]
