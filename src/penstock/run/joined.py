"""Steps of several nodes made as one, in marks as if each had made its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from penstock.column.chunk import Chunk
from penstock.graph.node import Failing, State, Work
from penstock.graph.plan import Plan
from penstock.run.marks import Mark
from penstock.run.steps import Made, Meter, OpenEdge, Place, Steps, Task

__all__ = ["steps_of"]


def steps_of(
    plan: Plan,
    open_edge: OpenEdge,
    epoch: int,
    place: Place | None,
    meter: Meter | None,
    *,
    after: bool = False,
) -> Steps | JoinedSteps:
    """The steps of a plan's node, together with those of the nodes below it where that is cheaper.

    A meter sees every node for itself. Where an edge between them has given a part of the chunk it holds, as marks of
    nodes that run apart say, they go on apart to the end of the epoch.
    """
    one = plan.as_one if meter is None else None
    if one is None or not (place is None or after or _is_between(place, one.n)):
        return Steps(plan, open_edge, epoch, place, meter, after=after)
    return JoinedSteps(one.n, one.plan, open_edge, epoch, place, after=after)


def _is_between(place: Place, n: int) -> bool:
    """Whether no edge between the last n nodes holds rows."""
    return not any(mark[2] for mark in _marks(place, n))


def _marks(place: Place, n: int) -> list[Mark]:
    """The marks of the edges between the last n nodes, the last edge first."""
    marks: list[Mark] = []
    inputs = place[1]
    for _ in range(n - 1):
        marks.append(inputs[0])
        inputs = inputs[0][4]
    return marks


@dataclass(frozen=True, slots=True)
class _Between:
    """An edge between two nodes that run as one: it never holds a row.

    Attributes:
        epoch: Of its rows.
        shift: How far its position is from that of the edge below all.
        notes: Of its mark.
    """

    epoch: int
    shift: int = 0
    notes: tuple[Any, ...] = ()


class JoinedSteps:
    """As `Steps`, of the last n nodes of a plan at once."""

    def __init__(
        self, n: int, plan: Plan, open_edge: OpenEdge, epoch: int, place: Place | None, *, after: bool
    ) -> None:
        """`plan` is of the node that stands for them, over what is below all of them."""
        marks = [] if place is None else _marks(place, n)
        flat = None if place is None else _flat(place, marks)
        if flat is None:
            self._between = [_Between(0)] * (n - 1)
        elif after:
            self._between = [_Between(mark[0] + 1) for mark in marks]
        else:
            start = flat[1][0][3]
            self._between = [_Between(mark[0], mark[3] - start, _kept(mark[5])) for mark in marks]
        self._steps = Steps(plan, open_edge, epoch, flat, None, after=after)

    @property
    def place(self) -> Place:
        """Where the next step begins."""
        return self._nested(self._steps.place)

    def next(self) -> Made:
        """What the next step makes, as `Steps.next` gives it."""
        before, made = self._steps.next()
        if isinstance(made, Task):
            made = Task(partial(_of_last, made.work), self._nested(made.after))
        return self._nested(before), made

    def restart(self, epoch: int) -> None:
        """Begin an epoch."""
        self._steps.restart(epoch)
        self._between = [_Between(edge.epoch + 1) for edge in self._between]

    def _nested(self, place: Place) -> Place:
        states, (mark,) = place
        position = mark[3]
        for state, edge in zip(states, reversed(self._between), strict=False):
            mark = (edge.epoch, state, 0, position + edge.shift, (mark,), edge.notes)
        return states[-1], (mark,)


def _flat(place: Place, marks: list[Mark]) -> Place:
    """The states of all nodes, the first first, and the mark below all."""
    states = (*(mark[1] for mark in reversed(marks)), place[0])
    return states, marks[-1][4]


def _kept(notes: tuple[Any, ...]) -> tuple[Any, ...]:
    """Notes of an edge that holds no row."""
    return (notes[0], (), None) if notes and notes[0] else ()


def _of_last(work: Work) -> tuple[State, Chunk | Failing]:
    states, rows = work()
    return states[-1], rows
