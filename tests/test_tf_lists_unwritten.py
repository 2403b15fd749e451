"""Entries of TensorArrays that were never written are zeros of the shape that the others of their list have."""

from __future__ import annotations

import numpy as np

import penstock as ps
from penstock.column.base import BoolArray, offsets_of
from penstock.column.make import column_of
from penstock.store.tf_lists import with_unwritten

SPEC = ps.TensorSpec((None,), np.int64)


def every_other(n: int) -> BoolArray:
    return np.arange(n) % 2 == 0


def test_a_list_with_very_many_unwritten_entries_is_filled_at_once():
    n = 200_000  # entry by entry each of which looks at all others, this takes minutes
    there = every_other(n)
    written = column_of([np.array([7])] * (n // 2), SPEC)
    entries, rows, why = with_unwritten(written, there, np.array([0, n]), SPEC)
    assert (rows, why) == (1, None)
    assert entries.slice(0, 4).to_list() == [np.array([7]), np.array([0]), np.array([7]), np.array([0])]
    assert len(entries) == n


def test_each_list_has_zeros_of_its_own_shape_up_to_one_that_does_not_tell_it():
    written = column_of([np.array([7, 8]), np.array([9]), np.array([1]), np.array([1, 2])], SPEC)
    there = np.array([True, False, False, True, False, True, True])
    entries, rows, why = with_unwritten(written, there, offsets_of([2, 2, 3]), SPEC)
    assert (rows, why) == (2, "a TensorArray whose entry 0 was never written, and nothing tells its shape")
    assert [entry.tolist() for entry in entries.to_list()] == [[7, 8], [0, 0], [0], [9]]
