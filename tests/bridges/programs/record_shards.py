import numpy as np
import tensorflow as tf


def bytes_feature(value):
    if isinstance(value, type(tf.constant(0))):
        value = value.numpy()
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def int64_feature(values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def float_feature(values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def make(i):
    image = np.full((4 + i % 2, 6, 3), i * 9, np.uint8)
    feature = {
        "image/encoded": bytes_feature(tf.io.encode_png(image)),
        "image/object/bbox/xmin": float_feature([0.1 * k for k in range(i % 3)]),
        "image/object/class": int64_feature(list(range(i % 3))),
        "sparse/index": int64_feature([i % 5, 7]),
        "sparse/value": float_feature([i / 2, 1.0]),
        "label": int64_feature([i]),
        "array": bytes_feature(tf.io.serialize_tensor(tf.range(i % 4))),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature))


SHARDS = 3
tf.io.gfile.makedirs("data")
for shard in range(SHARDS):
    options = tf.io.TFRecordOptions(compression_type="GZIP")
    with tf.io.TFRecordWriter(f"data/train-{shard:05d}-of-{SHARDS:05d}.tfrecord.gz", options) as writer:
        for i in range(shard, 10, SHARDS):
            writer.write(make(i).SerializeToString())

DESCRIPTION = {
    "image/encoded": tf.io.FixedLenFeature([], tf.string),
    "image/object/bbox/xmin": tf.io.VarLenFeature(tf.float32),
    "classes": tf.io.RaggedFeature(tf.int64, value_key="image/object/class"),
    "weights": tf.io.SparseFeature("sparse/index", "sparse/value", tf.float32, 8),
    "label": tf.io.FixedLenFeature([], tf.int64),
    "array": tf.io.FixedLenFeature([], tf.string, default_value=""),
    "missing": tf.io.FixedLenFeature([2], tf.float32, default_value=[1.0, 2.0]),
    "sequence": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
}
files = tf.data.Dataset.list_files("data/train-*.tfrecord.gz", shuffle=False)
print([path.numpy() for path in files])
records = files.interleave(
    lambda path: tf.data.TFRecordDataset(path, compression_type="GZIP"),
    cycle_length=2,
    block_length=2,
    num_parallel_calls=tf.data.AUTOTUNE,
    deterministic=True,
)


def parse(record):
    row = tf.io.parse_single_example(record, DESCRIPTION)
    image = tf.io.decode_png(row["image/encoded"], channels=3)
    image = tf.image.resize(tf.image.convert_image_dtype(image, tf.float32), [3, 3])
    boxes = tf.sparse.to_dense(row["image/object/bbox/xmin"], default_value=0.0)
    return {
        "image": image,
        "boxes": boxes,
        "classes": row["classes"],
        "weights": tf.sparse.to_dense(row["weights"]),
        "array": tf.io.parse_tensor(row["array"], tf.int32),
        "missing": row["missing"],
        "sequence": row["sequence"],
    }, row["label"]


for row, label in records.map(parse):
    print(
        label.numpy(),
        {key: np.round(value.numpy(), 4).tolist() for key, value in sorted(row.items()) if key != "image"},
    )
    print(row["image"].shape, round(float(tf.reduce_mean(row["image"])), 5))

several = records.batch(4).map(
    lambda batch: tf.io.parse_example(batch, {k: v for k, v in DESCRIPTION.items() if k != "array"})
)
for row in several:
    print(row["classes"].to_list(), row["label"].numpy())
    found = row["image/object/bbox/xmin"]
    print(found.indices.numpy().tolist(), found.values.numpy(), found.dense_shape.numpy())
    print(tf.sparse.to_dense(row["weights"]).numpy().tolist())
    print(row["sequence"].numpy().tolist(), row["missing"].numpy().tolist())
padded = (
    records.map(parse)
    .map(lambda row, label: (row["boxes"], label))
    .padded_batch(5, padding_values=(-1.0, None))
)
for boxes, labels in padded:
    print(boxes.numpy().round(3).tolist(), labels.numpy())
print(records.reduce(np.int64(0), lambda n, _: n + 1).numpy())
crops = records.map(parse).map(
    lambda row, label: (
        tf.image.stateless_random_crop(row["image"], [2, 2, 3], seed=tf.stack([label, 7])),
        label,
    )
)
print([(np.round(image.mean(), 5), label) for image, label in crops.as_numpy_iterator()])
