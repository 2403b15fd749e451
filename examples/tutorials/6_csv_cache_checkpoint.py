"""A dataset over CSV from one function, its caches, and an iterator that goes on in another process.

`python 6_csv_cache_checkpoint.py [FOLDER] [--rows 500]`
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile

import numpy as np

import penstock.tf as tf

COLUMNS = ("age", "height", "city", "smoker")
CITIES = ("Bern", "Graz", "Lyon", "Oslo")
STOP_AFTER = 7


def make_csv(path: str, rows: int) -> None:
    random = np.random.default_rng(19)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for _ in range(rows):
            height = round(random.normal(172, 9), 1)
            writer.writerow([random.integers(18, 90), height, random.choice(CITIES), random.integers(0, 2)])


def make_dataset(path: str, batch_size: int, *, shuffle: bool = False):
    """What training calls at its start: the same arguments give the same dataset."""
    dataset = tf.data.experimental.make_csv_dataset(
        path, batch_size, label_name="smoker", num_epochs=1, shuffle=shuffle, shuffle_seed=4
    )
    return dataset.cache().prefetch(tf.data.AUTOTUNE)


def build_twice(path: str) -> None:
    for features, label in make_dataset(path, 64).take(1):
        for name, values in sorted(features.items()):
            print(name, values.shape, values.dtype.name, values.numpy()[:3])
        print("label", label.shape, label.dtype.name, label.numpy()[:10])
    first, second = make_dataset(path, 64), make_dataset(path, 64)
    pairs = zip(first.as_numpy_iterator(), second.as_numpy_iterator(), strict=True)
    same = [np.array_equal(a[0]["age"], b[0]["age"]) and np.array_equal(a[1], b[1]) for a, b in pairs]
    print(f"built again: {len(same)} batches, the same: {all(same)}")
    means = [float(features["height"].numpy().mean().round(2)) for features, _ in second]
    print("mean heights", means)


def cache_once(folder: str) -> None:
    """The map before a cache runs in the first pass only."""
    calls = []

    def slow(x):
        calls.append(int(x))
        return x * 10

    numbers = tf.data.Dataset.range(20).map(lambda x: tf.py_function(slow, [x], tf.int64))
    in_memory, in_a_file = numbers.cache(), numbers.cache(os.path.join(folder, "numbers"))
    for name, cached in (("in memory", in_memory), ("in a file", in_a_file)):
        for _ in range(3):
            calls.clear()
            total = sum(int(x) for x in cached)
            print(f"{name}: adds up to {total} in {len(calls)} calls")


def parse_line(line):
    age, height, city, smoker = tf.io.decode_csv(line, [0, 0.0, "", 0])
    return {"age": age, "height": height, "city": city}, smoker


def lines_of(path: str):
    """Lines of the file, shuffled: what the two processes go over."""
    lines = tf.data.TextLineDataset(path).skip(1)
    return lines.shuffle(100, seed=8).map(parse_line).batch(16).prefetch(2)


def show(number: int, features, label) -> None:
    ages, city = features["age"].numpy()[:6], features["city"].numpy()[0].decode()
    print("batch", number, "ages", ages, "first from", city, "smokers", label.numpy().sum())


def stop(folder: str, path: str) -> None:
    iterator = iter(lines_of(path))
    for _ in range(STOP_AFTER):
        batch = next(iterator)
    show(STOP_AFTER - 1, *batch)
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, os.path.join(folder, "checkpoints"), max_to_keep=2)
    saved = manager.save()
    print("saved", os.path.basename(saved))


def go_on(folder: str, path: str) -> None:
    """In a process that has seen nothing of the first one but its files."""
    iterator = iter(lines_of(path))
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    latest = tf.train.latest_checkpoint(os.path.join(folder, "checkpoints"))
    print("restoring", os.path.basename(latest))
    checkpoint.restore(latest)
    rest = list(iterator)
    show(STOP_AFTER, *rest[0])
    show(STOP_AFTER + len(rest) - 1, *rest[-1])
    whole = list(lines_of(path))
    pairs = zip(rest, whole[STOP_AFTER:], strict=True)
    same = [np.array_equal(a[0]["height"], b[0]["height"]) for a, b in pairs]
    print(f"the {len(same)} batches that were due:", all(same))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", help="where the files are kept; else in a temporary folder")
    parser.add_argument("--rows", type=int, default=500, help="at least 500")
    parser.add_argument("--go-on", action="store_true", help="what the second process is started with")
    given = parser.parse_args()
    if given.rows < 500:
        parser.error("--rows: the tutorial stops in the middle of 500 rows or more")
    if given.folder:
        os.makedirs(given.folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or temporary
        path = os.path.join(folder, "people.csv")
        if given.go_on:
            go_on(folder, path)
            return
        make_csv(path, given.rows)
        build_twice(path)
        cache_once(folder)
        stop(folder, path)
        sys.stdout.flush()
        subprocess.run([sys.executable, __file__, folder, "--go-on"], check=True)


if __name__ == "__main__":
    main()
