"""JPEG files of a TFRecord as batches of small pictures. Each yields how many rows it has just handled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import data
from measures import START, forever, measure, tensorflow

SIZE = (128, 128)
BATCH = 32


def ours(**decoding: Any) -> Iterator[int]:
    import penstock as ps

    def small(row: dict[str, Any]) -> tuple[Any, Any]:
        picture = ps.io.decode_jpeg(row["image"], channels=3, **decoding)
        return ps.image.resize(picture, SIZE) / 255, row["label"]

    rows = ps.open(data.path("jpeg.tfrecord")).map(small, num_parallel_calls=ps.AUTOTUNE).batch(BATCH)
    rows = rows.prefetch(ps.AUTOTUNE)
    yield START
    yield from forever(lambda: (len(label) for _, label in rows))


@measure("jpeg", "penstock")
def _() -> Iterator[int]:
    return ours()


@measure("jpeg scaled", "penstock")
def _() -> Iterator[int]:
    return ours(scaled_for=SIZE)


def theirs(**decoding: Any) -> Iterator[int]:
    tf = tensorflow()
    features = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}

    def small(record):
        row = tf.io.parse_single_example(record, features)
        picture = tf.io.decode_jpeg(row["image"], channels=3, **decoding)
        return tf.image.resize(picture, SIZE) / 255, row["label"]

    rows = tf.data.TFRecordDataset(str(data.path("jpeg.tfrecord")))
    rows = rows.map(small, num_parallel_calls=tf.data.AUTOTUNE).batch(BATCH).prefetch(tf.data.AUTOTUNE)
    yield START
    yield from forever(lambda: (len(label) for _, label in rows.as_numpy_iterator()))


@measure("jpeg", "tf.data")
def _() -> Iterator[int]:
    return theirs()


@measure("jpeg scaled", "tf.data, whole")
def _() -> Iterator[int]:
    return theirs()


@measure("jpeg scaled", "tf.data, ratio=2 by hand")
def _() -> Iterator[int]:
    return theirs(ratio=2)


@measure("jpeg", "DALI")
def _() -> Iterator[int]:
    from nvidia.dali import fn, pipeline_def, tfrecord, types

    @pipeline_def(batch_size=BATCH, num_threads=2, device_id=None, prefetch_queue_depth=2)
    def pipeline():
        columns = fn.readers.tfrecord(
            path=str(data.path("jpeg.tfrecord")),
            index_path=str(data.path("jpeg.idx")),
            features={
                "image": tfrecord.FixedLenFeature([], tfrecord.string, ""),
                "label": tfrecord.FixedLenFeature([1], tfrecord.int64, 0),
            },
        )
        images = fn.decoders.image(columns["image"], device="cpu", output_type=types.RGB)
        small = fn.resize(images, size=SIZE, interp_type=types.INTERP_LINEAR, antialias=False)
        return fn.cast(small, dtype=types.FLOAT) / 255, columns["label"]

    running = pipeline()
    running.build()
    yield START
    while True:
        for column in running.run():
            column.as_array()
        yield BATCH
