"""Where rows pass between nodes: the only place that keeps them.

The mark of an edge is the place below it before the chunk it holds, and how many rows it has given away since. To
rewind is to begin at that place, make the chunk again and drop as many rows. While rows are on hold, the place is
the one before the oldest of them. A row that could not be made counts as a row, so that positions stay the same
whether or not an error is raised again.

Where rows can be had by number, none is made again: the mark also says where the rows that come next begin, and those
on hold are fetched by number once they are asked for. Positions are numbers as long as no row has failed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal

import numpy as np

from penstock.column.base import IntArray
from penstock.column.chunk import Chunk
from penstock.column.row_bytes import rows_within
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock.graph.begins import NEVER_BEFORE, Begins
from penstock.graph.epochs import rows_in_epoch
from penstock.graph.in_turn import Begun
from penstock.graph.node import AUTOTUNE, END, Failing, RowSource
from penstock.graph.plan import Plan
from penstock.graph.rows import _End
from penstock.graph.share import rows_left
from penstock.run.crossed import begun_anew, begun_behind, ended, next_epochs, noted, reached_by
from penstock.run.failed import Failed, is_among, rows_by_name
from penstock.run.freed import freed
from penstock.run.held import Base, Held
from penstock.run.maker import Maker
from penstock.run.marks import NO_NOTES, Mark, checked
from penstock.run.passes import PassesFrom, told_by_others, when_taken
from penstock.run.readers import Readers
from penstock.run.shared import Shared
from penstock.run.steps import OpenEdge, Raised
from penstock.run.threads import leave_if_sent_home
from penstock.spec import Spec

__all__ = ["Edge", "Mark"]

# Fewer rows than this are made sooner than they are found by number.
WORTH_FETCHING = 1024

# The errors of an epoch for which the record is looked for: it takes about as long as to restore a state.
_MOST_LOCATED: Final = 16


class Edge:
    """The rows that come out of a plan, in order; see `penstock.graph.node.Rows` and `Branch`."""

    def __init__(
        self,
        plan: Plan,
        mark: Mark | None = None,
        held: IntArray | None = None,
        *,
        after: bool = False,
        shared: Shared | None = None,
        open_edge: OpenEdge | None = None,
        is_inner: bool = False,
    ) -> None:
        """The rows from the start of a new epoch, or from a mark with the rows on hold at `held`.

        With `after` they are those of the epoch that follows the mark's. `open_edge` opens the edges below, the first
        time. Where an edge `is_inner` the one above has asked for its epochs.
        """
        self._shared = Shared() if shared is None else shared
        self._passes = self._shared.passes
        self._open_first = open_edge
        self._plan, self._branch_readers = plan, self._shared.readers
        self._group_rows = 1
        self.group_rows = 1
        """Rows of the node that pulls here which are taken together by the one above it."""
        self.scratch: dict[str, Any] = {}
        if mark is None:
            if not is_inner and plan.begins_in_turn:
                self._passes.allot(plan)
            epoch = self._passes.open(plan)
            self._begin(epoch, self._passes.first_place(plan, epoch))
        elif not is_inner and plan.begins_in_turn:
            with told_by_others():
                self.rewind(mark, held)
            for part, epoch in next_epochs(self.mark(), plan).values():
                self._passes.note(part, epoch - 1)
        elif after:
            epoch = self._later(mark[0], mark[1], mark[4])
            self._passes.reach(plan, epoch)
            self._begin(epoch, ended(mark, plan), after=True)
        else:
            self.rewind(mark, held)

    def _begin(self, epoch: int, place: Any = None, *, after: bool = False) -> None:
        self._epoch = epoch
        open_edge = self._open_first or partial(self._shared.kind or Edge, shared=self._shared, is_inner=True)
        self._open_first = None
        maker = Maker(self._plan, open_edge, epoch, self._shared)
        maker.begin(place, after=after)
        self._maker = maker
        if self._group_rows > 1:
            self._maker.in_groups(self._group_rows)
        self._clear()

    def _clear(self) -> None:
        """No rows are here, and the maker is about to make the first."""
        self._before = self._maker.place
        self._chunk: Chunk | None = None
        self._errors: deque[tuple[int, Exception]] = deque()
        self._given = self._rows_given = self._slots = 0
        self.position = 0
        self._failed = Failed()
        self._held = Held()
        self._waiting: list[Exception] = []
        self.scratch.clear()

    def in_groups(self, size: int) -> None:
        """Have chunks hold multiples of so many rows, where the source can: groups of them are not cut."""
        self._group_rows = size
        if self._chunk is None:
            self._maker.in_groups(size)

    @property
    def plan(self) -> Plan:
        """The plan whose rows they are."""
        return self._plan

    @property
    def spec(self) -> Spec:
        """The spec of the rows."""
        return self._plan.spec

    @property
    def by_number(self) -> RowSource | None:
        """The rows by number, where that is possible and the same in every epoch."""
        return None if self._plan.is_shuffled else self._plan.rows

    @property
    def by_number_left(self) -> RowSource | None:
        """As `by_number`, for a node that pulls none: those of the epoch that other ranks were not given before."""
        return None if self._plan.is_shuffled else rows_left(self._plan, *self._before)

    @property
    def by_number_now(self) -> RowSource | None:
        """The rows of this epoch by number, where that is possible and nothing has to be made for it first."""
        return rows_in_epoch(self._plan, *self._before)

    @property
    def at_hand(self) -> int:
        """Rows that the next pull gives without waiting."""
        return (self._errors[0][0] if self._errors else self._slots) - self._given

    # --- rows given away ---

    def pull(self, limit: int | None = None) -> Chunk | Literal[_End.END]:
        """The next rows, at least one and at most `limit`; as many as are at hand."""
        n = self._ready()
        if not n:
            return END
        n = n if limit is None else min(n, limit)
        chunk, start = self._chunk, self._rows_given
        assert chunk is not None
        self._advance(n)
        return chunk if n == len(chunk) else chunk.slice(start, start + n)

    def pull_exact(self, n: int, enough_bytes: int | None = None) -> Chunk | Literal[_End.END]:
        """The next n rows, fewer only at the end or before an error, which is raised at the next pull.

        With `enough_bytes` they end behind the row with which they have so many bytes of values.
        """
        parts: list[Chunk] = []
        missing, room = n, enough_bytes
        while missing:
            try:
                chunk = self.pull(missing)
            except Exception as error:
                if not parts:
                    raise
                self._waiting.append(error)
                break
            if chunk is END:
                break
            if room is not None:
                within, room = rows_within(chunk, room)
                self.give_back(len(chunk) - len(within))
                chunk = within
            parts.append(chunk)
            missing -= len(chunk)
            if room is not None and room <= 0:
                break
        return Chunk.concat(parts) if parts else END

    def pull_groups(self, size: int) -> Chunk | Literal[_End.END]:
        """The next rows in whole groups of `size`, as many as are at hand; fewer than `size` only at the end."""
        # Within a chunk groups are slices; only a group that crosses a border is copied together.
        n = self._ready()
        return self.pull(n // size * size) if n >= size else self.pull_exact(size)

    def give_back(self, n: int) -> None:
        """Take back the last n rows of the latest pull, which must have been a plain `pull`."""
        assert n <= self._rows_given, "only rows of the latest pull can be taken back"
        self._advance(-n)

    def skip(self, n: int) -> int:
        """Pass over up to n rows; how many there were: fewer only at the end or before an error."""
        if n >= WORTH_FETCHING and self._jumped(n):
            return n
        passed = 0
        while passed < n:
            try:
                at_hand = self._ready()
            except Exception as error:
                if not passed:
                    raise
                self._waiting.append(error)
                break
            if not at_hand:
                break
            taken = min(at_hand, n - passed)
            self._advance(taken)
            passed += taken
        return passed

    def _jumped(self, n: int) -> bool:
        """Whether it stands after the first n rows now, without making them."""
        if self.position or self._slots or self._waiting or self._plan.inputs:
            return False
        state = self._plan.node.state_at(n)
        if state is None:
            return False
        self._begin(self._epoch, (state, ()))
        self.position = n
        return True

    # --- rows on hold ---

    def hold(self, limit: int | None = None) -> int:
        """Pull rows and keep them on hold: as many as are at hand and at most `limit`. 0 at the end."""
        n = self._ready()
        if not n:
            return 0
        base = self._base()
        rows = self.pull(limit)
        assert rows is not END
        self._held.add(rows, base)
        return len(rows)

    def take(self, positions: IntArray) -> Chunk:
        """Rows on hold, in the order asked for, repeats allowed. At least one."""
        return self.taking(positions)()

    def taking(self, positions: IntArray) -> Callable[[], Chunk]:
        """What makes what `take` gives: later, in any thread, whatever is on hold by then."""
        return self._held.taking(positions)

    def keep(self, positions: IntArray) -> None:
        """Let go of the rows on hold at other positions."""
        if self._held:
            self._held.keep(positions)

    # --- marks ---

    def mark(self) -> Mark:
        """Where this edge stands; a plain value."""
        state, inputs = self._before
        given = self._given
        if not self._held:
            notes = self._failed.notes(self.position - given, None)
            return (self._epoch, state, given, self.position, inputs, notes)
        can_fetch = not self._failed.n and self.by_number is not None
        here = (self._before, given) if can_fetch else None
        position, state, given, inputs = self._held.base
        given += self.position - position
        if self._plan.crosses_epochs:
            before, below = self._before
            inputs = noted(inputs, self._plan.inputs, reached_by(before, self._given, below, self._plan))
        return (
            self._epoch,
            state,
            given,
            self.position,
            inputs,
            self._failed.notes(self.position - given, here),
        )

    def rewind(self, mark: Mark, held: IntArray | None = None) -> None:
        """Stand again where `mark` was taken, with the rows at the positions `held` on hold.

        Raises:
            FailedPreconditionError: Those rows do not come again: other rows come out of the plan now.
            Exception: A row that had been given cannot be made now; its error, as a pull would raise it.
        """
        epoch, state, given, position, inputs, notes = mark
        n_errors, failed, here = (notes or NO_NOTES)[:3]
        self._passes.note(self._plan, epoch)
        wanted = np.zeros(0, np.int64) if held is None else np.sort(held)
        first = position - given
        is_worth = here is not None and given >= WORTH_FETCHING and _finds_rows(self._plan, here[0], given)
        rows = self.by_number if is_worth else None
        if rows is not None:
            place, given = here
            self._begin(epoch, place)
            self._held = Held.by_number(rows, wanted, (first, state, 0, inputs))
        else:
            self._begin(epoch, (state, inputs))
        self.position = position - given
        known = {name: first + rows for name, rows in rows_by_name(failed).items()}
        while given and (passed := self._pass_again(given, wanted if rows is None else wanted[:0], known)):
            given -= passed
        self._failed.n = n_errors
        if given or not self._held.has_all(wanted):
            raise FailedPreconditionError(
                f"set_state: rows that {self._plan.node} had given do not come again. Its input has changed since "
                "the state was taken; begin a new epoch."
            )
        self.keep(wanted)

    def restart(self, mark: Mark | None = None) -> None:
        """Begin the epoch after that of a mark, or of where it stands; positions begin at 0 again."""
        # Of a pass that is broken off a mark says the same whatever was read ahead; where edges stand does not.
        if mark is None and self._plan.begins_in_turn:
            self._restart_in_turn(*begun_anew(self.mark(), self._plan))
            return
        mark = self.mark() if mark is None else mark
        epoch, before = mark[0], ended(mark, self._plan)
        self._epoch = self._later(epoch, *before)
        self._passes.reach(self._plan, self._epoch)
        self._maker.restart(self._epoch, before)
        self._clear()

    def _restart_in_turn(self, mark: Mark, begun: Begun) -> None:
        with told_by_others():
            self.restart(mark)
        for part, epoch in begun.begun():
            self._passes.reach(part, epoch)

    def begin_behind(self, other: Any) -> None:
        """Begin, before a row was pulled here, behind another input, which has ended."""
        if self._plan.is_shuffled:
            self._restart_in_turn(*begun_behind(self.mark(), self._plan, other.mark(), other.plan))

    def _later(self, epoch: int, state: Any, inputs: tuple[Mark, ...]) -> int:
        """The epoch after one that has ended at a place."""
        return epoch + self._plan.epochs_taken(state, inputs)

    def branch(
        self,
        plan: Plan,
        mark: Mark | None = None,
        begins: Begins = NEVER_BEFORE,
        threads: int = AUTOTUNE,
    ) -> Edge:
        """The rows of another plan, from a mark or from the start, where passes over what is in it go by `begins`.

        What is made ahead in all of them takes so many threads together, with AUTOTUNE those of an iterator.
        """
        known = self._shared
        known.uncounted.opened.note(plan)
        if self._branch_readers is None or (threads > 0 and self._branch_readers is known.readers):
            self._branch_readers = Readers(threads if threads > 0 else None, known.most_threads)
        shared = replace(known, meter=None, passes=PassesFrom(begins), readers=self._branch_readers)
        return (known.kind or Edge)(plan, checked(mark, plan), shared=shared)

    def when_taken(self, note: Callable[[], None]) -> None:
        """Have note taken of something once the rows that are made now are taken."""
        when_taken(note)

    def again(self, mark: Mark | None = None) -> Edge:
        """The rows of this edge's own plan, from a mark or from where it stands."""
        mark = self.mark() if mark is None else checked(mark, self._plan)
        return (self._shared.kind or Edge)(self._plan, mark, shared=self._shared)

    def _pass_again(self, limit: int, wanted: IntArray, known: Mapping[str, IntArray]) -> int:
        """Pass over rows that were given before, errors that were raised before among them; 0 at the end.

        An error that was not raised before is: the file that is gone, the row that can no longer be made.
        """
        try:
            n = min(self._ready(), limit)
        except Exception as error:
            if not is_among(known, self.position - 1, error):
                raise
            return 1
        if not n:
            return 0
        first = self.position
        low, high = np.searchsorted(wanted, (first, first + n))
        if high > low:
            return self.hold(n)
        self._advance(n)
        return n

    def _base(self) -> Base:
        return (self.position, self._before[0], self._given, self._before[1])

    # --- chunks ---

    def _advance(self, n: int) -> None:
        self._given += n
        self._rows_given += n
        self.position += n

    def _ready(self) -> int:
        """How many rows are at hand, once there are any; 0 at the end. Raises the error that comes next."""
        if self._waiting:
            raise self._placed(self._waiting.pop())
        while self._given == self._slots:
            leave_if_sent_home()
            if not self._make():
                return 0
            if self._waiting:
                raise self._placed(self._waiting.pop())
        if self._errors and self._errors[0][0] == self._given:
            self._given += 1
            raise self._placed(self._noted(self._errors.popleft()[1]))
        return self.at_hand

    def _noted(self, error: Exception) -> Exception:
        """The error, which has taken the place of the next row."""
        self._failed.add(self.position, error)
        self.position += 1
        return error

    def _placed(self, error: Exception) -> Exception:
        """The error, where it is one of a row's with what finds the row's origin."""
        if isinstance(error, InvalidArgumentError) and len(self._plan.inputs) == 1:
            # It opens edges of its own, which only an error asks for.
            from penstock.run.located import located

            [plan], [mark] = self._plan.inputs, self._before[1]
            error.came_from(partial(located, plan, mark, again=self._failed.n <= _MOST_LOCATED))
        return freed(error)

    def _make(self) -> bool:
        """Have the next chunk made; False at the end."""
        if not self._held:
            self._failed.forget()
        self._before, made = self._maker.next()
        self._chunk, self._given, self._rows_given, self._slots = None, 0, 0, 0
        if isinstance(made, Raised):
            self._waiting.append(self._noted(made.take()))
            return True
        if isinstance(made, Failing):
            self._chunk, self._slots = made.rows, len(made)
            self._errors = made.take_errors()
        elif made is not None and made is not END:
            self._chunk, self._slots = made, len(made)
        return made is not END


def _finds_rows(plan: Plan, place: tuple[Any, tuple[Mark, ...]], n: int) -> bool:
    """Whether rows are had by number sooner than n rows before a place are made again."""
    if plan.finds_rows:
        return True
    state, inputs = place
    while plan.node.is_one_to_one and len(inputs) == 1:
        plan, state, inputs = plan.inputs[0], inputs[0][1], inputs[0][4]
    return not inputs and plan.node.finds_rows_sooner(state, n)
