"""Files as memory: read where they are touched, and shared by all processes that map them."""

from __future__ import annotations

import mmap
import os

import numpy as np
from numpy.typing import NDArray

from penstock.fs.files import ReadFile

__all__ = ["Mapped"]


class Mapped:
    """The bytes of a regular file, not to be written to; it stays mapped as long as `data` or a view of it lives.

    Args:
        path: The file.

    Attributes:
        data: Its bytes.

    Raises:
        NotFoundError, ArgumentError, OSError: As for `ReadFile`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._map: mmap.mmap | None = None
        self.data: NDArray[np.uint8] = np.zeros(0, np.uint8)
        with ReadFile(path) as file:
            if file.size:
                self._map = mmap.mmap(file.fileno(), file.size, access=mmap.ACCESS_READ)
                self.data = np.frombuffer(self._map, np.uint8)

    @property
    def is_cut(self) -> bool:
        """Whether the file has become shorter since: the system ends a process that reads memory behind its end."""
        return self._map is not None and self._map.size() < len(self._map)
