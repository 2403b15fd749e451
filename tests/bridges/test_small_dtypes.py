"""Dtypes of ml_dtypes in files, read by a program that has not imported that package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import penstock as ps


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
