"""What caches have in common: a pass reads kept rows as far as there are some, and makes the others.

A state says where a pass began in the input (its origin). So a position that was saved is found again where nothing, or
something else, is kept: the rows are then made again from there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar, Final, Literal, Protocol

import numpy as np

from penstock.column.base import IntArray
from penstock.column.chunk import Chunk
from penstock.errors import DataLossError, InvalidArgumentError, LimitError
from penstock.graph.begins import KeptFrom
from penstock.graph.node import END, Branch, Broken, Node, PlainRows, Rows, RowSource, State, Step
from penstock.graph.origins import NONE_FAILED, is_of_all, is_origin, mark_of, may_be_mark, of_all
from penstock.graph.plain_values import alike, are_rising
from penstock.graph.plan import Plan
from penstock.graph.rows import _End
from penstock.nodes.arguments import is_count
from penstock.spec import Spec

__all__ = ["Keeper", "Keeping", "Kept"]

# In place of the mark of the input, of which there is nothing more to read.
_COMPLETE: Final = ()
_NOT_KEPT: Final = (None,)
_LEAST_ROOM: Final = 16
_ANY: Final = 1 << 62


class Kept(Protocol):
    """Rows that a pass has left behind: all of them, or the first.

    Attributes:
        origin: The mark of the input before them.
        mark: The mark of the input after them, where they are not all.
        is_complete: Whether they are all.
    """

    origin: Any
    mark: Any
    is_complete: bool

    @property
    def failed(self) -> IntArray:
        """int64[k] rising, the positions in the input of rows that failed in the pass, and are not among them."""

    @property
    def rows(self) -> int:
        """How many."""

    def from_row(self, row: int) -> Chunk | None:
        """Rows from this one on; None at the end."""


class Keeper(Protocol):
    """Takes the rows of a pass in order."""

    @property
    def rows(self) -> int:
        """How many it has."""

    def add(self, rows: Chunk, mark: Any) -> None:
        """Take rows, and the mark of the input after them."""

    def finish(self, failed: IntArray) -> None:
        """These were all, but for some that failed, at these positions of the input."""

    def publish(self) -> None:
        """The last of them was asked for: passes that begin now are over these rows."""


class Keeping(Node):
    """A cache, whatever keeps its rows.

    The state: rows given, rows read, and the marks of the input where the pass began and where it was read to; then
    the positions in the input of rows that have failed in the pass, where some have and are not kept; then, once it was
    read to its end, the mark there, where it tells of passes and caches below. The input edge itself stays where it is.
    An origin stands within a tuple where all rows from there on were kept once, followed by the positions of those that
    had failed: a pass over these that is broken off is followed by one over the same. What a pass does next follows
    from its state alone, never from what is kept: otherwise a restored one would go on differently.
    """

    keeps_rows: ClassVar[bool] = True
    tells_end: ClassVar[bool] = False
    """Whether states say where the input stands once a pass has read all of it."""

    def begins_with(self, *inputs: Plan) -> int:
        return 0

    @abstractmethod
    def kept(self, plan: Plan) -> Kept | None:
        """The rows that are kept of a plan."""

    @abstractmethod
    def keeper(self, plan: Plan, origin: Any, kept: Kept | None) -> Keeper | None:
        """What takes the rows of a pass that follow the kept ones; None where they are not to be kept."""

    def pass_begins(self) -> None:
        """Warn where passes before have kept nothing, though they made rows."""
        return

    def lost(self, kept: Kept, error: DataLossError) -> None:
        """Kept rows were damaged; they are made again."""
        raise error

    @property
    def keeps_around_errors(self) -> bool:
        """Whether the rows of a pass are kept in which some could not be made."""
        return True

    def spec(self, rows: Spec) -> Spec:  # type: ignore[override]
        return rows

    def cardinality(self, n: int) -> int:  # type: ignore[override]
        return n

    def caches(self, plan: Plan) -> tuple[Plan, ...]:
        return (plan,)

    def start(self, epoch: int) -> State:
        return (0, 0, None, None)

    def start_with(self, epoch: int, kept: KeptFrom) -> State:
        # A pass over kept rows says so from its first mark on: elsewhere they are made again from where they began.
        return (0, 0, kept[0], None)

    def next_epoch(self, state: State, epoch: int) -> State:
        # Also where the rows of the pass were not kept, since it was taken up in the middle: they are made again.
        return (0, 0, *self.kept_after(state), None)

    def begins_after(self, state: State, *inputs: Plan) -> int:
        return self.begins_with(*inputs) if self.kept_after(state) == _NOT_KEPT else 0

    def reached(
        self,
        state: State,
        given: int,
        *inputs: Plan,
        failed: IntArray = NONE_FAILED,
        has_ended: bool = False,
    ) -> State:
        given -= len(failed)
        if state[2] is None or not (has_ended or state[0] + given == inputs[0].cardinality):
            return state
        [before] = _failed(state) or (NONE_FAILED,)
        failed = np.concatenate((before, state[0] + len(before) + failed))
        return self.filled(state, (), *((failed,) if len(failed) else ()))

    def filled(self, state: State, marks: Sequence[Any], *failed: IntArray) -> State:
        origin = marks[0] if state[2] is None else state[2]  # a pass begins where its input stands
        return (*state[:2], origin, _COMPLETE, *failed, *_marks(state))

    def read_to(self, state: State) -> Any:
        is_told = self.tells_end and not is_of_all(state[2])
        return next(iter(_marks(state)), None) if is_told else None

    def unread(self, state: State) -> State:
        return (*state[:3], _COMPLETE if state[3] == _COMPLETE else None, *_failed(state))

    def kept_after(self, state: State) -> KeptFrom:
        if state[3] == _COMPLETE and not is_of_all(state[2]):
            return (of_all(state[2], *_failed(state)),)
        return (state[2],) if is_of_all(state[2]) else _NOT_KEPT

    def kept_by(self, state: State, kept: KeptFrom) -> State:
        # Whichever has come to its end has kept its rows, and all others read them from their next pass on.
        return state if kept == _NOT_KEPT else (*state[:2], *kept, _COMPLETE)

    def knows(self, state: State) -> bool:
        if not (
            isinstance(state, tuple) and 4 <= len(state) <= 6 and is_count(state[1]) and is_count(state[0])
        ):
            return False
        origin, mark = state[2:4]
        failed, ends = _failed(state), tuple(filter(may_be_mark, state[4:]))
        is_known = (origin is None or is_origin(origin)) and all(map(are_rising, failed))
        is_known &= max(len(failed), len(ends)) <= 1 and len(failed) + len(ends) == len(state) - 4
        return is_known and (mark in (None, _COMPLETE) or may_be_mark(mark))

    def step(self, state: State, rows: Rows) -> Step:
        origin, mark = state[2:4]
        if mark == _COMPLETE:
            return state, END
        if origin is None:
            self.pass_begins()
            return (0, 0, rows.again().mark(), None), None
        if "reading" not in rows.scratch:
            found = self._from_kept(state, rows)
            if found is not None:
                return found
        return self._from_input(state, rows)

    def _from_kept(self, state: State, rows: Rows) -> Step | None:
        """Kept rows; None where the next one is to be made."""
        given, read, origin = state[:3]
        kept = rows.scratch.get("kept") or self._known(rows, origin)
        if kept is None:
            return None
        try:
            chunk = kept.from_row(given)
            if chunk is None and not kept.is_complete:  # meanwhile there may be more
                kept = self._known(rows, origin) or kept
                chunk = kept.from_row(given)
        except DataLossError as error:
            rows.scratch.clear()
            rows.scratch["is lost"] = True
            self.lost(kept, error)
            return state, None
        if chunk is not None:
            return (given + len(chunk), *state[1:]), chunk
        if kept.is_complete:
            return (given, read, origin, _COMPLETE), None
        return ((given, kept.rows, origin, kept.mark), None) if read < kept.rows <= given else None

    def _known(self, rows: Rows, origin: Any) -> Kept | None:
        """The kept rows of the pass that began at `origin`."""
        if "is lost" in rows.scratch:
            return None
        if self._tells_end(rows.plan) and not is_of_all(origin):
            return None  # its states say what has begun and ended below
        kept = self.kept(rows.plan)
        # Where epochs are alike it does not matter of which one the rows are.
        if kept is None or (rows.plan.is_shuffled and not alike(mark_of(origin), kept.origin)):
            return None
        if len(kept.failed) and not is_of_all(origin):  # a pass that is to raise the errors of these
            return None
        rows.scratch["kept"] = kept
        return kept

    def _from_input(self, state: State, rows: Rows) -> Step:
        given, read, origin = state[:3]
        try:
            reading = self._reading(state, rows)
        except (LimitError, OSError) as error:  # nothing can be kept there
            raise _not_kept(error, state, rows) from None
        try:
            passed, chunk = reading.next(given - read, _rows_to_last(given, rows.plan.cardinality))
        except Exception as error:  # noqa: BLE001  (raised, with the place to go on from)
            if self.keeps_around_errors:
                reading.fail()
            else:
                reading.keeper = None
            raise Broken(error, (given, read, origin, *reading.place())) from None
        if chunk is None:
            return (given, read + passed, origin, *reading.place()), None
        mark, *failed = reading.place()
        after = (given, read, origin, _COMPLETE, *failed, *([mark] if self._tells_end(rows.plan) else ()))
        if chunk is not END:
            chunk = chunk.read_only()  # no change in place of a row is to reach the kept ones
            n = given + len(chunk)
            after = (n, n, origin, *reading.place())
        try:
            keeper = reading.keeper if reading.keeper is not None and reading.keeper.rows == given else None
            if keeper is not None and chunk is not END:
                keeper.add(chunk, after[3])
            if chunk is END or after[0] == rows.plan.cardinality:
                reading.keeper = None
                self._finish(keeper, of_all(origin, reading.failed), rows)
        except (LimitError, InvalidArgumentError, OSError) as error:
            raise _not_kept(error, state, rows) from None
        return after, None if chunk is END else chunk

    def _finish(self, keeper: Keeper | None, origin: Any, rows: Rows) -> None:
        """Have note taken of a pass that is over, whose rows a keeper has, or that was taken up here."""
        note: Callable[[], None] = partial(self.note_kept, origin)
        if keeper is not None:
            keeper.finish(*origin[1:] or (NONE_FAILED,))
            note = keeper.publish
        if rows.plan.is_shuffled or not origin[1:]:
            rows.when_taken(note, is_first=keeper is None or rows.plan.is_shuffled)
        else:
            rows.when_told(note, self)  # a step may have read the end ahead, behind which no errors come

    def _reading(self, state: State, rows: Rows) -> _Reading:
        """The rows of the input that come next, and what keeps them."""
        given, read, beginning, mark = state[:4]
        origin = mark_of(beginning)
        found: _Reading | None = rows.scratch.get("reading")
        if found is None:
            kept: Kept | None = rows.scratch.pop("kept", None)
            follows = given == read == (0 if kept is None else kept.rows) and (mark is None) == (kept is None)
            is_kept = follows and "is lost" not in rows.scratch
            keeper = self.keeper(rows.plan, origin, kept) if is_kept else None
            branch = rows.again(origin if mark is None else mark)
            failed = beginning[1:] if is_of_all(beginning) else _failed(state)
            found = _Reading(branch, keeper, *(failed or (NONE_FAILED,)), are_left_out=is_of_all(beginning))
            rows.scratch["reading"] = found
        return found

    def _tells_end(self, plan: Plan) -> bool:
        return self.tells_end and plan.has_epochs

    def followed(self, *inputs: Plan) -> Plan:
        # Kept rows have lost their origins, and nothing is to be kept of rows that are only asked for theirs. An input
        # that is shuffled anew in each pass is to be kept all the same.
        [rows] = inputs
        return Plan(self.emptied(), inputs) if rows.is_shuffled else rows

    @abstractmethod
    def emptied(self) -> Node:
        """A cache in memory that keeps nothing yet."""

    def plain(self, rows: PlainRows) -> Iterator[Any]:  # type: ignore[override]
        return rows

    def random_access(self, rows: RowSource) -> RowSource:  # type: ignore[override]
        return rows


def _failed(state: State) -> tuple[IntArray, ...]:
    """The positions of rows that have failed in the pass, where a state says them."""
    return tuple(part for part in state[4:] if isinstance(part, np.ndarray))


def _marks(state: State) -> tuple[Any, ...]:
    """The mark to which the input was read, where a state says it."""
    return tuple(filter(may_be_mark, state[3:]))


def _not_kept(error: Exception, state: State, rows: Rows) -> Broken:
    """What to raise: the rows are made again from where they were read last, and not kept."""
    rows.scratch.clear()
    rows.scratch["is lost"] = True
    return Broken(error, state)


class _Reading:
    """The rows of the input in a pass, as they are read.

    Attributes:
        keeper: Keeps them; None where they are not kept.
        failed: int64[k] rising, the positions of rows that failed.
    """

    def __init__(
        self, branch: Branch, keeper: Keeper | None, failed: IntArray, *, are_left_out: bool
    ) -> None:
        """With `are_left_out` the rows that failed did so when the others were kept, and are passed over now."""
        self.keeper, self.failed = keeper, failed
        self._branch, self._are_left_out = branch, are_left_out
        self._room = failed

    def place(self) -> tuple[Any, ...]:
        """The end of a state: the mark of the input, and where rows have failed so far."""
        mark = self._branch.mark()
        return (mark, self.failed) if len(self.failed) and not self._are_left_out else (mark,)

    def next(self, more: int, most: int) -> tuple[int, Chunk | Literal[_End.END] | None]:
        """How many of `more` rows it passes over; where they are none, the rows that come next, at most so many."""
        limit = self._rows_before_one_left_out() if self._are_left_out else _ANY
        if more and (passed := self._branch.skip(min(more, limit))):
            return passed, None
        return 0, END if more else self._branch.pull(min(most, limit))

    def fail(self) -> None:
        """Take note that the latest row has failed."""
        if self._are_left_out:
            return
        n = len(self.failed)
        if n == len(self._room):  # marks keep what was noted before: nothing in it is changed
            self._room = np.resize(self.failed, max(_LEAST_ROOM, 2 * n))
        self._room[n] = self._branch.position - 1
        self.failed = self._room[: n + 1]

    def _rows_before_one_left_out(self) -> int:
        """How many rows there are before the next one that is left out."""
        branch, left_out = self._branch, self.failed
        while (i := int(np.searchsorted(left_out, branch.position))) < len(left_out):
            if n := int(left_out[i]) - branch.position:
                return n
            with suppress(Exception):  # it fails again, or not
                if not branch.skip(1):
                    break
        return _ANY


def _rows_to_last(given: int, n: int) -> int:
    """The most rows to take at once of n, or of an unknown number: the last comes alone, since it fills the cache."""
    return n - 1 - given if given < n - 1 else 1 if given == n - 1 else _ANY
