"""`tf.sparse`: sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.column.packing import pack_value
from penstock.tf.composite import SparseTensor, TracedSparse
from penstock.tf.missing import no_attribute
from penstock.tf.tensors import Tensor, unwrap

__all__ = ["SparseTensor", "from_dense", "to_dense"]


def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """The whole tensor.

    >>> import penstock.tf as tf
    >>> tf.sparse.to_dense(tf.SparseTensor([[1]], [5], [3]), default_value=-1).numpy()
    array([-1,  5, -1], dtype=int32)
    """
    if isinstance(sp_input, TracedSparse):
        return sp_input.to_dense()
    return Tensor(unwrap(sp_input).to_dense(unwrap(default_value)))


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The values of a tensor that are not 0, with their places."""
    array = np.asarray(pack_value(unwrap(tensor)))
    places = np.argwhere(array != (b"" if array.dtype == object else 0))
    return SparseTensor(places, array[tuple(places.T)], np.array(array.shape, np.int64))


def __getattr__(name: str) -> Any:
    raise no_attribute("tf.sparse", name, tuple(__all__))
