"""Loading, listing and going on while another saves or removes versions, at each moment at which it could matter."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from threading import Timer

import pytest

import penstock as ps
from penstock.errors import NotFoundError
from penstock.fs.disk import Disk, using
from penstock.fs.locks import lock_folder
from penstock.store.folder import SavedFolder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no locks on folders")


def numbers(n: int) -> ps.Dataset:
    return ps.Dataset.range(n)


def saved(path: Path, *rows: int) -> Path:
    for n in rows:
        numbers(n).save(path, mode="overwrite")
    return path


def data_folder(path: Path, version: int) -> str:
    return SavedFolder(path).version(version).folders[0]


class Meddling(Disk):
    """Calls a function once, before or after a path is opened or a file gets a name."""

    def __init__(self, name: str, do: Callable[[], object], *, after: bool) -> None:
        self.name, self.after = name, after
        self._do: list[Callable[[], object]] = [do]

    def _meddle(self, path: str, *, after: bool) -> None:
        if after == self.after and os.path.basename(path) == self.name and self._do:
            self._do.pop()()

    def open(self, path: str, flags: int, mode: int = 0o666, *, folder: int | None = None) -> int:
        self._meddle(path, after=False)
        descriptor = super().open(path, flags, mode, folder=folder)
        self._meddle(path, after=True)
        return descriptor

    def replace(self, old: str, new: str) -> None:
        super().replace(old, new)
        if os.path.basename(new) == self.name:
            self._meddle(new, after=True)


def test_a_load_beside_a_save_waits_for_its_lock(tmp_path: Path):
    path = saved(tmp_path / "d", 5)
    folder = data_folder(path, 1)
    lock = lock_folder(os.fspath(path / folder))
    assert lock is not None
    timer = Timer(0.05, lock.release)
    with using(Meddling(folder, timer.start, after=True)):
        ds = ps.load(path)
    timer.join()
    saved(path, 6)
    assert ps.gc(path) == ([], [1])
    assert len(list(ds)) == 5


def test_a_load_at_the_moment_of_the_switch_keeps_its_version(tmp_path: Path):
    path, loaded = tmp_path / "d", list[ps.Dataset]()
    with using(Meddling("CURRENT", lambda: loaded.append(ps.load(path)), after=True)):
        saved(path, 5)
    saved(path, 6)
    assert ps.gc(path) == ([], [1])
    assert len(list(loaded[0])) == 5


@pytest.mark.parametrize("after", [False, True])
def test_a_load_of_a_version_that_gc_removes_meanwhile_gives_the_next(tmp_path: Path, after: bool):
    path = saved(tmp_path / "d", 5)

    def meddle() -> None:
        saved(path, 6)
        assert ps.gc(path) == ([1], [])

    for version, wanted in ((None, 6), (1, None)):
        with using(Meddling(data_folder(path, 1), meddle, after=after)):
            if wanted is None:
                with pytest.raises(NotFoundError, match=r"no version 1, only 2\."):
                    ps.load(path, version=version)
            else:
                assert len(list(ps.load(path, version=version))) == wanted
        path = saved(tmp_path / "e", 5)
