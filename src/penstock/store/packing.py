"""Encoded rows on their way into a shard's file, compressed where that is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from penstock import _native
from penstock.cores import usable_cores
from penstock.store.format import ShardFile

__all__ = ["MOST_RATIO", "Packing"]

MOST_RATIO: Final = 1 << 15
"""Zstandard makes four bytes of a block of 128 KiB that is one byte again and again, and nothing makes less.

Rows that were saved are never refused for being alike, so that what is read may be that many times its file."""

_Bytes: TypeAlias = NDArray[np.uint8]

# Members are compressed apart from each other, which costs each the 32 KiB that it could have looked back to.
_MEMBER_BYTES: Final = 1 << 20
_FRAME_BYTES: Final = 4 << 20
_NOTHING: Final = np.zeros(0, np.uint8)


class Packing:
    """Bytes on their way through compression into a file.

    GZIP is written in members that several threads compress, which every reader joins, TensorFlow's too; of zlib
    readers read one stream only.

    Args:
        file: Where they go.
        compression: "none", "gzip", "zlib", "zstd" or "snappy".
    """

    def __init__(self, file: ShardFile, compression: str) -> None:
        self._file, self._compression = file, compression
        is_stream = compression in ("zlib", "zstd")
        self._stream = _native.Compressor(compression) if is_stream else None
        self._threads: ThreadPoolExecutor | None = None
        self._since_cut = 0

    def write(self, data: _Bytes) -> None:
        """Append bytes. How they are packed also depends on which of them come together."""
        for part in self._packed(data):
            self._file.write(part)

    def _packed(self, data: _Bytes) -> Iterable[_Bytes | bytes]:
        if self._stream is not None:
            return self._streamed(self._stream, data)
        if self._compression == "none":
            return [data]
        if self._compression == "snappy":
            return [_native.snappy_compress(data)]
        members = [data[i : i + _MEMBER_BYTES] for i in range(0, len(data), _MEMBER_BYTES)]
        if len(members) < 2:
            return map(_member, members)
        self._threads = self._threads or ThreadPoolExecutor(usable_cores(), "penstock-gzip")
        return self._threads.map(_member, members)

    def _streamed(self, stream: _native.Compressor, data: _Bytes) -> Iterator[bytes]:
        yield stream.compress(data)
        self._since_cut += len(data)
        if self._since_cut >= _FRAME_BYTES:
            # A zstd frame of its own now and then lets reading begin in the middle.
            yield stream.cut()
            self._since_cut = 0

    def finish(self) -> None:
        """Write what ends the stream."""
        if self._threads is not None:
            self._threads.shutdown()
        if self._stream is not None:
            self._file.write(self._stream.finish())
        elif self._compression == "gzip" and not self._file.nbytes:
            self._file.write(_member(_NOTHING))


def _member(data: _Bytes) -> bytes:
    stream = _native.Compressor("gzip")
    return stream.compress(data) + stream.finish()
