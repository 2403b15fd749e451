"""The rows of a plan by number in one of its epochs, where each epoch has an order of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, Final

import numpy as np

from penstock.column.base import IntArray
from penstock.column.chunk import Chunk
from penstock.frozen import frozen
from penstock.graph.node import RowSource, State
from penstock.graph.plan import Plan

__all__ = ["EpochRows", "rows_from_start", "rows_in_epoch"]

_ENDLESS: Final = 1 << 62
_MOST_KNOWN: Final = 4


def rows_in_epoch(plan: Plan, state: State, inputs: tuple[Any, ...]) -> RowSource | None:
    """The rows of the epoch of a place by number, where that is possible without making others first.

    Args:
        plan: The plan.
        state: The state of its node at that place.
        inputs: The marks of its inputs there.
    """
    settled = _settled(plan, (0, state, 0, 0, inputs, ()), 0)
    return settled.rows if settled is not None and settled.finds_rows else None


def rows_from_start(plan: Plan) -> RowSource | None:
    """As `rows_in_epoch`, of the first epoch."""
    _, state, _, _, inputs, _ = _begin(plan)
    return rows_in_epoch(plan, state, inputs)


def _begin(plan: Plan) -> tuple[Any, ...]:
    return (0, plan.node.start(0), 0, 0, tuple(map(_begin, plan.inputs)), ())


def _settled(plan: Plan, mark: tuple[Any, ...], later: int) -> Plan | None:
    """A plan as it is so many epochs after that of a mark, with the rows of that one in every pass; None where it
    cannot be told.
    """
    epoch, state, _, _, inputs, _ = mark
    node = plan.node
    if not plan.is_shuffled and not node.repeats:
        return plan
    # Which pass a cache has kept is told by what was read before.
    if node.keeps_rows or (node.repeats and plan.shares_epochs):
        return None
    if node.repeats:
        return None if later and plan.is_shuffled else _repeated(plan, state, inputs[0])
    parts = [_settled(part, below, later) for part, below in zip(plan.inputs, inputs, strict=True)]
    known = tuple(part for part in parts if part is not None)
    if len(known) < len(parts):
        return None
    settled = Plan(node.settled(node.next_epoch(state, epoch + later) if later else state), known)
    return None if settled.is_shuffled else settled


def _repeated(plan: Plan, state: State, below: tuple[Any, ...]) -> Plan | None:
    """A plan that repeats its input, with rows by number through all of its epochs."""
    over = plan.node.epochs_over(state)
    first = _settled(plan.inputs[0], below, -over)
    if first is None or first.rows is None:
        return None

    def rows_of(epoch: int) -> RowSource:
        settled = _settled(plan.inputs[0], below, epoch - over)
        rows = None if settled is None else settled.rows
        assert rows is not None, "they were there in the first epoch"
        return rows

    made = Plan(plan.node, (first,))
    made.__dict__.update(rows=EpochRows(rows_of, plan.node.cardinality(len(first.rows)), len(first.rows)))
    made.__dict__.update(is_shuffled=False)
    return made


@frozen
class EpochRows:
    """The rows of several epochs by number.

    Args:
        rows_of: The rows of an epoch.
        n: Of all epochs together, INFINITE for no end.
        size: Rows of an epoch.
    """

    rows_of: Callable[[int], RowSource]
    n: int
    size: int
    _known: dict[int, RowSource] = field(default_factory=dict)

    def __len__(self) -> int:
        return min(self.n, _ENDLESS) if self.n >= 0 else _ENDLESS

    def gather(self, rows: IntArray) -> Chunk:
        epochs, numbers = np.divmod(rows, self.size)
        if not len(rows) or epochs[0] == epochs[-1] == epochs.max() == epochs.min():
            return self._of(int(epochs[0]) if len(rows) else 0).gather(numbers)
        order = np.argsort(epochs, kind="stable")
        bounds = np.flatnonzero(np.diff(epochs[order])) + 1
        parts = [self._of(int(epochs[part[0]])).gather(numbers[part]) for part in np.split(order, bounds)]
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return Chunk.concat(parts).gather(back)

    def _of(self, epoch: int) -> RowSource:
        known = self._known.get(epoch)
        if known is None:
            while len(self._known) >= _MOST_KNOWN:
                self._known.pop(next(iter(self._known)), None)
            known = self._known[epoch] = self.rows_of(epoch)
        return known
