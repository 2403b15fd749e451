"""Measures of saving and loading whole datasets: 80,000 decoded images uint8[32,32,3] with a label, 246 MB."""

from __future__ import annotations

import os
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


def ours_save(way: str, durable: bool) -> Iterator[int]:
    import penstock as ps

    format, compression = WAYS[way]
    ds = ps.Dataset.from_tensor_slices(columns_for(way))
    return again_and_again(partial(ds.save, format=format, compression=compression, durable=durable))


def tf_save(compression: str | None, durable: bool) -> Iterator[int]:
    tf = tensorflow()
    ds = tf.data.Dataset.from_tensor_slices(columns_for("gzip" if compression else ""))

    def write(place: Path) -> None:
        ds.save(str(place), compression=compression)
        if durable:
            sync(place)

    return again_and_again(write)


def numpy_save(durable: bool) -> Iterator[int]:
    values = images()["image"]

    def write(place: Path) -> None:
        with place.open("wb") as file:
            np.save(file, values)
        if durable:
            sync(place)

    return again_and_again(write)


def plain_save(durable: bool) -> Iterator[int]:
    """The least that a save can do: bytes that are there already, written as they are."""
    data = images()["image"].reshape(-1).data

    def write(place: Path) -> None:
        with place.open("wb", buffering=0) as file:
            file.write(data)
        if durable:
            sync(place)

    return again_and_again(write)


def array_record_save(durable: bool) -> Iterator[int]:
    from array_record.python.array_record_module import ArrayRecordWriter

    columns = images()

    def write(place: Path) -> None:
        writer = ArrayRecordWriter(str(place), "group_size:64,uncompressed")
        for image, label in zip(columns["image"], columns["label"].tolist(), strict=True):
            writer.write(image.tobytes() + label.to_bytes(8, "little"))
        writer.close()
        if durable:
            sync(place)

    return again_and_again(write)


def sync(place: Path) -> None:
    """Bring a file, or all files in a folder, to the disk."""
    for path in [place, *place.rglob("*")]:
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


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
            for name in ("CURRENT", "manifest-1.json"):
                (place / name).unlink()
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


def ours_second_epoch() -> Iterator[int]:
    import penstock as ps

    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        batches = ps.Dataset.from_tensor_slices(images()).cache(folder).batch(BATCH)
        yield from later_epochs(lambda: (len(batch["label"]) * IMAGE_BYTES for batch in batches))


def tf_second_epoch() -> Iterator[int]:
    tf = tensorflow()
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        rows = tf.data.Dataset.from_tensor_slices(images()).cache(str(Path(folder) / "cache"))
        batches = rows.batch(BATCH).prefetch(tf.data.AUTOTUNE)
        yield from later_epochs(
            lambda: (len(batch["label"]) * IMAGE_BYTES for batch in batches.as_numpy_iterator())
        )


def later_epochs(one_pass: Callable[[], Iterator[int]]) -> Iterator[int]:
    for _ in one_pass():
        pass
    yield START
    yield from forever(one_pass)


OURS, TF = "penstock", "tf.data"
for way in WAYS:
    packing = "GZIP" if "gzip" in way else None
    MEASURES[f"save {way}"] = {
        OURS: partial(ours_save, way, durable=True),
        f"{TF}, then fsync": partial(tf_save, packing, durable=True),
    }
    MEASURES[f"load {way}"] = {OURS: partial(ours_load, way), TF: partial(tf_load, packing)}
for way in ("tfrecord", "arrow", "tf"):
    MEASURES[f"save {way} unsynced"] = {
        OURS: partial(ours_save, way, durable=False),
        TF: partial(tf_save, None, durable=False),
    }
for way in ("tfrecord", "arrow"):
    MEASURES[f"load {way}"]["np.load"] = numpy_load
    for question, ending, durable in (
        (f"save {way}", ", then fsync", True),
        (f"save {way} unsynced", "", False),
    ):
        MEASURES[question][f"np.save{ending}"] = partial(numpy_save, durable)
        MEASURES[question][f"array_record{ending}"] = partial(array_record_save, durable)
        MEASURES[question][f"plain write{ending} (the limit)"] = partial(plain_save, durable)
MEASURES["cache"] = {OURS: ours_second_epoch, TF: tf_second_epoch}
