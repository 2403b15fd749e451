"""unique: the first of every value."""

import itertools
import json

import numpy as np
import pytest

from penstock.dataset import Dataset
from penstock.errors import ArgumentTypeError


def test_each_value_comes_once_where_it_came_first():
    assert list(Dataset.from_tensor_slices([3, 1, 3, 2, 1]).unique()) == [3, 1, 2]
    assert list(Dataset.from_tensor_slices(["b", "a", "b"]).unique()) == [b"b", b"a"]


@pytest.mark.parametrize("rows", [[1.5], [[1, 2]], {"a": [1]}, ([1], [2])])
def test_rows_that_are_no_scalars_of_its_dtypes_are_refused(rows):
    with pytest.raises(ArgumentTypeError, match="unique"):
        list(Dataset.from_tensor_slices(rows).unique())


def test_a_mark_after_many_values_remembers_them_all_in_few_arrays():
    ds = Dataset.range(50_000).map(lambda x: x * 7919 % 20_011).unique()
    rows = iter(ds)
    first = list(itertools.islice(rows, 15_000))
    state = json.loads(json.dumps(rows.get_state()))
    other = iter(ds)
    other.set_state(state)
    rest = list(other)
    assert rest == list(rows)
    assert len(first) + len(rest) == 20_011 == len(np.unique(first + rest))
    assert len(json.dumps(state)) < 15 * 20_011
