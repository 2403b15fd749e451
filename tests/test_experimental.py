"""The names of `tf.data.experimental` do what the methods of `Dataset` do."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as ps
from penstock import experimental

FIVE = ps.Dataset.range(5)
LISTS = FIVE.map(np.arange)
NAMED = ps.Dataset.zip({"n": FIVE})


def pair(n):
    return ps.Dataset.range(n, n + 2)


def window(_, rows):
    return rows.batch(9)


APPLIED = {
    "assert_cardinality": (FIVE, (5,), [0, 1, 2, 3, 4]),
    "bucket_by_sequence_length": (
        LISTS,
        (len, [3], [9, 9]),
        [[[0, 0], [0, 0], [0, 1]], [[0, 1, 2, 0], [0, 1, 2, 3]]],
    ),
    "copy_to_device": (FIVE, ("/gpu:0",), [0, 1, 2, 3, 4]),
    "prefetch_to_device": (FIVE, ("/gpu:0", 2), [0, 1, 2, 3, 4]),
    "dense_to_ragged_batch": (LISTS, (3,), [[[], [0], [0, 1]], [[0, 1, 2], [0, 1, 2, 3]]]),
    "dense_to_sparse_batch": (
        LISTS,
        (9, [4]),
        [[[0] * 4, [0] * 4, [0, 1, 0, 0], [0, 1, 2, 0], [0, 1, 2, 3]]],
    ),
    "enumerate_dataset": (FIVE.take(2), (7,), [(7, 0), (8, 1)]),
    "group_by_reducer": (
        FIVE,
        (
            lambda n: n % 2,
            experimental.Reducer(lambda _: np.int64(0), lambda total, n: total + n, lambda total: total),
        ),
        [6, 4],
    ),
    "group_by_window": (FIVE, (lambda n: n % 2, window, 9), [[0, 2, 4], [1, 3]]),
    "ignore_errors": (FIVE.map(lambda n: 6 // (2 - int(n))), (), [3, 6, -6, -3]),
    "map_and_batch": (FIVE, (lambda n: n * 10, 2), [[0, 10], [20, 30], [40]]),
    "pad_to_cardinality": (NAMED.take(1), (2,), [{"n": 0, "valid": True}, {"n": 0, "valid": False}]),
    "parallel_interleave": (FIVE.take(2), (pair, 2), [0, 1, 1, 2]),
    "rejection_resample": (FIVE.take(1), (lambda _: 0, [1.0], [1.0]), [(0, 0)]),
    "scan": (FIVE, (np.int64(0), lambda total, n: (total + n, total + n)), [0, 1, 3, 6, 10]),
    "shuffle_and_repeat": (FIVE.take(1), (3, 2), [0, 0]),
    "take_while": (FIVE, (lambda n: n < 2,), [0, 1]),
    "unbatch": (FIVE.batch(2), (), [0, 1, 2, 3, 4]),
    "unique": (FIVE.map(lambda n: n // 2), (), [0, 1, 2]),
}
MADE = {
    "Counter": ((3, 2), [3, 5]),
    "RandomDataset": ((3,), [3534849767, 279844183]),
    "choose_from_datasets": (([FIVE, FIVE], ps.Dataset.range(2)), [0, 0]),
    "from_list": (([7, 8],), [7, 8]),
    "sample_from_datasets": (([FIVE],), [0, 1]),
}


def plain(value):
    if isinstance(value, ps.Sparse):
        return value.to_dense().tolist()
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return value.to_list() if isinstance(value, ps.Ragged) else value.tolist()


@pytest.mark.parametrize("name", APPLIED)
def test_a_name_is_applied_to_a_dataset(name):
    ds, arguments, rows = APPLIED[name]
    assert [plain(row) for row in ds.apply(getattr(experimental, name)(*arguments))] == rows


@pytest.mark.parametrize("name", MADE)
def test_a_name_makes_a_dataset(name):
    arguments, rows = MADE[name]
    assert [plain(row) for row in getattr(experimental, name)(*arguments).take(2)] == rows


def test_the_only_row_the_next_row_and_the_number_of_rows_are_given():
    assert experimental.cardinality(FIVE.repeat()) == experimental.INFINITE_CARDINALITY == -1
    assert experimental.cardinality(FIVE.filter(lambda n: n > 1)) == experimental.UNKNOWN_CARDINALITY == -2
    assert experimental.get_single_element(FIVE.take(1)) == 0
    rows = iter(FIVE.take(1))
    assert experimental.get_next_as_optional(rows).get_value() == 0
    assert not experimental.get_next_as_optional(rows).has_value()


def test_csv_files_are_read_by_the_names_of_tf_data(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("n,s\n1,x\n2,y\n")
    rows = experimental.CsvDataset(str(path), [np.int32, ""], header=True)
    assert list(rows) == [(1, b"x"), (2, b"y")]
    [batch] = experimental.make_csv_dataset(str(path), 2, num_epochs=1, shuffle=False)
    assert (batch["n"].tolist(), batch["s"].tolist()) == ([1, 2], [b"x", b"y"])


def test_a_snapshot_is_applied_by_the_name_of_tf_data(tmp_path):
    kept = FIVE.apply(experimental.snapshot(str(tmp_path / "s")))
    assert [list(kept), list(kept)] == [[0, 1, 2, 3, 4]] * 2
    assert experimental.get_structure(kept) == experimental.get_structure(iter(kept)) == FIVE.element_spec


def test_files_of_examples_are_read_by_the_names_of_tf_data(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    ps.write(path, {"n": [1, 2, 3]})
    features = {"n": ps.io.FixedLenFeature([], np.int64)}
    rows = ps.TFRecordDataset(path).batch(2).apply(experimental.parse_example_dataset(features))
    assert [row["n"].tolist() for row in rows] == [[1, 2], [3]]
    batches = experimental.make_batched_features_dataset(path, 3, features, num_epochs=1, shuffle=False)
    assert [batch["n"].tolist() for batch in batches] == [[1, 2, 3]]


def test_every_name_is_tried_here():
    values = {"AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "ThreadingOptions", "Reducer"}
    files = {
        "snapshot",
        "CsvDataset",
        "make_csv_dataset",
        "make_batched_features_dataset",
        "parse_example_dataset",
    }
    functions = {"cardinality", "get_single_element", "get_next_as_optional", "get_structure"}
    assert set(experimental.__all__) - values - functions - files == APPLIED.keys() | MADE.keys()


def test_choosing_by_the_older_name_passes_over_what_is_empty():
    parts, choices = [FIVE.take(1), FIVE], ps.Dataset.range(2).repeat(3)
    assert list(ps.experimental.choose_from_datasets(parts, choices)) == [0, 0, 1, 2]
    assert list(ps.experimental.choose_from_datasets(parts, choices, True)) == [0, 0]
