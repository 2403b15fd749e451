"""Which epoch a pass over a shuffled plan is where that depends on how far others have come, row by row.

Each pass that begins, wherever it is, is the next one: tf.data's order. So nothing is read ahead where this is asked,
and each edge remembers the epochs that were drawn below it since the place in its mark: rows that are made again, when
others have drawn since, have their own epochs again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from penstock.graph.begins import Begins
from penstock.graph.in_turn import counts
from penstock.graph.plan import Plan
from penstock.run.crossed import kept_with, next_epochs
from penstock.run.marks import Mark, counted_in
from penstock.run.passes import Passes, when_taken

__all__ = ["Drawn", "PassesInTurn"]


class Drawn:
    """The epochs that were drawn below an edge since a place, the oldest first; the last may be yet to come again.

    Attributes:
        place: How many had been drawn at the place before the rows at hand.
    """

    def __init__(self, again: Sequence[int] = ()) -> None:
        """`again` are to be drawn once more."""
        self._epochs = list(again)
        self._first = self._n = self.place = 0

    def begin_step(self, oldest: int | None) -> None:
        """A step begins; what was drawn before `oldest`, or before the step, is not asked for any more."""
        self.place = self._first + self._n
        kept = self.place if oldest is None else oldest
        del self._epochs[: kept - self._first]
        self._n -= kept - self._first
        self._first = kept

    def settle(self) -> None:
        """The place is the one behind the step."""
        self.place = self._first + self._n

    def since(self, place: int) -> tuple[int, ...]:
        """What was drawn since a place."""
        return tuple(self._epochs[place - self._first :])

    @property
    def comes_again(self) -> bool:
        """Whether the next epoch is one that was drawn before."""
        return self._n < len(self._epochs)

    def again(self) -> int:
        """The epoch that comes again."""
        self._n += 1
        return self._epochs[self._n - 1]

    def add(self, epoch: int) -> None:
        """An epoch is drawn for the first time."""
        self._epochs.append(epoch)
        self._n += 1


class PassesInTurn(Passes):
    """Passes over a pipeline, or over a dataset that a function returned for a row of one, as they begin."""

    in_turn = True

    def __init__(
        self,
        plan: Plan,
        mark: Mark | None = None,
        *,
        outer: PassesInTurn | None = None,
        begins: Begins | None = None,
    ) -> None:
        """Of a plan that begins, or goes on from a mark.

        Args:
            plan: The plan.
            mark: Its mark.
            outer: Those of the pipeline, for a dataset that a function returned in turn with others.
            begins: How passes over one that a function returned begin.
        """
        super().__init__()
        self.begins = begins
        self._plan, self._outer = plan, outer
        self._drawing: list[Drawn] = [] if outer is None else outer._drawing  # noqa: SLF001  (its own kind)
        self._next: dict[int, int] = {}
        self._kept: dict[int, Any] = {} if outer is None else outer._kept  # noqa: SLF001  (its own kind)
        if outer is None and mark is None:
            known = begins.kept_by_id() if begins is not None else _kept_here(plan)
            self._kept.update(known)
        self._plans = {
            id(of.counted_as): of for of in plan.counted_in_turn if self._owner(id(of.counted_as)) is None
        }
        self._next = {key: self._first(of) for key, of in self._plans.items()}
        if mark is not None:
            self.go_on(mark)

    def _first(self, of: Plan) -> int:
        return self._plan.begun_in_turn(of) if self.begins is None else self.begins.epochs.get(id(of), 0)

    def go_on(self, mark: Mark) -> None:
        """Count from where a mark was taken."""
        counted = counted_in(mark) if self._next else ()
        if counted is None:  # in a state of before
            begun = {id(of.counted_as): epoch for of, epoch in next_epochs(mark, self._plan).values()}
            counted = tuple(begun.get(key, epoch) for key, epoch in self._next.items())
        self._next = dict(zip(self._next, counted, strict=False))
        if self._outer is None:
            self._kept.clear()  # rows that were made ahead may have filled one
            self._kept.update({key: origin for key, (_, origin) in kept_with(mark, self._plan).items()})
        if self.begins is None:
            for key, of in self._plans.items():
                when_taken(partial(self._plan.note_in_turn, of, self._next[key] - 1))

    def _owner(self, key: int) -> PassesInTurn | None:
        """Who counts the passes over a plan; None where it is new."""
        found = None if self._outer is None else self._outer._owner(key)  # noqa: SLF001  (its own kind)
        return found or (self if key in self._next else None)

    def counts_own(self, plan: Plan) -> bool:
        """Whether a plan is one of what is opened here, and none that its function named."""
        return self._owner(id(plan.counted_as)) in (self, None)

    @property
    def is_opened(self) -> bool:
        """Whether they are over a dataset that a function returned."""
        return self.begins is not None

    @property
    def counted(self) -> tuple[int, ...]:
        """The next epochs of what is counted here, for a mark."""
        return tuple(self._next.values())

    @property
    def kept_now(self) -> tuple[Any, ...]:
        """The origins of what caches have kept, for a mark, in a tuple; an empty one where they have kept nothing."""
        origins = tuple(self._kept.get(id(cache)) for cache in self._plan.caches_in_turn)
        return () if origins.count(None) == len(origins) else (origins,)

    @contextmanager
    def drawing(self, drawn: Drawn) -> Iterator[None]:
        """In here what is drawn is drawn below an edge."""
        self._drawing.append(drawn)
        try:
            yield
        finally:
            self._drawing.pop()

    def begin(self, plan: Plan) -> int:
        """The epoch of a pass that begins."""
        if not counts(plan):
            return 0
        key = id(plan.counted_as)
        owner = self._owner(key) or self
        epoch = self._drawn_again()
        if epoch is None:
            epoch = owner.draw(key)
            self._note_drawn(self._drawing, epoch)
        else:
            owner.count(key, epoch)
        return epoch

    def _drawn_again(self) -> int | None:
        """What was drawn before and comes again; None where there is no such."""
        # What lies deeper was drawn earlier.
        for i, drawn in reversed([*enumerate(self._drawing)]):
            if drawn.comes_again:
                found = drawn.again()
                self._note_drawn(self._drawing[i + 1 :], found)
                return found
        return None

    def _note_drawn(self, below: Sequence[Drawn], number: int) -> None:
        for drawn in below:
            drawn.add(number)

    def draw(self, key: int) -> int:
        """The next epoch of a plan that is counted here, and count it."""
        epoch = self._next.get(key, 0)
        self.count(key, epoch)
        if self.begins is None:
            when_taken(partial(self._plan.note_in_turn, self._plans[key], epoch))
        return epoch

    def count(self, key: int, epoch: int) -> None:
        """An epoch of a plan that is counted here has begun; again, where what was opened anew begins it once more."""
        self._next[key] = max(epoch + 1, self._next.get(key, 0))

    def kept(self, cache: Plan) -> Any:
        """The origin from which a cache has kept rows by now, as it is asked for when a pass over it begins."""
        origin = self._kept.get(id(cache))
        is_kept = self._drawn_again()
        if is_kept is None:
            is_kept = int(origin is not None)
            self._note_drawn(self._drawing, is_kept)
        return origin if is_kept else None

    def knows_kept(self, cache: Plan) -> bool:
        """Whether a cache has kept rows by now."""
        return id(cache) in self._kept

    def note_kept(self, cache: Plan, origin: Any) -> None:
        """Take note that a cache has kept rows."""
        self._kept[id(cache)] = origin

    def reach_again(self, plan: Plan, place: Any) -> None:
        """What has begun is known already."""

    def _note(self, plan: Plan, epoch: int) -> None:
        """What has begun is known already."""


def _kept_here(plan: Plan) -> dict[int, Any]:
    """The origins of what caches have kept in this process, by the ids of their plans."""
    origins = {id(part): part.node.kept_origin() for part in plan.parts if part.node.keeps_rows}
    return {key: origin for key, origin in origins.items() if origin is not None}
