"""States that are written when they are first looked at: where one is taken after every batch, few ever are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from penstock.errors import FailedPreconditionError
from penstock.frozen import frozen
from penstock.run.marks import Mark
from penstock.run.opened_files import Opened
from penstock.run.position import State
from penstock.run.state_writer import StateWriter

__all__ = ["CONTENTS", "Point", "Unwritten"]

_UNWRITTEN: Final = "unwritten"
# What reads or changes a dict. The rest makes another one, or says nothing of what is in it.
_READING: Final = (vars(dict).keys() | {"__reduce__", "__reduce_ex__"}) - {
    "__class_getitem__",
    "__doc__",
    "__getattribute__",
    "__hash__",
    "__init__",
    "__new__",
    "__sizeof__",
    "fromkeys",
}


@frozen(eq=False)
class Point:
    """Where an iterator stands once it has given the rows at hand: values that never change.

    Attributes:
        writer: Of the states of the iterator.
        mark: Of its last edge.
        rows: That it has given then.
        skip: Rows to pass over after the mark.
        uncounted: Nodes that have drawn random numbers which no state counts.
        opened: Digests of the names and contents of files that functions opened.
    """

    writer: StateWriter
    mark: Mark
    rows: int
    skip: int
    uncounted: tuple[str, ...]
    opened: Opened

    def written(self, ahead: int) -> State:
        """The state before the last `ahead` of these rows."""
        rows = self.rows - ahead
        return self.writer.write(self.mark, ahead, rows, self.skip, self.uncounted, self.opened)


class _Guard:
    def __repr__(self) -> str:
        # Some writers of JSON go past the methods of a dict, and would take this text for a part of the state.
        raise FailedPreconditionError(
            "get_state: a state is read past the methods of a dict before anybody has looked at it. Give dict(state)."
        )


CONTENTS: Final = {_UNWRITTEN: _Guard()}
"""Of a state that is not written."""


class Unwritten(State):
    """Is written before anything is done with it, and is a plain `State` from then on.

    Made of `CONTENTS`, as that takes least time. It is the state before the last `ahead` rows of `point`: two names, as
    a tuple of both takes a fifth of the time of all of it.
    """

    __slots__ = ()


def _write(state: State) -> None:
    """Put the parts in. Several threads may at once, and any may be interrupted: all put in the same."""
    point = getattr(state, "point", None)  # not there where somebody made one of another dict
    if point is not None and dict.get(state, _UNWRITTEN) is CONTENTS[_UNWRITTEN]:
        for name, part in point.written(state.ahead).items():
            dict.setdefault(state, name, part)
        dict.pop(state, _UNWRITTEN, None)
    state.__class__ = State
    state.point = None


def _after_writing(name: str) -> Callable[..., Any]:
    def method(self: State, *args: Any, **kwargs: Any) -> Any:
        for state in (self, *args):
            if isinstance(state, Unwritten):
                _write(state)
        return getattr(self, name)(*args, **kwargs)

    method.__name__ = name
    return method


for _name in _READING:
    setattr(Unwritten, _name, _after_writing(_name))
