"""New values to make data of, as NumPy arrays with TensorFlow's names and dtypes; tensors outside of this file."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.column.packing import pack_value
from penstock.tf.dtypes import as_dtype

__all__ = ["eye", "identity", "linspace", "range"]


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None) -> Any:
    """The numbers from `start` (0 where only one argument is given) to below `limit`, `delta` apart.

    >>> range(2, 8, 3)
    array([2, 5], dtype=int32)
    """
    first, last = (0, start) if limit is None else (start, limit)
    values = [pack_value(value) for value in (first, last, delta)]
    floats = [value for value in values if value.dtype.kind == "f"]
    kind = np.result_type(*(floats or values)) if dtype is None else as_dtype(dtype).dtype
    return np.arange(*values, dtype=kind)


def linspace(start: Any, stop: Any, num: int) -> Any:
    """`num` numbers from `start` to `stop`, evenly spaced: floats, as `/` makes them of whole numbers.

    >>> linspace(0.0, 1.0, 3)
    array([0. , 0.5, 1. ], dtype=float32)
    """
    first = pack_value(start)
    # Of whole numbers below 32 bits `/` makes float32.
    whole = np.dtype(np.float32 if first.dtype.itemsize < 4 else np.float64)
    kind = whole if first.dtype.kind in "iu" else first.dtype
    return np.linspace(first, pack_value(stop), int(num), dtype=kind)


def eye(num_rows: int, num_columns: int | None = None, dtype: Any = np.float32) -> Any:
    """A matrix with 1 on its diagonal and 0 elsewhere.

    >>> eye(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return np.eye(int(num_rows), num_columns, dtype=as_dtype(dtype).dtype)


def identity(input: Any) -> Any:  # noqa: A002
    """The value itself.

    >>> identity(b"a")
    b'a'
    """
    return pack_value(input) if isinstance(input, bool | int | float | str | list) else input
