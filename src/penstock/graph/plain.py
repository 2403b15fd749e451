"""The plain meaning of a plan: rows one by one, slow and obvious, without chunks, edges or marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from penstock.column.chunk import Chunk
from penstock.column.make import chunk_of
from penstock.graph.in_turn import Begun, begin, begin_only, counts, next_from
from penstock.graph.rows import PlainRows

if TYPE_CHECKING:
    from penstock.graph.plan import Plan

__all__ = ["PlainPasses", "first_rows", "plain_rows"]


def plain_rows(plan: Plan) -> PlainRows:
    """The rows of a plan by the plain meaning of its nodes, from epoch 0 on."""
    return PlainPasses().of(plan)


def first_rows(plan: Plan, n: int) -> Chunk | None:
    """Some n rows as those of a plan are, the first it can show without much work; None where there are none."""
    rows = list(islice(PlainPasses(sample=True).of(plan), n))
    return chunk_of(rows, plan.spec) if rows else None


class PlainPasses:
    """The passes over plans that belong to one pass over the plan on top.

    Attributes:
        opened: The last plan that the node on top opened while it ran.
    """

    def __init__(self, *, sample: bool = False) -> None:
        self._sample = sample
        self._top: _Place | None = None
        self._epochs: Counter[int] = Counter()
        self._known: list[Plan] = []  # an id is that of one plan only as long as the plan lives
        self.opened: Plan | None = None

    def of(self, plan: Plan) -> PlainRows:
        """The rows of a plan."""
        place = self._place(plan)
        self._top = self._top or place
        return self._pass(place)

    def over(self, plan: Plan, inputs: list[Iterator[Any]]) -> PlainRows:
        """The rows of a plan's node over given rows."""
        place = self._top = self._place(plan)
        parts = [self._rows(rows, below) for rows, below in zip(inputs, place.below, strict=True)]
        return self._rows(self._make(plan)(*parts), place)

    def _open(self, place: _Place, plan: Plan) -> PlainRows:
        if self._top is not None and any(place is below for below in self._top.below):
            self.opened = plan
        opened = self._place(plan)
        for part in _places(opened):
            part.is_named = True
        return self._pass(opened)

    def _place(self, plan: Plan) -> _Place:
        self._known += plan.parts
        begun = begin(plan, self._draw, lambda part: self._epochs[id(part)])
        return self._placed(begun)

    def _draw(self, plan: Plan) -> int:
        self._epochs[id(plan)] += 1
        return self._epochs[id(plan)] - 1

    def _placed(self, begun: Begun) -> _Place:
        below = [self._placed(part) for part in begun.below]
        return _Place(
            begun.plan, self._draw(begun.plan) if begun.epoch is None else begun.epoch, below, begun.waits
        )

    def _next_epoch(self, place: _Place) -> None:
        self._begin(place, _next_epochs(place))

    def _behind(self, place: _Place, ended: _Place) -> None:
        waited = sorted(_places(place), key=lambda part: -part.epoch)
        known = {id(part.plan): part.epoch for part in waited if counts(part.plan)}  # the lowest comes last
        after = {key: max(epoch, known.get(key, 0)) for key, epoch in _next_epochs(ended).items()}
        self._begin(place, known | after)
        place.waits = False

    def _begin(self, place: _Place, known: dict[int, int]) -> None:
        """Begin a pass, from the next epochs of plans by their ids."""
        begun = begin(place.plan, next_from(known), lambda part: known.get(id(part), 0))
        for part, to in zip(_places(place), begun.in_order(), strict=True):
            part.epoch = part.epoch + 1 if to.epoch is None else to.epoch
            part.waits, part.begins_again = to.waits, False
            self._epochs[id(part.plan)] = max(part.epoch + 1, self._epochs[id(part.plan)])

    def _pass(self, place: _Place) -> PlainRows:
        inputs = [self._pass(below) for below in place.below]
        for rows in inputs:
            rows.epoch = place.epoch
        return self._rows(self._make(place.plan)(*inputs), place)

    def _rows(self, rows: Iterator[Any], place: _Place) -> PlainRows:
        def again() -> PlainRows:
            self._next_epoch(place)
            return self._pass(place)

        def behind(ended: PlainRows) -> PlainRows:
            self._behind(place, ended.place)
            return self._pass(place)

        def begin_again() -> None:
            place.begins_again = True
            for key, epoch in _next_epochs(place).items() if place.is_named else ():
                self._epochs[key] = max(epoch, self._epochs[key])

        opened = partial(self._open, place)
        return PlainRows(rows, place.plan, place.epoch, again, opened, begin_again, place, behind)

    def _make(self, plan: Plan) -> Callable[..., Iterator[Any]]:
        return plan.node.sample if self._sample else plan.node.plain


@dataclass
class _Place:
    """Where a plan stands in another one, or in one that a function gave, and the epoch of the latest pass there."""

    plan: Plan
    epoch: int
    below: list[_Place]
    waits: bool = False
    begins_again: bool = False
    is_named: bool = False


def _places(place: _Place) -> Iterator[_Place]:
    yield place
    for below in place.below:
        yield from _places(below)


def _next_epochs(place: _Place) -> dict[int, int]:
    """The epochs of the next passes over the plans that have begun at a place, by their ids."""
    known: dict[int, int] = {}
    for below in place.below:
        if not below.waits:
            more = _next_epochs(below)
            known |= {key: max(epoch, known.get(key, 0)) for key, epoch in more.items()}
    if counts(place.plan):
        known[id(place.plan)] = max(place.epoch + 1, known.get(id(place.plan), 0))
    if place.begins_again:
        begin_only(place.plan, next_from(known))
    return known
