"""The plain meaning of a plan: rows one by one, slow and obvious, without chunks, edges or marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from penstock.column.chunk import Chunk
from penstock.column.make import chunk_of
from penstock.graph.in_turn import counts
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

    Each that begins over a shuffled plan is the next one. With a pass over a plan those over its inputs begin, but for
    the inputs of a buffer or a cache, and what follows another dataset: these begin when a row of them is wanted.

    Attributes:
        opened: The last plan that the node on top opened while it ran.
    """

    def __init__(self, *, sample: bool = False) -> None:
        self._sample = sample
        self._top: _Place | None = None
        self._in_turn = False
        self._epochs: Counter[int] = Counter()
        self._known: list[Plan] = []  # an id is that of one plan only as long as the plan lives
        self.opened: Plan | None = None

    def of(self, plan: Plan) -> PlainRows:
        """The rows of a plan."""
        self._in_turn = plan.draws_in_turn if self._top is None else self._in_turn
        place = self._place(plan)
        self._top = self._top or place
        return self._begin(place)

    def over(self, plan: Plan, inputs: list[Iterator[Any]]) -> PlainRows:
        """The rows of a plan's node over given rows."""
        place = self._top = self._place(plan)
        parts = [self._rows(rows, below) for rows, below in zip(inputs, place.below, strict=True)]
        return self._rows(self._make(plan)(*parts), place)

    def _place(self, plan: Plan, *, is_named: bool = False) -> _Place:
        self._known.append(plan)
        below = [self._place(part, is_named=is_named) for part in plan.inputs]
        if plan.node.is_one_with(*plan.inputs):
            line = list(below)
            while not line[-1].plan.node.fills_ahead:  # what does nothing
                line += line[-1].below
            shuffle = line[-1]
            if not (is_named and self._top is not None and shuffle.plan.was_made_before(self._top.plan)):
                for part in line:
                    part.is_one = True
                # Elsewhere no other place has to wait for what begins earlier.
                shuffle.below[0].passes = plan.node.passes_as_one(*plan.inputs) if self._in_turn else 0
        return _Place(plan, below, is_named)

    def _open(self, place: _Place, plan: Plan) -> PlainRows:
        if self._top is not None and any(place is below for below in self._top.below):
            self.opened = plan
        return self._begin(self._place(plan, is_named=True))

    def _again(self, place: _Place) -> PlainRows:
        return self._begin(place, goes_on=place.is_one)

    def _begin(self, place: _Place, *, goes_on: bool = False) -> PlainRows:
        self._draw(place)
        for below in place.below if not goes_on else ():
            below.begun, below.ahead = 1, []
        begun = _begun_with(place)
        inputs = [
            self._begin(below, goes_on=goes_on and below.is_one) if below in begun else self._later(below)
            for below in place.below
        ]
        for rows in inputs:
            rows.epoch = place.epoch
        return self._rows(self._make(place.plan)(*inputs), place)

    def _later(self, place: _Place) -> PlainRows:
        def rows() -> Iterator[Any]:
            yield from self._begin(place)

        return self._rows(rows(), place)

    def _begin_only(self, place: _Place) -> None:
        """Begin a pass of which no row is taken."""
        self._draw(place)
        for below in _begun_with(place):
            self._begin_only(below)

    def _draw(self, place: _Place) -> None:
        if counts(place.plan) or place.epoch < 0:
            place.epoch = self._epochs[id(place.plan)]
            self._epochs[id(place.plan)] += 1
        else:
            place.epoch += 1

    def _rows(self, rows: Iterator[Any], place: _Place) -> PlainRows:
        again, begin_only = partial(self._again, place), partial(self._begin_only, place)
        return PlainRows(
            rows, place.plan, max(place.epoch, 0), again, partial(self._open, place), begin_only, place
        )

    def _make(self, plan: Plan) -> Callable[..., Iterator[Any]]:
        return plan.node.sample if self._sample else plan.node.plain


@dataclass(eq=False)
class _Place:
    """Where a plan stands in another one, or in one that a function gave, and the epoch of the latest pass there.

    Attributes:
        is_one: Whether it is run as one with the repeat above it.
        passes: How many passes a node that is takes of its rows; 0 where there is none.
        begun: How many of them have begun.
        ahead: What is known of those that have begun before they are wanted.
    """

    plan: Plan
    below: list[_Place]
    is_named: bool
    epoch: int = -1
    is_one: bool = False
    passes: int = 0
    begun: int = 1
    ahead: list[Any] = field(default_factory=list)


def _begun_with(place: _Place) -> list[_Place]:
    """The inputs of a plan that begin a pass when it does."""
    node = place.plan.node
    return [] if node.takes_none else place.below[: node.begins_with(*place.plan.inputs)]
