"""What is given by name takes the dtype of the tensors beside it, as what is given by place does."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
tf = pytest.importorskip("tensorflow")

import penstock.tf as ptf  # noqa: E402 (TensorFlow's log level comes first)

NAMED: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda t, x: t.add(x=x, y=np.float64(2.5)),
    "add partly": lambda t, x: t.add(x, y=np.float64(2.5)),
    "where": lambda t, x: t.where(condition=np.array(True), x=x, y=np.float64(2)),
    "where partly": lambda t, x: t.where(np.array(True), x, y=np.float64(2)),
    "clip": lambda t, x: t.clip_by_value(t=x, clip_value_min=np.float64(1), clip_value_max=np.float64(2)),
    "matmul": lambda t, x: t.matmul(a=t.reshape(x, [1, 1]), b=np.array([[2.0]])),
    "stack": lambda t, x: t.stack(values=[x, 2]),
    "reduce_sum": lambda t, x: t.reduce_sum(input_tensor=[x, 2]),
    "expand_dims": lambda t, x: t.expand_dims(input=[x, 2], axis=0),
    "reshape": lambda t, x: t.reshape([x, 2], [2, 1]),
    "reshape by name": lambda t, x: t.reshape(tensor=[x, 2], shape=[2, 1]),
    "broadcast_to": lambda t, x: t.broadcast_to([x, 2], [2, 2]),
    "slice": lambda t, x: t.slice([x, 2], [0], [1]),
    "a list with a float of NumPy": lambda t, x: t.convert_to_tensor([np.float64(1.5), x]),
}


def plain(value: Any) -> Any:
    array = np.asarray(value.numpy())
    return array.dtype.name, array.tolist()


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
@pytest.mark.parametrize("name", NAMED)
def test_values_given_by_name_take_the_dtype_of_the_tensors(name: str, dtype: str) -> None:
    values = np.array([1, 3], dtype)
    ours = ptf.data.Dataset.from_tensor_slices(values).map(lambda x: NAMED[name](ptf, x))
    theirs = tf.data.Dataset.from_tensor_slices(values).map(lambda x: NAMED[name](tf, x))
    assert plain(NAMED[name](ptf, ptf.constant(values[0]))) == plain(NAMED[name](tf, tf.constant(values[0])))
    assert list(map(plain, ours)) == list(map(plain, theirs))


@pytest.mark.parametrize("batched", [False, True])
def test_floors_of_quotients_of_bfloat16_are_those_of_tensorflow(batched: bool) -> None:
    values = np.linspace(-7, 7, 40, dtype=np.float32)

    def floors(t: Any) -> list[Any]:
        rows = t.data.Dataset.from_tensor_slices(values).map(
            lambda x: t.cast(t.cast(x, t.bfloat16) // 0.1, t.float32)
        )
        return [np.asarray(row).tolist() for row in (rows.batch(7) if batched else rows)]

    assert floors(ptf) == floors(tf)


@pytest.mark.parametrize("beside", [2.5, 2, np.float64(2.5), [2.5]])
def test_numbers_beside_bfloat16_take_its_dtype_in_map(beside: Any) -> None:
    values = np.array([1, 3], np.float32)

    def names(t: Any) -> list[Any]:
        rows = t.data.Dataset.from_tensor_slices(values).map(lambda x: t.cast(x, t.bfloat16) * beside)
        return [plain(row) for row in rows]

    assert names(ptf) == names(tf)


def test_a_list_takes_the_dtype_of_a_tensor_of_bfloat16() -> None:
    made = [t.stack([2.5, t.constant(1, t.bfloat16)]) for t in (ptf, tf)]
    assert plain(made[0]) == plain(made[1]) == ("bfloat16", [2.5, 1.0])


def test_shapes_that_do_not_fit_are_not_equal_with_an_array_of_numpy_on_the_left() -> None:
    for t in (ptf, tf):
        assert plain(np.array([1, 2, 3]) == t.constant([1, 3])) == ("bool", False)
        assert plain(np.array([1, 2, 3]) != t.constant([1, 3])) == ("bool", True)


def test_totals_and_steps_have_the_dtypes_of_tensorflow() -> None:
    for t in (ptf, tf):
        weighed = t.math.bincount([[1, 1], [0, 3]], weights=[[1.0, 2.0], [3.0, 4.0]], axis=-1)
        assert plain(weighed) == ("float32", [[0, 3, 0, 0], [3, 0, 0, 4]])
        assert plain(t.linspace(t.constant(0, t.uint8), 7, 3)) == ("float32", [0, 3.5, 7])
        with pytest.raises(Exception, match=r"k >= 0|entries"):
            t.math.top_k([1, 3, 2], -1)
