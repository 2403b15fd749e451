"""Marks that stand further on, by arithmetic: nothing is made."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.column.base import IntArray
from penstock.graph.node import UNKNOWN
from penstock.graph.plan import Plan
from penstock.run.edge import Mark

__all__ = ["goes_by_number", "moved"]


def goes_by_number(mark: Mark, plan: Plan) -> bool:
    """Whether rows are fetched by number in any case when a mark is restored, so that arithmetic costs nothing more."""
    notes = mark[5]
    if plan.node.goes_by_number or (notes and notes[2] is not None):
        return True
    return any(map(goes_by_number, mark[4], plan.inputs))


def moved(mark: Mark, plan: Plan, n: int) -> Mark | None:
    """The mark n rows further on in its epoch, at most at the end; None where that cannot be told without rows.

    No row has been given since the places in it: whoever restores it makes none again.
    """
    if plan.begins_in_turn or plan.draws_in_turn:  # which epochs come further on depends on those before
        return None
    return _at(mark, plan, mark[3] + n, 0)


def _at(mark: Mark, plan: Plan, row: int, epochs: int, *, is_read: bool = True) -> Mark | None:
    """The mark before a row, in an epoch that is so many after the mark's; `is_read` where it is from there in turn."""
    epoch, state, given, position, inputs, notes = mark
    if not epochs and row == position and not given:
        return mark
    if (notes and notes[0]) or (epochs and _depends_on_rows(plan, is_read=is_read)):
        return None  # errors move rows
    if epochs:
        state = plan.node.next_epoch(state, epoch + epochs)
    counts = [_count(part) for part in plan.inputs]
    own = plan.node.cardinality(*counts) if inputs else _count(plan)
    row = min(row, own) if own >= 0 else row
    if row == own and plan.repeats_shuffled:
        return None  # whether its input has begun once more is told by the end
    wanted: tuple[int | tuple[int, int] | None, ...] = (None,) * len(inputs)
    if row or not epochs:
        found = plan.node.before(state, row, *counts)
        if found is None:
            return None
        state, wanted = found
    held: Sequence[Sequence[int] | IntArray] = plan.node.held(state) or [()] * len(inputs)
    moved_inputs = []
    for part, below, place, kept in zip(plan.inputs, inputs, wanted, held, strict=True):
        further, at = place if isinstance(place, tuple) else (0, place)
        stays = 0 if epochs else below[3]
        is_read = at is not None or not row
        there = _at(below, part, stays if at is None else at, epochs + further, is_read=is_read)
        if there is not None and len(kept):
            there = _holding(there, _at(below, part, int(min(kept)), epochs + further))
        if there is None:
            return None
        moved_inputs.append(there)
    return (epoch + epochs, state, 0, row, tuple(moved_inputs), ())


def _holding(mark: Mark, oldest: Mark | None) -> Mark | None:
    """A mark with rows on hold, from that before the oldest of them."""
    if oldest is None:
        return None
    here = (mark[1], mark[4]), mark[2]
    given = mark[3] - oldest[3] + oldest[2]
    return (mark[0], oldest[1], given, mark[3], oldest[4], (0, (), here))


def _depends_on_rows(plan: Plan, *, is_read: bool) -> bool:
    """Whether the passes before tell which epoch an inner repetition is in, or which rows are kept: a cache lacks those
    that failed, and which of a shuffle it has.
    """
    return _has_inner_epochs(plan) or (plan.node.keeps_rows and (is_read or plan.is_shuffled))


def _has_inner_epochs(plan: Plan) -> bool:
    return plan.is_shuffled and (plan.node.repeats or any(map(_has_inner_epochs, plan.inputs)))


def _count(plan: Plan) -> int:
    """Rows of an epoch; of files only where they are counted already."""
    if plan.cardinality != UNKNOWN or not plan.finds_rows or plan.rows is None:
        return plan.cardinality
    return len(plan.rows)
