"""Datasets saved and loaded: a simple one, one behind a pipeline, and 100,000 elements of a Python function.

`python 5_save_and_load.py [FOLDER] [--elements 100000]`
"""

from __future__ import annotations

import argparse
import os
import tempfile

import numpy as np

import penstock.tf as tf


def simple(folder: str) -> None:
    path = os.path.join(folder, "simple")
    tf.data.experimental.save(tf.data.Dataset.range(10), path)
    again = tf.data.experimental.load(path)
    print("simple", again.element_spec.shape, again.element_spec.dtype.name, [int(x) for x in again])
    print("elements", tf.data.experimental.cardinality(again).numpy())


def behind_a_pipeline(folder: str) -> None:
    path = os.path.join(folder, "pipeline")
    squares = (
        tf.data.Dataset.range(100)
        .map(lambda x: {"x": x, "square": tf.cast(x, tf.float32) ** 2})
        .filter(lambda row: row["x"] % 3 == 0)
        .shuffle(20, seed=2)
        .batch(8)
    )
    tf.data.experimental.save(squares, path)
    again = tf.data.experimental.load(path)
    for name, spec in sorted(again.element_spec.items()):
        print("pipeline", name, spec.shape, spec.dtype.name)
    for row in again:
        print(row["x"].numpy(), row["square"].numpy().sum())

    # What was saved are rows in the order of that pass: they take further steps as any dataset does.
    rows = again.unbatch().map(lambda row: row["square"]).take(5)
    print("on", [float(square) for square in rows])


def of_a_python_function(folder: str, elements: int) -> None:
    path = os.path.join(folder, "function")

    def digits(number):
        """Runs in Python, for each element."""
        return sum(int(digit) for digit in str(int(number)))

    numbers = tf.data.Dataset.range(elements)
    sums = numbers.map(lambda x: (x, tf.py_function(digits, inp=[x], Tout=tf.int64)))
    tf.data.experimental.save(sums, path, compression="GZIP")

    again = tf.data.experimental.load(path, compression="GZIP")
    print("function", tf.data.experimental.cardinality(again).numpy(), "elements")
    pairs = list(again.batch(10_000).as_numpy_iterator())
    print("batches", len(pairs), "the last", pairs[-1][0][-1], pairs[-1][1][-1])
    print("sum of all digits", np.sum([digits.sum() for _, digits in pairs]))
    first = again.take(12)
    print("first", [int(digits) for _, digits in first])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", help="where the datasets are kept; else in a temporary folder")
    parser.add_argument("--elements", type=int, default=100_000)
    given = parser.parse_args()
    if given.folder:
        os.makedirs(given.folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or temporary
        simple(folder)
        behind_a_pipeline(folder)
        of_a_python_function(folder, given.elements)


if __name__ == "__main__":
    main()
