"""Dtypes of ml_dtypes in files, read by a program that has not imported that package."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import penstock as ps
from penstock.testing.laws import same


@pytest.mark.parametrize("format", ["tfrecord", "arrow", "tf"])
def test_saved_rows_of_a_small_dtype_need_no_import(format: str, tmp_path: Path):
    rows = ps.Dataset.from_tensor_slices(np.array([1.5, -2.0], ml_dtypes.bfloat16))
    rows.save(tmp_path / "d", format=format)
    program = f"import penstock as ps; print([float(x) for x in ps.load({str(tmp_path / 'd')!r})])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[1.5, -2.0]\n"
    verified = subprocess.run(
        [sys.executable, "-m", "penstock", "verify", str(tmp_path / "d")], capture_output=True, check=False
    )
    assert verified.returncode == 0, verified.stderr


@pytest.mark.parametrize("first", [ml_dtypes.bfloat16(1.5), np.array([1, -2], ml_dtypes.int4)], ids=str)
def test_states_of_scan_go_on_by_way_of_json(first):
    rows = iter(ps.Dataset.range(5).scan(first, lambda state, x: (state, (x, state))))
    next(rows)
    state, rest = json.loads(json.dumps(rows.get_state())), list(rows)
    rows.set_state(state)
    assert same(list(rows), rest)
