"""Measures of saving and loading whole datasets: 80,000 decoded images uint8[32,32,3] with a label, 246 MB."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measures import MEASURES, START, forever, tensorflow

ROWS = 80_000
IMAGE_BYTES = 32 * 32 * 3
BATCH = 64
WAYS = {
    "tfrecord": ("tfrecord", None),
    "arrow": ("arrow", None),
    "tf": ("tf", None),
    "tf gzip": ("tf", "gzip"),
}


def images() -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    return {
        "image": random.integers(0, 256, (ROWS, 32, 32, 3), np.uint8),
        "label": random.integers(0, 10, ROWS),
    }


def smooth_images() -> dict[str, np.ndarray]:
    """Images that compress about as photographs do: few bits of noise."""
    columns = images()
    columns["image"] >>= 4
    return columns


def columns_for(way: str) -> dict[str, np.ndarray]:
    return smooth_images() if "gzip" in way else images()


def again_and_again(write: Callable[[Path], Any]) -> Iterator[int]:
    """Write to a new place each time; the bytes of the images."""
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        yield START
        while True:
            place = Path(folder) / "saved"
            write(place)
            yield ROWS * IMAGE_BYTES
            (shutil.rmtree if place.is_dir() else Path.unlink)(place)


def ours_save(way: str) -> Iterator[int]:
    import penstock as ps

    format, compression = WAYS[way]
    ds = ps.Dataset.from_tensor_slices(columns_for(way))
    return again_and_again(partial(ds.save, format=format, compression=compression))


def tf_save(compression: str | None) -> Iterator[int]:
    tf = tensorflow()
    ds = tf.data.Dataset.from_tensor_slices(columns_for("gzip" if compression else ""))
    return again_and_again(lambda place: ds.save(str(place), compression=compression))


def numpy_save() -> Iterator[int]:
    values = images()["image"]
    return again_and_again(lambda place: np.save(place.open("wb"), values))


def loading(
    write: Callable[[Path], Any], open: Callable[[Path], Callable[[], Iterator[int]]]
) -> Iterator[int]:
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        place = Path(folder) / "saved"
        write(place)
        one_pass = open(place)
        yield START
        yield from forever(one_pass)


def ours_load(way: str, verify: str = "shard") -> Iterator[int]:
    import penstock as ps

    format, compression = WAYS[way]
    ds = ps.Dataset.from_tensor_slices(columns_for(way))

    def open(place: Path) -> Callable[[], Iterator[int]]:
        if format == "tf":  # what is left is what TensorFlow writes
            (place / "CURRENT").unlink()
        batches = ps.load(place, verify=verify).batch(BATCH)
        return lambda: (len(batch["label"]) * IMAGE_BYTES for batch in batches)

    return loading(partial(ds.save, format=format, compression=compression), open)


def tf_load(compression: str | None) -> Iterator[int]:
    tf = tensorflow()
    ds = tf.data.Dataset.from_tensor_slices(columns_for("gzip" if compression else ""))

    def open(place: Path) -> Callable[[], Iterator[int]]:
        rows = tf.data.Dataset.load(str(place), compression=compression)
        batches = rows.batch(BATCH).prefetch(tf.data.AUTOTUNE)
        return lambda: (len(batch["label"]) * IMAGE_BYTES for batch in batches.as_numpy_iterator())

    return loading(lambda place: ds.save(str(place), compression=compression), open)


def numpy_load() -> Iterator[int]:
    def one_pass(place: Path) -> Iterator[int]:
        with place.open("rb") as file:
            yield np.load(file).nbytes

    values = images()["image"]
    return loading(lambda place: np.save(place.open("wb"), values), lambda place: partial(one_pass, place))


OURS, TF = "penstock", "tf.data"
for way in WAYS:
    MEASURES[f"save {way}"] = {
        OURS: partial(ours_save, way),
        TF: partial(tf_save, "GZIP" if "gzip" in way else None),
    }
    MEASURES[f"load {way}"] = {
        OURS: partial(ours_load, way),
        TF: partial(tf_load, "GZIP" if "gzip" in way else None),
    }
for way in ("tfrecord", "arrow"):
    MEASURES[f"save {way}"]["np.save"] = numpy_save
    MEASURES[f"load {way}"]["np.load"] = numpy_load
