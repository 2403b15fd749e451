"""The memory of one chunk serves the next."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from penstock import _native

PASSES = """
import ctypes, resource
import numpy as np
import penstock as ps

M_MMAP_THRESHOLD = -3
lines = np.full((2_000, 12_288), ord("x"), np.uint8)
lines[:, -1] = ord("\\n")
lines.tofile("lines.txt")
ds = ps.TextLineDataset("lines.txt").batch(64)
list(ds.take(1))
ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 128 << 10)  # as TensorFlow does
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    for batch in ds:
        pass
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / (5 * lines.nbytes / 4096))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what is set back is glibc's")
def test_memory_is_kept_also_after_another_library_has_set_that_back(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PASSES], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    pages_taken_anew = float(done.stdout)
    assert pages_taken_anew < 0.5


@pytest.mark.skipif(sys.platform == "win32", reason="memory is placed by the system there")
@pytest.mark.parametrize("n", [1_008, 1_024, 5_000, 100_001, 1 << 20, (1 << 25) + 3])
def test_what_is_large_begins_where_tensorflow_and_jax_take_it_without_a_copy(n):
    made = [_native.frame_records(bytes(n), np.array([0, n]))[0] for _ in range(5)]
    assert [values.ctypes.data % 64 for values in made] == [0] * 5
    assert all(len(values) == n + 16 and not values[12:-4].any() for values in made)
