"""snapshot: a cache on disk by tf.data's name."""

from pathlib import Path
from typing import Any

import pytest

import penstock as ps
from penstock.errors import ArgumentError
from penstock.store.cache_folder import cache_entries


def test_the_first_pass_writes_and_later_ones_read(tmp_path: Path):
    first = list(ps.Dataset.range(50).shuffle(20).snapshot(tmp_path))
    assert sorted(first) == list(range(50))
    assert list(ps.Dataset.range(50).shuffle(20).snapshot(tmp_path)) == first


@pytest.mark.parametrize(
    ("compression", "kept"), [("AUTO", "none"), (None, "none"), ("SNAPPY", "lz4"), ("GZIP", "zstd")]
)
def test_the_compressions_of_tensorflow_are_known(tmp_path: Path, compression: Any, kept: str):
    rows = ps.Dataset.range(5).snapshot(tmp_path, compression)
    assert list(rows) == list(rows) == [0, 1, 2, 3, 4]
    (entry,) = cache_entries(str(tmp_path))
    manifest = entry.manifest()
    assert manifest is not None
    assert manifest.compression == kept


@pytest.mark.parametrize("name", ["compression", "reader_func", "shard_func"])
def test_what_it_cannot_do_is_refused_with_a_way_out(tmp_path: Path, name: str):
    with pytest.raises(ArgumentError, match=f"snapshot: {name} is "):
        ps.Dataset.range(5).snapshot(tmp_path, **{name: len if name != "compression" else "lzma"})
