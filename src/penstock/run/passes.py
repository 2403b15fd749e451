"""Which pass over a shuffled plan is the next, where an edge begins one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import local
from typing import Any, Final, TypeAlias, TypeVar

from penstock.graph.plan import Plan
from penstock.run.crossed import raised

__all__ = ["Passes", "PassesFrom", "Reached", "made_ahead", "note_ended", "note_reached"]

_T = TypeVar("_T")
_HERE: Final = local()


class Passes:
    """Passes as they are counted in this process: each that begins is another one."""

    def begin(self, plan: Plan) -> int:
        """The epoch of the next pass over a plan."""
        return plan.new_epoch()

    def note(self, plan: Plan, epoch: int) -> None:
        """Take note that a pass has reached an epoch."""
        plan.note_epoch(epoch)

    def reach(self, plan: Plan, epoch: int) -> None:
        """As `note`, once the rows that are made now are taken: how far was read ahead changes no later pass."""
        later: list[Reached] | None = getattr(_HERE, "later", None)
        if later is None:
            self.note(plan, epoch)
        else:
            later.append((self, plan, epoch))


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


Reached: TypeAlias = tuple[Passes, Plan, int]
"""Of which passes a plan has reached an epoch."""


def made_ahead(make: Callable[[], _T]) -> tuple[_T, list[Reached]]:
    """What `make` gives before it is asked for, and the epochs that are reached once it is taken."""
    before, reached = getattr(_HERE, "later", None), list[Reached]()
    _HERE.later = reached
    try:
        return make(), reached
    finally:
        _HERE.later = before


def note_reached(reached: Iterable[Reached]) -> None:
    """Take note of epochs that were reached by what is taken now."""
    for passes, plan, epoch in reached:
        passes.reach(plan, epoch)


def note_ended(plan: Plan, mark: Any, more: int = 0) -> None:
    """Take note of the epochs that a pass has taken, which has come to its end at a mark.

    Args:
        plan: The plan.
        mark: Where it has ended.
        more: Epochs that were begun, and of which no row was taken.
    """
    epoch, state, given, _, inputs, _ = mark
    taken = plan.epochs_taken(state, inputs) + (0 if plan.node.named else more)
    if taken > 1:
        plan.note_epoch(epoch + taken - 1)
    begun = plan.node.begins_with(*plan.inputs)
    ends = int(plan.node.begins_again(state, *plan.inputs))
    for i, (part, below) in enumerate(zip(plan.inputs, raised(given, inputs), strict=True)):
        note_ended(part, below, (more if i < begun else 0) + ends)
