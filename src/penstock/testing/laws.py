"""The laws: what must hold for every node, whatever it does.

1. The rows are those of the plain meaning.
2. They are the same whatever the sizes of the chunks below.
3. They are the same a second time.
4. From a mark taken at any row, through JSON, the rest is the same.
5. Rows by number are the rows in order.
6. The spec tells the truth, and the cardinality too where it is known.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.column.values import Ragged
from penstock.graph.plain import plain_rows
from penstock.graph.plan import Plan
from penstock.run.iterator import RowIterator
from penstock.spec import RaggedSpec, TensorSpec, flatten, string, text

__all__ = ["check_laws", "same"]


def check_laws(make_plan: Callable[[tuple[int, ...]], Plan]) -> None:
    """Hold a plan against every law; AssertionError names the one that is broken.

    Args:
        make_plan: The plan over a source whose chunks have the sizes given.
    """
    plan = make_plan((4,))
    rows = list(RowIterator(plan))
    assert same(rows, list(plain_rows(plan))), "law 1: the rows are not those of the plain meaning"
    for sizes in ((1,), (7, 1, 2), (1000,)):
        assert same(rows, list(RowIterator(make_plan(sizes)))), f"law 2: other rows from chunks of {sizes}"
    assert same(rows, list(RowIterator(plan))), "law 3: other rows the second time"
    _check_marks(plan, rows)
    _check_numbers(plan, rows)
    _check_spec(plan, rows)


def _check_marks(plan: Plan, rows: list[Any]) -> None:
    iterator = RowIterator(plan)
    for given in range(len(rows) + 1):
        state = json.loads(json.dumps(iterator.get_state()))
        other = RowIterator(plan)
        if given % 2:
            next(other, None)  # a mark is also restored into an iterator that has run
        other.set_state(state)
        assert same(rows[given:], list(other)), f"law 4: another rest from a mark after {given} rows"
        next(iterator, None)


def _check_numbers(plan: Plan, rows: list[Any]) -> None:
    source = plan.rows
    if source is None:
        return
    assert len(source) == len(rows), f"law 5: {len(source)} rows by number, {len(rows)} in order"
    order = np.arange(len(rows))[::-1].copy()
    if len(order):
        assert same(rows[::-1], source.gather(order).to_list()), "law 5: other rows by number"


def _check_spec(plan: Plan, rows: list[Any]) -> None:
    assert plan.cardinality in (-2, len(rows)), f"law 6: cardinality {plan.cardinality}, {len(rows)} rows"
    for row in rows:
        for spec, value in zip(plan.spec.leaves, flatten(row), strict=True):
            assert _fits(spec, value), f"law 6: {value!r} is no {spec}"


def _fits(spec: TensorSpec | RaggedSpec, value: Any) -> bool:
    if value is None:
        return spec.optional
    if spec.dtype in (string, text) and not isinstance(value, np.ndarray | Ragged):
        return isinstance(value, bytes if spec.dtype == string else str) and spec.shape == ()
    shape = tuple(value.shape)
    sizes = zip(spec.shape, shape, strict=True)
    return len(shape) == len(spec.shape) and all(want in (None, got) or got is None for want, got in sizes)


def same(a: Any, b: Any) -> bool:
    """Whether two values (rows, lists, arrays) are equal in structure, dtype, shape and value; NaN equals NaN."""
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return isinstance(b, list | tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Ragged):
        return isinstance(b, Ragged) and same(a.to_list(), b.to_list()) and a.dtype == b.dtype
    if isinstance(a, np.ma.MaskedArray) or isinstance(b, np.ma.MaskedArray):
        masks = np.ma.getmaskarray(a), np.ma.getmaskarray(b)
        return same(*masks) and same(np.ma.filled(a, 0), np.ma.filled(b, 0))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and _equal(a, b)
    return type(a) is type(b) and (a == b or (a != a and b != b))


def _equal(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    if a.dtype == object:
        return same(a.reshape(-1).tolist(), b.reshape(-1).tolist())
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fcmM"))
