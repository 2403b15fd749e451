"""How a shuffle that is repeated fills its buffer with rows of the next passes before those of one have gone.

tf.data runs a shuffle and a repeat directly above it as one node, whose buffer is filled as long as it has room: with
the rows of the next pass behind the last of one. No pass mixes with another. It matters where passes below are counted
in turn: they begin earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from penstock.column.base import IntArray
from penstock.frozen import frozen
from penstock.graph.node import END, PlainRows, Rows
from penstock.graph.plain_values import are_rising
from penstock.nodes.drawn import is_whole

__all__ = ["Ahead", "ahead_in", "is_ahead", "plain_passes"]

_MOST_PASSES: Final = 3
"""With more of them in the buffer no more rows are taken."""


@frozen
class Ahead:
    """What is known of the passes behind the one whose rows are given.

    Attributes:
        begun: Passes over the input that have begun, with that one.
        passes: The positions of the rows of each pass that follows which are in the buffer, and whether it has ended.
        is_filled: Whether the buffer was filled since a row was given.
    """

    begun: int = 1
    passes: tuple[tuple[IntArray, bool], ...] = ()
    is_filled: bool = False

    @property
    def in_state(self) -> tuple[Any, ...]:
        """As a state has it."""
        return (self.begun, self.passes, self.is_filled)

    @property
    def rows(self) -> list[IntArray]:
        """The positions of each pass."""
        return [positions for positions, _ in self.passes]

    def further(self, n: int, size: int, rows: Rows, count: int) -> Ahead | None:
        """With one more thing done to fill a buffer: rows taken, or a pass begun. None where it is full.

        Args:
            n: Rows in the buffer of the pass that is given.
            size: Rows that the buffer has room for.
            rows: The input, whose pass has ended.
            count: Passes in all, -1 for no end.
        """
        room = size - n - sum(map(len, self.rows))
        positions, has_ended = self.passes[-1] if self.passes else (None, True)
        begins = positions is not None and not has_ended and not len(positions)
        if room <= 0 or (len(self.passes) >= _MOST_PASSES and room < size and not begins):
            return None
        if positions is None or has_ended:
            if self.begun == count or (count < 0 and positions is not None and room == size):
                return None  # endless passes without rows end
            rows.go_on()
            return Ahead(self.begun + 1, (*self.passes, (np.zeros(0, np.int64), False)))
        taken = rows.hold(1 if begins else room)
        more = np.arange(rows.position - taken, rows.position)
        return Ahead(self.begun, (*self.passes[:-1], (np.concatenate((positions, more)), not taken)))

    def next_pass(self) -> tuple[IntArray, bool, Ahead]:
        """The rows of the next pass in the buffer, whether it has ended, and what is known of those behind it."""
        (positions, has_ended), *passes = self.passes or ((np.zeros(0, np.int64), False),)
        return positions, has_ended, Ahead(self.begun, tuple(passes), is_filled=True)


def ahead_in(further: tuple[Any, ...]) -> Ahead:
    """What the further parts of a state say."""
    return Ahead(*further[0]) if further else Ahead()


def is_ahead(value: Any) -> bool:
    """Whether what was read from somewhere may be such a part."""
    if not (isinstance(value, tuple) and len(value) == 3 and is_whole(value[0]) and type(value[2]) is bool):
        return False
    passes = value[1]
    return isinstance(passes, tuple) and all(
        isinstance(one, tuple) and len(one) == 2 and are_rising(one[0]) and type(one[1]) is bool
        for one in passes
    )


@dataclass
class _Pass:
    rows: Iterator[Any]
    in_buffer: list[Any] = field(default_factory=list)
    has_rows: bool = False
    has_ended: bool = False


def plain_passes(rows: PlainRows, size: int, draw: Callable[[list[Any]], Any]) -> Iterator[Any]:
    """The meaning of one pass over a shuffle that is repeated, row by row; its place keeps what is known of others.

    Args:
        rows: Of the input.
        size: Rows that the buffer has room for.
        draw: Takes a row out of those of a pass.
    """
    place = rows.place
    is_filled = bool(place.ahead)
    passes: list[_Pass] = place.ahead or [_Pass(rows)]
    while True:
        while not is_filled and (n := sum(len(one.in_buffer) for one in passes)) < size:
            if len(passes) > _MOST_PASSES and n:
                break
            last = passes[-1]
            if last.has_ended:
                if place.begun == place.passes or (place.passes < 0 and not last.has_rows):
                    break
                last = _Pass(rows.again())
                passes.append(last)
                place.begun += 1
            row = next(last.rows, END)
            last.has_ended = row is END
            if row is not END:
                last.has_rows = True
                last.in_buffer.append(row)
        is_filled = False
        if not passes[0].in_buffer:
            break
        yield draw(passes[0].in_buffer)
    place.ahead = passes[1:]
