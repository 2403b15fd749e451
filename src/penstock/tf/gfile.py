"""`tf.io.gfile`: files of this machine, by TensorFlow's names over `os`.

Remote addresses such as `s3://...` are refused.

>>> import tempfile, penstock.tf as tf
>>> path = tf.io.gfile.join(tempfile.mkdtemp(), "a.txt")
>>> with tf.io.gfile.GFile(path, "w") as file:
...     _ = file.write("one line")
>>> with tf.io.gfile.GFile(path) as file:
...     tf.io.gfile.exists(path), file.read()
(True, 'one line')
"""

from __future__ import annotations

import glob as _glob
import os
import shutil
from collections.abc import Iterable, Iterator
from stat import S_ISDIR
from typing import IO, Any, NamedTuple, Self

from penstock.errors import AlreadyExistsError, NotFoundError
from penstock.fs.paths import local_path
from penstock.tf.missing import no_attribute
from penstock.tf.tensors import unwrap

__all__ = [
    "GFile",
    "copy",
    "exists",
    "glob",
    "isdir",
    "join",
    "listdir",
    "makedirs",
    "mkdir",
    "remove",
    "rename",
    "rmtree",
    "stat",
    "walk",
]


def _path(path: Any) -> str:
    return local_path(os.fsdecode(unwrap(path)))


def exists(path: Any) -> bool:
    """Whether there is a file or folder."""
    return os.path.exists(_path(path))


def isdir(path: Any) -> bool:
    """Whether there is a folder."""
    return os.path.isdir(_path(path))


def glob(pattern: Any) -> list[str]:
    """The files that a pattern matches, or any of several patterns, in order of their names."""
    patterns = pattern if isinstance(pattern, list | tuple) else [pattern]
    return sorted({file for one in patterns for file in _glob.glob(_path(one))})


def listdir(path: Any) -> list[str]:
    """The names in a folder, in order.

    Raises:
        NotFoundError: There is no such folder.
    """
    if not isdir(path):
        raise NotFoundError(f"listdir: {_path(path)}: no such folder.")
    return sorted(os.listdir(_path(path)))


def mkdir(path: Any) -> None:
    """Make a folder in one that is there."""
    os.mkdir(_path(path))


def makedirs(path: Any) -> None:
    """Make a folder, and those above it; one that is there is left alone."""
    os.makedirs(_path(path), exist_ok=True)


def remove(path: Any) -> None:
    """Remove a file.

    Raises:
        NotFoundError: There is none.
    """
    try:
        os.remove(_path(path))
    except FileNotFoundError as error:
        raise NotFoundError(f"remove: {_path(path)}: no such file.") from error


def rmtree(path: Any) -> None:
    """Remove a folder with all that is in it."""
    if not isdir(path):
        raise NotFoundError(f"rmtree: {_path(path)}: no such folder.")
    shutil.rmtree(_path(path))


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Give a file another name.

    Raises:
        AlreadyExistsError: There is something of that name, and `overwrite` is False.
    """
    if not overwrite and exists(dst):
        raise AlreadyExistsError(f"rename: {_path(dst)} exists. Pass overwrite=True to replace it.")
    os.replace(_path(src), _path(dst))


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file.

    Raises:
        AlreadyExistsError: There is something of that name, and `overwrite` is False.
    """
    if not overwrite and exists(dst):
        raise AlreadyExistsError(f"copy: {_path(dst)} exists. Pass overwrite=True to replace it.")
    shutil.copyfile(_path(src), _path(dst))


class FileStatistics(NamedTuple):
    """What `stat` tells: bytes, the time of the last change in nanoseconds since 1970, and whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


def stat(path: Any) -> FileStatistics:
    """Size, time and kind of a file.

    Raises:
        NotFoundError: There is none.
    """
    try:
        known = os.stat(_path(path))
    except FileNotFoundError as error:
        raise NotFoundError(f"stat: {_path(path)}: no such file.") from error
    return FileStatistics(known.st_size, known.st_mtime_ns, S_ISDIR(known.st_mode))


def walk(top: Any, topdown: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """Folders below one, each with the names of the folders and files in it."""
    return os.walk(_path(top), topdown)


def join(path: Any, *paths: Any) -> str:
    """A path of parts."""
    return os.path.join(os.fsdecode(unwrap(path)), *(os.fsdecode(unwrap(part)) for part in paths))


class GFile:
    """A file, as Python's `open` gives it; text is UTF-8.

    Args:
        name: The file.
        mode: As Python's.
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        self.name, self.mode = _path(name), mode
        try:
            self._file: IO[Any] = open(self.name, mode, encoding=None if "b" in mode else "utf-8")  # noqa: SIM115
        except FileNotFoundError as error:
            raise NotFoundError(f"{self.name}: no such file.") from error

    def read(self, n: int = -1) -> Any:
        """The next n characters or bytes; all that are left where n is negative."""
        return self._file.read(n)

    def readline(self) -> Any:
        """The next line."""
        return self._file.readline()

    def readlines(self) -> list[Any]:
        """The lines that are left."""
        return self._file.readlines()

    def write(self, file_content: Any) -> int:
        """Write text, or bytes in a binary mode; how much was written."""
        return self._file.write(file_content)

    def writelines(self, lines: Iterable[Any]) -> None:
        """Write several."""
        self._file.writelines(lines)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """The place."""
        return self._file.tell()

    def size(self) -> int:
        """Bytes of the file."""
        self._file.flush() if self._file.writable() else None
        return os.path.getsize(self.name)

    def flush(self) -> None:
        """Hand what was written to the system."""
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def __getattr__(name: str) -> Any:
    raise no_attribute("tf.io.gfile", name, tuple(__all__))
