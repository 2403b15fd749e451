"""Edges where it depends on all rows given so far which epoch of a shuffled plan begins next (see `run.drawn`)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final

from penstock.column.base import IntArray
from penstock.graph.begins import Begins
from penstock.graph.in_turn import WAITS
from penstock.graph.node import RowSource
from penstock.graph.plan import Plan
from penstock.run.crossed import ended
from penstock.run.drawn import Drawn, PassesInTurn
from penstock.run.edge import Edge
from penstock.run.held import Base
from penstock.run.marks import NO_NOTES, Mark, checked, drawn_in, with_drawn
from penstock.run.shared import Shared
from penstock.run.steps import InputEdge, OpenEdge

__all__ = ["EdgeInTurn", "in_turn"]

_MOST_EMPTY: Final = 1000
"""Passes without rows that are made again one after the other."""


def in_turn(plan: Plan, mark: Mark | None = None, *held: Any, shared: Shared, **how: Any) -> Edge:
    """The edge of the first plan below which passes begin in turn."""
    passes = PassesInTurn(plan, mark, begins=shared.passes.begins)
    return (shared.kind_in_turn or EdgeInTurn)(
        plan, mark, *held, shared=replace(shared, passes=passes), **how
    )


class EdgeInTurn(Edge):
    """An edge over a plan in which passes begin one by one: with that of the node above, or when a row is wanted.

    An edge that waits for this has no steps. Its mark is that of the pass before, or one from the start, with a note.
    """

    def __init__(
        self,
        plan: Plan,
        mark: Mark | None = None,
        *held: Any,
        waits: bool = False,
        is_one: bool = False,
        passes_as_one: int = 0,
        passes: int = 0,
        **how: Any,
    ) -> None:
        """As `Edge`; one that `waits` begins when a row is wanted.

        Args:
            plan: The plan.
            mark: Its mark.
            *held: As of `Edge`.
            waits: Whether it begins when a row is wanted.
            is_one: Whether the node above is run as one with the node here.
            passes_as_one: How many passes the node above takes as one with the node here; see `Node`.
            passes: How many the node above takes of these rows, where that is one with what is above it.
            **how: As of `Edge`.
        """
        self._passes: PassesInTurn
        self._drawn = Drawn()
        self._waits: Mark | None = None
        self._begins_waiting = waits
        self._passes_as_one, self.is_one, self.passes = passes_as_one, is_one, passes
        self._again: tuple[int, ...] = ()
        super().__init__(plan, mark, *held, **how)

    def _open(self, mark: Mark | None, held: IntArray | None, *, after: bool, is_inner: bool) -> None:
        self._is_root, self.in_turn, self.is_opened = not is_inner, is_inner, self._passes.is_opened
        if mark is not None:  # in states of before a node says what has begun, which is counted here now
            mark = (mark[0], self._plan.node.with_begun(mark[1], ()), *mark[2:])
        if self._begins_waiting:
            self._wait(mark)
        elif mark is None:
            self._begin_anew()
        elif after:
            self._begin_after(mark)
        else:
            self.rewind(mark, held)

    def _wait(self, mark: Mark | None) -> None:
        """Begin when a row is wanted: after the pass of a mark, or as the first."""
        if mark is None:
            notes, mark = (0, (), None, None, (WAITS, 0)), _unbegun(self._plan)
        else:
            notes = (*(mark[5] or NO_NOTES)[:3], None, (WAITS, int(drawn_in(mark) != (WAITS, 0))))
        self._epoch, self._waits = mark[0], (*mark[:5], notes)
        self._clear((mark[1], mark[4]))

    def _begin_after(self, mark: Mark) -> None:
        if drawn_in(mark) == (WAITS, 0):
            self._begin_anew()
            return
        epoch = self._passes.begin(self._plan)
        state, inputs = ended(mark, self._plan)
        node = self._plan.node
        if node.keeps_rows and (origin := self._passes.kept(self._plan)) is not None:
            state = node.kept_by(state, (origin,))
        self._begin(epoch, (state, inputs), after=True)

    def _begin(self, epoch: int, place: Any = None, *, after: bool = False) -> None:
        self._waits, self._drawn, self._again = None, Drawn(self._again), ()
        node, inputs = self._plan.node, self._plan.inputs
        n = node.begins_with(*inputs) if place is None else node.begins_after(place[0], *inputs)
        self._n_begin = 0 if node.takes_none else n
        super()._begin(epoch, place, after=after)

    def _opener(self) -> OpenEdge:
        if not self._plan.is_shuffled:
            return super()._opener()
        return _Opening(self._plan, self._shared, self._n_begin, self._passes, self._passes_as_one)

    def in_groups(self, size: int) -> None:
        if self._waits is None:
            super().in_groups(size)
        else:
            self._group_rows = size

    def _ready(self) -> int:
        if self._waits is not None:
            mark, self._waits = self._waits, None
            self._begin_after(mark)
        n = super()._ready()
        if not n:
            self._note_kept()
        return n

    def _advance(self, n: int) -> None:
        super()._advance(n)
        self._note_kept()

    def _note_kept(self) -> None:
        """Where this is a cache, take note of it once it is full: passes that begin from now on are over its rows."""
        if self._plan.node.keeps_rows and not self._passes.knows_kept(self._plan):
            found = self.kept().get(id(self._plan))
            if found is not None:
                self._passes.note_kept(*found)

    def go_on(self) -> None:
        """Begin the next pass behind the end of one: positions go on, and rows on hold stay."""
        state, inputs = self._before
        drawn, known = self._drawn, (self.position, self._held, self._failed)
        drawn.begin_step(self._drawn_before_held)
        with self._passes.drawing(drawn):
            self._begin_after((self._epoch, state, 0, self.position, inputs, ()))
        self._drawn, (self.position, self._held, self._failed) = drawn, known
        drawn.settle()

    def _pass_again(self, limit: int, wanted: IntArray, known: Mapping[str, IntArray]) -> int:
        passed = super()._pass_again(limit, wanted, known)
        for _ in range(_MOST_EMPTY if self.passes else 0):
            if passed:
                break
            self.go_on()
            passed = super()._pass_again(limit, wanted, known)
        return passed

    def _make(self) -> bool:
        self._drawn.begin_step(self._drawn_before_held)
        with self._passes.drawing(self._drawn):
            is_more = super()._make()
        if self._waiting or not is_more:  # the place is the one behind the step
            self._drawn.settle()
        return is_more

    def _jumped(self, n: int) -> bool:
        return self._waits is None and super()._jumped(n)

    @property
    def _drawn_before_held(self) -> int | None:
        """How many epochs had been drawn before the oldest row on hold; None where none is."""
        n: int | None = self._held.base[4] if self._held else None
        return n

    def _base(self) -> Base:
        return (*super()._base(), self._drawn.place, self._epoch)

    @property
    def by_number_now(self) -> RowSource | None:
        return None if self._plan.is_shuffled else super().by_number_now

    @property
    def by_number_left(self) -> RowSource | None:
        return None if self._plan.is_shuffled else super().by_number_left

    def mark(self) -> Mark:
        mark = super().mark() if self._waits is None else self._waits
        if self._held:
            mark = (self._held.base[5], *mark[1:])
        drawn = drawn_in(mark)
        if self._waits is None:
            before = self._drawn_before_held
            drawn = self._drawn.since(self._drawn.place if before is None else before)
        if not drawn and not self._is_root:
            return mark
        told = (self._passes.counted, *self._passes.kept_now) if self._is_root else ()
        return (*mark[:5], (*(mark[5] or NO_NOTES)[:3], None, drawn, *told))

    def _input_mark(self) -> Mark | None:
        with suppress(ValueError):
            return with_drawn(super()._input_mark(), self._drawn.since(self._drawn.place))
        return None

    def rewind(self, mark: Mark, held: IntArray | None = None) -> None:
        drawn = drawn_in(mark)
        if drawn[:1] == (WAITS,):
            self._wait(None if drawn == (WAITS, 0) else mark)
        else:
            self._again = drawn
            super().rewind(mark, held)

    def restart(self, mark: Mark | None = None) -> None:
        if mark is None and self._passes_as_one:
            self._epoch = self._passes.begin(self._plan)
            state = self._plan.node.next_pass(self._before[0], self._epoch)
            self._maker.go_on(state, restarts=not self._plan.node.fills_ahead)
            self._clear(self._maker.place)
            self._drawn.settle()
            return
        mark = self.mark() if mark is None else mark
        if self._is_root:  # what was made of it ahead is not what it goes on from
            self._passes.go_on(mark)
        self._begin_after(mark)

    def begin_behind(self, other: Any) -> None:
        """It begins when a row is wanted."""

    def _branch_over(self, plan: Plan, mark: Mark | None, begins: Begins, shared: Shared) -> Edge:
        passes = PassesInTurn(plan, mark, outer=self._passes, begins=begins)
        return (shared.kind_in_turn or EdgeInTurn)(plan, mark, shared=replace(shared, passes=passes))

    def again(self, mark: Mark | None = None) -> Edge:
        if mark is None and self._waits is not None:
            self._begin_after(self._waits)
        mark = self.mark() if mark is None else checked(mark, self._plan)
        return (self._shared.kind_in_turn or EdgeInTurn)(self._plan, mark, shared=self._shared, is_inner=True)


class _Opening:
    """Opens the edges below one, of which the first begin when it does."""

    def __init__(self, plan: Plan, shared: Shared, begin: int, counted: PassesInTurn, passes: int) -> None:
        """So many `begin`; with `passes` that the node takes as one with the one above it."""
        node, self._counted = plan.node, counted
        self._passes = passes if node.fills_ahead else 0
        # What does nothing between the two is none of the two.
        self._as_one = node.passes_as_one(*plan.inputs) or (0 if self._passes else passes)
        self._is_one = node.is_one_with(*plan.inputs) or bool(self._as_one)
        self._begin = begin
        self._open = partial(shared.kind_in_turn or EdgeInTurn, shared=shared, is_inner=True)

    def __call__(
        self,
        plan: Plan,
        mark: Any = None,
        held: IntArray | None = None,
        *,
        after: bool = False,
        open_edge: OpenEdge | None = None,
    ) -> InputEdge:
        self._begin -= 1
        is_one = self._is_one and self._counted.counts_own(_shuffle_of(plan))
        waits = plan.is_shuffled and self._begin < 0 and (mark is None or after)
        return self._open(
            plan,
            mark,
            held,
            after=after,
            open_edge=open_edge,
            waits=waits,
            is_one=is_one,
            passes_as_one=self._as_one if is_one else 0,
            passes=self._passes,
        )


def _shuffle_of(plan: Plan) -> Plan:
    """The shuffle that is run as one with a repeat, from what is directly below that."""
    while not plan.node.fills_ahead:
        [plan] = plan.inputs
    return plan


def _unbegun(plan: Plan) -> Mark:
    """The mark before a pass that nothing is known of."""
    return (0, plan.node.start(0), 0, 0, tuple(map(_unbegun, plan.inputs)), ())
