"""No rows of a spec."""

from __future__ import annotations

import numpy as np

from penstock.column.base import Column
from penstock.column.bytes import BytesColumn
from penstock.column.chunk import Chunk
from penstock.column.fixed import FixedColumn
from penstock.column.ragged import RaggedColumn
from penstock.column.shaped import ShapedColumn
from penstock.spec import LeafSpec, RaggedSpec, Spec, TensorSpec, map_structure, string, text

__all__ = ["empty_batch", "empty_chunk"]

_NO_OFFSETS = np.zeros(1, np.int64)


def empty_chunk(spec: Spec) -> Chunk:
    """A chunk of 0 rows.

    >>> empty_chunk(Spec({"a": TensorSpec((2,), np.int8)})).to_list()
    []
    """
    return Chunk(map_structure(_empty_column, spec.structure), 0)


def empty_batch(spec: Spec) -> Chunk:
    """A chunk of one row, which is a batch of 0 rows.

    >>> empty_batch(Spec({"a": TensorSpec((2,), np.int8)})).row(0)["a"].shape
    (0, 2)
    """
    bounds = np.zeros(2, np.int64)
    return Chunk(map_structure(lambda leaf: RaggedColumn(bounds, _empty_column(leaf)), spec.structure), 1)


def _empty_column(spec: LeafSpec) -> Column:
    if isinstance(spec, RaggedSpec):
        column = _of_shape(TensorSpec(spec.shape[spec.ragged_rank + 1 :], spec.dtype))
        for _ in range(spec.ragged_rank + 1):
            column = RaggedColumn(_NO_OFFSETS, column)
        return column
    if None not in spec.shape:
        return _of_shape(spec)
    if None in spec.shape[1:]:
        flat = RaggedColumn(_NO_OFFSETS, _of_shape(TensorSpec((), spec.dtype)))
        return ShapedColumn(flat, np.zeros((0, len(spec.shape)), np.int64), spec.shape)
    return RaggedColumn(_NO_OFFSETS, _of_shape(TensorSpec(spec.shape[1:], spec.dtype)))


def _of_shape(spec: TensorSpec) -> Column:
    shape = tuple(size or 0 for size in spec.shape)
    if spec.dtype in (string, text):
        return BytesColumn(_NO_OFFSETS, np.zeros(0, np.uint8), None, shape, spec.dtype)
    return FixedColumn(np.zeros((0, *shape), spec.dtype))
