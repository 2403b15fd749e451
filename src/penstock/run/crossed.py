"""Which epochs of the inputs below rows have reached, where a chunk of them begins in one epoch and ends in another.

The place before such a chunk is in the earlier epoch. What is to begin after a pass that was broken off behind some of
its rows is the one after the later: the marks of the inputs say it in a fourth note.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from penstock.graph.plan import Plan
from penstock.run.marks import NO_NOTES, Epochs, Mark

__all__ = ["begun_again", "noted", "raised"]

_Marks: TypeAlias = tuple[Mark, ...]
_NOTE: Final = 3


def noted(marks: _Marks, after: _Marks) -> _Marks:
    """The marks of inputs before a step, which say what epochs its rows reach.

    Args:
        marks: Before it.
        after: Behind it.
    """
    return tuple(map(_noted, marks, after))


def _noted(mark: Mark, after: Mark) -> Mark:
    epochs = _reached(after)
    if epochs == _reached(mark):
        return mark
    return (*mark[:5], (*(mark[5] or NO_NOTES)[:_NOTE], epochs))


def raised(given: int, marks: _Marks) -> _Marks:
    """The marks of inputs, in the epochs that the rows of a chunk which were given have reached.

    Args:
        given: How many were.
        marks: Before the chunk.
    """
    return tuple(_in_epochs(mark, mark[5][_NOTE]) if given and mark[5][_NOTE:] else mark for mark in marks)


def begun_again(marks: _Marks, plans: Sequence[Plan]) -> _Marks:
    """The marks of inputs that were begun once more than there are rows of."""
    return tuple(
        _in_epochs(mark, _further(_reached(mark), plan)) for mark, plan in zip(marks, plans, strict=True)
    )


def _further(epochs: Epochs, plan: Plan) -> Epochs:
    epoch, below = epochs
    begun = plan.node.begins_with(*plan.inputs)
    parts = zip(below, plan.inputs, range(len(below)), strict=True)
    inner = tuple(_further(one, part) if i < begun else one for one, part, i in parts)
    return (epoch + 1 if plan.node.is_shuffled and not plan.node.named else epoch), inner


def _reached(mark: Mark) -> Epochs:
    """The epochs that the rows which an edge has given have reached, below as well."""
    epoch, _, given, _, inputs, _ = mark
    return epoch, tuple(map(_reached, raised(given, inputs)))


def _in_epochs(mark: Mark, epochs: Epochs) -> Mark:
    """A mark in later epochs."""
    epoch, state, given, position, inputs, notes = mark
    later, below = epochs
    inputs = tuple(map(_in_epochs, inputs, below))
    return (max(epoch, later), state, given, position, inputs, notes[:_NOTE])
