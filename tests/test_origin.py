"""Errors of functions say which row of which source they are about."""

import numpy as np
import pytest

import penstock as ps
from penstock.errors import FunctionError


def failing(*parts):
    raise ValueError("no")


@pytest.mark.parametrize(
    ("make", "origin"),
    [
        (lambda ds: ds, "row 0 of Range(0, stop=90"),
        (lambda ds: ds.skip(5).shard(3, 1).take(4).prefetch(1), "row 6 of Range(0, stop=90"),
        (lambda ds: ds.skip(4).map(lambda x: x + 1).batch(3), "row 4 of Range(0, stop=90"),
        (lambda ds: ds.filter(lambda x: x > 3), "row 0 of filter(<lambda> (test_origin.py"),
        (lambda ds: ds.shuffle(3, seed=1), "row 0 of shuffle(3"),
    ],
)
def test_the_origin_of_a_row_is_followed_as_far_as_nodes_can_tell(make, origin):
    rows = iter(make(ps.Dataset.range(90)).map(failing))
    with pytest.raises(FunctionError, match="ValueError: no") as found:
        next(rows)
    assert found.value.origin.startswith(origin)
    assert f"It came from {origin}" in str(found.value)


def test_the_origin_in_a_file_names_the_file_and_the_record(tmp_path):
    ps.write(tmp_path / "a.tfrecord", {"n": np.arange(10)}, shards=2)
    rows = iter(ps.open(str(tmp_path / "a-*.tfrecord")).skip(7).map(lambda r: 1 // (int(r["n"]) - 8)))
    assert next(rows) == -1
    with pytest.raises(FunctionError, match=r"It came from record 3 of .*a-00001-of-00002.tfrecord\."):
        next(rows)
