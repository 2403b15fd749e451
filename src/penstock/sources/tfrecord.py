"""Rows of TFRecord files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from penstock.column.base import IntArray
from penstock.column.chunk import Chunk
from penstock.column.empty import empty_chunk
from penstock.column.spread import gather_spread, gather_together
from penstock.errors import DataLossError, LimitError, PenstockError, TruncatedRecordError, WireError
from penstock.frozen import frozen
from penstock.fs.kept_open import KeptOpen, most_asked
from penstock.fs.versions import Version, Versions, version_of
from penstock.graph.node import END, UNKNOWN, Broken, FilePlace, Node, RowSource, State, Step, Work
from penstock.graph.recipe import recorded
from penstock.nodes.arguments import one_of
from penstock.records.damage import DamageLog
from penstock.records.decode import Decoder
from penstock.records.frames import Damage, FrameReader, Frames
from penstock.records.gather import RecordFile, decode_records
from penstock.records.index import RecordIndex, build_indexes, load_index, teach_points
from penstock.records.schema import Field, Schema
from penstock.records.stream import compression_of
from penstock.records.window import FOOTER_BYTES, HEADER_BYTES
from penstock.sources.read_options import ReadOptions
from penstock.spec import Spec

__all__ = ["TFRecordFiles", "check_index"]

# The first row is to come at once, the others in chunks that stay in the processor's cache.
_FIRST_ROWS = 256
_CHUNK_ROWS = 32768
_CHUNK_BYTES = 4 << 20
# A record of few bytes may stand for many values that it does not have.
_DECODED_BYTES = 16 << 20

# A chunk takes rows of one more file for each so many that were read, up to so many files.
_FILES_FOR_EACH = 8
_MOST_FILES = 64
_MAYBE_PLAIN = {"auto", "none"}

# An index of a few files is worth making where they have so many times the bytes of the rows that it saves at most.
_FEW_FILES = 64
_INDEX_GAIN = 4


def check_index(where: str, index: Any) -> str:
    """Where the index is kept, as an argument. ArgumentError where it is no such word."""
    return one_of(where, "index", index, ("auto", "memory", "rebuild"))


@frozen
class TFRecordFiles(Node):
    """Rows of TFRecord files, one file after the other.

    The state is (file, record, byte offset in its uncompressed stream).

    Args:
        paths: Regular files.
        schema: What their records hold.
        strict: Whether a feature that the schema does not have, or a list that a record lacks, is an error.
        options: How they are read.
        index: "auto" keeps indexes beside the files (or in the user's cache), "memory" does not write them,
            "rebuild" ignores those that are there.
        counts: Records of each file, where they are known; a file with another number is an error at its end.
        versions: Size and time of each file when it was opened; a file that has changed since is an error.
        damage: Damage that was skipped, as it is found; a log, not part of the value.
        kept: Indexes that were found, each with the version of the file that it is of.
    """

    changes_no_row: ClassVar[frozenset[str]] = frozenset({"counts", "index", "versions"})
    not_recorded: ClassVar[frozenset[str]] = frozenset({"versions"})
    paths: tuple[str, ...]
    schema: Schema = field(repr=False)
    strict: bool = field(default=False, repr=False)
    options: ReadOptions = field(default=ReadOptions(), repr=False)
    index: str = field(default="auto", repr=False)
    counts: tuple[int, ...] | None = field(default=None, repr=False)
    versions: Versions | tuple[()] | None = field(default=None, repr=False)
    damage: list[Damage] = field(default_factory=list, compare=False, repr=False)
    kept: dict[str, tuple[tuple[int, int], RecordIndex]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def __getstate__(self) -> dict[str, object]:
        # Another process finds the indexes where this one did.
        return {**self.__dict__, "kept": {}}

    def spec(self) -> Spec:  # type: ignore[override]
        return self.schema.spec

    def cardinality(self) -> int:  # type: ignore[override]
        return UNKNOWN if self.counts is None or self.options.skips else sum(self.counts)

    def start(self, epoch: int) -> State:
        return (0, 0, 0)

    def knows(self, state: State) -> bool:
        if not (isinstance(state, tuple) and len(state) == len(self.start(0)) and all(map(_is_count, state))):
            return False
        number, record, offset = state
        # Every record before this one took at least its framing.
        smallest = record * (HEADER_BYTES + FOOTER_BYTES)
        return (
            number <= len(self.paths)
            and (record > 0 or offset == 0)
            and (offset >= smallest or self.options.skips)
        )

    @classmethod
    def file_place(cls, state: State) -> tuple[int, int | None] | None:
        return state[0], state[1]

    def row_name(self, row: int) -> str | None:
        if self.options.skips:
            return None
        if len(self.paths) == 1:
            return f"record {row} of {self.paths[0]}"
        if self.counts is None:
            return None
        ends = np.cumsum(self.counts)
        number = int(np.searchsorted(ends, row, side="right"))
        return f"record {row - int(ends[number] - self.counts[number])} of {self.paths[number]}"

    def places_of(self, rows: IntArray) -> list[FilePlace] | None:
        if self.options.skips:
            return None
        return IndexedRows(self).places(rows)

    def place_after(self, state: State, n: int) -> FilePlace | None:
        number, record, offset = state
        options = replace(self.options, corrupt_budget=None)  # it was within it
        for path in self.paths[number:]:
            with options.reader(path) as reader:
                reader.seek(record, offset)
                while (frames := reader.read(_CHUNK_ROWS, _CHUNK_BYTES)) is not None:
                    rows = self._rows_of(frames)
                    if n < len(rows):
                        return path, frames.number(rows[n]), int(frames.offsets[rows[n]])
                    n -= len(rows)
            record = offset = 0
        return None

    def _rows_of(self, frames: Frames) -> Sequence[int]:
        """Which of some records become rows, or the error of one."""
        rows, begin, decoder = list(range(len(frames))), 0, Decoder(self.schema, self.strict)
        while self.options.skips and begin < len(frames):
            _, error = decoder.decode(frames.since(begin))
            if error is None:
                break
            at = begin + (error.record or 0)
            if isinstance(error, WireError):
                rows.remove(at)
            begin = at + 1
        return rows

    def as_of_now(self, *, changed: bool) -> TFRecordFiles:
        now = replace(self, counts=None) if changed else self
        if self.versions != ():
            return now
        try:
            return replace(now, versions=Versions(self.paths))
        except (PenstockError, OSError):  # told as the file is read
            return replace(now, versions=None)

    def version(self, number: int) -> Version | None:
        """The version that a file had when it was opened, where that is known by now."""
        return self.versions.so_far(number) if isinstance(self.versions, Versions) else None

    def open_session(self) -> _Session:
        return _Session(self)

    def step(self, state: State, session: _Session) -> Step:
        number, record, offset = state
        while number < len(self.paths):
            work, after = session.read(number, record, offset)
            if work is not None:
                return after, work
            number, record, offset = after
        return (number, 0, 0), END

    def plain(self) -> Iterator[Any]:  # type: ignore[override]
        decoder = Decoder(self.schema, self.strict)
        for path in self.paths:
            with self.options.reader(path) as reader:
                while (frames := reader.read(limit=1)) is not None:
                    chunk, error = decoder.decode(frames)
                    if error is not None:
                        raise error
                    assert chunk is not None
                    yield chunk.row(0)

    def finds_rows(self) -> bool:
        return all(self.kept_index(number) is not None for number in range(len(self.paths)))

    def finds_rows_sooner(self, state: State, n: int) -> bool:
        if self.finds_rows():
            return True
        _, record, offset = state
        if self.options.skips or not record or len(self.paths) > _FEW_FILES:
            return False
        # An index of a plain file takes a look at the header of each record: a tenth of the time that its rows take.
        try:
            nbytes = sum(version_of(path)[0] for path in self.paths)
            is_plain = all(compression_of(path) == "none" for path in self.paths)
        except (PenstockError, OSError):  # told as the file is read
            return False
        return is_plain and nbytes <= _INDEX_GAIN * n * (offset // record)

    def state_at(self, row: int) -> State:
        for number in range(len(self.paths)):
            index = self.kept_index(number)
            if index is None or _other_count(self, number, len(index)) is not None:
                return None
            if row < len(index):
                return (number, row, int(index.offsets[row]))
            row -= len(index)
        return None

    def kept_index(self, number: int) -> RecordIndex | None:
        """The index of a file by which its rows are found as fast as in order, where it is kept and numbers them so."""
        if self.index == "rebuild" or self.options.skips:
            return None
        path = self.paths[number]
        version = version_of(path)
        known = self.kept.get(path)
        if known is None or known[0] != version:
            index = load_index(path)
            if index is None or index.compression != "none" or not index.is_whole:
                return None
            known = self.kept[path] = version, index
        return known[1]

    def random_access(self) -> RowSource | None:  # type: ignore[override]
        return None if self.options.skips else IndexedRows(self)


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


class _Session:
    """The file being read and its decoder. Dropping it costs opening and seeking again, nothing else.

    Attributes:
        group_rows: Rows that are taken together: where chunks can, they end with such a group.
    """

    def __init__(self, node: TFRecordFiles) -> None:
        self._node = node
        self._decoder = Decoder(node.schema, node.strict)
        self._reader: FrameReader | None = None
        self._number = -1
        self._told = 0
        self._is_plain = False
        self._most = max(1, min(_CHUNK_ROWS, _DECODED_BYTES // self._decoder.row_bytes))
        self._limit = min(_FIRST_ROWS, self._most)
        self._rows = self._files = 0
        self._over: State = None
        self.group_rows = 1
        options = node.options
        self._malformed = DamageLog(options.on_corrupt, options.corrupt_budget)

    def read(self, number: int, record: int, offset: int) -> tuple[Chunk | Work | None, State]:
        """The next rows of a file, or the work to have them, and the state after; None and the next file at its end.

        Records without a fault are decoded as they are read. What is none is read again, by who can tell of it.
        """
        if self._over == (number, record, offset):
            return None, (number + 1, 0, 0)
        try:
            reader = self._reader_of(number)
            if self._ends_at(offset):
                return self._end(number, record)
            if (made := self._read_directly(number, record, offset)) is not None:
                return made
            if reader.position != (record, offset):
                reader.seek(record, offset)
        except (PenstockError, OSError) as error:
            self._close()
            raise Broken(error, (number + 1, 0, 0)) from error
        try:
            frames = reader.read(self._limit, _CHUNK_BYTES)
        except (DataLossError, LimitError) as error:
            raise Broken(error, (number, *reader.position)) from error
        finally:
            self._note_damage(reader)
        if frames is not None:
            self._limit = self._limit_after(len(frames), reader.position[1] - offset)
            after = (number, *reader.position)
            return partial(_decoded, self._node, self._decoder, self._malformed, frames, after), after
        return self._end(number, reader.position[0])

    def _end(self, number: int, count: int) -> tuple[None, State]:
        self._close()
        if (other := _other_count(self._node, number, count)) is not None:
            raise Broken(other, (number + 1, 0, 0))
        return None, (number + 1, 0, 0)

    def _limit_after(self, n: int, nbytes: int) -> int:
        """Rows of the next chunk, after one of so many rows and bytes: to the end of the last group that has room."""
        self._rows += n
        if self.group_rows == 1:
            return self._most
        room = min(self._most, _CHUNK_BYTES * n // max(nbytes, 1))
        end = (self._rows + room) // self.group_rows * self.group_rows
        return end - self._rows if end > self._rows else self._most

    def _reader_of(self, number: int) -> FrameReader:
        if self._reader is None or self._number != number:
            self._close()
            _check_version(self._node, number)
            self._reader, self._number, self._told = (
                self._node.options.reader(self._node.paths[number]),
                number,
                0,
            )
            self._files += 1
            self._is_plain = self._reader.descriptor is not None
            if not self._is_plain and self._node.index != "rebuild":
                with suppress(PenstockError, OSError):  # an index only saves time
                    teach_points(self._reader.path, self._reader.compression)
        return self._reader

    def _read_directly(self, number: int, record: int, offset: int) -> tuple[Chunk, State] | None:
        """The next rows and the state after them, where at least one record comes that has no fault."""
        reader = self._reader
        if not self._is_plain or reader is None or reader.descriptor is None:
            return None
        options = self._node.options
        with suppress(OSError):  # it comes again
            chunk, files = self._decoder.read(
                reader.descriptor,
                offset,
                reader.size_bytes,  # what is appended meanwhile is not of this file
                self._next_files(number, reader.size_bytes - offset),
                limit=self._limit,
                limit_bytes=_CHUNK_BYTES,
                verify=options.verify,
                max_record_bytes=options.max_record_bytes,
            )
            if chunk is not None:
                return self._with_state(chunk, (number, record, offset), files)
        self._is_plain = False  # each try costs a read
        return None

    def _next_files(self, number: int, left: int) -> list[tuple[str, tuple[int, int] | None]]:
        """The files from which the rows of a chunk may come too, after so many bytes of this one.

        There are the more of them the more have been read, so that what comes first comes soon.
        """
        options, node = self._node.options, self._node
        # Checksums tell them from compressed ones.
        if not 0 < left < _CHUNK_BYTES or not options.verify or options.compression not in _MAYBE_PLAIN:
            return []
        stop = number + 1 + min(self._files // _FILES_FOR_EACH, _MOST_FILES)
        numbers = range(number + 1, min(stop, len(node.paths)))
        return [(node.paths[i], node.version(i)) for i in numbers]

    def _with_state(
        self, chunk: Chunk, state: State, files: list[tuple[int, int, bool]]
    ) -> tuple[Chunk, State]:
        """The rows that were read of this file and the next ones, and the state after them.

        A file that ended otherwise than it should have is the last: an error comes behind its rows.
        """
        number, record, offset = state
        total, nbytes = 0, -offset
        for place, (n, position, is_over) in enumerate(files):
            total, nbytes = total + n, nbytes + position
            state = (number + place, n if place else record + n, position)
            if _other_count(self._node, *state[:2]) is not None or (
                not place and not self._ends_at(position)
            ):
                break
            if place == len(files) - 1:
                # It was closed, and may go away before its end is asked for.
                self._over = state if is_over and place else None
        self._files += state[0] - number
        self._limit = self._limit_after(total, nbytes)
        return chunk.slice(0, total), state

    def _ends_at(self, offset: int) -> bool:
        return self._reader is not None and self._is_plain and self._reader.ends_at(offset)

    def _note_damage(self, reader: FrameReader) -> None:
        if self._node.options.skips:
            self._node.damage.extend(reader.damage[self._told :])
            self._told = len(reader.damage)

    def _close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None


def _decoded(
    node: TFRecordFiles, decoder: Decoder, malformed: DamageLog, frames: Frames, after: State
) -> tuple[State, Chunk]:
    """The rows of some records and the state after them: before the first that does not fit, where one does not.

    Where damage is skipped, records that are no message are passed over too.
    """
    number, parts, begin = after[0], [], 0
    while begin < len(frames):
        chunk, error = decoder.decode(frames.since(begin))
        parts += [] if chunk is None else [chunk]
        if error is None:
            break
        at, error.record = begin + (error.record or 0), None  # it counted within these frames
        error.at(path=node.paths[number], record=frames.number(at), offset=int(frames.offsets[at]))
        length = int(frames.lengths[at]) + HEADER_BYTES + FOOTER_BYTES
        if isinstance(error, WireError) and node.options.skips:
            _note_malformed(node, malformed, error, length)
            begin = at + 1
        elif parts:
            return (number, frames.number(at), int(frames.offsets[at])), Chunk.concat(parts)
        else:
            raise Broken(error, (number, frames.number(at) + 1, int(frames.offsets[at]) + length))
    return after, Chunk.concat(parts) if parts else empty_chunk(node.spec())


def _note_malformed(node: TFRecordFiles, malformed: DamageLog, error: WireError, length: int) -> None:
    assert error.path is not None
    assert error.record is not None
    assert error.offset is not None
    damage = Damage(error.path, error.record, error.offset, length, "malformed message", error.found)
    node.damage.append(damage)
    malformed.report(damage)


def _check_version(node: TFRecordFiles, number: int) -> None:
    """Refuse a file that was replaced or written on since the dataset was opened: its rows are others."""
    known = node.version(number)
    if known is None or known == version_of(node.paths[number]):
        return
    raise DataLossError(
        "the file has changed since the dataset was opened.",
        kind="changed file",
        path=node.paths[number],
        help="Open it again to read what it holds now.",
    )


def _other_count(node: TFRecordFiles, number: int, found: int) -> TruncatedRecordError | None:
    """The error for a file that ends between two records, too early or too late, which no checksum tells."""
    if node.counts is None or node.counts[number] == found:
        return None
    return TruncatedRecordError(
        f"the file ends after {found} records, wanted the {node.counts[number]} that are listed beside it.",
        kind="record count",
        path=node.paths[number],
        record=found,
        help="Copy it again from where it came; to read it as it is, pass features='infer'.",
    )


class IndexedRows:
    """Rows by number, through the indexes of the files, which are made on first need."""

    def __init__(self, node: TFRecordFiles) -> None:
        self._node = node
        self._decoder = Decoder(node.schema, node.strict)
        self._files = KeptOpen[RecordFile]()

    @cached_property
    def indexes(self) -> list[RecordIndex]:
        """The index of every file."""
        kept = [self._node.kept_index(number) for number in range(len(self._node.paths))]
        found = [index for index in kept if index is not None]
        if len(found) == len(kept):
            return found
        options = self._node.options
        return build_indexes(
            self._node.paths,
            mode=self._node.index,
            max_record_bytes=options.max_record_bytes,
            max_ratio=options.max_ratio,
        )

    @cached_property
    def _bounds(self) -> IntArray:
        """Where the rows of each file begin, and the number of all rows."""
        counts = self._node.counts or [len(index) for index in self.indexes]
        return np.cumsum([0, *counts])

    def __len__(self) -> int:
        return int(self._bounds[-1])

    def gather(self, rows: IntArray) -> Chunk:
        """The rows asked for, in that order; only their records are read."""
        if not len(rows):
            return empty_chunk(self._node.spec())
        return gather_together(self._bounds, rows, most_asked(), self._of_files)

    def places(self, rows: IntArray) -> list[FilePlace]:
        """The file, the record and its byte offset of each row."""
        numbers = np.searchsorted(self._bounds, rows, side="right") - 1
        records = (rows - self._bounds[numbers]).tolist()
        return [
            (self._node.paths[number], record, int(self.indexes[number].offsets[record]))
            for number, record in zip(numbers.tolist(), records, strict=True)
        ]

    def _of_files(self, numbers: list[int], which: IntArray, records: IntArray) -> Chunk:
        files = [self._file(number) for number in numbers]
        if (decoded := decode_records(files, which, records, self._decoder)) is not None:
            return decoded
        starts = self._bounds[numbers]
        return gather_spread(self._bounds, starts[which] + records, self._of_file)

    def _of_file(self, number: int, records: IntArray) -> Chunk:
        frames = self._file(number).read(records)
        chunk, error = self._decoder.decode(frames)
        if error is not None:
            at, error.record = error.record or 0, None
            path, offset = self._node.paths[number], int(frames.offsets[at])
            raise error.at(path=path, record=frames.number(at), offset=offset)
        assert chunk is not None
        return chunk

    def _file(self, number: int) -> RecordFile:
        return self._files.get(number, self._opened)

    def _opened(self, number: int) -> RecordFile:
        if (error := _other_count(self._node, number, len(self.indexes[number]))) is not None:
            raise error
        _check_version(self._node, number)
        return RecordFile(
            self._node.paths[number],
            self.indexes[number],
            max_record_bytes=self._node.options.max_record_bytes,
            max_ratio=self._node.options.max_ratio,
        )


recorded(Schema)
recorded(Field)
