"""Ctrl-C at any place inside `next(it)` loses no row and doubles none."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest

import penstock as ps
from penstock.column.chunk import Chunk
from penstock.run.iterator import RowIterator

# The interpreter looks at signals when a function begins, when a call has returned, and when a loop jumps back.
_LOOKS = ("RESUME", "CALL", "JUMP_BACKWARD", "POP_JUMP_BACKWARD")
_OWN = {
    RowIterator.__next__.__code__,
    RowIterator._pull.__code__,
    RowIterator._stand.__code__,
    Chunk.__iter__.__code__,
}


class Interrupter:
    """A trace function that raises KeyboardInterrupt at the n-th place where a signal may be looked at."""

    def __init__(self, n: int) -> None:
        self.n, self.seen = n, 0
        self.last: dict[FrameType, int] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> Interrupter | None:
        if event == "call":
            if frame.f_code not in _OWN:
                return None  # a call that is interrupted anywhere is the same to its caller
            self._come_by()
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            before = self.last.get(frame)
            self.last[frame] = frame.f_lasti
            if before is not None and _name(frame.f_code, before).startswith(_LOOKS):
                self._come_by()
        return self

    def _come_by(self) -> None:
        self.seen += 1
        if self.seen == self.n:
            raise KeyboardInterrupt


def _name(code: CodeType, offset: int) -> str:
    return dis.opname[code.co_code[offset]]


def interrupted_at(n: int, rows: Iterator[Any]) -> tuple[list[Any], bool]:
    """The next row, or none where `next` was interrupted at its n-th place, and whether it was."""
    trace = Interrupter(n)
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return [next(rows)], False
    except KeyboardInterrupt:
        return [], True
    except StopIteration:
        return [], False
    finally:
        sys.settrace(before)


def rows_of(ds: ps.Dataset) -> tuple[list[Any], int]:
    """All rows, where every `next` is interrupted at each of its places until it comes through; and how often."""
    rows, given, interrupts = iter(ds), [], 0
    while True:
        n = 1
        while (taken := interrupted_at(n, rows))[1]:
            assert rows.get_state()["rows"] == len(given)
            n += 1
        interrupts += n - 1
        if not taken[0]:
            return given, interrupts
        given += taken[0]
        assert rows.get_state()["rows"] == len(given)


PIPELINES: dict[str, Callable[[], ps.Dataset]] = {
    "numbers": lambda: ps.Dataset.range(7),
    "dicts": lambda: ps.Dataset.from_tensor_slices({"a": np.arange(5), "b": np.arange(5.0)}),
    "pairs": lambda: ps.Dataset.from_tensor_slices((np.arange(5), [b"a", b"bb", b"c", b"", b"e"])),
    "nested": lambda: ps.Dataset.from_tensor_slices({"a": (np.arange(3), np.arange(3.0))}),
    "batches of strings": lambda: ps.Dataset.from_tensor_slices([b"a", b"bb", b"c", b"", b"e"]).batch(2),
    "shuffled": lambda: ps.Dataset.range(9).shuffle(4, 1, False).batch(2),
}


@pytest.mark.skipif(
    sys.implementation.name != "cpython" or sys.version_info >= (3, 14),
    reason="knows the byte code of CPython up to 3.13",
)
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_an_interrupt_anywhere_in_next_loses_no_row_and_doubles_none(pipeline: str):
    ds = PIPELINES[pipeline]()
    want = list(ds)
    given, interrupts = rows_of(ds)
    assert interrupts > len(want)
    assert len(given) == len(want)
    for got, wanted in zip(given, want, strict=True):
        np.testing.assert_equal(got, wanted)


def test_a_row_that_cannot_be_made_is_counted_and_passed_over():
    bad = ps.Dataset.from_tensor_slices(np.arange(4)).map(lambda n: 6 // int(n - 1))
    rows = iter(bad)
    assert int(next(rows)) == -6
    with pytest.raises(ps.errors.FunctionError):
        next(rows)
    assert [int(row) for row in rows] == [6, 3]
