"""What tutorials say of TensorFlow and TensorFlow does not keep: penstock does.

`python promises.py [FOLDER]`
"""

from __future__ import annotations

import argparse
import os
import tempfile

import penstock as ps
import penstock.tf as tf


def loading_finds_out_the_compression(folder: str) -> None:
    path = os.path.join(folder, "zipped")
    tf.data.experimental.save(tf.data.Dataset.range(5), path, compression="GZIP")
    again = tf.data.experimental.load(path)  # TensorFlow: DataLossError, unless told compression="GZIP"
    print("loaded without a word on GZIP:", [int(x) for x in again])


def a_saved_dataset_knows_its_pipeline(folder: str) -> None:
    path = os.path.join(folder, "squares")
    tf.data.Dataset.range(20).map(lambda x: x * x).filter(lambda x: x % 2 == 0).batch(4).save(path)
    pipeline = ps.load(path).pipeline
    print(pipeline.explain())
    print("run again:", [batch.tolist() for batch in pipeline])


def a_file_cache_is_used_by_the_same_expression_only(folder: str) -> None:
    log = os.path.join(folder, "calls")
    path = os.path.join(folder, "cache")

    def build(factor: int):
        def scaled(x):
            with open(log, "a") as file:
                file.write(".")
            return x * factor

        return tf.data.Dataset.range(5).map(lambda x: tf.py_function(scaled, [x], tf.int64)).cache(path)

    def show(what: str, factor: int) -> None:
        dataset = build(factor)
        open(
            log, "w"
        ).close()  # making the dataset called the function once, to learn the shape of its result
        print(what, [int(x) for x in dataset], "in", os.path.getsize(log), "calls")

    show("first", 10)
    show("built again", 10)
    show("another function", 11)  # TensorFlow goes by the name of the file, and gives the rows of before


def a_checkpoint_is_restored_from_its_name(folder: str) -> None:
    name = os.path.join(folder, "in-mid-epoch")
    numbers = tf.data.Dataset.range(100).shuffle(50, seed=1).batch(4)
    iterator = iter(numbers)
    for _ in range(3):
        next(iterator)
    tf.train.Checkpoint(iterator=iterator).save(name)
    due = next(iterator).numpy()

    another = iter(numbers)
    tf.train.Checkpoint(iterator=another).restore(name)  # TensorFlow: NotFoundError, it is "in-mid-epoch-1"
    print("due", due, "restored", next(another).numpy())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", help="where the files are kept; else in a temporary folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for promise in (
            loading_finds_out_the_compression,
            a_saved_dataset_knows_its_pipeline,
            a_file_cache_is_used_by_the_same_expression_only,
            a_checkpoint_is_restored_from_its_name,
        ):
            promise(given.folder or temporary)


if __name__ == "__main__":
    main()
