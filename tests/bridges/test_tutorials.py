"""The tutorials on real TensorFlow, with nothing but their import line changed: they print the same lines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
TUTORIALS = REPOSITORY / "examples" / "tutorials"
NAMES = sorted(path.stem for path in TUTORIALS.glob("[0-9]*.py"))
OURS, THEIRS = "import penstock.tf as tf", "import tensorflow as tf"


def printed(program, folder):
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, str(program), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def with_tensorflow(name, folder):
    """A copy of a tutorial that imports TensorFlow."""
    text = (TUTORIALS / f"{name}.py").read_text("utf-8")
    assert text.count(OURS) == 1
    program = folder / f"{name}.py"
    program.write_text(text.replace(OURS, THEIRS), "utf-8")
    return program


@pytest.mark.parametrize("name", NAMES)
def test_a_tutorial_prints_the_same_on_tensorflow(name, tmp_path):
    theirs = printed(with_tensorflow(name, tmp_path), tmp_path / "theirs")
    assert printed(TUTORIALS / f"{name}.py", tmp_path / "ours") == theirs

    # What `make test` compares with is what TensorFlow prints; the fit at the end of tutorial 4 is not written out.
    golden = REPOSITORY / "tests" / "golden" / "tutorials" / f"{name}.txt"
    lines = golden.read_text("utf-8").splitlines()
    assert theirs[: len(lines)] == lines
