"""From the arguments of a verb to files and what is in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.dataset import Dataset
from penstock.fs.paths import expand
from penstock.open import open as open_dataset
from penstock.records.decode import Decoder
from penstock.records.frames import FrameReader, Frames
from penstock.records.schema import Schema

__all__ = ["Opened", "files_of", "framed", "open_files", "read_frames", "total_bytes"]

_HEADER_BYTES, _FOOTER_BYTES = 12, 4


@dataclass(frozen=True)
class Opened:
    """Files opened as a dataset.

    Attributes:
        paths: The files.
        dataset: Their rows.
    """

    paths: list[str]
    dataset: Dataset

    @property
    def schema(self) -> Schema:
        """What the records hold."""
        schema = self.dataset.schema
        assert schema is not None
        return schema

    @property
    def is_empty(self) -> bool:
        """Whether the first files were found to have no record."""
        return self.schema.origin == "inferred" and self.schema.sampled == 0

    @property
    def name(self) -> str:
        """The file, or how many they are."""
        return self.paths[0] if len(self.paths) == 1 else f"{len(self.paths)} files"

    def first_rows(self, n: int) -> Iterator[Any]:
        """The first n rows. No record behind them is read or decoded, however many a chunk would hold."""
        decoder = Decoder(self.schema, refuse_unknown=self.schema.origin == "inferred")
        for path in self.paths:
            with FrameReader(path) as reader:
                while n and (frames := reader.read(n)) is not None:
                    n -= len(frames)
                    yield from _decoded(decoder, frames, path)


def _decoded(decoder: Decoder, frames: Frames, path: str) -> Iterator[Any]:
    chunk, error = decoder.decode(frames)
    yield from chunk or ()
    if error is not None:
        at, error.record = error.record or 0, None  # it counted within these frames
        raise error.at(path=path, record=frames.number(at), offset=int(frames.offsets[at]))


def open_files(sources: Sequence[str], *, raw: bool = False) -> Opened:
    """Open what the arguments name; with `raw`, rows are the bytes of records. Errors as for `penstock.open`."""
    paths = files_of(sources)
    return Opened(paths, open_dataset(paths, features=bytes if raw else None))


def files_of(sources: Sequence[str]) -> list[str]:
    """The regular files that the arguments name; errors as for `expand`."""
    return expand(list(sources))


def total_bytes(paths: Sequence[str]) -> int:
    """Bytes of all files on disk."""
    return sum(os.stat(path).st_size for path in paths)


def read_frames(
    paths: Sequence[str], advance: Callable[[int], None], *, verify: bool = True
) -> Iterator[tuple[str, Frames]]:
    """The records of several files in order, many at a time, each with its file; `advance` is told of bytes read."""
    for path in paths:
        with FrameReader(path, verify=verify) as reader:
            before = 0
            while (frames := reader.read()) is not None:
                advance(reader.compressed_bytes - before)
                before = reader.compressed_bytes
                yield path, frames


def framed(frames: Frames, start: int, stop: int) -> NDArray[np.uint8]:
    """The bytes of records [start, stop) with their frames, as they are in the file. At least one record."""
    first, last = int(frames.starts[start]), stop - 1
    end = int(frames.starts[last] + frames.lengths[last]) + _FOOTER_BYTES
    return frames.data[first - _HEADER_BYTES : end]
