"""The pipeline of tutorial 4 with TensorFlow's names, once on `penstock.tf` and once on TensorFlow itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import data
from measures import START, forever, measure, tensorflow

PEER, PEER_TF, BATCH = "penstock", "tf.data", 32


def batches(tf: Any, name: str, size: int) -> Any:
    """From the names of the shards to batches of `float32[32, size, size, 3]`, as the tutorial writes it."""
    features = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

    def decode(row: Any) -> Any:
        return tf.io.decode_jpeg(row["image"], channels=3), row["label"]

    def resize(image: Any, label: Any) -> Any:
        return tf.image.resize(image, [size, size]), label

    def normalise(image: Any, label: Any) -> Any:
        return image / 255.0, label

    files = tf.data.Dataset.list_files(str(data.path(name) / "*.tfrecord"), seed=5)
    records = files.interleave(
        tf.data.TFRecordDataset, cycle_length=data.PICTURE_SHARDS, num_parallel_calls=tf.data.AUTOTUNE
    )
    return (
        records.shuffle(500, seed=6)
        .map(lambda record: tf.io.parse_single_example(record, features), num_parallel_calls=tf.data.AUTOTUNE)
        .map(decode, num_parallel_calls=tf.data.AUTOTUNE)
        .map(resize, num_parallel_calls=tf.data.AUTOTUNE)
        .map(normalise, num_parallel_calls=tf.data.AUTOTUNE)
        .batch(BATCH)
        .prefetch(tf.data.AUTOTUNE)
    )


def counted(tf: Any, name: str, size: int) -> Iterator[int]:
    dataset = batches(tf, name, size)
    yield START
    yield from forever(lambda: (len(labels) for _, labels in dataset.as_numpy_iterator()))


def ours() -> Any:
    import penstock.tf as tf

    return tf


@measure("tutorial", PEER)
def _() -> Iterator[int]:
    return counted(ours(), "thumbnails", 32)


@measure("tutorial", PEER_TF)
def _() -> Iterator[int]:
    return counted(tensorflow(), "thumbnails", 32)


@measure("tutorial photos", PEER)
def _() -> Iterator[int]:
    return counted(ours(), "pictures", 128)


@measure("tutorial photos", PEER_TF)
def _() -> Iterator[int]:
    return counted(tensorflow(), "pictures", 128)
