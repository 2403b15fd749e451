"""A process that is killed while Orbax saves in the background leaves a latest step that is whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("orbax_saves.py")


def saves(folder, steps, kill_after=None):
    """The steps that a process began to save; it is killed while it writes the last of them."""
    with subprocess.Popen(
        [sys.executable, str(PROGRAM), str(folder), str(steps)],
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        begun = []
        for line in process.stdout:
            if not line.endswith("\n"):  # the kill cut it
                continue
            begun.append(int(line))
            if len(begun) == kill_after:
                process.send_signal(signal.SIGKILL)
        errors = process.stderr.read()
    assert process.returncode == (0 if kill_after is None else -signal.SIGKILL), errors[-3000:]
    return begun


def test_the_latest_step_is_whole_after_a_kill_in_the_middle_of_a_save(tmp_path):
    first = saves(tmp_path, 1000, kill_after=3)
    second = saves(tmp_path, 1000, kill_after=4)
    # Each process has checked the step that it went on from: the last one, or the one before.
    assert first[:3] == [1, 2, 3]
    assert second[0] in {first[-1], first[-1] + 1}
    third = saves(tmp_path, 1)
    assert third[0] in {second[-1], second[-1] + 1}
