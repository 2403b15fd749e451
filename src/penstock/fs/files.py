"""Files read by position, told apart by identity, and written under a temporary name until they are whole."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import secrets
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from penstock.errors import AlreadyExistsError, ArgumentError, FailedPreconditionError, NotFoundError
from penstock.fs.paths import TEMPORARY_SUFFIX, local_path, require_regular

__all__ = ["AtomicWriter", "Data", "FileIdentity", "ReadFile", "identity", "publish", "stage", "write_all"]

Data: TypeAlias = bytes | bytearray | memoryview | NDArray[Any]

_END_BYTES = 1 << 16
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES}


class ReadFile:
    """A regular file open for reading.

    Attributes:
        path: As it was given (a `file://` URL becomes a path).
        size: Bytes when it was opened.

    Raises:
        NotFoundError: There is no such file.
        ArgumentError: It is not a regular file. A FIFO is refused without waiting for its writer.
        OSError: It cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = local_path(path)
        try:
            require_regular(self.path, os.stat(self.path).st_mode)
            # Between the two calls the name can come to mean a FIFO; O_NONBLOCK keeps even that from waiting.
            self._file = io.FileIO(self.path, "r", opener=_open_without_waiting)
        except FileNotFoundError:
            raise NotFoundError(f"{self.path}: no such file.") from None
        # An iterator that is dropped in the middle of a file leaves it to this, without a warning.
        weakref.finalize(self, self._file.close)
        status = os.fstat(self._file.fileno())
        try:
            require_regular(self.path, status.st_mode)
        except ArgumentError:
            self._file.close()
            raise
        self.size = status.st_size

    def fileno(self) -> int:
        """The file descriptor, open as long as this object."""
        return self._file.fileno()

    def readinto(self, buffer: Data) -> int:
        """Bytes read into the beginning of `buffer`; 0 only at the end of the file (or for an empty
        buffer).
        """
        return self._file.readinto(buffer.data if isinstance(buffer, np.ndarray) else buffer) or 0

    def read_bytes(self, limit_bytes: int) -> bytes:
        """The next `limit_bytes` bytes; fewer only at the end of the file."""
        buffer = memoryview(bytearray(min(limit_bytes, max(0, self.size - self.tell()))))
        filled = 0
        while filled < len(buffer) and (count := self.readinto(buffer[filled:])):
            filled += count
        return bytes(buffer[:filled])

    def seek(self, offset: int) -> int:
        """Go to a byte."""
        return self._file.seek(offset)

    def tell(self) -> int:
        """The byte that is read next."""
        return self._file.tell()

    def close(self) -> None:
        """Close the file; the second time does nothing."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """What tells whether a file is still the one that was looked at.

    Attributes:
        size: Bytes.
        mtime_ns: Time of the last change, in nanoseconds.
        digest: BLAKE2b (16 bytes, hex) of the first and the last 64 KiB.
    """

    size: int
    mtime_ns: int
    digest: str


def identity(path: str | os.PathLike[str]) -> FileIdentity:
    """The identity of a file as it is now. NotFoundError, ArgumentError and OSError as for `ReadFile`."""
    with ReadFile(path) as file:
        status = os.fstat(file.fileno())
        digest = hashlib.blake2b(digest_size=16)
        for begin in (0, max(0, status.st_size - _END_BYTES)):
            file.seek(begin)
            digest.update(file.read_bytes(_END_BYTES))
        return FileIdentity(status.st_size, status.st_mtime_ns, digest.hexdigest())


def write_all(descriptor: int, data: Data, path: str | None = None) -> None:
    """Write every byte of `data`, however many calls that takes. OSError is the system's own (disk full,
    ...), with the path.
    """
    rest = (data.data if isinstance(data, np.ndarray) else memoryview(data)).cast("B")
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError as error:
        error.filename = error.filename or path
        raise


class AtomicWriter:
    """A file that gets its name only when it is whole.

    Bytes go to `.NAME.RANDOM.penstock-tmp` in the same folder. `commit` syncs them to the disk and renames.
    Leaving the `with` block commits, or discards after any exception. A writer that is dropped is discarded;
    one that is killed leaves at most its temporary file.

    Args:
        path: The final name. Its folder has to exist.
        overwrite: Replace a regular file of that name; without it such a file is never replaced, not even one
            that appears while this one is being written.

    Raises:
        AlreadyExistsError: There is such a file, when opening or when committing.
        NotFoundError: There is no such folder.
        ArgumentError: The name belongs to something that is not a regular file.
        OSError: The system's own, as for a full disk. Nothing can be committed after a write that failed.

    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a")
    >>> with AtomicWriter(path) as writer:
    ...     writer.write(b"whole")
    ...     os.path.exists(path)
    False
    >>> os.path.exists(path)
    True
    """

    def __init__(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        self.path = local_path(path)
        self.overwrite = overwrite
        self._check_target()
        folder, name = os.path.split(self.path)
        self.folder = folder or "."
        self.temporary = os.path.join(folder, f".{name[:180]}.{secrets.token_hex(8)}{TEMPORARY_SUFFIX}")
        self._failed = False
        try:
            flags = (
                os.O_WRONLY
                | os.O_CREAT
                | os.O_EXCL
                | getattr(os, "O_CLOEXEC", 0)
                | getattr(os, "O_BINARY", 0)
            )
            self._descriptor = os.open(self.temporary, flags, 0o666)
        except FileNotFoundError:
            raise NotFoundError(f"{self.path}: its folder is not there; make it first.") from None
        # The process matters: a forked child that drops its copy must not take the parent's file away.
        self._discard = weakref.finalize(self, _remove, self._descriptor, self.temporary, os.getpid())

    def write(self, data: Data) -> None:
        """Write every byte of `data` (or raise, and then nothing is ever committed)."""
        if self._descriptor < 0:
            raise FailedPreconditionError(f"{self.path}: the writer is closed.")
        try:
            write_all(self._descriptor, data, self.path)
        except BaseException:
            self._failed = True
            raise

    def sync(self) -> None:
        """Bring the bytes to the disk and close the temporary file; all that is left is `publish`."""
        if self._failed or not self._discard.alive:
            why = "an earlier write failed" if self._failed else "it was discarded or committed"
            raise FailedPreconditionError(f"{self.path}: the writer cannot be committed, {why}.")
        if self._descriptor >= 0:
            try:
                os.fsync(self._descriptor)
            except BaseException:
                self._failed = True
                raise
            self._close()

    def publish(self) -> None:
        """Give the synced file its name. AlreadyExistsError as said above; the folder is not synced yet."""
        if self._descriptor >= 0:
            raise FailedPreconditionError(f"{self.path}: sync comes before publish.")
        self._check_target()
        if self.overwrite:
            os.replace(self.temporary, self.path)
        else:
            self._rename_to_free_name()
        self._discard.detach()

    def commit(self) -> None:
        """Sync, rename, and sync the folder: from here on the file is there, whole, also after a power
        cut.
        """
        publish([self])

    def discard(self) -> None:
        """Drop what was written; the final name is untouched. Does nothing after `commit`."""
        self._discard()
        self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None and self._discard.alive:
                self.commit()
        finally:
            self.discard()

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        self._discard.detach()
        self._discard = weakref.finalize(self, _remove, -1, self.temporary, os.getpid())
        os.close(descriptor)

    def _check_target(self) -> None:
        try:
            mode = os.stat(self.path).st_mode
        except FileNotFoundError:
            return
        require_regular(self.path, mode)
        if not self.overwrite:
            raise AlreadyExistsError(
                f"{self.path}: there is such a file already. To replace it, pass overwrite=True."
            )

    def _rename_to_free_name(self) -> None:
        # A hard link fails where the name exists; a rename would replace a file made since we looked.
        try:
            os.link(self.temporary, self.path)
        except FileExistsError:
            text = f"{self.path}: such a file was made meanwhile. To replace it, pass overwrite=True."
            raise AlreadyExistsError(text) from None
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            os.rename(self.temporary, self.path)
        else:
            os.unlink(self.temporary)


def stage(path: str | os.PathLike[str], overwrite: bool = False) -> AtomicWriter:
    """A writer whose file is to appear together with others: write, and hand them all to `publish`."""
    return AtomicWriter(path, overwrite)


def publish(writers: Iterable[AtomicWriter]) -> None:
    """Sync all files, then rename all, then sync their folders.

    Nothing is renamed before every byte of every file is on the disk. When a rename fails, the files before
    it stay and the others are discarded, so name the one that makes the rest count (a manifest) last.
    """
    writers = list(writers)
    try:
        for writer in writers:
            writer.sync()
        for writer in writers:
            writer.publish()
        for folder in dict.fromkeys(writer.folder for writer in writers):
            _sync_folder(folder)
    finally:
        for writer in writers:
            writer.discard()


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))


def _remove(descriptor: int, temporary: str, process: int) -> None:
    if descriptor >= 0:
        with contextlib.suppress(OSError):
            os.close(descriptor)
    if process == os.getpid():
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _sync_folder(folder: str) -> None:
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems (network, FUSE) have no sync for folders.
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise
    finally:
        os.close(descriptor)
