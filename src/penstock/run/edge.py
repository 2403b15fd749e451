"""Where rows pass between nodes: the only place that keeps them.

The mark of an edge is the states below it before the chunk it holds, and how many rows of that chunk it
has given away. To rewind is to set those states, step again and drop as many rows.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from penstock.column.chunk import Chunk
from penstock.graph.node import END, Broken, _End
from penstock.graph.plan import Plan
from penstock.run.steps import Inline, Source

__all__ = ["Edge", "Mark"]

Mark: TypeAlias = tuple[Any, ...]
"""(state of the node, rows given away since, marks of its inputs): numbers, strings, bytes, tuples, None."""


class Edge:
    """The rows that come out of a plan, in order."""

    def __init__(self, plan: Plan, epoch: int = 0) -> None:
        self._inputs = tuple(Edge(part, epoch) for part in plan.inputs)
        self._stepper = Inline(plan.node, self._inputs) if self._inputs else Source(plan.node)
        self._state = plan.node.start(epoch)
        self._chunk: Chunk | None = None
        self._given = 0
        self._before = self._mark_below()
        self._waiting: Exception | None = None

    def pull(self, limit: int | None = None) -> Chunk | Literal[_End.END]:
        """The next rows, at least one and at most `limit`; as many as are at hand."""
        chunk = self._held()
        if chunk is END:
            return END
        start = self._given
        stop = len(chunk) if limit is None else min(len(chunk), start + limit)
        self._given = stop
        return chunk if stop - start == len(chunk) else chunk.slice(start, stop)

    def pull_exact(self, n: int) -> Chunk | Literal[_End.END]:
        """The next n rows, fewer only at the end or before an error, which is raised at the next pull."""
        parts: list[Chunk] = []
        missing = n
        while missing:
            try:
                chunk = self.pull(missing)
            except Exception as error:
                if not parts:
                    raise
                self._waiting = error
                break
            if chunk is END:
                break
            parts.append(chunk)
            missing -= len(chunk)
        return Chunk.concat(parts) if parts else END

    def pull_groups(self, size: int) -> Chunk | Literal[_End.END]:
        """The next rows in whole groups of `size`, as many as are at hand; fewer than `size` only at the end."""
        at_hand = 0 if self._chunk is None else len(self._chunk) - self._given
        if not at_hand:
            chunk = self._held()
            at_hand = 0 if chunk is END else len(chunk) - self._given
        # Within a chunk groups are slices; only a group that crosses a border is copied together.
        return self.pull(at_hand // size * size) if at_hand >= size else self.pull_exact(size)

    def mark(self) -> Mark:
        """Where this edge stands; a plain value."""
        state, inputs = self._before
        return (state, self._given, inputs)

    def rewind(self, mark: Mark) -> None:
        """Stand again where `mark` was taken."""
        state, given, inputs = mark
        for edge, part in zip(self._inputs, inputs, strict=True):
            edge.rewind(part)
        self._stepper.reset()
        self._state, self._chunk, self._given, self._waiting = state, None, 0, None
        self._before = (state, tuple(inputs))
        while given:
            chunk = self._held()
            if chunk is END:
                break
            # A chunk may be cut elsewhere than before: what lies before the mark is dropped, wherever it ends.
            taken = min(given, len(chunk))
            self._given, given = taken, given - taken

    def _held(self) -> Chunk | Literal[_End.END]:
        """The chunk that has rows left, made by a step where there is none."""
        if self._waiting is not None:
            error, self._waiting = self._waiting, None
            raise error
        while self._chunk is None or self._given == len(self._chunk):
            before = self._mark_below()
            try:
                self._state, chunk = self._stepper.step(self._state)
            except Broken as broken:
                self._state = broken.state
                self._chunk, self._given, self._before = None, 0, self._mark_below()
                raise broken.error from broken.error.__cause__
            if chunk is END:
                self._chunk, self._given, self._before = None, 0, before
                return END
            self._chunk, self._given, self._before = chunk, 0, before
        return self._chunk

    def _mark_below(self) -> tuple[Any, tuple[Mark, ...]]:
        return self._state, tuple(edge.mark() for edge in self._inputs)
