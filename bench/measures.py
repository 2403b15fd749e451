"""One function for each question and peer. Each yields how many rows (or bytes) it has just handled.

A function is called once in a process of its own. What stands before its first `yield` is preparation and
is not timed; afterwards it goes on as long as it is asked to, starting over at the end of the data.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import data
import numpy as np

Measure = Callable[[], Iterator[float]]
MEASURES: dict[str, dict[str, Measure]] = {}
ANSWERS: set[str] = set()
"""Questions whose functions yield the answer itself."""
START = 0


def measure(question: str, peer: str) -> Callable[[Measure], Measure]:
    def keep(function: Measure) -> Measure:
        MEASURES.setdefault(question, {})[peer] = function
        return function

    return keep


def forever(one_pass: Callable[[], Iterator[int]]) -> Iterator[int]:
    while True:
        yield from one_pass()


# --- TensorFlow ---------------------------------------------------------------------------------------------


def tensorflow():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import tensorflow as tf

    return tf


def tf_small_features(tf):
    return {
        "x": tf.io.FixedLenFeature([3], tf.float32),
        "y": tf.io.FixedLenFeature([], tf.int64),
        "s": tf.io.FixedLenFeature([], tf.string),
    }


def tf_raw_features(tf):
    return {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}


def tf_small(name: str, compression: str = "") -> Iterator[int]:
    tf = tensorflow()
    features = tf_small_features(tf)
    rows = tf.data.TFRecordDataset(str(data.path(name)), compression_type=compression).batch(256)
    rows = rows.map(lambda batch: tf.io.parse_example(batch, features)).prefetch(tf.data.AUTOTUNE)
    yield START
    yield from forever(lambda: (len(batch["y"]) for batch in rows.as_numpy_iterator()))


def tf_raw(name: str, compression: str = "", shuffle: int = 0) -> Iterator[int]:
    tf = tensorflow()
    features = tf_raw_features(tf)

    def parse(batch):
        parsed = tf.io.parse_example(batch, features)
        return tf.reshape(tf.io.decode_raw(parsed["image"], tf.uint8), [-1, 64, 64, 3]), parsed["label"]

    rows = tf.data.TFRecordDataset(str(data.path(name)), compression_type=compression)
    rows = rows.shuffle(shuffle) if shuffle else rows
    rows = rows.batch(64).map(parse).prefetch(tf.data.AUTOTUNE)
    yield START
    yield from forever(lambda: (len(label) for _, label in rows.as_numpy_iterator()))


@measure("small", "tf.data batch parse")
def _() -> Iterator[int]:
    return tf_small("small.tfrecord")


@measure("small gzip", "tf.data batch parse")
def _() -> Iterator[int]:
    return tf_small("small.tfrecord.gz", "GZIP")


@measure("small", "tf.data per element")
def _() -> Iterator[int]:
    tf = tensorflow()
    features = tf_small_features(tf)
    rows = tf.data.TFRecordDataset(str(data.path("small.tfrecord")))
    rows = rows.map(lambda record: tf.io.parse_single_example(record, features)).batch(256)
    yield START
    yield from forever(lambda: (len(batch["y"]) for batch in rows.as_numpy_iterator()))


@measure("raw", "tf.data batch parse")
def _() -> Iterator[int]:
    return tf_raw("raw.tfrecord")


@measure("raw gzip", "tf.data batch parse")
def _() -> Iterator[int]:
    return tf_raw("raw.tfrecord.gz", "GZIP")


@measure("gather", "tf.data shuffle buffer of 10,000")
def _() -> Iterator[int]:
    return tf_raw("raw.tfrecord", shuffle=10_000)


@measure("memory", "tf.data batch parse")
def _() -> Iterator[int]:
    return tf_raw("big.tfrecord")


def tf_write() -> Iterator[int]:
    tf = tensorflow()
    train = tf.train
    rows = data.small_rows()
    with tempfile.TemporaryDirectory(dir=data.FOLDER) as folder:
        yield START
        while True:
            with tf.io.TFRecordWriter(str(Path(folder) / "out.tfrecord")) as writer:
                for i, row in enumerate(rows):
                    features = {
                        "x": train.Feature(float_list=train.FloatList(value=row["x"])),
                        "y": train.Feature(int64_list=train.Int64List(value=[row["y"]])),
                        "s": train.Feature(bytes_list=train.BytesList(value=[row["s"]])),
                    }
                    example = train.Example(features=train.Features(feature=features))
                    writer.write(example.SerializeToString())
                    if i % 1000 == 999:
                        yield 1000


measure("write columns", "tf.train.Example, TFRecordWriter")(tf_write)
measure("write rows", "tf.train.Example, TFRecordWriter")(tf_write)


@measure("verify", "tf.data, records only")
def _() -> Iterator[int]:
    tf = tensorflow()
    rows = tf.data.TFRecordDataset(str(data.path("raw.tfrecord"))).batch(64)
    size = data.path("raw.tfrecord").stat().st_size
    yield START
    while True:
        for _batch in rows:
            yield size * 64 // data.RAW_ROWS


# --- tfrecord (vahidk) --------------------------------------------------------------------------------------


def vahidk_small(name: str, compression: str | None = None) -> Iterator[int]:
    from tfrecord import reader

    description = {"x": "float", "y": "int", "s": "byte"}
    file = str(data.path(name))

    def one_pass() -> Iterator[int]:
        batch = []
        for row in reader.tfrecord_loader(file, None, description, compression_type=compression):
            batch.append(row)
            if len(batch) == 256:
                np.stack([row["x"] for row in batch]), np.concatenate([row["y"] for row in batch])
                batch.clear()
                yield 256

    yield START
    yield from forever(one_pass)


def vahidk_raw(name: str, compression: str | None = None) -> Iterator[int]:
    from tfrecord import reader

    description = {"image": "byte", "label": "int"}
    file = str(data.path(name))

    def one_pass() -> Iterator[int]:
        images, labels = [], []
        for row in reader.tfrecord_loader(file, None, description, compression_type=compression):
            images.append(row["image"])
            labels.append(row["label"])
            if len(images) == 64:
                np.frombuffer(b"".join(images), np.uint8).reshape(64, 64, 64, 3), np.concatenate(labels)
                images, labels = [], []
                yield 64

    yield START
    yield from forever(one_pass)


@measure("small", "tfrecord (vahidk), no CRC check")
def _() -> Iterator[int]:
    return vahidk_small("small.tfrecord")


@measure("small gzip", "tfrecord (vahidk), no CRC check")
def _() -> Iterator[int]:
    return vahidk_small("small.tfrecord.gz", "gzip")


@measure("raw", "tfrecord (vahidk), no CRC check")
def _() -> Iterator[int]:
    return vahidk_raw("raw.tfrecord")


@measure("raw gzip", "tfrecord (vahidk), no CRC check")
def _() -> Iterator[int]:
    return vahidk_raw("raw.tfrecord.gz", "gzip")


@measure("memory", "tfrecord (vahidk), no CRC check")
def _() -> Iterator[int]:
    return vahidk_raw("big.tfrecord")


@measure("write rows", "tfrecord (vahidk)")
def _() -> Iterator[int]:
    from tfrecord.writer import TFRecordWriter

    rows = [
        {"x": (row["x"], "float"), "y": (row["y"], "int"), "s": (row["s"], "byte")}
        for row in data.small_rows()
    ]
    with tempfile.TemporaryDirectory(dir=data.FOLDER) as folder:
        yield START
        while True:
            writer = TFRecordWriter(str(Path(folder) / "out.tfrecord"))
            for i, row in enumerate(rows):
                writer.write(row)
                if i % 1000 == 999:
                    yield 1000
            writer.close()


@measure("index", "tfrecord2idx (vahidk)")
def _() -> Iterator[int]:
    from tfrecord.tools.tfrecord2idx import create_index

    file = data.path("raw.tfrecord")
    with tempfile.TemporaryDirectory(dir=data.FOLDER) as folder:
        yield START
        while True:
            create_index(str(file), str(Path(folder) / "out.idx"))
            yield file.stat().st_size


# --- DALI, on the CPU ---------------------------------------------------------------------------------------


def dali(name: str, batch_size: int, features: Callable[[object], dict], shuffle: int = 0) -> Iterator[int]:
    from nvidia.dali import fn, pipeline_def, tfrecord

    stem = name.partition(".")[0]
    wanted = features(tfrecord)

    @pipeline_def(batch_size=batch_size, num_threads=2, device_id=None, prefetch_queue_depth=2)
    def pipeline():
        columns = fn.readers.tfrecord(
            path=str(data.path(name)),
            index_path=str(data.path(f"{stem}.idx")),
            features=wanted,
            random_shuffle=shuffle > 0,
            initial_fill=shuffle or 1024,
        )
        return tuple(columns[key] for key in wanted)

    running = pipeline()
    running.build()
    yield START
    while True:
        for column in running.run():
            column.as_array()
        yield batch_size


def dali_small_features(tfrecord) -> dict:
    return {
        "x": tfrecord.FixedLenFeature([3], tfrecord.float32, 0.0),
        "y": tfrecord.FixedLenFeature([1], tfrecord.int64, 0),
        "s": tfrecord.FixedLenFeature([], tfrecord.string, ""),
    }


def dali_raw_features(tfrecord) -> dict:
    return {
        "image": tfrecord.FixedLenFeature([], tfrecord.string, ""),
        "label": tfrecord.FixedLenFeature([1], tfrecord.int64, 0),
    }


@measure("small", "DALI")
def _() -> Iterator[int]:
    return dali("small.tfrecord", 256, dali_small_features)


@measure("raw", "DALI")
def _() -> Iterator[int]:
    return dali("raw.tfrecord", 64, dali_raw_features)


@measure("gather", "DALI shuffle buffer of 10,000")
def _() -> Iterator[int]:
    return dali("raw.tfrecord", 64, dali_raw_features, shuffle=10_000)


# --- NumPy, what the machine allows -------------------------------------------------------------------------


@measure("gather", "memory-mapped .npy, row by row and stacked (a torch Dataset)")
def _() -> Iterator[int]:
    images = np.load(data.path("raw.npy"), mmap_mode="r")
    random = np.random.default_rng(3)
    yield START
    while True:
        np.stack([images[i] for i in random.integers(0, data.RAW_ROWS, 64).tolist()])
        yield 64


@measure("gather", "memory-mapped .npy, take (the limit)")
def _() -> Iterator[int]:
    images = np.load(data.path("raw.npy"), mmap_mode="r")
    random = np.random.default_rng(3)
    yield START
    while True:
        np.take(images, random.integers(0, data.RAW_ROWS, 64), axis=0)
        yield 64
