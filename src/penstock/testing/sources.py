"""Small sources for tests: rows known beforehand, in chunks of chosen sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np

from penstock.column.base import IntArray
from penstock.column.bytes import BytesColumn
from penstock.column.chunk import Chunk
from penstock.column.fixed import FixedColumn
from penstock.column.ragged import RaggedColumn
from penstock.graph.node import END, Node, RowSource, State, Step
from penstock.spec import Spec

__all__ = ["Samples"]


@dataclass(frozen=True)
class Samples(Node):
    """n rows `{"number": i, "text": b"i", "list": [i] * (i % 4)}`, where every fifth text is missing.

    Args:
        n: Rows.
        chunk_sizes: Sizes of the chunks in which they come, over and over.
    """

    n: int
    chunk_sizes: tuple[int, ...] = (4,)

    def spec(self) -> Spec:  # type: ignore[override]
        return _samples(np.arange(self.n)).spec

    def cardinality(self) -> int:  # type: ignore[override]
        return self.n

    def start(self, epoch: int) -> State:
        return (0, 0)

    def knows(self, state: State) -> bool:
        return isinstance(state, tuple) and len(state) == 2

    def step(self, state: State, session: None) -> Step:
        row, count = state
        if row >= self.n:
            return state, END
        size = next(islice(cycle(self.chunk_sizes), count, None))
        stop = min(self.n, row + size)
        return (stop, (count + 1) % len(self.chunk_sizes)), _samples(np.arange(row, stop))

    def plain(self) -> Iterator[Any]:  # type: ignore[override]
        for i in range(self.n):
            text = None if i % 5 == 4 else str(i).encode()
            yield {"number": np.int64(i), "text": text, "list": np.full(i % 4, i)}

    def random_access(self) -> RowSource:  # type: ignore[override]
        return _SampleRows(self)


@dataclass(frozen=True)
class _SampleRows:
    node: Samples

    def __len__(self) -> int:
        return self.node.n

    def gather(self, rows: IntArray) -> Chunk:
        return _samples(rows)


def _samples(rows: IntArray) -> Chunk:
    lengths = rows % 4
    valid = rows % 5 != 4
    strings = BytesColumn.of([str(i).encode() for i in rows.tolist()], valid)
    lists = RaggedColumn(np.cumsum(np.concatenate([[0], lengths])), FixedColumn(np.repeat(rows, lengths)))
    return Chunk({"number": FixedColumn(rows), "text": strings, "list": lists})
