"""Rows of datasets that a function makes, a few of which are open at a time and take turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import cached_property, partial
from typing import Any, ClassVar, Final, Literal

import numpy as np

from penstock.column.base import IntArray
from penstock.column.chunk import Chunk
from penstock.column.fixed import FixedColumn
from penstock.column.nested import NestedColumn
from penstock.errors import ArgumentError, InvalidArgumentError
from penstock.frozen import frozen
from penstock.graph.begins import Begins
from penstock.graph.following import opened_by
from penstock.graph.named import is_unseeded, shuffled_by
from penstock.graph.node import (
    AUTOTUNE,
    END,
    Branch,
    Failing,
    Node,
    PlainRows,
    Rows,
    SpecUnknown,
    State,
    Step,
    method,
    transform,
)
from penstock.graph.placed import is_placed
from penstock.graph.plan import Plan
from penstock.graph.rows import _End
from penstock.nodes.arguments import whole_number
from penstock.nodes.drawn import is_whole
from penstock.nodes.inner import check_function, inner_plan, seeded_call
from penstock.nodes.listed import NONE_LISTED, Listed, listed
from penstock.nodes.opens import Opens, is_kept
from penstock.nodes.places import at_places, before_places, with_places
from penstock.nodes.prefetch import Prefetch
from penstock.nodes.same_form import First, is_first, like_first
from penstock.nodes.sizes import note_rows, rows_at_once
from penstock.nodes.sketched import sizes_of_opened
from penstock.spec import Spec

__all__ = ["Interleave", "interleaved"]

_CYCLE_LENGTH: Final = 16
MOST_OPEN: Final = 1 << 20
_MOST_PULLS: Final = 256


@method("interleave")
def interleave(
    plan: Plan,
    map_func: Callable[..., Any],
    cycle_length: int | None = None,
    block_length: int | None = None,
    num_parallel_calls: int | None = None,
    deterministic: bool | None = None,  # noqa: ARG001  (the order is always the same)
) -> Plan:
    """The rows of the datasets that a function makes of the rows, taking turns, in tf.data's order.

    `cycle_length` datasets are open at a time, each of which gives `block_length` rows in its turn. When one has no
    more rows, the next one that the function makes takes its place.

    Args:
        plan: The rows.
        map_func: Takes a row (the parts of a tuple as several arguments) and returns a dataset. What it names that
            draws at random, also in maps of that dataset, is counted by row as in `map`, and so are the seeds with
            which that dataset is shuffled or mixed where it is given none.
        cycle_length: Datasets that are open at a time. By default 16, on every machine; tf.data takes the number of
            its processors.
        block_length: Rows that a dataset gives in its turn; 1 by default.
        num_parallel_calls: So many threads read ahead in the open datasets; `ps.AUTOTUNE` (-1) takes as many as help,
            at most 16 or one for each processor. A generator stays in a thread of its own, of which AUTOTUNE has 64.
        deterministic: Taken for tf.data's sake: the order is the same in any case.

    Raises:
        ArgumentError: A number below 1, or more parallel calls than open datasets.
        ArgumentTypeError: `map_func` is no function, or another argument is no whole number.
        FunctionError: While iterating, where `map_func` fails on a row; `next` goes on with the next row.

    >>> import penstock as ps
    >>> ds = ps.Dataset.range(1, 4).interleave(lambda x: ps.Dataset.range(10 * x, 10 * x + 3), cycle_length=2)
    >>> [int(row) for row in ds]
    [10, 20, 11, 21, 12, 22, 30, 31, 32]
    """
    check_function("interleave", "map_func", map_func)
    cycle = _number("cycle_length", cycle_length, _CYCLE_LENGTH)
    calls = _number("num_parallel_calls", num_parallel_calls, 0)
    if cycle_length not in (None, AUTOTUNE) and calls > cycle:
        want = f"ps.AUTOTUNE or at most cycle_length, {cycle}"
        raise ArgumentError("interleave", "num_parallel_calls", got=calls, want=want)
    block = 1 if block_length is None else whole_number("interleave", "block_length", block_length, above=0)
    return interleaved(
        plan, map_func, cycle, block, reads_ahead=calls or (0 if num_parallel_calls is None else AUTOTUNE)
    )


def interleaved(
    plan: Plan,
    map_func: Callable[..., Any],
    cycle_length: int,
    block_length: int = 1,
    *,
    reads_ahead: int = 0,
    where: str = "interleave",
) -> Plan:
    """The plan of it, with places for a function that draws: what it or its datasets draw counts from the row."""
    rows_by = tuple(function for part in plan.parts for function in part.node.users_functions)
    among = listed(plan)
    made_by = (map_func, *rows_by, *among.plans)
    is_at_places = is_placed(map_func, makes_datasets=True) or any(map(is_unseeded, made_by))
    kind = InterleaveAtPlaces if is_at_places else Interleave
    node = kind(map_func, cycle_length, block_length, reads_ahead, where, rows_by, among)
    return Plan(node, (with_places(plan) if is_at_places else plan,))


def _number(name: str, value: Any, default: int) -> int:
    if value is None or whole_number("interleave", name, value) == AUTOTUNE:
        return default
    number = whole_number("interleave", name, value, above=0)
    if number > MOST_OPEN:
        raise ArgumentError("interleave", name, got=number, want=f"at most {MOST_OPEN:,} at a time")
    return number


@transform("interleave")
@frozen
class Interleave(Opens):
    """Rows of datasets that take turns.

    The state is (for each place the position of the row whose dataset is open there, on hold, and that dataset's
    mark; or None, the place whose turn it is, the rows that it has given in this turn, whether the input has ended;
    where the function names shuffled datasets, or rows are such, the epoch; once rows have come, what the first are;
    where the function names caches, and one has kept rows in another order, where these begin).
    The epoch is the number of the first row, through all passes: the number of a row says which pass over such a
    dataset it opens. Of datasets that are rows it is the number of passes over each.

    Args:
        map_func: Takes a row and returns a dataset.
        cycle_length: Places.
        block_length: Rows in a turn.
        reads_ahead: Threads that read ahead in the open datasets; AUTOTUNE takes as many as help.
        where: The method that the user called, for errors.
        rows_by: Functions that have made the rows, which may be datasets that those only name.
        among: The datasets that rows of a source below are.
    """

    n_parts: ClassVar[int] = 4
    changes_no_row: ClassVar[frozenset[str]] = frozenset({"reads_ahead"})
    map_func: Callable[..., Any]
    cycle_length: int
    block_length: int = 1
    reads_ahead: int = 0
    where: str = field(default="interleave", repr=False)
    rows_by: tuple[Callable[..., Any], ...] = field(default=(), repr=False, compare=False)
    among: Listed = field(default=NONE_LISTED, repr=False, compare=False)

    @property
    def naming(self) -> tuple[Any, ...]:
        return (self.map_func, *self.rows_by, *self.among.plans)

    def epochs_in_a_pass(self, n: int) -> int:  # type: ignore[override]
        return self._opens.passes(n) if self.named else 1

    def epochs_taken(self, state: State, n: int) -> int:  # type: ignore[override]
        return self._opens.passes(n) if _epoch(state) and _is_over(state) else 1

    @cached_property
    def _opens(self) -> Listed:
        """Which passes over datasets rows open: each row another one, where functions name datasets too."""
        named_too = any(map(shuffled_by, (self.map_func, *self.rows_by)))
        return NONE_LISTED if named_too else self.among

    @property
    def called_by(self) -> str:
        return self.where

    @property
    def function(self) -> Callable[..., Any]:
        """The function as it is called."""
        return self.map_func

    def spec(self, rows: Spec) -> Spec:  # type: ignore[override]
        raise SpecUnknown(partial(sizes_of_opened, self.function, rows))

    def start(self, epoch: int) -> State:
        return ((None,) * self.cycle_length, 0, 0, False, *((epoch,) if self.named else ()))

    def knows(self, state: State) -> bool:
        if not (isinstance(state, tuple) and 4 <= len(state) <= 7):
            return False
        if not all(map(_is_further, state[4:])) or len(_epoch(state)) > 1:
            return False
        places, turn, given, ended = state[:4]
        if not (isinstance(places, tuple) and len(places) == self.cycle_length and type(ended) is bool):
            return False
        is_turn = is_whole(turn, self.cycle_length) and is_whole(given, self.block_length)
        return is_turn and all(place is None or _is_place(place) for place in places)

    def held(self, state: State) -> Sequence[IntArray]:
        return (np.array([place[0] for place in state[0] if place is not None], np.int64),)

    def step(self, state: State, rows: Rows) -> Step:
        turns = _Turns(self, state, rows)
        made = turns.take(rows_at_once(rows.scratch))
        if isinstance(made, Chunk):
            note_rows(rows.scratch, made)
        return turns.state(), made

    def open(self, row: Any, number: int) -> Plan:
        """The dataset of a row."""
        plan = inner_plan(self.function, row, where=self.where, number=number)
        # Read ahead or not, it has the same mark.
        return Plan(Prefetch(1 if self.reads_ahead else 0), (plan,))

    def pass_at(self, epoch: int, row: int) -> int:
        """The pass over what is opened that begins with a row of an epoch, through all of them."""
        return epoch + self._opens.pass_at(row)

    def plain(self, rows: PlainRows) -> Iterator[Any]:  # type: ignore[override]
        places: list[PlainRows | None] = [None] * self.cycle_length
        turn = given = number = 0
        ended = False
        while not ended or any(place is not None for place in places):
            place = places[turn]
            if place is None and not ended:
                try:
                    row = next(rows)
                except StopIteration:
                    ended = True
                    continue
                places[turn] = rows.open(self.open(row, number))
                number += 1
                continue
            if place is not None:
                try:
                    yield next(place)
                except StopIteration:
                    places[turn] = None
                else:
                    given += 1
                    if given < self.block_length:
                        continue
            turn, given = (turn + 1) % self.cycle_length, 0

    def sample(self, rows: PlainRows) -> Iterator[Any]:  # type: ignore[override]
        for number, row in enumerate(rows):
            yield from rows.open(self.open(row, number))

    @classmethod
    def examples(cls) -> list[Node]:
        return [
            cls(_numbers, 1),
            cls(_numbers, 3, reads_ahead=AUTOTUNE),
            cls(_numbers, 4, 2),
            cls(_numbers, 16, 5),
        ]


@frozen
class InterleaveAtPlaces(Interleave):
    """As `Interleave`, over rows with their places: what draws in the function and its datasets counts from the place.

    Args:
        map_func: The function.
        cycle_length: As of `Interleave`.
        block_length: As of `Interleave`.
        reads_ahead: As of `Interleave`.
        where: As of `Interleave`.
        rows_by: As of `Interleave`.
        among: As of `Interleave`.
    """

    @property
    def function(self) -> Callable[..., Any]:
        return at_places(self.map_func, seeded_call)

    def before_places(self, *inputs: Plan) -> Plan:
        return before_places(self, Interleave, *inputs)


def _is_over(state: State) -> bool:
    """Whether all rows have been given in a state."""
    return bool(state[3]) and all(place is None for place in state[0])


def _epoch(state: State) -> tuple[int, ...]:
    """The epoch in a state, where it has one."""
    return tuple(part for part in state[4:] if isinstance(part, int))


def _is_further(value: Any) -> bool:
    """Whether a value may be one of those parts that not all states have."""
    return is_whole(value) or is_first(value) or is_kept(value)


def _is_place(value: Any) -> bool:
    if not (isinstance(value, tuple) and len(value) == 2 and is_whole(value[0])):
        return False
    return value[1] is None or (isinstance(value[1], tuple) and len(value[1]) == 6)


class _Turns:
    """What is done in one step: turns are taken as long as more rows are wanted."""

    def __init__(self, node: Interleave, state: State, rows: Rows) -> None:
        self._node, self._rows = node, rows
        places, self._turn, self._given, self._ended = state[:4]
        self._epoch = _epoch(state)  # states of before have none
        self._first: First = next(filter(is_first, state[4:]), ())
        self._kept = node.kept_after(state)
        self._places: list[tuple[int, Any] | None] = list(places)
        self._branches: dict[int, tuple[Branch, Begins]] = rows.scratch.setdefault("branches", {})
        self._begins = "rows_at_once" not in rows.scratch
        self._pieces: list[Chunk] = []
        self._piece_of: dict[int, int] = {}
        self._used: list[int] = []
        self._moved: set[int] = set()
        self._parts: list[tuple[IntArray, IntArray, IntArray]] = []
        self._total = self._pulls = 0

    def take(self, limit: int) -> Chunk | Failing | Literal[_End.END] | None:
        """Rows, about as many as wanted; END where no more come, None where it only takes longer."""
        error = None
        try:
            while self._total < limit and self._pulls < _MOST_PULLS and self._goes_on(limit):
                pass
        except Exception as failure:  # noqa: BLE001  (it takes the place of a row)
            error = failure
        chunk = self._chunk()
        self._settle()
        if error is not None:
            return Failing(chunk, [(self._total, error)])
        if chunk is None and _is_over(self.state()):
            return END
        return chunk

    def state(self) -> State:
        """The state after it."""
        further = (part for part in (self._first, self._kept) if part)
        return (tuple(self._places), self._turn, self._given, self._ended, *self._epoch, *further)

    def _goes_on(self, limit: int) -> bool:
        """Do what comes next. False where a step should end."""
        if self._places[self._turn] is None:
            return self._fill()
        if self._turn == 0 and self._given == 0 and self._rounds(limit):
            return True
        left = self._left(self._turn)
        if not left:
            return self._pull()
        n = min(left, self._node.block_length - self._given, limit - self._total)
        self._add(self._turn, n)
        self._given += n
        if self._given == self._node.block_length:
            self._next_turn()
        return True

    def _fill(self) -> bool:
        """Open a dataset in the place whose turn it is, or pass over it."""
        if self._ended:
            self._next_turn()
            return any(place is not None for place in self._places)
        if self._total and self._begins:
            return False  # the first rows come before a second dataset is opened
        if self._total and self._rows.plan.has_epochs and not self._rows.at_hand:
            return False  # another epoch begins with a row that is wanted
        if self._rows.hold(1):
            self._places[self._turn] = (self._rows.position - 1, None)
        else:
            self._ended = True
        return True

    def _next_turn(self) -> None:
        self._turn, self._given = (self._turn + 1) % self._node.cycle_length, 0

    def _left(self, place: int) -> int:
        """Rows pulled for a place and not yet used."""
        piece = self._piece_of.get(place)
        return 0 if piece is None else len(self._pieces[piece]) - self._used[piece]

    def _pull(self) -> bool:
        """Have rows of the dataset whose turn it is, or close it; False where caches have kept others since."""
        place = self._turn
        self._pulls += 1
        branch, begins = self._branch(place)
        chunk = branch.pull()
        if chunk is END:
            before, self._kept = self._kept, self._node.kept_with(begins, self._kept, branch)
            self._close(place)
            # The state of the next step says it: rows of this one may be the last that are taken of a pass.
            return before is self._kept
        try:
            piece, self._first = like_first(chunk, self._first, self._rows.scratch, self._node.where)
        except InvalidArgumentError:
            self._close(place)  # none of its rows are like the others
            raise
        self._piece_of[place] = len(self._pieces)
        self._pieces.append(piece)
        self._used.append(0)
        return True

    def _close(self, place: int) -> None:
        self._places[place] = None
        self._branches.pop(place)
        self._piece_of.pop(place, None)
        self._next_turn()

    def _branch(self, place: int) -> tuple[Branch, Begins]:
        self._moved.add(place)
        found = self._branches.get(place)
        if found is None:
            opened = self._places[place]
            assert opened is not None, "only an open place has rows"
            position, mark = opened
            self._places[place] = None  # where this fails the row is passed over
            row = self._rows.take(np.array([position]))
            made = self._node.open(row.row(0), position)
            number = self._node.pass_at(sum(self._epoch), position)
            plan, begins = opened_by(made, row, self._node.begins(made, number, self._kept))
            branch = self._rows.branch(plan, mark, begins, self._node.reads_ahead or AUTOTUNE)
            found = self._branches[place] = branch, begins
            self._places[place] = opened
        return found

    def _add(self, place: int, n: int) -> None:
        piece = self._piece_of[place]
        self._parts.append((np.array([piece]), np.array([self._used[piece]]), np.array([n])))
        self._used[piece] += n
        self._total += n

    def _rounds(self, limit: int) -> bool:
        """Whole rounds of turns at once, where every place has the rows for them."""
        block = self._node.block_length
        open_ = [i for i, place in enumerate(self._places) if place is not None]
        if len(open_) < len(self._places) and not self._ended:
            return False
        rounds = min(*map(self._left, open_), (limit - self._total) // len(open_)) // block
        if rounds < 2:
            return False
        pieces = np.array([self._piece_of[place] for place in open_])
        used = np.array(self._used)[pieces]
        starts = (used + block * np.arange(rounds)[:, None]).reshape(-1)
        self._parts.append((np.tile(pieces, rounds), starts, np.full(len(starts), block)))
        for piece in pieces.tolist():
            self._used[piece] += rounds * block
        self._total += rounds * block * len(open_)
        return True

    def _chunk(self) -> Chunk | None:
        if not self._total:
            return None
        pieces, starts, lengths = map(np.concatenate, zip(*self._parts, strict=True))
        if len(pieces) == 1:
            start = int(starts[0])
            return self._pieces[int(pieces[0])].slice(start, start + self._total)
        firsts = starts - (np.cumsum(lengths) - lengths)
        return Chunk.gather_from(
            self._pieces, np.repeat(pieces, lengths), np.repeat(firsts, lengths) + np.arange(self._total)
        )

    def _settle(self) -> None:
        """Give back what was not used, and note where the datasets stand."""
        for place, piece in self._piece_of.items():
            if left := len(self._pieces[piece]) - self._used[piece]:
                self._branches[place][0].give_back(left)
        for place in self._moved:
            opened = self._places[place]
            if opened is not None:
                self._places[place] = (opened[0], self._branches[place][0].mark())


def _numbers(row: Any) -> Any:
    """The list of a sample row, as a dataset."""
    numbers = Chunk(FixedColumn(row["list"]))
    return NestedColumn(np.array([0, len(numbers)]), numbers).row(0)
