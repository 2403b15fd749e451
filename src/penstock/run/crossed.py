"""Which epochs of the inputs below rows have reached, where a chunk of them begins in one epoch and ends in another.

The place before such a chunk is in the earlier epoch. What is to begin after a pass that was broken off behind some of
its rows is the one after the later: the marks of the inputs say it in a fourth note.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from penstock.graph.begins import kept_at
from penstock.graph.in_turn import WAITS, Begun, begin, begin_only, counts, next_from
from penstock.graph.origins import NONE_FAILED
from penstock.graph.plain_values import alike
from penstock.graph.plan import Plan
from penstock.run.failed import rows_by_name
from penstock.run.marks import AT_END, NO_NOTES, Epochs, Mark, counted_in, reached_in

__all__ = [
    "begun_again",
    "begun_anew",
    "begun_behind",
    "ended",
    "kept_with",
    "next_epochs",
    "noted",
    "raised",
    "reached_by",
    "settled",
]

_Marks: TypeAlias = tuple[Mark, ...]
_Next: TypeAlias = dict[int, tuple[Plan, int]]
_NOTE: Final = 3
_FULL: Final = 1
"""In place of the epoch of a cache, which has none: it has kept all rows."""


def noted(marks: _Marks, plans: Sequence[Plan], reached: Sequence[Epochs]) -> _Marks:
    """The marks of inputs before a step, which say what epochs its rows reach.

    Args:
        marks: Before it.
        plans: The inputs.
        reached: What they have reached behind it, as `reached_by` gives it.
    """
    return tuple(map(_noted, marks, plans, reached))


def _noted(mark: Mark, plan: Plan, reached: Epochs) -> Mark:
    if alike(reached, _reached(mark, plan)):
        return mark
    notes = mark[5] or NO_NOTES
    return (*mark[:5], (*notes[:_NOTE], reached, *notes[_NOTE + 1 :]))


def raised(given: int, marks: _Marks, plans: Sequence[Plan]) -> _Marks:
    """The marks of inputs, in the epochs that the rows of a chunk which were given have reached.

    Args:
        given: How many were.
        marks: Before the chunk.
        plans: The inputs.
    """
    return tuple(
        _in_epochs(mark, reached, plan) if given and (reached := reached_in(mark)) is not None else mark
        for mark, plan in zip(marks, plans, strict=True)
    )


def _inputs(mark: Mark, plan: Plan) -> _Marks:
    return _read(mark[1], mark[4], plan)


def _read(state: Any, marks: _Marks, plan: Plan) -> _Marks:
    """The marks of inputs, of a cache that to which it has read its own."""
    read = plan.node.read_to(state)
    if read is None or not plan.inputs[0].has_epochs:
        return marks
    return ((*read[:5], (*(read[5] or NO_NOTES)[:_NOTE], *marks[0][5][_NOTE:])),)


def ended(mark: Mark, plan: Plan) -> tuple[Any, _Marks]:
    """The place in a mark as it is for what comes after a pass that ends there: it says what rows given since have
    reached.
    """
    return plan.node.unread(_after(mark, plan)), raised(mark[2], _inputs(mark, plan), plan.inputs)


def _after(mark: Mark, plan: Plan) -> Any:
    """The state in a mark as it is once the rows given since are taken."""
    _, state, given, _, _, notes = mark
    _, failed, here = (notes or NO_NOTES)[:_NOTE]
    rows = list(rows_by_name(failed).values())
    return plan.node.reached(
        state,
        given,
        *plan.inputs,
        failed=np.sort(np.concatenate(rows)) if rows else NONE_FAILED,
        has_ended=here == AT_END,
    )


def settled(mark: Mark, plan: Plan) -> Mark:
    """A mark with such places, here and below."""
    epoch, _, given, position, _, notes = mark
    state, inputs = ended(mark, plan)
    return (epoch, state, given, position, tuple(map(settled, inputs, plan.inputs)), notes)


def kept_with(mark: Mark, plan: Plan) -> dict[int, tuple[Plan, Any]]:
    """The caches that have kept rows once all those before a mark are taken, as `kept_at` has them."""
    return kept_at(settled(mark, plan), plan)


def begun_again(marks: _Marks, plans: Sequence[Plan]) -> _Marks:
    """The marks of inputs that were begun once more than there are rows of."""
    return tuple(
        _in_epochs(mark, _further(_reached(mark, plan), mark, plan), plan)
        for mark, plan in zip(marks, plans, strict=True)
    )


def _further(epochs: Epochs, mark: Mark, plan: Plan) -> Epochs:
    epoch, below, *told = epochs
    if counted_in(mark) is not None:
        known = dict(zip(map(id, plan.counted_in_turn), told[0], strict=True))
        origins = zip(plan.caches_in_turn, *told[1:], strict=True) if told[1:] else ()
        begin_only(plan, next_from(known), {id(of) for of, origin in origins if origin is not None})
        return epoch, (), tuple(known.values()), *told[1:]
    begun = plan.node.begins_after(mark[1], *plan.inputs)
    parts = zip(below, _inputs(mark, plan), plan.inputs, range(len(below)), strict=True)
    inner = tuple(_further(one, of, part) if i < begun else one for one, of, part, i in parts)
    return (epoch + 1 if counts(plan) else epoch), inner, *told


def _reached(mark: Mark, plan: Plan) -> Epochs:
    """The epochs that the rows which an edge has given have reached, below as well; `WAITS` of what has not begun.

    Where passes are counted in turn they are the next ones of what is counted.
    """
    epoch, state, given, _, inputs, _ = mark
    if (counted := counted_in(mark)) is not None:
        return epoch, (), counted, *mark[5][6:]
    after = _after(mark, plan)
    told: tuple[Any, ...] = ()
    kept, begun = plan.node.kept_after(after), plan.node.begun_passes(after)
    if plan.node.keeps_rows:
        epoch = _FULL if _is_full(after, plan) else 0
        told = kept[0][1:] if epoch else ()
    elif begun:
        told = (kept, begun)
    elif any(kept):
        told = (kept,)
    return epoch, reached_by(state, given, inputs, plan), *told


def reached_by(state: Any, given: int, marks: _Marks, plan: Plan) -> tuple[Epochs, ...]:
    """The epochs that inputs have reached, with the rows of a chunk that were given.

    Args:
        state: Of the node before the chunk.
        given: How many were.
        marks: Of its inputs before it.
        plan: That of the node.
    """
    begun = plan.node.begun_by(state, *plan.inputs)
    marks = _read(state, marks, plan)
    found = []
    for i, (mark, part) in enumerate(zip(marks, plan.inputs, strict=True)):
        if given and (told := reached_in(mark)) is not None:
            found.append(told)
        else:
            reached = _reached(mark, part)
            found.append(reached if i < begun or not part.is_shuffled else _waiting(reached))
    return tuple(found)


def _waiting(epochs: Epochs) -> Epochs:
    return WAITS, tuple(map(_waiting, epochs[1]))


def _in_epochs(mark: Mark, epochs: Epochs, plan: Plan) -> Mark:
    """A mark in later epochs."""
    epoch, state, given, position, _, notes = mark
    later, below, *told = epochs
    if (counted := counted_in(mark)) is not None:
        now = (tuple(map(max, counted, told[0])), *(told[1:] or notes[6:]))
        return (*mark[:5], (*notes[:_NOTE], None, notes[4], *now))
    inputs = tuple(map(_in_epochs, _inputs(mark, plan), below, plan.inputs))
    state = plan.node.unread(state)
    if not plan.node.keeps_rows:
        epoch = max(epoch, later)
        state = _told_by(state, told, plan)
    elif later == _FULL:
        # Rows of the pass begin where the input stood, whatever is full by now.
        state = plan.node.filled(state, tuple((*one[:5], one[5][:_NOTE]) for one in mark[4]), *told)
    return (epoch, state, given, position, inputs, notes[:_NOTE])


def _told_by(state: Any, told: Sequence[Any], plan: Plan) -> Any:
    for kept in told[:1]:
        state = plan.node.kept_by(state, kept)
    for begun in told[1:]:
        state = plan.node.with_begun(state, begun)
    return state


# --- where several places have one shuffled plan ---


def next_epochs(mark: Mark, plan: Plan, *, named: bool = False) -> _Next:
    """The plans that the rows up to a mark have begun to pass over, and the epoch of the next pass over each, by id;
    `named` as for `Node.begins_again`.
    """
    return _next(_reached(mark, plan), mark, plan, is_named=named)


def _next(epochs: Epochs, mark: Mark, plan: Plan, *, is_named: bool) -> _Next:
    if counted_in(mark) is not None:
        return {id(of): (of, epoch) for of, epoch in zip(plan.counted_in_turn, epochs[2], strict=True)}
    found: _Next = {}
    for one, below, part in zip(epochs[1], _inputs(mark, plan), plan.inputs, strict=True):
        if one[0] != WAITS:
            _merge(found, _next(one, below, part, is_named=is_named))
    if plan.node.begins_again(mark[1], *plan.inputs, named=is_named):
        known = {key: epoch for key, (_, epoch) in found.items()}
        complete = _complete(settled(mark, plan), plan)
        for part in plan.inputs:
            begin_only(part, next_from(known), complete)
        found = {key: (of, known[key]) for key, (of, _) in found.items()}
    if counts(plan):
        _merge(found, {id(plan): (plan, epochs[0] + 1)})
    if begun := epochs[3:]:
        _merge(found, {id(of): (of, n) for of, n in zip(plan.node.counted, *begun, strict=True)})
    elif named := plan.node.named:
        after = epochs[0] + plan.epochs_taken(mark[1], mark[4])
        _merge(found, {id(of): (of, after) for of in named})
    return found


def _merge(found: _Next, more: _Next) -> None:
    for key, (plan, epoch) in more.items():
        found[key] = plan, max(epoch, found[key][1] if key in found else 0)


def begun_anew(mark: Mark, plan: Plan) -> tuple[Mark, Begun]:
    """What begins after a pass that has come to a mark: a mark after whose epochs it comes, and its own epochs."""
    end = settled(mark, plan)
    begun = _begun(mark, plan, next_epochs(mark, plan), _complete(end, plan))
    return _before(mark, _reached(mark, plan), begun, _kept(end, plan)), begun


def begun_behind(mark: Mark, plan: Plan, other: Mark, before: Plan) -> tuple[Mark, Begun]:
    """As `begun_anew`, of what has waited until another input ended.

    Args:
        mark: Of what has waited, before its first row.
        plan: Its plan.
        other: Of the other input, at its end.
        before: The plan of that.
    """
    end = settled(other, before)
    waited, known = _lowest(mark, plan), next_epochs(other, before)
    later = {key: (of, max(n, waited.get(key, 0))) for key, (of, n) in known.items()}
    begun = _begun(mark, plan, later, _complete(end, before) | _complete(mark, plan))
    earlier = _earlier(mark, plan)
    return _before(earlier, _reached(earlier, plan), begun, _kept(end, before)), begun


def _earlier(mark: Mark, plan: Plan) -> Mark:
    """The mark of what has waited, one pass earlier."""
    epoch, state, given, position, inputs, notes = mark
    below = tuple(map(_earlier, inputs, plan.inputs))
    return (epoch - plan.epochs_taken(state, inputs), state, given, position, below, notes)


def _begun(mark: Mark, plan: Plan, ended: _Next, complete: Collection[int]) -> Begun:
    waited = _lowest(mark, plan)
    known = {key: epoch for key, (_, epoch) in ended.items()}

    def first(part: Plan) -> int:
        return known.get(id(part), waited.get(id(part), 0))

    return begin(plan, next_from(known, first), first, complete)


def _complete(mark: Mark, plan: Plan) -> set[int]:
    """The ids of caches that have kept all rows."""
    found = {id(plan)} if plan.node.keeps_rows and _is_full(mark[1], plan) else set[int]()
    return found.union(*map(_complete, mark[4], plan.inputs))


def _is_full(state: Any, cache: Plan) -> bool:
    """Whether a cache needs no further pass over its input after a state, where others begin one with their own."""
    node, inputs = cache.node, cache.inputs
    return not node.begins_after(state, *inputs) and bool(node.begins_with(*inputs))


def _kept(mark: Mark, plan: Plan) -> dict[int, Any]:
    """The origins of what caches have kept, by the ids of their plans."""
    return {key: origin for key, (_, origin) in kept_at(mark, plan).items()}


def _lowest(mark: Mark, plan: Plan) -> dict[int, int]:
    """The lowest epoch of each plan in a mark, by its id: the next one, of what has not begun."""
    found = {id(plan): mark[0]} if counts(plan) else {}
    for below, part in zip(mark[4], plan.inputs, strict=True):
        for key, epoch in _lowest(below, part).items():
            found[key] = min(epoch, found.get(key, epoch))
    return found


def _before(mark: Mark, reached: Epochs, begun: Begun, kept: dict[int, Any], more: int = 0) -> Mark:
    """The mark after which wanted epochs begin, of which `more` are passed over (`begun_again`)."""
    epoch, state, given, position, _, notes = mark
    node, plans = begun.plan.node, begun.plan.inputs
    inputs, state = _inputs(mark, begun.plan), node.unread(state)
    if caches := node.caches(begun.plan):
        state = node.kept_by(state, tuple(kept.get(id(cache)) for cache in caches))
    if begun_passes := reached[3:]:
        state = node.with_begun(state, *begun_passes)
    if begun.epoch is not None:
        epoch = begun.epoch - 1 - more
    elif not node.keeps_rows:
        epoch = max(epoch, reached[0])
    first, again = node.begins_after(state, *plans), int(node.begins_again(state, *plans))
    below = tuple(
        _before(one, of, part, kept, (more if i < first else 0) + again)
        for i, (one, of, part) in enumerate(zip(inputs, reached[1], begun.below, strict=True))
    )
    return (epoch, state, given, position, below, notes[:_NOTE])
