"""`ps.jax.DataLoader` over several devices, and over several processes of one JAX job with Orbax."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def start(program, *arguments, devices):
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
    }
    command = [sys.executable, str(HERE / program), *map(str, arguments)]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process):
    _, err = process.communicate(timeout=600)
    assert process.returncode == 0, err[-3000:]


def free_port():
    with socket.socket() as listening:
        listening.bind(("localhost", 0))
        return listening.getsockname()[1]


def test_batches_are_split_over_four_devices():
    finish(start("jax_devices.py", devices=4))


def test_processes_give_their_parts_of_each_batch_save_and_one_alone_goes_on(tmp_path):
    address = f"localhost:{free_port()}"
    for process in [start("jax_processes.py", tmp_path, rank, address, devices=2) for rank in (0, 1)]:
        finish(process)
    files = sorted(file.name for file in tmp_path.rglob("process_*.json"))
    assert files == ["process_0-of-2.json", "process_1-of-2.json"]
    finish(start("jax_processes.py", tmp_path, devices=2))
