"""Which epochs a pass begins where a shuffled dataset is used several times in it: tf.data's order.

Each pass over it that begins, wherever it is used, is the next one. When a pass over a pipeline begins, so do those
over its parts, one after the other; where a buffer or a cache is above, with the first row; and those over what follows
another dataset (`concatenate`) once that has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from penstock.graph.plan import Plan

__all__ = ["WAITS", "Begun", "Draw", "begin", "begin_only", "counts", "next_from", "waiting"]

WAITS: Final = -1
"""In place of an epoch of what has not begun yet."""

Draw: TypeAlias = "Callable[[Plan], int]"
"""Gives the epoch of the next pass over a plan."""


@dataclass
class Begun:
    """A plan in a place of a pipeline, in a pass.

    Attributes:
        plan: The plan.
        below: Its inputs.
        epoch: Its epoch, where it is counted here. Of what waits the one that it would have if it began now; below a
            cache that has kept all rows the latest.
        waits: Whether it waits until another input of the same node has ended, or for ever.
    """

    plan: Plan
    below: list[Begun]
    epoch: int | None = None
    waits: bool = False

    def in_order(self) -> Iterator[Begun]:
        """Itself and all below it."""
        yield self
        for part in self.below:
            yield from part.in_order()

    def begun(self) -> Iterator[tuple[Plan, int]]:
        """The plans that have begun, and their epochs."""
        if self.waits:
            return
        if self.epoch is not None:
            yield self.plan, self.epoch
        for part in self.below:
            yield from part.begun()


def counts(plan: Plan) -> bool:
    """Whether each pass over a plan's own node is another one; what a function names is counted with the function."""
    return plan.node.is_shuffled and not plan.node.named


def waiting(plan: Plan) -> Iterator[Plan]:
    """The inputs of a plan's node that begin once another one has ended."""
    begun = plan.node.begins_with(*plan.inputs)
    return iter(plan.inputs[begun:] if begun else ())


def begin(plan: Plan, draw: Draw, known: Draw, complete: Collection[int] = ()) -> Begun:
    """A pass that begins.

    Args:
        plan: The plan.
        draw: Gives the next epoch of a plan, and counts it.
        known: Gives it without counting it.
        complete: The ids of plans whose rows are kept, and need no pass over their inputs.
    """
    top = _tree(plan, complete)
    _begin(top, draw)
    _first_row(top, draw)
    for part in top.in_order():
        at = partial(_latest, known) if id(part.plan) in complete else known
        for other in part.below:
            if other.waits:
                _begin_later(other, at)
    return top


def begin_only(plan: Plan, draw: Draw, complete: Collection[int] = ()) -> None:
    """Count a pass that begins and of which no row is taken."""
    _begin(_tree(plan, complete), draw)


def next_from(known: dict[int, int], otherwise: Draw = lambda _: 0) -> Draw:
    """What draws from the next epochs of plans by their ids, and counts them there."""

    def draw(plan: Plan) -> int:
        epoch = known.get(id(plan))
        epoch = otherwise(plan) if epoch is None else epoch
        known[id(plan)] = epoch + 1
        return epoch

    return draw


def _tree(plan: Plan, complete: Collection[int]) -> Begun:
    below = [_tree(part, complete) for part in plan.inputs]
    begun = plan.node.begins_with(*plan.inputs)
    is_kept = id(plan) in complete or plan.node.takes_none
    for part in below[0 if is_kept else begun :] if begun or is_kept else ():
        part.waits = True
    return Begun(plan, below)


def _begin(part: Begun, draw: Draw) -> None:
    if counts(part.plan):
        part.epoch = draw(part.plan)
    for below in part.below[: part.plan.node.begins_with(*part.plan.inputs)]:
        if not below.waits:
            _begin(below, draw)


def _first_row(part: Begun, draw: Draw) -> None:
    begins = not part.plan.node.begins_with(*part.plan.inputs)
    for below in part.below:
        if not below.waits:
            if begins:
                _begin(below, draw)
            _first_row(below, draw)


def _latest(known: Draw, plan: Plan) -> int:
    """The epoch that has begun last: of what is never begun again."""
    return max(known(plan) - 1, 0)


def _begin_later(part: Begun, known: Draw) -> None:
    """Give what waits the epochs that it would have if it began now."""
    draw = next_from({}, known)
    _begin(part, draw)
    _first_row(part, draw)
