"""What one thread of the native floor does with Examples: `PYTHONPATH=src python bench/native.py`.

Best of many short runs over one chunk of rows, so that what else the machine does is left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from penstock import _native

ROWS = 8192
IMAGE_BYTES = 12_288
IMAGES = 64


def best_seconds(run: Callable[[], object], rounds: int = 300) -> float:
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def report(what: str, seconds: float, count: int, size_bytes: int) -> None:
    print(f"{what:44} {count / seconds / 1e6:8.2f} M/s {size_bytes / seconds / 1e9:8.2f} GB/s")


def small_examples(numbers: np.random.Generator) -> None:
    x = numbers.standard_normal(3 * ROWS).astype(np.float32)
    y = numbers.integers(0, 10, ROWS)
    s, ends = np.frombuffer(numbers.bytes(10 * ROWS), np.uint8), np.arange(0, 10 * ROWS + 1, 10)
    columns = [(b"x", 2, 3, x, None, None, None), (b"y", 3, 1, y, None, None, None)]
    columns.append((b"s", 1, 1, s, ends, None, None))
    data, offsets = _native.encode_examples(columns, ROWS, framed=False)
    starts, lengths = offsets[:-1].copy(), np.diff(offsets)
    for layout, name in [(0, "fixed"), (1, "ragged")]:
        features = [
            (b"x", 2, layout, 3, 0, None),
            (b"y", 3, layout, 1, 0, None),
            (b"s", 1, layout, 1, 0, None),
        ]
        plan = _native.ExamplePlan(features)
        seconds = best_seconds(lambda plan=plan: plan.decode(data, starts, lengths))
        report(f"decode {{float32[3], int64, bytes}}, {name}", seconds, ROWS, len(data))
    for framed in (False, True):
        seconds = best_seconds(lambda framed=framed: _native.encode_examples(columns, ROWS, framed=framed))
        report(f"encode them, {'with' if framed else 'without'} frames", seconds, ROWS, len(data))
    report("bytes objects of 10 bytes", best_seconds(lambda: _native.bytes_objects(s, ends)), ROWS, len(s))
    rows = numbers.permutation(ROWS)
    report("gather 10 bytes", best_seconds(lambda: _native.gather_ranges(s, ends, rows)), ROWS, len(s))


def images(numbers: np.random.Generator) -> None:
    pixels = np.frombuffer(numbers.bytes(IMAGE_BYTES * IMAGES), np.uint8)
    labels = numbers.integers(0, 10, IMAGES)
    columns = [
        (b"image", 1, IMAGE_BYTES, pixels, None, None, None),
        (b"label", 3, 1, labels, None, None, None),
    ]
    data, offsets = _native.encode_examples(columns, IMAGES, framed=False)
    starts, lengths = offsets[:-1].copy(), np.diff(offsets)
    plan = _native.ExamplePlan([(b"image", 1, 2, IMAGE_BYTES, 0, None), (b"label", 3, 0, 1, 0, None)])
    report("copy of 64 images", best_seconds(pixels.copy), IMAGES, len(data))
    report("decode 64 images", best_seconds(lambda: plan.decode(data, starts, lengths)), IMAGES, len(data))
    report(
        "encode 64 images", best_seconds(lambda: _native.encode_examples(columns, IMAGES)), IMAGES, len(data)
    )


def tokens(numbers: np.random.Generator) -> None:
    values = numbers.integers(0, 50_000, 64 * 512)
    data, offsets = _native.encode_examples([(b"t", 3, 512, values, None, None, None)], 64, framed=False)
    starts, lengths = offsets[:-1].copy(), np.diff(offsets)
    plan = _native.ExamplePlan([(b"t", 3, 0, 512, 0, None)])
    report(
        "decode ints below 50,000",
        best_seconds(lambda: plan.decode(data, starts, lengths)),
        64 * 512,
        len(data),
    )


if __name__ == "__main__":
    generator = np.random.default_rng(1)
    small_examples(generator)
    images(generator)
    tokens(generator)
