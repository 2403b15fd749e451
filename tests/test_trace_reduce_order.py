"""Reductions of a chunk add up in the order of a single row, however the chunk lies in memory."""

from typing import Any

import numpy as np
import pytest

from penstock.trace.align import rows_first


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32, np.complex64])
@pytest.mark.parametrize("reduce", [np.mean, np.std, np.var])
def test_a_chunk_in_another_order_of_memory_has_the_means_of_its_rows(dtype: Any, reduce: Any):
    rows = np.array([[1, 1, 1, 0, 0, 0, 0, 0, 0]] * 3).astype(dtype)
    of_chunk = reduce(rows_first(np.asfortranarray(rows)), axis=(1,))
    assert of_chunk.tolist() == [reduce(row).item() for row in rows]
