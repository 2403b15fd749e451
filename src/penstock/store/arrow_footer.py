"""How many rows each record batch of an Arrow file has, found without reading (and decompressing) the batches.

The layout is that of Arrow's `File.fbs` and `Message.fbs`, in FlatBuffers: a table begins with the distance to its
vtable, which says where in the table each field lies.
"""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from penstock.errors import DataLossError
from penstock.frozen import frozen

__all__ = ["batch_rows"]

_MAGIC: Final = b"ARROW1"
_END_BYTES: Final = 4 + len(_MAGIC)
_BLOCK_BYTES: Final = 24
_RECORD_BATCH: Final = 3


def batch_rows(data: NDArray[np.uint8]) -> list[int]:
    """The number of rows of each batch.

    Raises:
        DataLossError: It is no Arrow file, or ends early.
    """
    whole = data.data
    if len(whole) < len(_MAGIC) + _END_BYTES or bytes(whole[-len(_MAGIC) :]) != _MAGIC:
        raise DataLossError("It is not an Arrow file, or its end is missing.", kind="arrow")
    try:
        (length,) = struct.unpack_from("<i", whole, len(whole) - _END_BYTES)
        begin = len(whole) - _END_BYTES - length
        blocks = _Table.root(whole[max(begin, 0) : len(whole) - _END_BYTES]).vector(3, _BLOCK_BYTES)
        return [_rows_at(whole, *struct.unpack_from("<qi", block)) for block in blocks]
    except (struct.error, ValueError, OverflowError) as error:
        raise DataLossError(f"The footer of the Arrow file is damaged ({error}).", kind="arrow") from error


def _rows_at(whole: memoryview, offset: int, length: int) -> int:
    """The rows of the batch whose message is at `offset`: two numbers, then the table."""
    if offset < 0 or length < 0 or offset + length > len(whole):
        raise ValueError("a batch lies outside the file")
    message = _Table.root(whole[offset + 8 : offset + length])
    rows: int = message.table(2).number(0, "<q") if message.number(1, "<B") == _RECORD_BATCH else -1
    if rows < 0:
        raise ValueError("a batch without rows")
    return rows


@frozen
class _Table:
    data: memoryview
    position: int

    @classmethod
    def root(cls, data: memoryview) -> _Table:
        return cls(data, struct.unpack_from("<I", data, 0)[0])

    def number(self, field: int, form: str) -> Any:
        """A field; 0 where it is left out."""
        at = self._field(field)
        return 0 if at is None else self._read(form, at)

    def table(self, field: int) -> _Table:
        return _Table(self.data, self._target(field))

    def vector(self, field: int, width: int) -> list[memoryview]:
        """The entries of a vector of structs."""
        if self._field(field) is None:
            return []
        begin = self._target(field)
        n = self._read("<I", begin)
        if begin + 4 + n * width > len(self.data):
            raise ValueError("a list lies outside the footer")
        return [self.data[begin + 4 + i * width :][:width] for i in range(n)]

    def _target(self, field: int) -> int:
        at = self._field(field)
        if at is None:
            raise ValueError("a part is missing")
        target: int = at + self._read("<I", at)
        return target

    def _field(self, field: int) -> int | None:
        vtable = self.position - self._read("<i", self.position)
        if 4 + 2 * field >= self._read("<H", vtable):
            return None
        distance = self._read("<H", vtable + 4 + 2 * field)
        return self.position + distance if distance else None

    def _read(self, form: str, position: int) -> int:
        if position < 0:
            raise ValueError("a part lies before its beginning")
        value: int = struct.unpack_from(form, self.data, position)[0]
        return value
