"""Rows computed together: columns in the user's structure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any, Self

from penstock.column.base import Column, IntArray
from penstock.spec import Spec, flatten, pack

__all__ = ["Chunk"]


class Chunk:
    """Columns of one length in a structure of dicts and tuples.

    >>> import numpy as np
    >>> from penstock.column.fixed import FixedColumn
    >>> chunk = Chunk({"a": FixedColumn(np.array([1, 2]))})
    >>> len(chunk), chunk.to_list()
    (2, [{'a': np.int64(1)}, {'a': np.int64(2)}])
    """

    __slots__ = ("_n", "columns", "template")

    def __init__(self, structure: Any, n: int | None = None) -> None:
        """`n` is needed only where the structure holds no column at all."""
        columns = tuple(flatten(structure))
        self._set(columns, pack(structure, [None] * len(columns)), len(columns[0]) if n is None else n)
        assert all(len(column) == self._n for column in columns), "columns of different lengths"

    def _set(self, columns: tuple[Column, ...], template: Any, n: int) -> None:
        self.columns, self.template, self._n = columns, template, n

    def _like(self, columns: tuple[Column, ...], n: int) -> Self:
        chunk = object.__new__(type(self))
        chunk._set(columns, self.template, n)
        return chunk

    def __len__(self) -> int:
        return self._n

    @property
    def structure(self) -> Any:
        """The columns in the user's structure."""
        return pack(self.template, self.columns)

    @property
    def spec(self) -> Spec:
        """The spec of its rows."""
        return Spec(pack(self.template, [column.spec for column in self.columns]))

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the rows use."""
        return sum(column.nbytes for column in self.columns)

    def slice(self, start: int, stop: int) -> Self:
        """Rows [start, stop), sharing memory."""
        return self._like(tuple(column.slice(start, stop) for column in self.columns), stop - start)

    def gather(self, rows: IntArray) -> Self:
        """A copy of the rows asked for, in that order, repeats allowed."""
        return self._like(tuple(column.gather(rows) for column in self.columns), len(rows))

    def grouped(self, size: int) -> Self:
        """Rows in groups of `size`, each group one row; the number of rows is a multiple of `size`."""
        return self._like(tuple(column.grouped(size) for column in self.columns), self._n // size)

    def batched(self) -> Self:
        """All rows as one row. At least one row."""
        return self.grouped(self._n)

    @classmethod
    def concat(cls, chunks: Sequence[Chunk]) -> Chunk:
        """Rows of several chunks of one spec. At least one chunk."""
        if len(chunks) == 1:
            return chunks[0]
        n = sum(map(len, chunks))
        parts = zip(*(chunk.columns for chunk in chunks), strict=True)
        columns = tuple(type(column[0]).concat(column) for column in parts)
        return Chunk(pack(chunks[0].template, columns), n)

    def to_list(self) -> list[Any]:
        """Every row in the user's structure."""
        return list(self)

    def row(self, i: int) -> Any:
        """One row in the user's structure, i in [0, n)."""
        return next(iter(self.slice(i, i + 1)))

    def __iter__(self) -> Iterator[Any]:
        make = _row_maker(_Form(self.template))
        if not self.columns:
            return map(make, repeat((), self._n))
        return map(make, zip(*(column.to_list() for column in self.columns), strict=True))

    def __repr__(self) -> str:
        return f"Chunk({self._n} rows, {self.spec.structure})"


class _Form:
    """A structure without its leaves, as a key."""

    def __init__(self, structure: Any) -> None:
        self.structure = structure
        self.key = _form(structure)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Form) and self.key == other.key


def _form(structure: Any) -> Any:
    if isinstance(structure, dict):
        return ("dict", tuple((name, _form(part)) for name, part in structure.items()))
    if isinstance(structure, tuple):
        return (type(structure), tuple(map(_form, structure)))
    return None


@lru_cache(maxsize=256)
def _row_maker(form: _Form) -> Callable[[tuple[Any, ...]], Any]:
    """How to make a row from its leaf values; the usual flat forms without recursion."""
    structure = form.structure
    if isinstance(structure, dict) and not any(isinstance(part, dict | tuple) for part in structure.values()):
        names = tuple(structure)
        return lambda leaves: dict(zip(names, leaves, strict=True))
    if not isinstance(structure, dict | tuple):
        return lambda leaves: leaves[0]
    if type(structure) is tuple and not any(isinstance(part, dict | tuple) for part in structure):
        return lambda leaves: leaves
    return lambda leaves: pack(structure, leaves)
