"""Which passes over what functions name have begun, as the datasets that they return for rows are opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from penstock.graph.begins import Begins
from penstock.graph.node import Branch, State
from penstock.graph.pass_numbers import epochs_of_passes
from penstock.graph.plan import Plan

if TYPE_CHECKING:
    from penstock.nodes.opens import Opens

__all__ = ["BegunPasses", "are_begun"]

_MOST: Final = 1 << 62


def are_begun(value: Any) -> bool:
    """Whether a part of a state says which passes have begun, by next epochs."""
    return isinstance(value, tuple) and bool(value) and all(type(n) is int and 0 <= n < _MOST for n in value)


class BegunPasses:
    """What has begun as a step of a node goes on.

    The step that begins a pass gives no rows from then on. So all rows of one have the same before them, and the state
    before it says what they have reached, however many of them are given.
    """

    def __init__(self, node: Opens, state: State) -> None:
        begun, n = node.begun_in(state), len(node.counted)
        self._node, self._given, self._before = node, begun[:n], begun[n : 2 * n]
        self.now = self._before
        """The next epochs of what the node counts; empty where numbers of rows tell them, as in states of before."""

    def open(self, made: Plan, begins: Begins, branch: Branch) -> None:
        """Take note of a dataset that has begun.

        Args:
            made: The dataset.
            begins: How passes over it began.
            branch: Its rows.
        """
        if begins.counted:
            # What stays open beside others keeps all epochs that it may come to.
            self._go_on(begins, branch, {} if self._node.opens_one else _needed(made))
        elif self.now:
            self.now = (max(self.now) + 1,) * len(self.now)

    def goes_on(self, begins: Begins, branch: Branch) -> bool:
        """Whether no further pass has begun in what is open with the rows that it gave last, or at its end."""
        if not (begins.counted and self._node.opens_one and branch.plan.has_epochs):
            return True
        before = self.now
        self._go_on(begins, branch, {})
        return before == self.now

    def part(self, *, gave: bool) -> tuple[int, ...]:
        """What a state says of it, after a step that gave rows or did not."""
        return (*(self._before if gave else self._given), *self.now)

    def _go_on(self, begins: Begins, branch: Branch, needed: Mapping[int, int]) -> None:
        after = {key: epoch for key, (_, epoch) in branch.begun().items()}
        self.now = tuple(
            max(n, *(max(after.get(key, 0), n + needed.get(key, 0)) for key in ids))
            for n, ids in zip(self.now, begins.counted, strict=True)
        )


def _needed(made: Plan) -> dict[int, int]:
    """How many epochs of the plans that a dataset passes over it may need after the first, by their ids."""
    if not made.begins_later:
        return {}
    epochs = epochs_of_passes(made, named=True)
    by_named = {id(of): epochs[id(part)].in_each for part in made.parts for of in part.node.counted}
    return by_named | {key: n.in_each for key, n in epochs.items()}
