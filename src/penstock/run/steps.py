"""How an edge has its node step: at once, or for a source by a thread that runs ahead."""

from __future__ import annotations

import os
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal, TypeAlias

from penstock.column.chunk import Chunk
from penstock.graph.node import END, Broken, Node, State, Step, Work, _End
from penstock.run.ahead import Ahead

__all__ = ["Inline", "Source"]

Made: TypeAlias = tuple[State, Chunk | Literal[_End.END]]


@dataclass
class Inline:
    """Steps of a node over edges, made when they are asked for."""

    node: Node
    edges: tuple[Any, ...]

    def step(self, state: State) -> Made:
        """The step after a state."""
        after, chunk = self.node.step(state, *self.edges)
        assert not callable(chunk), "only a source hands over work"
        return after, chunk

    def reset(self) -> None:
        """Another state comes next."""


# Steps that take longer than this, two in a row, are worth a thread. Of shorter ones (small records of a file in
# memory) the bytes are still in the cache of the processor that read them, and another one would have to fetch them.
AHEAD_SECONDS = 0.0015
_WORTH_A_THREAD = 2


class Source:
    """Steps of a source: at once where they are quick, by a thread that runs ahead where they are not.

    Its session belongs to whoever steps. After a reset or a fork a new one is opened, since a file's position
    would otherwise be shared with a thread or a process that still reads.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self.reset()

    def reset(self) -> None:
        """Another state comes next."""
        self._session = self._node.open_session()
        self._ahead: Ahead | None = None
        self._process = os.getpid()
        self._slow_steps = 0

    def step(self, state: State) -> Made:
        """The step after a state; states come in the order in which steps gave them."""
        after, made = self._next(state)
        if callable(made):
            return self._done(after, made)
        if made is END:
            self.reset()
        return after, made

    def _done(self, after: State, work: Work) -> Made:
        """The chunk that work makes. Where its rows end early, what was made ahead is made again from there."""
        try:
            reached, chunk = work()
        except BaseException:
            # Also on Ctrl-C: the records were taken from those made ahead, and would be lost without a row.
            self.reset()
            raise
        if reached != after:
            self.reset()
        return reached, chunk

    def _next(self, state: State) -> Step:
        if self._process != os.getpid():
            self.reset()
        if self._ahead is None and self._slow_steps < _WORTH_A_THREAD:
            start = perf_counter()
            step = self._node.step(state, self._session)
            is_slow = perf_counter() - start > AHEAD_SECONDS
            self._slow_steps = self._slow_steps + 1 if is_slow else 0
            return step
        if self._ahead is None:
            session, node = self._session, self._node
            self._ahead = Ahead(lambda state: node.step(state, session), state)
        try:
            return self._ahead.next()
        except Broken:
            raise
        except BaseException:
            self.reset()
            raise
