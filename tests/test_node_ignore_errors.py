"""ignore_errors: rows without those that fail."""

import logging

import pytest

import penstock as ps
from penstock.graph.plan import Plan
from penstock.testing import Faulty


def faulty(n: int, *faults: int) -> ps.Dataset:
    return ps.Dataset(Plan(Faulty(n, (3, 1), faults=faults)))


def test_rows_that_fail_are_left_out():
    assert list(faulty(8, 0, 3, 4, 7).ignore_errors()) == [1, 2, 5, 6]
    assert list(faulty(2, 0, 1).ignore_errors()) == []


def test_whole_batches_that_fail_are_left_out():
    uneven = ps.Dataset.range(4).batch(2).concatenate(ps.Dataset.range(5).batch(3))
    batches = uneven.batch(2).ignore_errors()
    assert [batch.tolist() for batch in batches] == [[[0, 1], [2, 3]]]


def test_functions_that_fail_are_left_out():
    def halves(i):
        if i == 2:
            raise RuntimeError("two")
        return 1 / (int(i) - 2)

    assert [float(row) for row in ps.Dataset.range(5).map(halves).ignore_errors()] == [-0.5, -1.0, 1.0, 0.5]


def test_the_cardinality_is_unknown():
    assert ps.Dataset.range(3).ignore_errors().cardinality() == -2


def test_errors_are_told_where_that_is_asked_for(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.WARNING, "penstock"):
        assert list(faulty(3, 1).ignore_errors()) == [0, 2]
        assert caplog.messages == []
        assert list(faulty(3, 1).ignore_errors(log_warning=True)) == [0, 2]
    assert caplog.messages == ["ignore_errors: a row is left out: row 1"]


def test_a_mark_is_exact_between_rows_that_fail():
    rows = iter(faulty(9, 1, 2, 6).ignore_errors())
    assert [next(rows), next(rows)] == [0, 3]
    state = rows.get_state()
    assert list(rows) == [4, 5, 7, 8]
    rows.set_state(state)
    assert list(rows) == [4, 5, 7, 8]
