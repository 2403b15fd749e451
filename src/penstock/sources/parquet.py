"""Rows of Parquet files."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from threading import Lock
from typing import Any, Final

import numpy as np

from penstock.column.base import IntArray
from penstock.column.chunk import Chunk
from penstock.column.empty import empty_chunk
from penstock.errors import ArgumentError, DataLossError, InvalidArgumentError
from penstock.frozen import frozen
from penstock.fs.paths import Paths, expand
from penstock.graph.node import END, Broken, FilePlace, Node, RowSource, State, Step, source
from penstock.nodes.arguments import names
from penstock.sources.arrow import arrow_chunk, pyarrow, schema_chunk
from penstock.sources.parquet_footer import columns_with_missing
from penstock.spec import RaggedSpec, Spec, TensorSpec, pack
from penstock.store.tf_wire import MalformedError

__all__ = ["Parquet", "from_parquet"]

_CHUNK_ROWS: Final = 1 << 14
_CHUNK_BYTES: Final = 1 << 20
_KEPT_BYTES: Final = 256 << 20
# Parquet's names of the levels that a list takes.
_INSIDE_LISTS: Final = re.compile(r"\.(list|bag)\.(element|item|array_element)|\.array(?=\.|$)")


@source("from_parquet")
def from_parquet(paths: Paths, columns: Sequence[str] | None = None) -> Parquet:
    """The rows of Parquet files, one file after the other: dicts by column, with structs as dicts inside.

    Values are as `from_arrow` gives them. Files are read a piece of a row group at a time. The footers of all
    files are read at once, so that the number of rows is known. Rows can be asked for by number; that reads the
    whole row group of each row (the last ones, up to 256 MiB, are kept), so that rows in a random order over many
    row groups are slow.

    Args:
        paths: A path, a pattern, a folder, or a list of those; each sorted by name.
        columns: Names of the columns to read, in the order in which rows are to have them; None reads all. Of a
            struct all parts are read.

    Raises:
        DependencyError: pyarrow is not installed (`pip install 'penstock[arrow]'`).
        NotFoundError: No such file, or a pattern that matches none.
        ArgumentError: A name in `columns` that is no column, or a column of a type that has no counterpart.
        InvalidArgumentError: A file whose columns are not those of the first one, or (as rows are read) a null inside
            of a list.
        DataLossError: No Parquet file, or (as rows are read) a damaged row group; reading can go on after it.

    >>> import os, tempfile
    >>> import penstock as ps
    >>> import pyarrow as pa, pyarrow.parquet
    >>> path = os.path.join(tempfile.mkdtemp(), "people.parquet")
    >>> pa.parquet.write_table(pa.table({"name": ["ann", "bob"], "age": [31, 28]}), path)
    >>> list(ps.Dataset.from_parquet(path, columns=["age"]))
    [{'age': np.int64(31)}, {'age': np.int64(28)}]
    """
    pyarrow("from_parquet", "parquet")
    chosen = None if columns is None else names("from_parquet", "columns", columns)
    node = Parquet(tuple(expand(paths)), chosen)
    node.spec()
    return node


@frozen
class Parquet(Node):
    """Rows of Parquet files. The state is (file, row group, row in it)."""

    paths: tuple[str, ...]
    columns: tuple[str, ...] | None

    def spec(self) -> Spec:  # type: ignore[override]
        return self.footers.spec

    def cardinality(self) -> int:  # type: ignore[override]
        return self.footers.starts[-1]

    def start(self, epoch: int) -> State:
        return (0, 0, 0)

    def knows(self, state: State) -> bool:
        if not (isinstance(state, tuple) and len(state) == 3):
            return False
        return all(type(part) is int and part >= 0 for part in state) and state[0] <= len(self.paths)

    def open_session(self) -> _Session:
        return _Session(self)

    def step(self, state: State, session: _Session) -> Step:
        return session.step(state)

    def plain(self) -> Iterator[Any]:  # type: ignore[override]
        for path in self.paths:
            file = _File(path, self.footers.names)
            for group in range(file.groups):
                for chunk in file.chunks(group, 0):
                    yield from chunk

    def random_access(self) -> RowSource:  # type: ignore[override]
        return _Numbered(self)

    def row_name(self, row: int) -> str | None:
        if row >= self.cardinality():
            return None
        [(path, number, _)] = self.places_of(np.array([row]))
        return f"row {number} of {path}"

    def places_of(self, rows: IntArray) -> list[FilePlace]:
        files = np.array([file for file, _ in self.footers.groups])
        begins = np.searchsorted(files, np.arange(len(self.paths)))  # the first group of each file
        starts = np.array(self.footers.starts)[begins]
        numbers = np.searchsorted(starts, rows, side="right") - 1
        places = zip(numbers.tolist(), (rows - starts[numbers]).tolist(), strict=True)
        return [(self.paths[number], row, None) for number, row in places]

    def __getstate__(self) -> dict[str, object]:
        # Footers stay in their process.
        return {"paths": self.paths, "columns": self.columns}

    @cached_property
    def footers(self) -> _Footers:
        """What the footers of all files tell, read once."""
        return _read_footers(self.paths, self.columns)


@frozen
class _Footers:
    """What the ends of the files tell.

    Attributes:
        spec: The spec of the rows; values may be missing only where some row group says so, or says nothing.
        names: The columns, in the order of the rows.
        groups: (file, row group) of every row group.
        starts: The first row of each of `groups`, and the number of all rows.
    """

    spec: Spec
    names: tuple[str, ...]
    groups: tuple[tuple[int, int], ...]
    starts: tuple[int, ...]


def _read_footers(paths: tuple[str, ...], columns: tuple[str, ...] | None) -> _Footers:
    first = _File(paths[0], columns)
    groups: list[tuple[int, int]] = []
    lengths: list[int] = []
    optional: set[str] = set()
    for number, path in enumerate(paths):
        file = _File(path, first.names) if number else first
        file.check_same(first)
        groups += [(number, group) for group in range(file.groups)]
        lengths += [file.rows(group) for group in range(file.groups)]
        optional |= file.with_missing()
    empty = first.empty()
    leaves = [
        replace(leaf, optional=True)
        if isinstance(leaf, TensorSpec | RaggedSpec) and _is_among(path, optional)
        else leaf
        for path, leaf in zip(_paths(empty.spec.structure), empty.spec.leaves, strict=True)
    ]
    spec = Spec(pack(empty.spec.structure, leaves))
    return _Footers(spec, first.names, tuple(groups), tuple(accumulate(lengths, initial=0)))


def _paths(structure: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for name, part in structure.items():
        if isinstance(part, dict):
            yield from _paths(part, f"{prefix}{name}.")
        else:
            yield prefix + name


def _is_among(path: str, optional: set[str]) -> bool:
    """Whether a column, or what its lists hold, is among those with missing values."""
    return any(other == path or other.startswith(f"{path}.") for other in optional)


class _File:
    """A Parquet file open for reading."""

    def __init__(self, path: str, columns: tuple[str, ...] | None) -> None:
        self.path = path
        self._arrow = pyarrow("from_parquet", "parquet")
        with self._failing("no Parquet file that can be read"):
            self._file = self._arrow.parquet.ParquetFile(path)
            self._schema = self._file.schema_arrow
            self._footer = self._file.metadata
        self.names = tuple(self._schema.names) if columns is None else columns

    @property
    def groups(self) -> int:
        """Row groups."""
        return int(self._footer.num_row_groups)

    def rows(self, group: int) -> int:
        """Rows of a row group."""
        return int(self._footer.row_group(group).num_rows)

    def check_same(self, first: _File) -> None:
        """Refuse a file whose columns are not those of the first one."""
        times = Counter(self._schema.names)
        for name in first.names:
            if name not in times:
                if self is first:
                    want = f"one of {', '.join(times)}"
                    raise ArgumentError("from_parquet", "a name in columns", got=name, want=want)
                found = f"has no column {name!r}, wanted the columns of {first.path}."
                raise InvalidArgumentError(found, path=self.path)
            if times[name] > 1:
                found = f"it has two columns named {name!r}, wanted another name for each."
                raise InvalidArgumentError(found, path=self.path, help="Take others of it with columns=.")
            mine, wanted = self._schema.field(name).type, first._schema.field(name).type
            if mine != wanted:
                found = f"column {name!r} is {mine}, wanted {wanted} as in {first.path}."
                raise InvalidArgumentError(found, path=self.path)

    def empty(self) -> Chunk:
        """A chunk of no rows with the columns of the file."""
        fields = [self._schema.field(name) for name in self.names]
        try:
            return schema_chunk(self._arrow, self._arrow.schema(fields))
        except ArgumentError as error:
            raise ArgumentError("from_parquet", error.name, got=error.got, want=error.want) from error

    def with_missing(self) -> set[str]:
        """Columns of which some row group says that values are missing, or does not say that none are."""
        with self._failing("its footer cannot be read"):
            found = columns_with_missing(self.path)
        return found | {_INSIDE_LISTS.sub("", path) for path in found}

    def chunks(self, group: int, skip: int) -> Iterator[Chunk]:
        """The rows of a row group from `skip` on."""
        size = self._footer.row_group(group).total_byte_size // max(1, self.rows(group))
        rows = min(_CHUNK_ROWS, max(1, _CHUNK_BYTES // max(1, size)))
        with self._failing(f"row group {group} cannot be read"):
            batches = self._file.iter_batches(rows, row_groups=[group], columns=list(self.names))
            for batch in batches:
                if skip >= batch.num_rows:
                    skip -= batch.num_rows
                    continue
                batch.validate(full=True)  # pages have no checksum, and text is taken as UTF-8 from here on
                yield arrow_chunk(self._arrow, batch.slice(skip).select(list(self.names)))
                skip = 0

    @contextmanager
    def _failing(self, what: str) -> Iterator[None]:
        try:
            yield
        except ArgumentError as error:
            found = f"{error.name} is {error.got}, wanted {error.want}."
            raise InvalidArgumentError(found, path=self.path) from error
        except (self._arrow.ArrowException, MalformedError, UnicodeDecodeError, OSError) as error:
            help = "Write the file again, or leave it out of paths."
            raise DataLossError(
                f"{what} ({str(error).strip()}).", kind="parquet", path=self.path, help=help
            ) from error


class _Session:
    """The file being read, and where in it. Dropping it costs opening and finding the row again, nothing else."""

    def __init__(self, node: Parquet) -> None:
        self._node = node
        self._file: _File | None = None
        self._number = -1
        self._chunks: Iterator[Chunk] = iter(())
        self._at: State = None

    def step(self, state: State) -> Step:
        number, group, row = state
        while number < len(self._node.paths):
            file = self._open(number)
            while group < file.groups:
                chunk = self._next(file, (number, group, row))
                if chunk is not None:
                    self._at = (number, group, row + len(chunk))
                    return self._at, chunk
                group, row = group + 1, 0
            number, group, row = number + 1, 0, 0
        return (number, 0, 0), END

    def _open(self, number: int) -> _File:
        if self._file is None or self._number != number:
            footers = self._node.footers
            self._file, self._number = _File(self._node.paths[number], footers.names), number
        return self._file

    def _next(self, file: _File, state: State) -> Chunk | None:
        number, group, row = state
        if self._at != state:
            self._chunks = file.chunks(group, row)
        try:
            return next(self._chunks, None)
        except (DataLossError, InvalidArgumentError) as error:
            self._at = None
            raise Broken(error, (number, group + 1, 0)) from error


class _Numbered:
    """Rows by number, through the row groups that hold them; the last ones used stay in memory."""

    def __init__(self, node: Parquet) -> None:
        self._node = node
        self._starts = np.array(node.footers.starts)
        self._kept: OrderedDict[int, Chunk] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return int(self._starts[-1])

    def gather(self, rows: IntArray) -> Chunk:
        if not len(rows):
            return empty_chunk(self._node.spec())
        # Of row groups with no rows the last one that begins there is meant: it has the row.
        groups = np.searchsorted(self._starts, rows, side="right") - 1
        parts, order = [], []
        for group in np.unique(groups).tolist():
            places = np.flatnonzero(groups == group)
            parts.append(self._group(group).gather(rows[places] - self._starts[group]))
            order.append(places)
        back = np.empty(len(rows), np.int64)
        back[np.concatenate(order)] = np.arange(len(rows))
        return Chunk.concat(parts).gather(back)

    def _group(self, group: int) -> Chunk:
        with self._lock:
            if group not in self._kept:
                number, inner = self._node.footers.groups[group]
                file = _File(self._node.paths[number], self._node.footers.names)
                self._kept[group] = Chunk.concat(list(file.chunks(inner, 0)))
            self._kept.move_to_end(group)
            while len(self._kept) > 1 and sum(chunk.nbytes for chunk in self._kept.values()) > _KEPT_BYTES:
                self._kept.popitem(last=False)
            return self._kept[group]
