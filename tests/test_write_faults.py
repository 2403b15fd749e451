"""What must never happen to data on its way into files: lost values, changed values, files that cannot be read."""

from typing import Any

import numpy as np
import pytest

from penstock.column.values import Ragged
from penstock.errors import ArgumentError, FeatureError
from penstock.open import open as open_files
from penstock.write import write


def back(tmp_path, data: Any, **options: Any) -> list[dict[str, Any]]:
    return list(open_files(write(tmp_path / "x.tfrecord", data, **options).paths[0]))


def lists(rows: list[dict[str, Any]]) -> list[Any]:
    return [None if row["a"] is None else row["a"].tolist() for row in rows]


# --- two values, one name ---


@pytest.mark.parametrize(
    "data",
    [
        [{"a": {"b": 1}, "a/b": 2}],
        {"a": {"b": [1]}, "a/b": [2]},
        {"a": {"b": {"c": [1]}, "b/c": [2]}},
        [{"a": {1: 1, "1": 2}}],
    ],
)
def test_two_values_of_one_joined_name_are_an_error(tmp_path, data):
    with pytest.raises(
        ArgumentError, match=r"the feature is 'a/(b|b/c|1)', wanted a name that is there once"
    ):
        write(tmp_path / "x.tfrecord", data)


# --- lists that are empty at first ---

MANY = 8192  # rows of a block


@pytest.mark.parametrize(
    "late", [[1.5], [1], ["x"], [b"x"], [True], np.array([1, 2], np.uint8), np.ones((2, 3)), [[1], [2, 3]]]
)
@pytest.mark.parametrize("early", [[[]], [[], None]])
def test_lists_that_are_empty_at_first_stay_empty(tmp_path, early, late):
    rows = back(tmp_path, ({"a": value} for value in early * MANY + [late]))
    assert [None if row["a"] is None else len(row["a"]) for row in rows[:-1]] == [
        None if value is None else 0 for value in early * MANY
    ]
    last = rows[-1]["a"]
    assert (last.to_list() if isinstance(last, Ragged) else last.tolist()) == np.asarray(
        late, object if isinstance(late, list) else None
    ).tolist()


def test_lists_that_are_empty_at_last_stay_empty(tmp_path):
    rows = back(tmp_path, ({"a": value} for value in [[1.5], None] + [[], None] * MANY))
    assert lists(rows[:2]) == [[1.5], None]
    assert lists(rows[2:]) == [[], None] * MANY


def test_lists_that_are_always_empty_are_not_missing(tmp_path):
    assert lists(back(tmp_path, [{"a": []}, {"a": None}, {"a": []}])) == [[], None, []]


def test_lists_that_are_empty_for_very_long_stay_empty(tmp_path):
    big = b"x" * 100_000
    rows = back(tmp_path, ({"a": [0.5] if i == 899 else [], "b": big} for i in range(900)))
    assert lists(rows) == [[]] * 899 + [[0.5]]


def test_a_row_that_lacks_a_list_after_very_long_empty_ones_is_an_error(tmp_path):
    big = b"x" * 100_000
    rows = ({"a": None if i == 8999 else [], "b": big if i < 900 else b""} for i in range(9000))
    with pytest.raises(FeatureError, match=r"record 8999: feature 'a' is missing, wanted a list"):
        write(tmp_path / "x.tfrecord", rows)


def test_an_empty_list_does_not_fit_arrays_of_many_shapes(tmp_path):
    arrays = [{"a": np.zeros((2, 3))}, {"a": np.zeros((3, 4))}] * 4096
    with pytest.raises(FeatureError, match=r"record 8192: .*'a' is an empty list, wanted float64\[\?, \?\]"):
        write(tmp_path / "x.tfrecord", iter([*arrays, {"a": []}]))
    with pytest.raises(FeatureError, match="is an empty list"):
        write(tmp_path / "x.tfrecord", iter([{"a": []}] * 8192 + arrays))


# --- numbers that would be rounded ---


@pytest.mark.parametrize(
    "values",
    [
        [2**53 + 1, 0.5],
        [[0.5, 2**53 + 1]],
        [-(2**63) + 1, 1.5],
        [2**53 + 1, 1j],
        [np.uint64(2**64 - 1), np.float32(0.5)],
    ],
)
def test_whole_numbers_that_a_float_would_round_are_an_error(tmp_path, values):
    with pytest.raises(FeatureError, match=r"holds -?\d+ among (float64|complex128) numbers"):
        write(tmp_path / "x.tfrecord", [{"a": value} for value in values])


def test_whole_numbers_that_a_float_holds_may_stand_among_floats(tmp_path):
    rows = back(tmp_path, [{"a": 2**53}, {"a": 0.5}, {"a": np.int8(3)}])
    assert [row["a"] for row in rows] == [2.0**53, 0.5, 3.0]
