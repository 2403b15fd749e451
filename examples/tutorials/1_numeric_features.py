"""Numeric features: the rows of a matrix as Examples in one file, and back with the shape they had.

`python 1_numeric_features.py [FOLDER] [--rows 1000]`
"""

from __future__ import annotations

import argparse
import os
import tempfile

import numpy as np

import penstock.tf as tf

FEATURES = {
    "x": tf.io.FixedLenFeature([3], tf.float32),
    "y": tf.io.FixedLenFeature([], tf.int64),
}


def make_matrix(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Points in space, and of each whether its numbers add up to more than 0."""
    x = np.random.default_rng(11).standard_normal((rows, 3)).astype(np.float32)
    return x, (x.sum(axis=1) > 0).astype(np.int64)


def serialize(x: np.ndarray, y: np.int64) -> bytes:
    feature = {
        "x": tf.train.Feature(float_list=tf.train.FloatList(value=x)),
        "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[y])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def write(path: str, x: np.ndarray, y: np.ndarray) -> None:
    with tf.io.TFRecordWriter(path) as writer:
        for point, label in zip(x, y, strict=True):
            writer.write(serialize(point, label))


def parse(record):
    parsed = tf.io.parse_single_example(record, FEATURES)
    return parsed["x"], parsed["y"]


def tutorial(folder: str, rows: int) -> None:
    x, y = make_matrix(rows)
    path = os.path.join(folder, "points.tfrecord")
    write(path, x, y)
    print(f"{rows} points in {os.path.getsize(path)} bytes")

    dataset = tf.data.TFRecordDataset(path).map(parse)
    for spec in dataset.element_spec:
        print("one element has", spec.shape, spec.dtype.name)
    for point, label in dataset.take(3):
        print(point.numpy(), label.numpy(), point.shape, label.shape, point.dtype.name, label.dtype.name)

    back = list(dataset.as_numpy_iterator())
    same = np.array_equal(np.stack([point for point, _ in back]), x)
    print(f"{len(back)} points came back, equal to the bit: {same}")

    # Many records at once are parsed faster than one by one.
    batches = tf.data.TFRecordDataset(path).batch(256).map(lambda many: tf.io.parse_example(many, FEATURES))
    print("batches", [tuple(batch["x"].shape) for batch in batches])

    mean, deviation = x.mean(axis=0), x.std(axis=0)
    scaled = dataset.map(lambda point, label: ((point - mean) / deviation, label))
    values = np.stack([point for point, _ in scaled.as_numpy_iterator()])
    print("scaled: mean", np.abs(values.mean(axis=0)).round(3), "deviation", values.std(axis=0).round(3))

    positive = dataset.filter(lambda point, label: label == 1)
    count = positive.reduce(np.int64(0), lambda total, _: total + 1)
    print("labels that are 1:", count.numpy())

    wrong = {"x": tf.io.FixedLenFeature([4], tf.float32)}
    try:
        list(tf.data.TFRecordDataset(path).map(lambda record: tf.io.parse_single_example(record, wrong)))
    except tf.errors.InvalidArgumentError:
        print("four numbers where there are three: InvalidArgumentError")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", help="where the file is kept; else in a temporary folder")
    parser.add_argument("--rows", type=int, default=1000)
    given = parser.parse_args()
    if given.folder:
        os.makedirs(given.folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        tutorial(given.folder or temporary, given.rows)


if __name__ == "__main__":
    main()
