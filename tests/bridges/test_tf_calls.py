"""Single calls give what TensorFlow gives: value, dtype, shape, and the type of what `.numpy()` gives."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
tf = pytest.importorskip("tensorflow")

import penstock.tf as ptf  # noqa: E402 (TensorFlow's log level comes first)

WITHOUT_TENSORS = [
    "tf.add(1, np.array([1, 2, 3]))",
    "tf.multiply([1, 2], np.array([1, 2]))",
    "tf.maximum(2.5, np.array([1, 2, 3]))",
    "tf.minimum(np.float64(2), np.array([1, 2, 3]))",
    "tf.subtract(1, np.float64(2.5))",
    "tf.divide([1.5, -2.0], np.int64(7))",
    "tf.math.xlogy(2.5, np.array([1, 2, 3]))",
    "tf.where([True, False], [1, 2], np.array([3, 4]))",
    "tf.less(1, np.array([0.5, 2]))",
    "tf.pow(np.array([1, 2]), np.float32(2))",
]
"""The first value decides the dtype where none is a tensor."""

BESIDE_TENSORS = [
    "tf.math.xlogy(1, tf.constant([4.0, 5.0]))",
    "tf.math.xdivy(np.array([1, 2]), tf.constant([4.0, 5.0]))",
    "tf.bitwise.bitwise_and(np.array([1, 2]), tf.constant([3, 3]))",
    "tf.bitwise.left_shift(tf.constant([1, 2], tf.uint8), np.int64(1))",
    "tf.truncatediv(tf.constant([5, -5]), np.int64(2))",
    "tf.subtract(True, tf.constant([1.5, 2.0]))",
    "tf.multiply(tf.constant([1, 2]), True)",
    "tf.add(np.int64(7), tf.ragged.constant([[1, 2], [3]]))",
]


def told(value: Any, library: Any) -> Any:
    """A value as lists and names, which can be compared."""
    if isinstance(value, list | tuple):
        return [told(part, library) for part in value]
    if isinstance(value, library.RaggedTensor):
        return "ragged", value.dtype.name, value.shape.as_list(), value.ragged_rank, repr(value.to_list())
    if isinstance(value, library.SparseTensor):
        return "sparse", [told(part, library) for part in (value.indices, value.values, value.dense_shape)]
    if not isinstance(value, library.Tensor):
        return value
    made = value.numpy()
    array = np.asarray(made).astype(np.float64 if value.dtype.name == "bfloat16" else np.asarray(made).dtype)
    rounded = np.round(array, 5) if array.dtype.kind in "fc" else array
    return type(made).__name__, value.dtype.name, value.shape.as_list(), repr(rounded.tolist())


@pytest.mark.parametrize("call", [*WITHOUT_TENSORS, *BESIDE_TENSORS])
def test_a_call_gives_the_same(call: str) -> None:
    theirs, ours = (told(eval(call, {"tf": library, "np": np}), library) for library in (tf, ptf))
    assert ours == theirs
