"""States that earlier versions wrote are read: each names its version, and the rows that came next come now."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as ps

N = ps.Dataset.range


def sampled() -> ps.Dataset:
    parts = [N(50), N(100, 150).shuffle(9, seed=1), N(200, 250)]
    return ps.Dataset.sample_from_datasets(parts, [0.5, 0.25, 0.25], seed=3).enumerate().prefetch(2)


def grouped() -> ps.Dataset:
    return N(300).group_by_window(lambda x: x % 3, lambda _key, rows: rows.batch(4), window_size=4)


PIPELINES: dict[str, Callable[[Path], ps.Dataset]] = {
    "shuffle": lambda _: N(1000).shuffle(100, seed=7).repeat(2).batch(8),
    "shuffle_all": lambda _: N(1000).shuffle(seed=7).repeat(2).padded_batch(8),
    "sample": lambda _: sampled(),
    "group_by_window": lambda _: grouped(),
    "files": lambda golden: (
        ps.TFRecordDataset(str(golden / "example" / "examples.tfrecord")).repeat(3).shuffle(4, seed=5)
    ),
}


def plain(row: Any) -> Any:
    if isinstance(row, bytes):
        return hashlib.sha256(row).hexdigest()[:16]
    return [plain(part) for part in row] if isinstance(row, tuple) else np.asarray(row).tolist()


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.filterwarnings("ignore:set_state. a function has changed")
def test_a_state_of_an_earlier_version_goes_on_where_it_was(name: str, golden: Path):
    case = json.loads((golden / "states" / "version_1.json").read_text())[name]
    assert case["state"]["version"] == 1
    rows = iter(PIPELINES[name](golden))
    rows.set_state(case["state"])
    assert [plain(next(rows)) for _ in case["then"]] == case["then"]


def test_a_state_of_an_earlier_version_is_skipped_described_and_kept(golden: Path, tmp_path: Path):
    state = ps.State(json.loads((golden / "states" / "version_1.json").read_text())["shuffle"]["state"])
    state.save(tmp_path / "position.json")
    skipped = ps.State.load(tmp_path / "position.json").skip(batches=1)
    rows = iter(PIPELINES["shuffle"](golden))
    rows.set_state(skipped)
    assert next(rows).tolist() == [120, 33, 99, 21, 108, 30, 107, 54]
    assert rows.get_state()["rows"] == 132
