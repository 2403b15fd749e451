import tensorflow as tf
import numpy as np

x = tf.random.stateless_normal([4, 3, 2], [1, 2])
ser = tf.io.serialize_tensor(x)
print(ser.dtype, len(ser.numpy()))
back = tf.io.parse_tensor(ser, out_type=tf.float32)
print(tf.reduce_all(back == x))


def _bytes_feature(value):
    if isinstance(value, type(tf.constant(0))):
        value = value.numpy()
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def parse_single_image(image, label):
    data = {
        "height": tf.train.Feature(int64_list=tf.train.Int64List(value=[image.shape[0]])),
        "raw_image": _bytes_feature(tf.io.serialize_tensor(image)),
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
    }
    return tf.train.Example(features=tf.train.Features(feature=data))


def write_images_to_tfr_short(images, labels, filename="images"):
    filename = filename + ".tfrecords"
    writer = tf.io.TFRecordWriter(filename)
    count = 0
    for index in range(len(images)):
        out = parse_single_image(image=images[index], label=int(labels[index]))
        writer.write(out.SerializeToString())
        count += 1
    writer.close()
    print(f"Wrote {count} elements to TFRecord")
    return count


rng = np.random.default_rng(0)
images_small = rng.integers(low=0, high=256, size=(10, 8, 8, 3), dtype=np.uint8)
labels_small = rng.integers(low=0, high=5, size=(10, 1))
write_images_to_tfr_short(images_small, labels_small[:, 0], "small")


def parse_tfr_element(element):
    data = {
        "height": tf.io.FixedLenFeature([], tf.int64),
        "raw_image": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }
    content = tf.io.parse_single_example(element, data)
    height = content["height"]
    raw_image = content["raw_image"]
    feature = tf.io.parse_tensor(raw_image, out_type=tf.uint8)
    feature = tf.reshape(feature, shape=[height, 8, 3])
    return (feature, content["label"])


def get_dataset_small(filename):
    dataset = tf.data.TFRecordDataset(filename)
    return dataset.map(parse_tfr_element)


for sample in get_dataset_small("small.tfrecords").take(2):
    print(sample[0].shape, sample[1], tf.reduce_sum(tf.cast(sample[0], tf.int32)))
print(get_dataset_small("small.tfrecords").element_spec)
ds = tf.data.Dataset.from_tensor_slices(images_small.astype(np.float32)).map(tf.io.serialize_tensor)
w = tf.data.experimental.TFRecordWriter("t.rec")
w.write(ds)
back = tf.data.TFRecordDataset("t.rec").map(
    lambda s: tf.ensure_shape(tf.io.parse_tensor(s, tf.float32), (8, 8, 3))
)
print(back.element_spec, back.reduce(0.0, lambda a, b: a + tf.reduce_sum(b)).numpy())


def generator():
    for i in range(3):
        yield {"a": np.ones((i, 2), np.float32), "t": "name%d" % i}, i


g = tf.data.Dataset.from_generator(
    generator,
    output_signature=(
        {"a": tf.TensorSpec((None, 2), tf.float32), "t": tf.TensorSpec((), tf.string)},
        tf.TensorSpec((), tf.int32),
    ),
)
for d, i in g:
    print(d["a"].shape, d["t"], i)
# audio-like
t = np.arange(1600) / 16000
wav = (np.sin(440 * 2 * np.pi * t) * 3e4).astype("<i2")
audio = tf.io.decode_raw(wav.tobytes(), tf.int16)
audio = tf.cast(audio, tf.float32) / 32768.0
print(audio.shape, audio[:5], tf.reduce_max(audio), tf.reduce_min(audio))


def squeeze(audio):
    return tf.squeeze(audio, axis=-1)


pad = tf.zeros([2000] - tf.shape(audio), dtype=tf.float32)
full = tf.concat([audio, pad], 0)
print(full.shape, tf.pad(audio, [[0, 2000 - audio.shape[0]]]).shape)
frames = (
    tf.data.Dataset.from_tensor_slices(full)
    .window(400, 200, drop_remainder=True)
    .flat_map(lambda w: w.batch(400))
)
for f in frames.take(2):
    print(f.shape, tf.math.reduce_std(f).numpy().round(4), tf.math.reduce_variance(f).numpy().round(4))
be = tf.io.decode_raw(np.arange(6, dtype=">i4").tobytes(), tf.int32, little_endian=False)
print(be)
many = tf.io.decode_raw([b"\1\2\3\4", b"\5\6\7\10"], tf.uint8)
print(many)
print(tf.io.decode_raw(["abc", "de"], tf.uint8, fixed_length=4))
fixed = b"HH" + b"".join(bytes([i, i, i + 1]) for i in range(4)) + b"F"
open("f.bin", "wb").write(fixed)
for r in tf.data.FixedLengthRecordDataset("f.bin", 3, header_bytes=2, footer_bytes=1).map(
    lambda b: tf.io.decode_raw(b, tf.uint8)
):
    print(r[0], tf.reshape(r[1:], [2, 1]))
