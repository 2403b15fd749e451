"""Which pass over a shuffled plan is the next, where an edge begins one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.graph.plan import Plan

__all__ = ["Passes", "PassesFrom", "note_ended"]


class Passes:
    """Passes as they are counted in this process: each that begins is another one."""

    def begin(self, plan: Plan) -> int:
        """The epoch of the next pass over a plan."""
        return plan.new_epoch()

    def note(self, plan: Plan, epoch: int) -> None:
        """Take note that a pass has reached an epoch."""
        plan.note_epoch(epoch)


class PassesFrom(Passes):
    """Passes within a dataset that a function returned for a row, which nothing counts but the place of that row."""

    def __init__(self, first: Mapping[int, int]) -> None:
        """From the first epoch of each plan, by its id; 0 where there is none."""
        self._next = dict(first)

    def begin(self, plan: Plan) -> int:
        """The epoch of the next pass over a plan."""
        if not plan.node.is_shuffled:
            return 0
        epoch = self._next.get(id(plan), 0)
        self._next[id(plan)] = epoch + 1
        return epoch

    def note(self, plan: Plan, epoch: int) -> None:
        """Take note that a pass has reached an epoch."""
        if plan.node.is_shuffled:
            self._next[id(plan)] = max(epoch + 1, self._next.get(id(plan), 0))


def note_ended(plan: Plan, mark: Any) -> None:
    """Take note of the epochs that a pass has taken, which has come to its end at a mark."""
    epoch, state, _, _, inputs, _ = mark
    taken = plan.epochs_taken(state, inputs)
    if taken > 1:
        plan.note_epoch(epoch + taken - 1)
    for part, below in zip(plan.inputs, inputs, strict=True):
        note_ended(part, below)
