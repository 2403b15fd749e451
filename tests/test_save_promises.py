"""What docs/saved.md promises: each promise has its tests, and these are those that no other file has."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import penstock as ps
from penstock import _native
from penstock.errors import ArgumentError, DataLossError, FailedPreconditionError, SidecarError
from penstock.fs.disk import Disk, using
from penstock.records.sealed import seal
from penstock.store.folder import SavedFolder

TESTS = Path(__file__).parent
GUIDE = TESTS.parent / "docs" / "saved.md"


def test_every_promise_names_tests_that_are_there():
    table = GUIDE.read_text().partition("## What is promised")[2]
    promises = [line for line in table.splitlines() if re.search(r"\(P\d+\)", line)]
    assert [int(number) for number in re.findall(r"\(P(\d+)\)", table)] == [4, *range(7, 16), 25, 26, 27]
    for line in promises:
        named = re.findall(r"`(\w+\.py)::(\w+)`", line)
        assert named, line
        for file, test in named:
            assert f"\ndef {test}(" in (TESTS / file).read_text(), (file, test)


class Watching(Disk):
    """Notes after which of the calls that give a name another version is the current one."""

    def __init__(self, path: Path) -> None:
        self.path, self.switches = path, list[str]()

    def _seen(self) -> bytes:
        file = self.path / "CURRENT"
        return file.read_bytes() if file.exists() else b""

    def _noted(self, call: str, do: Callable[[], None]) -> None:
        before = self._seen()
        do()
        if self._seen() != before:
            self.switches.append(call)

    def replace(self, old: str, new: str) -> None:
        self._noted(f"replace {os.path.basename(new)}", lambda: os.replace(old, new))

    def link(self, old: str, new: str) -> None:
        self._noted(f"link {os.path.basename(new)}", lambda: os.link(old, new))

    def unlink(self, path: str) -> None:
        self._noted(f"unlink {os.path.basename(path)}", lambda: os.unlink(path))


@pytest.mark.parametrize("mode", ["overwrite", "append"])
def test_the_switch_is_one_rename(tmp_path: Path, mode: Any):
    path = tmp_path / "d"
    for _ in range(2):
        with using(watching := Watching(path)):
            ps.Dataset.range(6).save(path, mode=mode)
        assert watching.switches == ["replace CURRENT"]


@pytest.mark.parametrize("url", ["s3://bucket/d", "gs://bucket/d", "https://host.invalid/d", "hf://owner/d"])
def test_stores_elsewhere_are_refused_with_the_reason(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for use in (ps.Dataset.range(3).save, ps.Dataset.range(3).cache, ps.load, ps.versions, ps.gc):
        with pytest.raises(
            ArgumentError, match="Remote paths are not supported yet: copy the file, or mount"
        ):
            use(url)
    assert os.listdir(tmp_path) == []


def test_a_compression_of_a_later_penstock_is_told(tmp_path: Path):
    ps.Dataset.range(6).save(tmp_path / "d")
    change(tmp_path / "d", lambda document: document.update(compression="brotli"))
    with pytest.raises(FailedPreconditionError, match=r"compressed by 'brotli', .* pip install -U penstock"):
        next(iter(ps.load(tmp_path / "d")))


def change(path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Edit the manifest of the first version, and make its checksums right again."""
    document = json.loads((path / "manifest-1.json").read_bytes())
    del document["checksum"]
    edit(document)
    data = seal(document)
    (path / "manifest-1.json").write_bytes(data)
    (path / "CURRENT").write_text(f"manifest-1.json {_native.digest(data)}\n")


@pytest.mark.parametrize(
    "name",
    [
        "*",
        "*.tfrecord",
        "[0-9]",
        "|ls",
        "a:b",
        "a\\\\b",
        "con",
        ".",
        "..",
        "./x",
        "a/../b",
        "a/b/c",
        "\x00",
        "",
        "https://host.invalid/x",
        "file:///etc/passwd",
    ],
)
def test_a_manifest_cannot_lead_elsewhere(name: str, tmp_path: Path):
    ps.Dataset.range(6).save(tmp_path / "d")
    folder = SavedFolder(tmp_path / "d").version(1).shards[0].folder
    for place in (f"{folder}/{name}", name):
        change(tmp_path / "d", lambda document, place=place: document["shards"][0].update(file=place))
        with pytest.raises(SidecarError, match="a shard has the name"):
            ps.load(tmp_path / "d")


@pytest.mark.parametrize("wrong", [-1, 1 << 62, 1 << 63, 1 << 64, 1.5, True, "6", [6], None])
@pytest.mark.parametrize("member", ["rows", "bytes"])
def test_numbers_of_a_manifest_are_checked(member: str, wrong: Any, tmp_path: Path):
    path = tmp_path / "d"
    ps.Dataset.range(6).save(path)

    def both(document: dict[str, Any]) -> None:
        document[member] = document["shards"][0][member] = wrong

    for edit in (lambda document: document.update({member: wrong}), both):
        change(path, edit)
        with pytest.raises(SidecarError, match="manifest is malformed"):
            ps.load(path)


def test_more_rows_than_a_shard_has_are_damage_whatever_their_number(tmp_path: Path):
    ps.Dataset.range(6).save(tmp_path / "d")

    def many(document: dict[str, Any]) -> None:
        document["rows"] = document["shards"][0]["rows"] = 1 << 61

    change(tmp_path / "d", many)
    for use in (lambda ds: ds[0], lambda ds: next(iter(ds)), lambda ds: next(iter(ds.shuffle(seed=1)))):
        with pytest.raises(DataLossError, match="the shard holds 6 records"):
            use(ps.load(tmp_path / "d"))
