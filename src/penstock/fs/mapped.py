"""Files as memory: read where they are touched, and shared by all processes that map them."""

from __future__ import annotations

import mmap
import os

import numpy as np
from numpy.typing import NDArray

from penstock.fs.files import ReadFile

__all__ = ["mapped"]


def mapped(path: str | os.PathLike[str]) -> NDArray[np.uint8]:
    """The bytes of a regular file, not to be written to; it stays mapped as long as the array or a view of it lives.

    Raises:
        NotFoundError, ArgumentError, OSError: As for `ReadFile`.
    """
    with ReadFile(path) as file:
        if file.size == 0:
            return np.zeros(0, np.uint8)
        return np.frombuffer(mmap.mmap(file.fileno(), file.size, access=mmap.ACCESS_READ), np.uint8)
