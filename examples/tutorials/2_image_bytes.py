"""Images as raw bytes, with a label and five numbers that describe each.

`python 2_image_bytes.py [FOLDER] [--rows 200]`
"""

from __future__ import annotations

import argparse
import os
import tempfile

import numpy as np

import penstock.tf as tf

SHAPE = (32, 32, 3)
NAMES = ("brightness", "contrast", "red", "green", "blue")
FEATURES = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
    "metadata": tf.io.FixedLenFeature([len(NAMES)], tf.float32),
}


def make_images(rows: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(12)
    images = random.integers(0, 256, (rows, *SHAPE), dtype=np.uint8)
    return images, random.integers(0, 10, rows)


def metadata_of(image: np.ndarray) -> list[float]:
    return [image.mean(), image.std(), *image.mean(axis=(0, 1))]


def serialize(image: np.ndarray, label: int) -> bytes:
    feature = {
        "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
        "metadata": tf.train.Feature(float_list=tf.train.FloatList(value=metadata_of(image))),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def parse(record):
    parsed = tf.io.parse_single_example(record, FEATURES)
    image = tf.io.decode_raw(parsed["image"], tf.uint8)
    image = tf.reshape(image, SHAPE)
    return image, parsed["label"], parsed["metadata"]


def tutorial(folder: str, rows: int) -> None:
    images, labels = make_images(rows)
    path = os.path.join(folder, "images.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for image, label in zip(images, labels, strict=True):
            writer.write(serialize(image, label))
    print(f"{rows} images in {os.path.getsize(path)} bytes")

    dataset = tf.data.TFRecordDataset([path]).map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    for image, label, metadata in dataset.take(2):
        print("image", image.shape, image.dtype.name, "first pixels", image[0, :2].numpy().tolist())
        print("label", label.numpy(), "metadata", metadata.numpy().round(3).tolist())

    same = all(
        np.array_equal(image, images[i]) and label == labels[i]
        for i, (image, label, _) in enumerate(dataset.as_numpy_iterator())
    )
    print("every pixel and label came back:", same)

    def for_training(image, label, metadata):
        return {"image": tf.cast(image, tf.float32) / 255.0, "metadata": metadata}, tf.one_hot(label, 10)

    training = dataset.map(for_training).shuffle(rows, seed=3).batch(64, drop_remainder=True)
    for inputs, target in training:
        pixels = inputs["image"].numpy()
        print(
            inputs["image"].shape, inputs["image"].dtype.name, inputs["metadata"].shape, target.shape,
            "between", pixels.min(), "and", pixels.max(), "labels", target.numpy().argmax(axis=1)[:8],
        )  # fmt: skip

    bright = dataset.filter(lambda image, label, metadata: metadata[0] > 128)
    print("brighter than 128:", sum(1 for _ in bright))

    grey = dataset.map(lambda image, label, metadata: tf.reduce_mean(tf.cast(image, tf.float32), axis=-1))
    print("grey", next(iter(grey)).shape)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", help="where the file is kept; else in a temporary folder")
    parser.add_argument("--rows", type=int, default=200)
    given = parser.parse_args()
    if given.folder:
        os.makedirs(given.folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        tutorial(given.folder or temporary, given.rows)


if __name__ == "__main__":
    main()
