"""The first row of saved files, where only it can tell how many axes a component has."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.records.frames import FrameReader
from penstock.store.packing import MOST_RATIO, MOST_RECORD_BYTES
from penstock.store.tf_elements import compression_of
from penstock.store.tf_wire import MalformedError, fields

__all__ = ["first_rank"]


def first_rank(paths: Sequence[str], compression: str | None, component: int) -> int | None:
    """The number of axes of a component in the first row; None where there is no row, or it cannot be read."""
    for path in paths:
        found = compression_of(path, compression)
        with FrameReader(
            path, compression=found, max_record_bytes=MOST_RECORD_BYTES, max_ratio=MOST_RATIO
        ) as reader:
            while (frames := reader.read(component + 1)) is not None:
                last = frames.first_record + len(frames) - 1
                if last >= component:
                    return _rank(frames.payload(component - frames.first_record))
    return None


def _rank(record: bytes) -> int | None:
    try:
        shapes = [value for number, value in fields(record) if number == 2]
        sizes = [number for number, _ in fields(bytes(shapes[-1])) if number == 2] if shapes else []
    except (MalformedError, TypeError):
        return None
    return len(sizes)
