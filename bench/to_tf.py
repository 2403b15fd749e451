"""Measures of batches that arrive in TensorFlow: `ds.to_tf()` beside a pipeline that is all tf.data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import data
from measures import START, forever, measure, tensorflow, tf_raw_features, tf_small_features
from ours import images

PEER = "penstock"


def counting(batches: Any, name: str) -> Iterator[int]:
    """Rows of the tensors of each batch, as a training loop takes them."""
    yield START
    yield from forever(lambda: (int(batch[name].shape[0]) for batch in batches))


def ours(name: str, size: int, features: Any = None) -> Any:
    import penstock as ps

    tf = tensorflow()
    rows = ps.open(str(data.path(name)), features=features).batch(size)
    return rows.to_tf().prefetch(tf.data.AUTOTUNE)


@measure("to_tf raw", PEER)
def _() -> Iterator[int]:
    return counting(ours("raw.tfrecord", 64, images()), "label")


@measure("to_tf small", PEER)
def _() -> Iterator[int]:
    return counting(ours("small.tfrecord", 256), "y")


def theirs(name: str, size: int, parse: Any) -> Any:
    tf = tensorflow()
    return tf.data.TFRecordDataset(str(data.path(name))).batch(size).map(parse).prefetch(tf.data.AUTOTUNE)


@measure("to_tf raw", "tf.data batch parse")
def _() -> Iterator[int]:
    tf = tensorflow()
    features = tf_raw_features(tf)

    def parse(records: Any) -> Any:
        batch = tf.io.parse_example(records, features)
        images = tf.reshape(tf.io.decode_raw(batch["image"], tf.uint8), [-1, *data.IMAGE_SHAPE])
        return {"image": images, "label": batch["label"]}

    return counting(theirs("raw.tfrecord", 64, parse), "label")


@measure("to_tf small", "tf.data batch parse")
def _() -> Iterator[int]:
    tf = tensorflow()
    features = tf_small_features(tf)
    return counting(
        theirs("small.tfrecord", 256, lambda records: tf.io.parse_example(records, features)), "y"
    )
