"""JPEG files as Examples in shards, and the pipeline from shards to the batches that a Keras model is fitted to.

`python 4_jpeg_to_keras.py [FOLDER] [--pictures 120] [--no-fit]`
"""

from __future__ import annotations

import argparse
import os
import tempfile

import numpy as np

import penstock.tf as tf

SHARDS, CLASSES, SIZE, BATCH = 4, 3, 32, 16
FEATURES = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
    "ripe": tf.io.FixedLenFeature([], tf.float32),
}


def _bytes_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def _float_feature(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))


def make_pictures(folder: str, pictures: int) -> None:
    """JPEG files of many sizes: a disk on a plain ground, which is red, green or blue by its class."""
    random = np.random.default_rng(17)
    for number in range(pictures):
        height, width = random.integers(40, 90, 2)
        y, x = np.mgrid[:height, :width]
        inside = (y - height / 2) ** 2 + (x - width / 2) ** 2 < (min(height, width) / 3) ** 2
        image = np.full((height, width, 3), random.integers(60, 200), np.uint8)
        image[inside, number % CLASSES] = 230
        with open(os.path.join(folder, f"{number:04}.jpg"), "wb") as file:
            file.write(tf.io.encode_jpeg(image, quality=90).numpy())


def write_shards(folder: str, pictures: int) -> None:
    random = np.random.default_rng(18)
    for shard in range(SHARDS):
        name = f"fruit-{shard:05}-of-{SHARDS:05}.tfrecord"
        with tf.io.TFRecordWriter(os.path.join(folder, name)) as writer:
            for number in range(shard, pictures, SHARDS):
                with open(os.path.join(folder, f"{number:04}.jpg"), "rb") as file:
                    picture = file.read()
                feature = {
                    "image": _bytes_feature(picture),
                    "label": _int64_feature(number % CLASSES),
                    "ripe": _float_feature(random.random()),
                }
                example = tf.train.Example(features=tf.train.Features(feature=feature))
                writer.write(example.SerializeToString())


def parse(record):
    return tf.io.parse_single_example(record, FEATURES)


def decode(row):
    return tf.io.decode_jpeg(row["image"], channels=3), row["label"]


def resize(image, label):
    return tf.image.resize(image, [SIZE, SIZE]), label


def normalise(image, label):
    return image / 255.0, label


def make_dataset(folder: str, pictures: int):
    files = tf.data.Dataset.list_files(os.path.join(folder, "fruit-*.tfrecord"), seed=5)
    records = files.interleave(
        tf.data.TFRecordDataset, cycle_length=SHARDS, num_parallel_calls=tf.data.AUTOTUNE
    )
    return (
        records.shuffle(pictures, seed=6)
        .map(parse, num_parallel_calls=tf.data.AUTOTUNE)
        .map(decode, num_parallel_calls=tf.data.AUTOTUNE)
        .map(resize, num_parallel_calls=tf.data.AUTOTUNE)
        .map(normalise, num_parallel_calls=tf.data.AUTOTUNE)
        .batch(BATCH)
        .prefetch(tf.data.AUTOTUNE)
    )


def look(folder: str, pictures: int) -> None:
    write_shards(folder, pictures)
    dataset = make_dataset(folder, pictures)
    images, labels = dataset.element_spec
    print("batches have", images.shape, images.dtype.name, labels.shape, labels.dtype.name)
    for images, labels in dataset:
        pixels = images.numpy()
        print(images.shape, "labels", labels.numpy(), "mean", pixels.mean(axis=(0, 1, 2)).round(2))


def fit(folder: str, pictures: int) -> None:
    import keras

    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            keras.Input((SIZE, SIZE, 3)),
            keras.layers.Conv2D(12, 3, strides=2, activation="relu"),
            keras.layers.BatchNormalization(momentum=0.7),
            keras.layers.GlobalMaxPooling2D(),
            keras.layers.Dense(CLASSES),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=keras.optimizers.Adam(0.03), loss=loss, metrics=["accuracy"])
    history = model.fit(make_dataset(folder, pictures), epochs=8, verbose=0)
    losses = history.history["loss"]
    print(f"{len(losses)} epochs, the loss fell: {losses[-1] < losses[0]}")
    score = model.evaluate(make_dataset(folder, pictures), verbose=0, return_dict=True)
    print("better than guessing:", score["accuracy"] > 1.5 / CLASSES)
    print("predicted", model.predict(make_dataset(folder, pictures), verbose=0).shape)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", help="where the files are kept; else in a temporary folder")
    parser.add_argument("--pictures", type=int, default=120)
    parser.add_argument(
        "--no-fit", action="store_true", help="stop before the model, for which Keras is needed"
    )
    given = parser.parse_args()
    if given.folder:
        os.makedirs(given.folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or temporary
        make_pictures(folder, given.pictures)
        look(folder, given.pictures)
        if not given.no_fit:
            fit(folder, given.pictures)


if __name__ == "__main__":
    main()
