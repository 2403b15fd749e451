"""The iterator over a plan's rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.errors import ArgumentError
from penstock.graph.node import END
from penstock.graph.plan import Plan
from penstock.run.edge import Edge

STATE_VERSION = 1


class RowIterator(Iterator[Any]):
    """Rows of a plan, one `next` at a time, with a position that can be kept and restored.

    An error is a place in the stream: the rows before it are given first, then it is raised, then `next`
    goes on after it.
    """

    def __init__(self, plan: Plan) -> None:
        self._edge = Edge(plan)
        self._rows: Iterator[Any] = iter(())
        self._ahead = 0
        self._n = 0

    def __next__(self) -> Any:
        while not self._ahead:
            chunk = self._edge.pull()
            if chunk is END:
                raise StopIteration
            self._rows, self._ahead = iter(chunk), len(chunk)
        self._ahead -= 1
        self._n += 1
        return next(self._rows)

    def get_state(self) -> dict[str, Any]:
        """Where this iterator stands, as a small JSON-able dict."""
        state, given, inputs = self._edge.mark()
        mark = (state, given - self._ahead, inputs)
        return {"version": STATE_VERSION, "rows": self._n, "mark": to_json(mark)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Stand again where `state` was taken, by an iterator of the same plan."""
        if state.get("version") != STATE_VERSION:
            raise ArgumentError(
                "set_state", "state", got=state.get("version"), want=f"a state of version {STATE_VERSION}"
            )
        self._edge.rewind(from_json(state["mark"]))
        self._rows, self._ahead, self._n = iter(()), 0, int(state["rows"])


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
