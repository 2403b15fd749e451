"""Files of a dataset that stay open between reads."""

from __future__ import annotations

import resource
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["KeptOpen", "most_asked", "most_open"]

_FEW, _MANY = 256, 1024

_File = TypeVar("_File")


def most_open() -> int:
    """How many files one dataset keeps open, by how many the system allows the process: several datasets have room.

    Of up to 1,024 a quarter; 256 up to four times as many; then a sixteenth, at most 1,024.
    """
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed == resource.RLIM_INFINITY:
        return _MANY
    return max(1, min(_FEW, allowed // 4), min(_MANY, allowed // 16))


def most_asked() -> int:
    """How many of them one thread asks for together: others may have as many that are kept open no more."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _FEW if allowed == resource.RLIM_INFINITY else max(1, min(_FEW, allowed // 32))


class KeptOpen(Generic[_File]):
    """Open files by number, of which the latest that were asked for stay open. Many threads may ask at once.

    A file that is let go is closed when nobody uses it any more.

    >>> import os
    >>> files = KeptOpen()
    >>> with open(os.devnull) as file:
    ...     files.get(3, lambda number: file) is files.get(3, open)
    True
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._files: dict[int, _File] = {}
        self._most = most_open()

    def get(self, number: int, opened: Callable[[int], _File]) -> _File:
        """The file of a number, which `opened` opens where it is not open."""
        with self._lock:
            file = self._files.pop(number, None)
            if file is None:
                file = opened(number)
            self._files[number] = file  # the latest is the last
            while len(self._files) > self._most:
                self._files.pop(next(iter(self._files)))
            return file

    def clear(self) -> None:
        """Let go of all of them."""
        with self._lock:
            self._files.clear()
