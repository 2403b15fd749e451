"""What the footer of a Parquet file says of missing values.

pyarrow ends the process where what a footer says of a column contradicts itself, as in a damaged file. So this is read
here, from the messages of `parquet.thrift` in Thrift's compact protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import unpack
from typing import Any, Final

from penstock.fs.files import ReadFile
from penstock.store.tf_wire import MalformedError, read_varint

__all__ = ["columns_with_missing"]

_TRUE, _FALSE, _STRUCT = 1, 2, 12
_END_BYTES: Final = 8  # the length of the footer, and PAR1
_MOST_NESTED: Final = 32
# Numbers of fields, by message.
_ROW_GROUPS: Final = 4
_COLUMNS, _ROWS = 1, 3
_METADATA: Final = 3
_PATH, _STATISTICS = 3, 12
_NULL_COUNT: Final = 3


def columns_with_missing(path: str) -> set[str]:
    """Columns of which some row group with rows says that values are missing, or does not say that none are.

    Returns:
        Their paths, with Parquet's names of the levels that lists take, joined by dots.

    Raises:
        MalformedError: The file has no footer that can be read.
        OSError: The file cannot be read.
    """
    with ReadFile(path) as file:
        (nbytes,) = unpack("<I", _last(file, file.size, _END_BYTES)[:4])
        footer = _last(file, file.size - _END_BYTES, nbytes)
    missing = set()
    for columns in _columns(_Reader(footer).struct()):
        for column in columns:
            metadata = _member(column, _METADATA, dict)
            names = _member(metadata, _PATH, list)
            statistics = metadata.get(_STATISTICS)
            told = statistics.get(_NULL_COUNT) if isinstance(statistics, dict) else None
            if told != 0:
                missing.add(
                    b".".join(name for name in names if isinstance(name, bytes)).decode(errors="replace")
                )
    return missing


def _columns(footer: dict[int, Any]) -> Iterator[list[Any]]:
    """Those of each row group that has rows."""
    for group in _member(footer, _ROW_GROUPS, list):
        if _member(group, _ROWS, int):
            yield _member(group, _COLUMNS, list)


def _last(file: ReadFile, stop: int, nbytes: int) -> bytes:
    if nbytes > stop:
        raise MalformedError(f"{nbytes} bytes are said to lie before byte {stop}")
    file.seek(stop - nbytes)
    return file.read_bytes(nbytes)


def _member(message: Any, number: int, kind: type) -> Any:
    value = message.get(number) if isinstance(message, dict) else None
    if not isinstance(value, kind):
        raise MalformedError(f"field {number} of a message is not there, or of another type")
    return value


class _Reader:
    """Messages as dicts by the numbers of their fields: numbers, bools, bytes, lists, dicts."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The message that begins here."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            kind = head & 15
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth + 1)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        read = _VALUES.get(kind)
        if read is None or depth > _MOST_NESTED:
            raise MalformedError(f"a field of type {kind}, {depth} deep, at byte {self._at}")
        return read(self, depth)

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        count = self._varint() if head >> 4 == 15 else head >> 4
        return [self._value(head & 15, depth + 1) for _ in range(count)]

    def _map(self, depth: int) -> list[Any]:
        count = self._varint()
        kinds = self._byte() if count else 0
        return [
            (self._value(kinds >> 4, depth + 1), self._value(kinds & 15, depth + 1)) for _ in range(count)
        ]

    def _byte(self) -> int:
        if self._at >= len(self._data):
            raise MalformedError(f"it ends at byte {self._at}, within a message")
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, count: int) -> bytes:
        part = self._data[self._at : self._at + count]
        if len(part) < count:
            raise MalformedError(f"it ends at byte {len(self._data)}, within a message")
        self._at += count
        return part

    def _varint(self) -> int:
        value, self._at = read_varint(self._data, self._at)
        return value

    def _zigzag(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)


_VALUES: Final[dict[int, Callable[[_Reader, int], Any]]] = {
    **dict.fromkeys((_TRUE, _FALSE, 3), lambda r, _: r._byte()),  # noqa: SLF001 (its own)
    **dict.fromkeys((4, 5, 6), lambda r, _: r._zigzag()),  # noqa: SLF001
    7: lambda r, _: r._bytes(8),  # noqa: SLF001
    8: lambda r, _: r._bytes(r._varint()),  # noqa: SLF001
    **dict.fromkeys((9, 10), _Reader._list),  # noqa: SLF001
    11: _Reader._map,  # noqa: SLF001
    _STRUCT: _Reader.struct,
}
"""How values are read, by their types: bools in lists, i8; i16, i32, i64; double; binary; list, set; map; struct."""
