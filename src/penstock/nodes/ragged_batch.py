"""Group consecutive rows, whatever their lengths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from penstock.column.base import IntArray
from penstock.column.chunk import Chunk
from penstock.column.ragged import RaggedColumn
from penstock.column.stack import stack_rows
from penstock.errors import ArgumentError, ArgumentTypeError
from penstock.graph.node import (
    END,
    INFINITE,
    UNKNOWN,
    Node,
    PlainRows,
    Rows,
    RowSource,
    State,
    Step,
    transform,
)
from penstock.spec import Spec, map_structure


@transform("ragged_batch")
@dataclass(frozen=True)
class RaggedBatch(Node):
    """Group consecutive rows into batches.

    Columns of one shape gain a leading axis: `[...]` becomes `[size, ...]`. Columns whose rows differ in
    length become `ps.Ragged`; numbers that are missing are masked (`numpy.ma`), missing strings are None, and a
    missing list is an empty row.

    Args:
        size: Rows in a batch, at least 1.
        drop_remainder: Leave out a last batch of fewer than `size` rows.
    """

    size: int
    drop_remainder: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.size, bool) or not isinstance(self.size, int | np.integer):
            raise ArgumentTypeError("ragged_batch", "size", got=self.size, want="a whole number")
        if self.size < 1:
            raise ArgumentError("ragged_batch", "size", got=self.size, want="at least 1")

    def spec(self, rows: Spec) -> Spec:  # type: ignore[override]
        return rows.batched(self.size if self.drop_remainder else None)

    def cardinality(self, n: int) -> int:  # type: ignore[override]
        if n in (INFINITE, UNKNOWN):
            return n
        return n // self.size if self.drop_remainder else -(-n // self.size)

    def step(self, state: State, rows: Rows) -> Step:
        chunk = rows.pull_groups(self.size)
        if chunk is END:
            return state, END
        if len(chunk) >= self.size:
            return state, chunk.grouped(self.size)
        return state, END if self.drop_remainder else chunk.batched()

    def plain(self, rows: PlainRows) -> Iterator[Any]:  # type: ignore[override]
        while batch := list(islice(rows, self.size)):
            if len(batch) == self.size or not self.drop_remainder:
                yield stack_rows(batch, rows.spec)

    def random_access(self, rows: RowSource) -> RowSource:  # type: ignore[override]
        return _Batches(self, rows)

    @classmethod
    def examples(cls) -> list[Node]:
        return [cls(1), cls(3), cls(3, drop_remainder=True)]


@dataclass(frozen=True)
class _Batches:
    """Batches by number, from rows by number."""

    node: RaggedBatch
    rows: RowSource

    def __len__(self) -> int:
        return self.node.cardinality(len(self.rows))

    def gather(self, batches: IntArray) -> Chunk:
        size, n = self.node.size, len(self.rows)
        if len(batches) and int(batches.max()) == n // size:
            return self._of_two_sizes(batches)
        numbers = (batches[:, None] * size + np.arange(size)).reshape(-1)
        return self.rows.gather(numbers).grouped(size)

    def _of_two_sizes(self, batches: IntArray) -> Chunk:
        """With the short last batch among them, batches do not stack."""
        size, n = self.node.size, len(self.rows)
        parts = [np.arange(i * size, min(n, (i + 1) * size)) for i in batches.tolist()]
        chunk = self.rows.gather(np.concatenate(parts))
        offsets = np.cumsum([0, *map(len, parts)])
        return Chunk(map_structure(lambda column: RaggedColumn(offsets, column), chunk.structure))
