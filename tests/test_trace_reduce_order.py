"""What NumPy computes otherwise in a chunk than in a row is computed as in a row, to the last bit."""

from typing import Any

import numpy as np
import pytest

import penstock as ps
from penstock.trace.align import rows_first


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32, np.complex64])
@pytest.mark.parametrize("reduce", [np.mean, np.std, np.var])
def test_a_chunk_in_another_order_of_memory_has_the_means_of_its_rows(dtype: Any, reduce: Any):
    rows = np.array([[1, 1, 1, 0, 0, 0, 0, 0, 0]] * 3).astype(dtype)
    of_chunk = reduce(rows_first(np.asfortranarray(rows)), axis=(1,))
    assert of_chunk.tolist() == [reduce(row).item() for row in rows]


@pytest.mark.parametrize("function", [np.power, lambda x, n: x**n, lambda x, n: x ** np.stack([n])])
@pytest.mark.parametrize("shape", [(), (1,), (3,)])
def test_powers_that_differ_from_row_to_row_are_those_of_the_rows(function: Any, shape: tuple[int, ...]):
    random = np.random.default_rng(1)
    x, n = random.random((500, *shape)), random.choice([0.5, 2.0, -1.0, 3.0], 500)  # squares, roots, ...
    made = list(ps.Dataset.from_tensor_slices((x, n)).map(function))
    assert all(map(np.array_equal, made, map(function, x, n)))


@pytest.mark.parametrize("function", [np.cbrt, np.exp, np.cosh, np.arctan])
def test_functions_of_single_float16_are_those_of_the_rows(function: Any):
    x = np.arange(np.float16(10).view(np.uint16), dtype=np.uint16).view(np.float16)  # all from 0 to 10
    made = list(ps.Dataset.from_tensor_slices(x).map(function))
    assert made == [function(one) for one in x]


@pytest.mark.filterwarnings("ignore:All-NaN slice")
def test_a_median_of_one_item_is_that_item():
    values = np.array([1, 2, np.finfo(np.float64).max, np.nan])
    made = list(ps.Dataset.from_tensor_slices(values).map(np.nanmedian))
    assert np.array_equal(made, values, equal_nan=True)
