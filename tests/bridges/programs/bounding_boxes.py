import os
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(7)


def _bytes(values):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


def _floats(values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def _ints(values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


CLASSES = ["cat", "dog", "bird"]


def create_example(i):
    height, width = 20 + i, 30 + 2 * i
    image = rng.integers(0, 255, (height, width, 3), dtype=np.uint8)
    n = i % 4
    corners = np.sort(rng.random((n, 2, 2)), axis=1)
    labels = [j % 3 for j in range(n)]
    feature = {
        "image/encoded": _bytes([tf.io.encode_png(image).numpy()]),
        "image/format": _bytes([b"png"]),
        "image/filename": _bytes([f"image_{i}.png".encode()]),
        "image/height": _ints([height]),
        "image/width": _ints([width]),
        "image/object/bbox/xmin": _floats(corners[:, 0, 1].tolist()),
        "image/object/bbox/xmax": _floats(corners[:, 1, 1].tolist()),
        "image/object/bbox/ymin": _floats(corners[:, 0, 0].tolist()),
        "image/object/bbox/ymax": _floats(corners[:, 1, 0].tolist()),
        "image/object/class/text": _bytes([CLASSES[j].encode() for j in labels]),
        "image/object/class/label": _ints(labels),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature))


os.makedirs("records", exist_ok=True)
options = tf.io.TFRecordOptions(compression_type="GZIP")
for shard in range(3):
    with tf.io.TFRecordWriter(f"records/train-{shard:05d}-of-00003.tfrecord", options) as writer:
        for i in range(shard * 3, shard * 3 + 3):
            writer.write(create_example(i).SerializeToString())

FEATURES = {
    "image/encoded": tf.io.FixedLenFeature((), tf.string),
    "image/filename": tf.io.FixedLenFeature((), tf.string, default_value=""),
    "image/height": tf.io.FixedLenFeature((), tf.int64),
    "image/width": tf.io.FixedLenFeature((), tf.int64),
    "image/object/bbox/xmin": tf.io.VarLenFeature(tf.float32),
    "image/object/bbox/xmax": tf.io.VarLenFeature(tf.float32),
    "image/object/bbox/ymin": tf.io.VarLenFeature(tf.float32),
    "image/object/bbox/ymax": tf.io.VarLenFeature(tf.float32),
    "image/object/class/label": tf.io.VarLenFeature(tf.int64),
    "image/object/class/text": tf.io.VarLenFeature(tf.string),
    "image/object/difficult": tf.io.VarLenFeature(tf.int64),
}


def parse(serialized):
    parsed = tf.io.parse_single_example(serialized, FEATURES)
    for key in list(parsed):
        if isinstance(parsed[key], tf.SparseTensor):
            if parsed[key].dtype == tf.string:
                parsed[key] = tf.sparse.to_dense(parsed[key], default_value="")
            else:
                parsed[key] = tf.sparse.to_dense(parsed[key], default_value=0)
    image = tf.io.decode_image(parsed["image/encoded"], channels=3, expand_animations=False)
    image.set_shape([None, None, 3])
    boxes = tf.stack(
        [parsed[f"image/object/bbox/{side}"] for side in ("ymin", "xmin", "ymax", "xmax")], axis=-1
    )
    sizes = tf.cast(tf.stack([parsed["image/height"], parsed["image/width"]] * 2), tf.float32)
    return {
        "image": image,
        "name": parsed["image/filename"],
        "boxes": boxes,
        "pixels": boxes * sizes[tf.newaxis],
        "labels": tf.cast(parsed["image/object/class/label"], tf.int32),
        "texts": parsed["image/object/class/text"],
        "difficult": tf.size(parsed["image/object/difficult"]),
    }


files = tf.data.Dataset.list_files("records/train-*.tfrecord", shuffle=False)
ds = files.interleave(
    lambda name: tf.data.TFRecordDataset(name, compression_type="GZIP"),
    cycle_length=2,
    num_parallel_calls=tf.data.AUTOTUNE,
    deterministic=True,
)
parsed = ds.map(parse, num_parallel_calls=4)
print(parsed.element_spec)
for row in parsed:
    print(
        row["name"].numpy(),
        row["image"].shape,
        row["boxes"].shape,
        row["labels"].numpy(),
        row["texts"].numpy(),
    )
    print(row["pixels"].numpy().round(2).tolist(), row["difficult"].numpy())


def pad_boxes(row, most=5):
    image = tf.image.resize(tf.cast(row["image"], tf.float32), (16, 16)) / 255.0
    n = tf.shape(row["boxes"])[0]
    boxes = tf.pad(row["boxes"], [[0, most - n], [0, 0]])
    boxes = tf.ensure_shape(boxes, [most, 4])
    labels = tf.pad(row["labels"], [[0, most - n]], constant_values=-1)
    labels.set_shape([most])
    valid = tf.sequence_mask(n, most, dtype=tf.float32)
    return image, {"boxes": boxes, "labels": labels, "valid": valid}


batches = (
    parsed.filter(lambda row: tf.greater(tf.size(row["labels"]), 0))
    .map(pad_boxes)
    .batch(3, drop_remainder=True)
)
print(batches.element_spec)
for image, target in batches:
    print(image.shape, round(float(tf.reduce_mean(image)), 4))
    print(target["boxes"].numpy().round(3).tolist())
    print(target["labels"].numpy().tolist(), target["valid"].numpy().tolist())


def flip(row):
    boxes = row["boxes"]
    ymin, xmin, ymax, xmax = tf.unstack(boxes, axis=-1)
    flipped = tf.stack([ymin, 1.0 - xmax, ymax, 1.0 - xmin], axis=-1)
    area = tf.reduce_sum((flipped[:, 2] - flipped[:, 0]) * (flipped[:, 3] - flipped[:, 1]))
    image = tf.image.flip_left_right(row["image"])
    drawn = tf.image.draw_bounding_boxes(
        tf.cast(image, tf.float32)[tf.newaxis] / 255.0, flipped[tf.newaxis], [[1.0, 0.0, 0.0]]
    )
    return flipped, area, tf.reduce_sum(drawn)


for flipped, area, total in parsed.skip(1).map(flip):
    print(flipped.numpy().round(3).tolist(), f"{area.numpy():.4f}", f"{total.numpy():.1f}")
padded = parsed.map(lambda row: (row["boxes"], row["labels"], row["texts"])).padded_batch(
    4, padded_shapes=([None, 4], [None], [3]), padding_values=(0.0, -1, "none")
)
for boxes, labels, texts in padded:
    print(boxes.shape, labels.numpy().tolist(), texts.numpy().tolist())
