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
from penstock.run.crossed import next_epochs
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
        # What lies deeper was drawn earlier.
        inner = len(self._drawing)
        while inner and not self._drawing[inner - 1].comes_again:
            inner -= 1
        if inner:
            epoch = self._drawing[inner - 1].again()
            owner.count(key, epoch)
        else:
            epoch = owner.draw(key)
        for drawn in self._drawing[inner:]:
            drawn.add(epoch)
        return epoch

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
        """The origin from which a cache has kept rows."""
        return super().kept(cache) if self.begins is None else self.begins.kept_by_id().get(id(cache))

    def reach_again(self, plan: Plan, place: Any) -> None:
        """What has begun is known already."""

    def _note(self, plan: Plan, epoch: int) -> None:
        """What has begun is known already."""
