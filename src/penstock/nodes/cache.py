"""Rows made once and then kept in memory."""

from __future__ import annotations

from dataclasses import field
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np

from penstock.column.base import IntArray
from penstock.column.chunk import Chunk
from penstock.frozen import frozen
from penstock.graph.node import Node, transform
from penstock.graph.origins import of_all
from penstock.graph.plain_values import alike
from penstock.graph.plan import Plan
from penstock.nodes.kept import Keeper, Keeping, Kept

__all__ = ["Cache"]


@frozen
class _Rows:
    """All rows of a pass, the mark of the input that it began at, and the positions of those that failed."""

    chunks: list[Chunk]
    starts: list[int]
    origin: Any
    failed: IntArray
    mark: None = None
    is_complete: ClassVar[bool] = True

    @property
    def rows(self) -> int:
        return self.starts[-1]

    def from_row(self, row: int) -> Chunk | None:
        """Rows from this one on; None at the end."""
        if row >= self.rows:
            return None
        i = int(np.searchsorted(self.starts, row, side="right")) - 1
        return self.chunks[i].slice(row - self.starts[i], len(self.chunks[i]))


class _Store:
    """What a cache keeps for all iterators of a process. Copies, and other processes, begin with nothing.

    Attributes:
        kept: The rows.
        is_published: Whether the last of them was asked for. Until then they may have been read ahead, and a pass that
            begins is not over these: its order would hang on how far that came.
        origin: Where those begin that another process had kept, of which a pass was taken up here; None of no such.
    """

    kept: _Rows | None = None
    is_published = False
    origin: Any = None

    def __reduce__(self) -> tuple[type[_Store], tuple[()]]:
        return _Store, ()


class _Keeper:
    """The rows of a pass so far."""

    def __init__(self, store: _Store, origin: Any) -> None:
        self._store, self._origin = store, origin
        self._chunks: list[Chunk] = []
        self.rows = 0

    def add(self, rows: Chunk, mark: Any) -> None:
        self._chunks.append(rows)
        self.rows += len(rows)

    def finish(self, failed: IntArray) -> None:
        """Keep the rows of a whole pass."""
        starts = list(accumulate(map(len, self._chunks), initial=0))
        self._made = _Rows(self._chunks, starts, self._origin, failed)
        if self._store.kept is None:
            self._store.kept = self._made

    def publish(self) -> None:
        """Those that are asked for first stay."""
        store = self._store
        if not store.is_published and (store.origin is None or alike(store.origin[0], self._origin)):
            store.kept, store.is_published = self._made, True


@transform("cache")
@frozen
class Cache(Keeping):
    """The rows of the first complete pass, in memory."""

    _store: _Store = field(default_factory=_Store, init=False, repr=False, compare=False)

    def begins_with(self, *inputs: Plan) -> int:
        return 1

    def kept(self, plan: Plan) -> Kept | None:
        return self._store.kept  # type: ignore[return-value]

    def keeper(self, plan: Plan, origin: Any, kept: Kept | None) -> Keeper | None:
        return _Keeper(self._store, origin)

    def emptied(self) -> Node:
        return Cache()

    def kept_origin(self) -> Any:
        kept = self._store.kept if self._store.is_published else None
        return self._store.origin if kept is None else of_all(kept.origin, kept.failed)

    def note_kept(self, origin: Any) -> None:
        if self._store.origin is None:
            self._store.origin = origin

    @classmethod
    def examples(cls) -> list[Node]:
        return [cls()]
