"""Access points that reading has come by, kept for whoever reads the same file again in this process."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Final, TypeAlias

__all__ = ["Point", "Version", "known_points", "note_points", "version_of"]

# (uncompressed offset, compressed offset, bits, window, (checksum, size)): where decompression can begin.
Point: TypeAlias = tuple[int, int, int, bytes, tuple[int, int]]
# What tells a file from others and from what it was before.
Version: TypeAlias = tuple[int, int, int, int, str]

# Of all files together; with windows of 32 KiB these are 32 MiB.
_MOST_POINTS: Final = 1024

_LOCK: Final = Lock()
_KNOWN: Final[OrderedDict[Version, tuple[Point, ...]]] = OrderedDict()


def version_of(file: int | str, compression: str) -> Version:
    """Of a file (its descriptor, or its path) that is read as compressed like that."""
    status = os.stat(file)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, compression


def known_points(version: Version) -> tuple[Point, ...]:
    """Ascending."""
    with _LOCK:
        return _KNOWN.get(version, ())


def note_points(version: Version, points: Iterable[Point], least_gap: int) -> tuple[Point, ...]:
    """Add those that are so many uncompressed bytes from all that are known; returns what is known then.

    Files noted longest ago make room for others.
    """
    with _LOCK:
        known = list(_KNOWN.pop(version, ()))
        for point in points:
            at = bisect_left(known, point[0], key=_offset)
            beside = known[max(0, at - 1) : at + 1]
            if len(known) < _MOST_POINTS and all(abs(point[0] - other[0]) >= least_gap for other in beside):
                known.insert(at, point)
        _KNOWN[version] = tuple(known)
        while sum(map(len, _KNOWN.values())) > _MOST_POINTS:
            _KNOWN.popitem(last=False)
        return tuple(known)


def _offset(point: Point) -> int:
    return point[0]
