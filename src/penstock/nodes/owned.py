"""States that users' functions are given, which they may change in place."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from penstock.column.values import Ragged, Sparse
from penstock.spec import flatten, pack

__all__ = ["owned"]


def owned(state: Any) -> Any:
    """A packed state that nobody else has: what is kept of it in marks and in rows stays as it is.

    >>> kept = {"sum": np.array([1, 2])}
    >>> given = owned(kept)
    >>> given["sum"] += 1
    >>> kept["sum"].tolist()
    [1, 2]
    """
    if isinstance(state, np.generic | bytes):
        return state
    if isinstance(state, np.ndarray):
        return state.copy()
    return pack(state, map(_owned_leaf, flatten(state)))


def _owned_leaf(leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray):
        return leaf.copy()
    return deepcopy(leaf) if isinstance(leaf, Ragged | Sparse) else leaf
