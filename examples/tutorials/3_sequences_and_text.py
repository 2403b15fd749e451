"""Float images by `tobytes`, lists of different lengths, text in UTF-8, and images resized before they are written.

`python 3_sequences_and_text.py [FOLDER] [--rows 60]`
"""

from __future__ import annotations

import argparse
import os
import tempfile

import numpy as np

import penstock.tf as tf

WORDS = ("Müsli", "naïve", "東京", "école", "zażółć", "🙂", "plain")


def _bytes_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _int64_feature(values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def float_images(folder: str, rows: int) -> None:
    """Random images of floats, kept as the bytes that NumPy has for them."""
    random = np.random.default_rng(13)
    images = random.random((rows, 28, 28, 1), dtype=np.float32)
    labels = random.integers(0, 10, rows)
    path = os.path.join(folder, "floats.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for image, label in zip(images, labels, strict=True):
            feature = {"image": _bytes_feature(image.tobytes()), "label": _int64_feature([label])}
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())

    def parse(record):
        features = {
            "image": tf.io.FixedLenFeature([], tf.string),
            "label": tf.io.FixedLenFeature([], tf.int64),
        }
        parsed = tf.io.parse_single_example(record, features)
        image = tf.io.decode_raw(parsed["image"], tf.float32)
        return tf.reshape(image, [28, 28, 1]), tf.cast(parsed["label"], tf.int32)

    dataset = tf.data.TFRecordDataset(path).map(parse).batch(25)
    for image, label in dataset:
        print("floats", image.shape, image.dtype.name, label.dtype.name, label.numpy()[:10])
    back = np.concatenate([image for image, _ in dataset.as_numpy_iterator()])
    print("equal to the bit:", np.array_equal(back, images))


def sequences(folder: str, rows: int) -> None:
    """Lists of whole numbers, each of its own length, read back in the three ways there are."""
    random = np.random.default_rng(14)
    lists = [random.integers(0, 1000, random.integers(0, 9)).tolist() for _ in range(rows)]
    path = os.path.join(folder, "sequences.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for values in lists:
            feature = {"values": _int64_feature(values)}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    records = tf.data.TFRecordDataset(path)

    sparse = {"values": tf.io.VarLenFeature(tf.int64)}
    dataset = records.map(lambda record: tf.io.parse_single_example(record, sparse)["values"])
    for row in dataset.take(3):
        print("VarLen", row.dense_shape.numpy(), row.values.numpy())

    dense = dataset.map(tf.sparse.to_dense)
    print("as they were:", [row.tolist() for row in dense.as_numpy_iterator()] == lists)
    for batch in dense.padded_batch(4, padded_shapes=[None], padding_values=np.int64(-1)).take(2):
        print(batch.numpy())

    flexible = {"values": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}
    lengths = records.map(lambda record: tf.shape(tf.io.parse_single_example(record, flexible)["values"])[0])
    print("lengths", [int(length) for length in lengths.take(12)])

    ragged = {"values": tf.io.RaggedFeature(tf.int64)}
    for batch in records.batch(3).take(1).map(lambda many: tf.io.parse_example(many, ragged)["values"]):
        print("ragged", batch.to_list())


def text(folder: str, rows: int) -> None:
    """Sentences in UTF-8: a string is bytes, and decoded where it is shown."""
    random = np.random.default_rng(15)
    sentences = [" ".join(random.choice(WORDS, random.integers(1, 5))) for _ in range(rows)]
    path = os.path.join(folder, "text.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for sentence in sentences:
            feature = {"text": _bytes_feature(sentence.encode("utf-8"))}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())

    features = {"text": tf.io.FixedLenFeature([], tf.string)}
    dataset = tf.data.TFRecordDataset(path).map(
        lambda record: tf.io.parse_single_example(record, features)["text"]
    )
    for sentence in dataset.take(3):
        print("text", sentence.dtype.name, sentence.numpy().decode("utf-8"))
    print("as it was:", [sentence.decode() for sentence in dataset.as_numpy_iterator()] == sentences)

    words = dataset.map(lambda sentence: tf.strings.split(sentence, " "))
    counts = words.map(tf.size)
    print("words", [int(count) for count in counts.take(10)])
    letters = dataset.map(lambda sentence: tf.strings.length(sentence, unit="UTF8_CHAR"))
    print("letters", [int(length) for length in letters.take(10)])
    lower = dataset.map(lambda sentence: tf.strings.regex_replace(tf.strings.lower(sentence), "[aeiou]", "*"))
    print("without vowels", next(iter(lower)).numpy().decode("utf-8"))


def resized(folder: str, rows: int) -> None:
    """Images of any size, made equal before they are written: small files, and nothing to resize while training."""
    random = np.random.default_rng(16)
    path = os.path.join(folder, "resized.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for _ in range(rows):
            height, width = random.integers(20, 60, 2)
            image = random.integers(0, 256, (height, width, 3), dtype=np.uint8)
            small = tf.image.resize(image, [16, 16])
            small = tf.cast(tf.round(small), tf.uint8)
            feature = {
                "image": _bytes_feature(small.numpy().tobytes()),
                "size": _int64_feature([height, width]),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())

    features = {"image": tf.io.FixedLenFeature([], tf.string), "size": tf.io.FixedLenFeature([2], tf.int64)}

    def parse(record):
        parsed = tf.io.parse_single_example(record, features)
        return tf.reshape(tf.io.decode_raw(parsed["image"], tf.uint8), [16, 16, 3]), parsed["size"]

    dataset = tf.data.TFRecordDataset(path).map(parse)
    for image, size in dataset.take(3):
        print("was", size.numpy(), "is", image.shape, "pixels add up to", image.numpy().sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", help="where the files are kept; else in a temporary folder")
    parser.add_argument("--rows", type=int, default=60)
    given = parser.parse_args()
    if given.folder:
        os.makedirs(given.folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        for part in (float_images, sequences, text, resized):
            part(given.folder or temporary, given.rows)


if __name__ == "__main__":
    main()
