"""A shard on its way: counted and digested as it is written, named once it is whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock import _native
from penstock.column.chunk import Chunk
from penstock.fs.files import AtomicWriter
from penstock.spec import Spec
from penstock.store.format import Format
from penstock.store.manifest import SavedShard

__all__ = ["StagedShard"]


class _File:
    """A file that counts and digests what is written to it."""

    def __init__(self, writer: AtomicWriter) -> None:
        self._writer, self.digest = writer, _native.Digest()
        self.nbytes = 0

    def write(self, data: bytes | memoryview | NDArray[Any]) -> int:
        n = data.nbytes if isinstance(data, np.ndarray | memoryview) else len(data)
        if n:
            self._writer.write(data)
            self.digest.update(data)
            self.nbytes += n
        return n


class StagedShard:
    """Rows on their way into one shard.

    Attributes:
        rows: Written so far.
        place: (data folder, name in there).
    """

    def __init__(
        self,
        path: str,
        place: tuple[str, str],
        format: Format,
        spec: Spec,
        compression: str,
        *,
        durable: bool,
    ) -> None:
        self._writer = AtomicWriter(path, durable=durable)
        self._file = _File(self._writer)
        self.rows, self.place = 0, place
        try:
            self._rows = format.writer(self._file, spec, compression)
        except BaseException:
            self._writer.discard()
            raise

    @property
    def nbytes(self) -> int:
        """Bytes written so far."""
        return self._file.nbytes

    def write(self, rows: Chunk) -> None:
        """Append rows; see `ShardWriter.write`."""
        self._rows.write(rows)
        self.rows += len(rows)

    def finish(self) -> SavedShard:
        """Bring every byte to the disk and give the file its name."""
        self._rows.finish()
        self._writer.commit()
        folder, name = self.place
        return SavedShard(folder, name, self.rows, self._file.nbytes, self._file.digest.hexdigest())

    def discard(self) -> None:
        """Drop what was written, where it is not finished."""
        self._writer.discard()
