"""A pandas DataFrame of mixed types to TFRecords in shards, and back to an equal DataFrame.

`python 7_dataframe_to_shards.py [FOLDER] [--rows 1000] [--shards 4]`
"""

from __future__ import annotations

import argparse
import os
import tempfile

import numpy as np
import pandas as pd

import penstock.tf as tf

SIZES = ["small", "medium", "large"]
FEATURES = {
    "id": tf.io.FixedLenFeature([], tf.int64),
    "price": tf.io.FixedLenFeature([], tf.float32),
    "name": tf.io.FixedLenFeature([], tf.string),
    "sold": tf.io.FixedLenFeature([], tf.int64),
    "size": tf.io.FixedLenFeature([], tf.int64),
    "day": tf.io.FixedLenFeature([], tf.int64),
    "rating": tf.io.FixedLenFeature([], tf.float32, default_value=float("nan")),
}


def make_frame(rows: int) -> pd.DataFrame:
    """Whole numbers, floats, text, truth values, categories, days, and ratings of which some are missing."""
    random = np.random.default_rng(20)
    rating = random.integers(1, 6, rows).astype(np.float32)
    rating[random.random(rows) < 0.2] = np.nan
    days = np.datetime64("2024-01-01", "ns") + random.integers(0, 366, rows).astype("timedelta64[D]")
    return pd.DataFrame(
        {
            "id": np.arange(rows) + 10_000,
            "price": random.gamma(2.0, 15.0, rows).astype(np.float32),
            "name": [f"piece № {number}" for number in random.integers(0, 500, rows)],
            "sold": random.random(rows) < 0.5,
            "size": pd.Categorical.from_codes(random.integers(0, len(SIZES), rows), SIZES),
            "day": days,
            "rating": rating,
        }
    )


def to_example(row) -> tf.train.Example:
    """One row of the frame; a rating that is missing is left out."""
    feature = {
        "id": tf.train.Feature(int64_list=tf.train.Int64List(value=[row.id])),
        "price": tf.train.Feature(float_list=tf.train.FloatList(value=[row.price])),
        "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[row.name.encode("utf-8")])),
        "sold": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(row.sold)])),
        "size": tf.train.Feature(int64_list=tf.train.Int64List(value=[SIZES.index(row.size)])),
        "day": tf.train.Feature(int64_list=tf.train.Int64List(value=[row.day.value])),
    }
    if not np.isnan(row.rating):
        feature["rating"] = tf.train.Feature(float_list=tf.train.FloatList(value=[row.rating]))
    return tf.train.Example(features=tf.train.Features(feature=feature))


def write(frame: pd.DataFrame, folder: str, shards: int) -> list[str]:
    """The frame in parts of consecutive rows, a file each."""
    paths = []
    for shard, rows in enumerate(np.array_split(np.arange(len(frame)), shards)):
        path = os.path.join(folder, f"pieces-{shard:05}-of-{shards:05}.tfrecord")
        with tf.io.TFRecordWriter(path, options="GZIP") as writer:
            for row in frame.iloc[rows].itertuples(index=False):
                writer.write(to_example(row).SerializeToString())
        paths.append(path)
    return paths


def read(folder: str):
    """Rows of all shards, in the order of the frame."""
    files = tf.data.Dataset.list_files(os.path.join(folder, "pieces-*.tfrecord"), shuffle=False)
    records = files.flat_map(lambda file: tf.data.TFRecordDataset(file, compression_type="GZIP"))
    batches = records.batch(128).map(lambda many: tf.io.parse_example(many, FEATURES))
    return batches.prefetch(tf.data.AUTOTUNE)


def to_frame(dataset) -> pd.DataFrame:
    parts = [pd.DataFrame(batch) for batch in dataset.as_numpy_iterator()]
    frame = pd.concat(parts, ignore_index=True)[list(FEATURES)]
    frame["name"] = frame["name"].str.decode("utf-8")
    frame["sold"] = frame["sold"].astype(bool)
    frame["size"] = pd.Categorical.from_codes(frame["size"], SIZES)
    frame["day"] = pd.to_datetime(frame["day"])
    return frame


def tutorial(folder: str, rows: int, shards: int) -> None:
    frame = make_frame(rows)
    print(frame.dtypes.to_string())
    for path in write(frame, folder, shards):
        count = sum(1 for _ in tf.data.TFRecordDataset(path, compression_type="GZIP"))
        print(os.path.basename(path), count, "rows")

    again = to_frame(read(folder))
    pd.testing.assert_frame_equal(again, frame, check_column_type=False)
    print(f"{len(again)} rows came back, equal in every column")
    print(again.head(4).to_string())

    large = read(folder).unbatch().filter(lambda row: row["size"] == SIZES.index("large"))
    prices = large.map(lambda row: row["price"])
    count = prices.reduce(np.int64(0), lambda total, _: total + 1)
    print("large pieces", count.numpy(), "the dearest", max(float(price) for price in prices))

    missing = read(folder).unbatch().filter(lambda row: tf.math.is_nan(row["rating"]))
    print("without a rating", sum(1 for _ in missing), "in the frame", int(frame["rating"].isna().sum()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", help="where the files are kept; else in a temporary folder")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--shards", type=int, default=4)
    given = parser.parse_args()
    if given.folder:
        os.makedirs(given.folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        tutorial(given.folder or temporary, given.rows, given.shards)


if __name__ == "__main__":
    main()
