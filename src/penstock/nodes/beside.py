"""Nodes with several inputs side by side, in some of which one cache may be."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Final

from penstock.graph.begins import KeptFrom
from penstock.graph.node import Node, Rows, State, Step
from penstock.graph.origins import are_origins
from penstock.graph.plan import Plan, caches_beside

__all__ = ["Beside"]

_CACHES: Final = "caches beside"


class Beside(Node):
    """A node that reads several inputs side by side.

    Where several of these read one cache over shuffled rows, each makes rows of its own in the first pass. As in
    tf.data those stay that came to their end first: so a state says which, and is (the node's own, where these begin)
    then.
    """

    @abstractmethod
    def knows_own(self, state: State) -> bool:
        """As `knows`, of what a state says besides."""

    @abstractmethod
    def step_own(self, state: State, *inputs: Any) -> Step:
        """As `step`, over what a state says besides."""

    def next_own(self, state: State, epoch: int) -> State:
        """As `next_epoch`, of what a state says besides."""
        return self.start(epoch)

    def caches(self, plan: Plan) -> tuple[Plan, ...]:
        return plan.caches_beside

    def start_with(self, epoch: int, kept: KeptFrom) -> State:
        return _saying(self.start(epoch), kept)

    def next_epoch(self, state: State, epoch: int) -> State:
        own, kept = _parts(state)
        return _saying(self.next_own(own, epoch), kept)

    def kept_after(self, state: State) -> KeptFrom:
        return _parts(state)[1]

    def kept_by(self, state: State, kept: KeptFrom) -> State:
        own, before = _parts(state)
        return _saying(own, _first_of(before, kept))

    def knows(self, state: State) -> bool:
        return self.knows_own(_parts(state)[0])

    def step(self, state: State, *inputs: Rows) -> Step:
        own, kept = _parts(state)
        own, made = self.step_own(own, *inputs)
        return _saying(own, _kept_now(kept, inputs)), made


def _parts(state: State) -> tuple[State, KeptFrom]:
    if isinstance(state, tuple) and len(state) == 2 and are_origins(state[1]):
        return state
    return state, ()


def _saying(state: State, kept: KeptFrom) -> State:
    return state if kept.count(None) == len(kept) else (state, kept)


def _first_of(kept: KeptFrom, later: KeptFrom) -> KeptFrom:
    if not kept:
        return later
    return tuple(one if one is not None else other for one, other in zip(kept, later, strict=False))


def _kept_now(kept: KeptFrom, inputs: Sequence[Rows]) -> KeptFrom:
    """What caches have kept once the rows that inputs have given are taken.

    A step ends before a row, or a chunk of them, with which a cache is full, so that no two are in one that are full
    with different rows. With the same row it is that of the first input.
    """
    scratch = inputs[0].scratch
    if _CACHES not in scratch:
        scratch[_CACHES] = caches_beside([rows.plan for rows in inputs])
    caches = scratch[_CACHES]
    if not caches or (kept and None not in kept):
        return kept
    found = dict[int, Any]()
    for rows in inputs:
        for key, (_, origin) in rows.kept().items():
            found.setdefault(key, origin)
    return _first_of(kept, tuple(found.get(id(cache)) for cache in caches))
