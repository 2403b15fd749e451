"""What can be told of marks without running anything: whether one fits a plan, its epoch, its rows on hold."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final, TypeAlias

from penstock.errors import ArgumentError
from penstock.graph.in_turn import WAITS
from penstock.graph.node import Node
from penstock.graph.origins import are_origins
from penstock.graph.plain_values import are_rising
from penstock.graph.plan import Plan
from penstock.run.failed import are_failed_rows
from penstock.run.told import Told

__all__ = [
    "AT_END",
    "NO_NOTES",
    "Epochs",
    "Mark",
    "checked",
    "counted_in",
    "drawn_in",
    "held_rows",
    "is_mark",
    "is_of_before",
    "latest_epoch",
    "reached_in",
    "with_drawn",
]

Mark: TypeAlias = tuple[Any, ...]
"""(epoch, state of the node, rows given since, position, marks of its inputs, notes); a plain value.

Notes are empty, or (errors raised in this epoch, the rows that failed since the state, the place and the rows given
since of what comes next where that may be apart from rows on hold, or `AT_END`, or None). The mark of an input may have
a fourth: the epochs that the rows of the next step reach, where that is one that it is not in yet; or None.

Where passes are counted in turn (`run.drawn`) a fifth note says which epochs were drawn below since the state, or of an
edge that begins when a row of it is wanted (`WAITS`, whether there was a pass before); and a sixth the next epochs of
what is counted; and a seventh, where caches have kept rows, from which origin each has (`Plan.caches_in_turn`).
"""

Epochs: TypeAlias = tuple[Any, ...]
"""(the epoch of a plan, or `WAITS`, those of its inputs in the same way). Of a cache that has kept all rows, but for
some that failed, their positions come last; of a node whose functions name datasets, what caches in them
have kept, and the next epochs of those over which passes are counted as they begin.
"""

AT_END: Final = ()
"""Nothing comes next."""

NO_NOTES: Final[Mark] = (0, (), None)

_MOST: Final = 1 << 62
_LEAST, _PAST_MOST = -(1 << 63), 1 << 64


def is_mark(mark: Any, plan: Plan) -> bool:
    """Whether a value has the form of the marks of a plan, and states that its nodes know."""
    if not (isinstance(mark, tuple) and len(mark) == 6):
        return False
    epoch, state, given, position, inputs, notes = mark
    if not all(map(_is_count, (epoch, given, position))) or position < given:
        return False
    return _is_place((state, inputs), plan) and _are_notes(notes, plan)


def checked(mark: Mark | None, plan: Plan) -> Mark | None:
    """A mark that a node kept in its state, which may have been read from somewhere. ArgumentError where it is none."""
    if mark is not None and not is_mark(mark, plan):
        got, want = Told("one in which a node has a mark of other rows"), "a state as get_state gives it"
        raise ArgumentError("set_state", "state", got=got, want=want)
    return mark


def reached_in(mark: Mark) -> Epochs | None:
    """The epochs that the rows of the next step reach, where a mark says it."""
    return mark[5][3] if len(mark[5]) > 3 else None


def drawn_in(mark: Mark) -> tuple[int, ...]:
    """What a mark says of epochs that were drawn."""
    return mark[5][4] if len(mark[5]) > 4 else ()


def with_drawn(mark: Mark, drawn: tuple[int, ...]) -> Mark:
    """A mark below which these epochs were drawn besides, later on. ValueError where its pass has not begun."""
    if not drawn:
        return mark
    before = drawn_in(mark)
    if WAITS in before or WAITS in drawn:
        raise ValueError("which epochs a pass that has not begun will draw is not in its mark")
    return (*mark[:5], (*(mark[5] or NO_NOTES)[:3], None, (*before, *drawn), *mark[5][5:]))


def counted_in(mark: Mark) -> tuple[int, ...] | None:
    """The next epochs in a mark, where it says them."""
    return mark[5][5] if len(mark[5]) > 5 else None


def is_of_before(mark: Mark, plan: Plan) -> bool:
    """Whether the passes in a mark are those that were counted in each place by itself, where they are counted in turn
    now: it goes on as it began.
    """
    if not plan.draws_in_turn:
        return False
    while not plan.begins_turns:
        mark, plan = mark[4][0], plan.inputs[0]
    return counted_in(mark) is None


def _is_place(place: Any, plan: Plan) -> bool:
    if not (isinstance(place, tuple) and len(place) == 2):
        return False
    state, inputs = place
    if not (isinstance(inputs, tuple) and len(inputs) == len(plan.inputs)):
        return False
    if not (_knows(plan.node, state) and all(map(is_mark, inputs, plan.inputs))):
        return False
    read = plan.node.read_to(state)
    return read is None or is_mark(read, *plan.inputs)


def _knows(node: Node, state: Any) -> bool:
    try:
        return _are_of_64_bits(state) and node.knows(state)
    except (TypeError, ValueError, IndexError, KeyError, OverflowError, RecursionError):
        return False  # something of which it could not even be asked what it is


def _are_of_64_bits(value: Any) -> bool:
    """Whether its whole numbers are, with a sign or without: a node may put them into arrays."""
    if isinstance(value, tuple):
        return all(map(_are_of_64_bits, value))
    return type(value) is not int or _LEAST <= value < _PAST_MOST


def _are_notes(notes: Any, plan: Plan) -> bool:
    if not isinstance(notes, tuple):  # asked first: an array compares with nothing
        return False
    if not notes:
        return True
    if not (3 <= len(notes) <= 7 and _is_count(notes[0]) and _are_kept(notes[6:], plan)):
        return False
    failed, here, reached, *drawn = (*notes[1:], None)[: len(notes)] if len(notes) == 3 else notes[1:6]
    if not (are_failed_rows(failed) and all(map(_are_drawn, drawn[:1])) and all(map(_are_counts, drawn[1:]))):
        return False
    return (reached is None or _are_epochs(reached, plan)) and (here is None or _is_next(here, plan))


def _are_kept(value: tuple[Any, ...], plan: Plan) -> bool:
    """Whether what was read from somewhere may be the origins of `Plan.caches_in_turn`, in a tuple, or an empty one."""
    return not value or (are_origins(value[0]) and len(value[0]) == len(plan.caches_in_turn))


def _are_drawn(value: Any) -> bool:
    """Whether it may be what a mark says of epochs that were drawn; see `drawn_in`."""
    if isinstance(value, tuple) and len(value) == 2 and type(value[0]) is int and value[0] == WAITS:
        return _are_counts(value[1:])
    return _are_counts(value)


def _are_counts(value: Any) -> bool:
    return isinstance(value, tuple) and all(map(_is_count, value))


def _is_next(here: Any, plan: Plan) -> bool:
    if not isinstance(here, tuple):
        return False
    return not here or (len(here) == 2 and _is_place(here[0], plan) and _is_count(here[1]))


def _are_epochs(value: Any, plan: Plan) -> bool:
    if not (isinstance(value, tuple) and 2 <= len(value) <= 4 and _is_count(value[0], WAITS)):
        return False
    _, below, *told = value
    if below == () and plan.begins_turns:
        is_known = len(told) >= 1 and _are_counts(told[0]) and len(told[0]) == len(plan.counted_in_turn)
        return is_known and _are_kept(tuple(told[1:]), plan)
    if not (isinstance(below, tuple) and len(below) == len(plan.inputs)):
        return False
    if not (all(map(are_rising, told)) if plan.node.keeps_rows else _are_told(told, plan)):
        return False
    return all(map(_are_epochs, below, plan.inputs))


def _are_told(told: list[Any], plan: Plan) -> bool:
    kept, *begun = told or [()]
    n = len(plan.node.counted)
    return (kept == () or are_origins(kept)) and all(
        isinstance(part, tuple) and len(part) == n and all(map(_is_count, part)) for part in begun
    )


def _is_count(value: Any, least: int = 0) -> bool:
    return type(value) is int and least <= value <= _MOST


def latest_epoch(state: Any, inputs: tuple[Mark, ...], plan: Plan) -> int:
    """The latest epoch of any input, from the state of a node and the marks of its inputs."""
    epochs = [plan.node.epochs_over(state)]
    for mark, part in zip(inputs, plan.inputs, strict=True):
        epochs += [mark[0], latest_epoch(mark[1], mark[4], part)]
    return max(epochs)


def held_rows(state: Any, inputs: tuple[Mark, ...], plan: Plan, name_of: Any) -> Counter[str]:
    """Rows on hold, by the name of the node that holds them."""
    rows: Counter[str] = Counter()
    if n := sum(map(len, plan.node.held(state))):
        rows[name_of(plan.node)] = n
    for mark, part in zip(inputs, plan.inputs, strict=True):
        rows += held_rows(mark[1], mark[4], part, name_of)
    return rows
