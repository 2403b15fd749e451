"""Ragged tensors of nested lists."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as ps
from penstock.column.packing import pack_value
from penstock.errors import ArgumentError
from penstock.tf.composite import RaggedTensor
from penstock.tf.dtypes import as_dtype
from penstock.tf.tensors import Tensor, unwrap

__all__ = ["constant"]


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: Any = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = None,
) -> Any:
    """A ragged tensor of nested lists, by the name of TensorFlow.

    Args:
        pylist: Lists in lists.
        dtype: Of the values; None for that of the values themselves.
        ragged_rank: How many axes differ in length; as many as the lists have below the first where None. What is in
            lists below that is of one shape.
        inner_shape: The shape of the values of the innermost rows.
        name: Taken and not used, as `row_splits_dtype` is: splits are int64.

    Raises:
        ArgumentError: The values have no such form.
    """
    if ragged_rank is None and inner_shape is None:
        return _of_lists(pylist, dtype)
    depth = len(tuple(unwrap(inner_shape))) if inner_shape is not None else 0
    rank = _depth(pylist) - 1 - depth if ragged_rank is None else int(ragged_rank)
    if rank < 1:
        return Tensor(np.asarray(_packed_as(pylist, dtype)))
    values, splits = _flattened(pylist, rank)
    try:
        flat = np.asarray(_packed_as(values, dtype))
        if inner_shape is not None:
            flat = flat.reshape(-1, *tuple(unwrap(inner_shape)))
    except ValueError as error:
        want = f"values of one shape below {rank} ragged axes"
        raise ArgumentError("ragged.constant", "pylist", got=pylist, want=want) from error
    return RaggedTensor(_nested(flat, splits))


def _depth(value: Any) -> int:
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list | tuple) else np.ndim(value)


def _packed_as(values: Any, dtype: Any) -> Any:
    if dtype is None:
        return pack_value(values)
    kind = as_dtype(dtype)
    return np.asarray(pack_value(values) if kind.name == "string" else values, kind.dtype)


def _of_lists(pylist: Any, dtype: Any) -> RaggedTensor:
    if dtype is None:
        values, splits = _flattened(pylist)
        return RaggedTensor(_nested(np.asarray(pack_value(values)), splits))
    values, splits = _flattened(pylist)
    if as_dtype(dtype).name == "string":
        texts = pack_value(values) if values else np.empty(0, object)
        return RaggedTensor(_nested(np.asarray(texts, object), splits))
    return RaggedTensor(_nested(np.asarray(values, unwrap(as_dtype(dtype))), splits))


def _flattened(rows: list[Any], most: int | None = None) -> tuple[list[Any], list[list[int]]]:
    splits: list[list[int]] = []
    while any(isinstance(row, list) for row in rows) and (most is None or len(splits) < most):
        lengths = [len(row) for row in rows]
        splits.append(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64).tolist())
        rows = [item for row in rows for item in row]
    return rows, splits or [[0] * (len(rows) + 1)]


def _nested(values: Any, splits: list[list[int]]) -> ps.Ragged:
    return ps.Ragged.from_nested(values, [np.array(one, np.int64) for one in splits])
