"""The iterator over a plan's rows."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import Any

from penstock.errors import ArgumentError
from penstock.graph.node import END
from penstock.graph.plan import Plan
from penstock.run.edge import Edge

STATE_VERSION = 1


class RowIterator(Iterator[Any]):
    """Rows of a plan, one `next` at a time, with a position that can be kept and restored.

    An error is a place in the stream: the rows before it are given first, then it is raised, then `next`
    goes on after it. Threads may share one: each row goes to one of them.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lock = Lock()
        self._edge = Edge(plan)
        self._rows: Iterator[Any] = iter(())
        self._ahead = 0
        self._n = 0

    def __next__(self) -> Any:
        with self._lock:
            while not self._ahead:
                chunk = self._edge.pull()
                if chunk is END:
                    raise StopIteration
                self._rows, self._ahead = iter(chunk), len(chunk)
            self._ahead -= 1
            self._n += 1
            return next(self._rows)

    def __repr__(self) -> str:
        return f"RowIterator after {self._n} rows of {self._plan.node}"

    def get_state(self) -> dict[str, Any]:
        """Where this iterator stands, as a small JSON-able dict."""
        with self._lock:
            state, given, inputs = self._edge.mark()
            mark = (state, given - self._ahead, inputs)
            return {"version": STATE_VERSION, "rows": self._n, "mark": to_json(mark)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Stand again where `state` was taken, by an iterator of the same plan.

        Raises:
            ArgumentError: It is no state, or of another plan; this iterator stays where it is.
        """
        version = state.get("version") if isinstance(state, dict) else None  # type: ignore[redundant-expr]
        if version != STATE_VERSION:
            want = f"a state of version {STATE_VERSION}, as get_state gives it"
            raise ArgumentError("set_state", "state", got=state, want=want)
        mark, n = from_json(state.get("mark")), state.get("rows")
        edge = Edge(self._plan)
        if type(n) is not int or n < 0 or not _is_mark(mark, self._plan):
            raise ArgumentError(
                "set_state", "state", got=state, want="a state of an iterator over the same plan"
            )
        edge.rewind(mark)
        with self._lock:
            self._edge, self._rows, self._ahead, self._n = edge, iter(()), 0, n


def _is_mark(mark: Any, plan: Plan) -> bool:
    """Whether a mark has the form of those of a plan, and states that its nodes know."""
    if not (isinstance(mark, tuple) and len(mark) == 3):
        return False
    state, given, inputs = mark
    if (
        type(given) is not int
        or given < 0
        or not isinstance(inputs, tuple)
        or len(inputs) != len(plan.inputs)
    ):
        return False
    return plan.node.knows(state) and all(map(_is_mark, inputs, plan.inputs))


def to_json(mark: Any) -> Any:
    """A mark with tuples as lists and bytes as `{"hex": ...}`."""
    if isinstance(mark, tuple):
        return [to_json(part) for part in mark]
    return {"hex": mark.hex()} if isinstance(mark, bytes) else mark


def from_json(value: Any) -> Any:
    """The mark that `to_json` wrote."""
    if isinstance(value, list):
        return tuple(from_json(part) for part in value)
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) else value
