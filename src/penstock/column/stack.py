"""Putting row values together one by one: the slow and obvious meaning of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.column.values import Ragged
from penstock.spec import LeafSpec, Spec, flatten, is_ragged, pack, string, text


def stack_rows(rows: list[Any], spec: Spec) -> Any:
    """One batch of rows of the spec given. At least one row."""
    columns = zip(*map(flatten, rows), strict=True)
    stacked = [_stack(list(values), leaf) for values, leaf in zip(columns, spec.leaves, strict=True)]
    return pack(spec.structure, stacked)


def _stack(values: list[Any], spec: LeafSpec) -> Any:
    if is_ragged(spec):
        return _ragged(values, spec)
    sizes = tuple(size or 0 for size in spec.shape)
    if spec.dtype in (string, text):
        stacked = np.empty((len(values), *sizes), object)
    else:
        stacked = np.zeros((len(values), *sizes), spec.dtype)
    for i, value in enumerate(values):
        if value is not None:
            stacked[i] = value
    if not spec.optional or stacked.dtype == object:
        return stacked
    mask = np.zeros(stacked.shape, np.bool_)
    mask[[i for i, value in enumerate(values) if value is None]] = True
    return np.ma.MaskedArray(stacked, mask)


def _ragged(values: list[Any], spec: LeafSpec) -> Ragged:
    empty = np.zeros(
        (0, *(size or 0 for size in spec.shape[1:])), object if spec.dtype == string else spec.dtype
    )
    items = [empty if value is None else value for value in values]
    return Ragged(np.concatenate(items), np.cumsum([0, *map(len, items)]))
