"""Which pass over a shuffled plan is the next, where an edge begins one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from threading import local
from typing import Any, ClassVar, Final, TypeAlias, TypeVar

from penstock.graph.begins import NEVER_BEFORE, Begins
from penstock.graph.in_turn import begin
from penstock.graph.origins import is_told_of
from penstock.graph.plan import Plan
from penstock.run.crossed import begun_again, kept_with, next_epochs, raised
from penstock.run.marks import counted_in, is_of_before

__all__ = [
    "Passes",
    "PassesAlone",
    "PassesFrom",
    "Reached",
    "are_made_again",
    "made_again",
    "made_ahead",
    "note_ended",
    "note_kept",
    "note_reached",
    "told_by_others",
    "when_taken",
]

_T = TypeVar("_T")
_HERE: Final = local()


class Passes:
    """Passes as they are counted in this process: each that begins is another one.

    Attributes:
        in_turn: Whether it depends on all rows given so far which epoch begins next: then none is made ahead.
        begins: How those over a dataset that a function returned begin; None of others.
        of_before: Whether they go on from a state of before, in which none were counted in turn.
    """

    in_turn: ClassVar[bool] = False
    begins: Begins | None = None
    of_before: bool = False

    def __init__(self) -> None:
        self._allotted: dict[int, deque[int]] = {}
        self._counts_named = False

    def begin(self, plan: Plan) -> int:
        """The epoch of the next pass over a plan; 0 where those over what its functions name are counted."""
        return 0 if self._named_begun(plan) else self._begin(plan)

    def _begin(self, plan: Plan) -> int:
        return plan.new_epoch()

    def _named_begun(self, plan: Plan) -> tuple[int, ...]:
        """The next epochs of what its functions name, where these are counted."""
        return plan.named_begun if self._counts_named else ()

    def open(self, plan: Plan) -> int:
        """As `begin`, of a plan within one that `allot` was asked for."""
        waiting = self._allotted.get(id(plan))
        return waiting.popleft() if waiting else self.begin(plan)

    def begin_together(self, plan: Plan) -> bool:
        """Whether what a pass over a plan has come to tells which epochs in it begin next."""
        return plan.began_in_turn if self.of_before else plan.begins_in_turn

    def allot(self, plan: Plan) -> None:
        """Begin what is to be opened in a plan, where it depends on others in it which epoch one begins."""
        self._counts_named = plan.counts_named
        if not self.begin_together(plan):
            return
        caches = (part for part in plan.parts if part.node.keeps_rows)
        complete = {id(part) for part in caches if self.kept(part) is not None}
        for part in begin(plan, self.begin, self.known, complete).in_order():
            if part.epoch is not None:
                self._allotted.setdefault(id(part.plan), deque()).append(part.epoch)

    def first_place(self, plan: Plan, epoch: int) -> tuple[Any, tuple[None, ...]] | None:
        """Where a pass begins, and its inputs from their own starts; None where a node says nothing of other passes."""
        caches, begun = plan.node.caches(plan), self._named_begun(plan)
        if not caches and not begun:
            return None
        state = plan.node.start_with(epoch, tuple(map(self.kept, caches)))
        return plan.node.with_begun(state, begun), (None,) * len(plan.inputs)

    def kept(self, cache: Plan) -> Any:
        """The origin from which a cache has kept rows; None where it has not."""
        return cache.node.kept_origin()

    def known(self, plan: Plan) -> int:
        """The epoch that the next pass would have."""
        return plan.epochs_begun

    def note(self, plan: Plan, epoch: int) -> None:
        """Take note that a pass has reached an epoch."""
        if not _is_in("told_by_others"):
            self._note(plan, epoch)

    def _note(self, plan: Plan, epoch: int) -> None:
        plan.note_epoch(epoch)

    def note_place(self, plan: Plan, epoch: int, state: Any) -> None:
        """Take note that a pass has reached an epoch, in which it stands in a state."""
        begun = plan.node.begun_passes(state)
        if not begun:
            self.note(plan, epoch)
        elif not _is_in("told_by_others"):
            self._note_named(plan, begun)

    def _note_named(self, plan: Plan, begun: tuple[int, ...]) -> None:
        plan.note_named(begun)

    def reach_place(self, plan: Plan, epoch: int, state: Any) -> None:
        """As `note_place`, as `reach`."""
        if not _is_in("told_by_others"):
            when_taken(partial(self.note_place, plan, epoch, state))

    def reach(self, plan: Plan, epoch: int) -> None:
        """As `note`, once the rows that are made now are taken: how far was read ahead changes no later pass."""
        if not _is_in("told_by_others"):
            when_taken(partial(self.note, plan, epoch))

    def reach_again(self, plan: Plan, place: Any) -> None:
        """Take note, once what is made now is taken, that the inputs of a plan have begun once more at its end."""
        if not self.begin_together(plan) and not _is_in("told_by_others"):
            for part, mark in zip(plan.inputs, place[1], strict=True):
                when_taken(partial(_note_ended, part, mark, 1))


class PassesAlone(Passes):
    """As `Passes`, of a process in which no cache has kept rows."""

    def kept(self, cache: Plan) -> Any:
        return None


class PassesFrom(Passes):
    """Passes within a dataset that a function returned for a row, which nothing counts but the place of that row."""

    def __init__(self, begins: Begins = NEVER_BEFORE) -> None:
        super().__init__()
        self.begins = begins
        self._next = dict(begins.epochs)
        self._kept = begins.kept_by_id()

    def _begin(self, plan: Plan) -> int:
        if not plan.node.is_shuffled:
            return 0
        epoch = self._next.get(id(plan), 0)
        self._next[id(plan)] = epoch + 1
        return epoch

    def _named_begun(self, plan: Plan) -> tuple[int, ...]:
        if not self._counts_named or id(plan) in self._next:
            return ()
        return tuple(map(self.known, plan.node.counted))

    def _note_named(self, plan: Plan, begun: tuple[int, ...]) -> None:
        for part, epoch in zip(plan.node.counted, begun, strict=True):
            self._note(part, epoch - 1)

    def reach_again(self, plan: Plan, place: Any) -> None:
        """Nobody else counts the passes here."""

    def kept(self, cache: Plan) -> Any:
        """The origin from which a cache had kept rows when the dataset was opened."""
        return self._kept.get(id(cache))

    def known(self, plan: Plan) -> int:
        """The epoch that the next pass would have."""
        return self._next.get(id(plan), 0)

    def _note(self, plan: Plan, epoch: int) -> None:
        if plan.node.is_shuffled:
            self._next[id(plan)] = max(epoch + 1, self._next.get(id(plan), 0))


Reached: TypeAlias = Callable[[], None]
"""Takes note of what rows have reached."""


def when_taken(note: Reached) -> None:
    """Have note taken of what the rows that are made now have reached: once they are taken, where that is not yet."""
    later: list[Reached] | None = getattr(_HERE, "later", None)
    if later is None:
        note()
    else:
        later.append(note)


def made_ahead(make: Callable[[], _T]) -> tuple[_T, list[Reached]]:
    """What `make` gives before it is asked for, and what is to be noted once it is taken."""
    before, reached = getattr(_HERE, "later", None), list[Reached]()
    _HERE.later = reached
    try:
        return make(), reached
    finally:
        _HERE.later = before


def note_reached(reached: Iterable[Reached]) -> None:
    """Take note of what was reached by what is taken now."""
    for note in reached:
        when_taken(note)


def made_again() -> AbstractContextManager[None]:
    """In here rows are made that were taken before."""
    return _in_here("made_again")


def are_made_again() -> bool:
    """Whether what is taken now was taken before."""
    return _is_in("made_again")


def told_by_others() -> AbstractContextManager[None]:
    """In here no epoch is noted as reached: whoever has begun all of them knows which have begun."""
    return _in_here("told_by_others")


@contextmanager
def _in_here(name: str) -> Iterator[None]:
    before = _is_in(name)
    setattr(_HERE, name, True)
    try:
        yield
    finally:
        setattr(_HERE, name, before)


def _is_in(name: str) -> bool:
    return getattr(_HERE, name, False)


def note_kept(plan: Plan, mark: Any) -> None:
    """Take note of what caches have kept by a mark, for the passes that begin here later."""
    for cache, origin in kept_with(mark, plan).values():
        if is_told_of(cache, origin):
            cache.node.note_kept(origin)


def note_ended(plan: Plan, mark: Any) -> None:
    """Take note of the epochs that a pass has taken, which has come to its end at a mark, and of what it has kept."""
    note_kept(plan, mark)
    if not (plan.began_in_turn if is_of_before(mark, plan) else plan.begins_in_turn):
        _note_ended(plan, mark, 0)
        return
    for part, epoch in next_epochs(mark, plan).values():
        part.note_epoch(epoch - 1)
    _note_named(plan, mark)


def _note_named(plan: Plan, mark: Any) -> None:
    if plan.node.named:
        _note_taken(plan, mark, 0)
    for part, below in zip(plan.inputs, raised(mark[2], mark[4], plan.inputs), strict=True):
        _note_named(part, below)


def _note_taken(plan: Plan, mark: Any, more: int) -> None:
    epoch, state, _, _, inputs, _ = mark
    taken = plan.epochs_taken(state, inputs) + (0 if plan.node.named else more)
    if taken > 1:
        plan.note_epoch(epoch + taken - 1)


def _note_ended(plan: Plan, mark: Any, more: int) -> None:
    """Take note of the epochs that a pass has taken, which has come to its end at a mark.

    Args:
        plan: The plan.
        mark: Where it has ended.
        more: Epochs that were begun, and of which no row was taken.
    """
    if counted_in(mark) is not None:
        again = begun_again((mark,), (plan,)) if more else (mark,)
        for part, epoch in next_epochs(again[0], plan).values():
            plan.note_in_turn(part, epoch - 1)
        return
    _note_taken(plan, mark, more)
    _, state, given, _, inputs, _ = mark
    begun = plan.node.begins_after(state, *plan.inputs)
    ends = int(plan.node.begins_again(state, *plan.inputs))
    for i, (part, below) in enumerate(zip(plan.inputs, raised(given, inputs, plan.inputs), strict=True)):
        _note_ended(part, below, (more if i < begun else 0) + ends)
