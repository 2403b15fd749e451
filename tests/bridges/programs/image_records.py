import re
import numpy as np
import tensorflow as tf

AUTO = tf.data.experimental.AUTOTUNE
IMAGE_SIZE = [16, 16]
BATCH_SIZE = 4
rng = np.random.default_rng(0)


def to_tfrecord(img_bytes, label, name):
    feature = {
        "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[img_bytes])),
        "class": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
        "id": tf.train.Feature(bytes_list=tf.train.BytesList(value=[name])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature))


counts = [5, 6, 3]
for shard, n in enumerate(counts):
    filename = "{:02d}-{}x{}-{}.tfrec".format(shard, *IMAGE_SIZE, n)
    with tf.io.TFRecordWriter(filename) as out:
        for i in range(n):
            image = rng.integers(0, 255, (*IMAGE_SIZE, 3), dtype=np.uint8)
            example = to_tfrecord(tf.io.encode_jpeg(image, quality=95).numpy(), i % 3, b"%d_%d" % (shard, i))
            out.write(example.SerializeToString())


def count_data_items(filenames):
    n = [int(re.compile(r"-([0-9]*)\.").search(filename).group(1)) for filename in filenames]
    return np.sum(n)


def decode_image(image_data):
    image = tf.image.decode_jpeg(image_data, channels=3)
    image = tf.cast(image, tf.float32) / 255.0
    return tf.reshape(image, [*IMAGE_SIZE, 3])


def read_labeled_tfrecord(example):
    features = {"image": tf.io.FixedLenFeature([], tf.string), "class": tf.io.FixedLenFeature([], tf.int64)}
    example = tf.io.parse_single_example(example, features)
    return decode_image(example["image"]), tf.cast(example["class"], tf.int32)


def read_unlabeled_tfrecord(example):
    features = {"image": tf.io.FixedLenFeature([], tf.string), "id": tf.io.FixedLenFeature([], tf.string)}
    example = tf.io.parse_single_example(example, features)
    return decode_image(example["image"]), example["id"]


def load_dataset(filenames, labeled=True, ordered=False):
    ignore_order = tf.data.Options()
    if not ordered:
        ignore_order.experimental_deterministic = True
    dataset = tf.data.TFRecordDataset(filenames, num_parallel_reads=AUTO)
    dataset = dataset.with_options(ignore_order)
    return dataset.map(read_labeled_tfrecord if labeled else read_unlabeled_tfrecord, num_parallel_calls=AUTO)


def data_augment(image, label):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_saturation(image, 0.9, 1.1)
    return tf.clip_by_value(image, 0, 1), label


files = sorted(tf.io.gfile.glob("*.tfrec"))
print(files, count_data_items(files))
train = (
    load_dataset(files)
    .map(data_augment, num_parallel_calls=AUTO)
    .repeat()
    .shuffle(16)
    .batch(BATCH_SIZE)
    .prefetch(AUTO)
)
for image, label in train.take(2):
    print(image.numpy().shape, label.numpy().shape, label.dtype)
valid = load_dataset(files, ordered=True).batch(BATCH_SIZE).cache().prefetch(AUTO)
print(valid.element_spec)
print("Validation labels:", sorted(np.concatenate([label.numpy() for _, label in valid]).tolist()))
test = load_dataset(files[:1], labeled=False, ordered=True).batch(BATCH_SIZE)
print("Test IDs:", [i.astype("U").tolist() for _, i in test.as_numpy_iterator()])
ids = next(iter(test.map(lambda image, i: i).unbatch().batch(100))).numpy().astype("U")
print(ids, ids.dtype.kind)
images = test.map(lambda image, i: image)
print([round(float(tf.reduce_mean(x)), 3) for x in images])
onehot = valid.unbatch().map(lambda image, label: (image, tf.one_hot(label, 3))).batch(8)
for image, label in onehot.take(1):
    print(label.numpy().sum(axis=0), image.shape)
STEPS = count_data_items(files) // BATCH_SIZE
print(STEPS, type(STEPS).__name__)


def get_mat(rotation, shear, zoom):
    rotation = np.pi * rotation / 180.0
    one = tf.constant([1], dtype="float32")
    zero = tf.constant([0], dtype="float32")
    c1, s1 = tf.math.cos(rotation), tf.math.sin(rotation)
    rotation_matrix = tf.reshape(tf.concat([c1, s1, zero, -s1, c1, zero, zero, zero, one], axis=0), [3, 3])
    s2, c2 = tf.math.sin(shear), tf.math.cos(shear)
    shear_matrix = tf.reshape(tf.concat([one, s2, zero, zero, c2, zero, zero, zero, one], axis=0), [3, 3])
    zoom_matrix = tf.reshape(
        tf.concat([one / zoom, zero, zero, zero, one / zoom, zero, zero, zero, one], axis=0), [3, 3]
    )
    return tf.matmul(tf.matmul(rotation_matrix, shear_matrix), zoom_matrix)


def transform(image, label):
    DIM = IMAGE_SIZE[0]
    m = get_mat(tf.constant([15.0]), tf.constant([0.1]), tf.constant([1.1]))
    x = tf.repeat(tf.range(DIM // 2, -DIM // 2, -1), DIM)
    y = tf.tile(tf.range(-DIM // 2, DIM // 2), [DIM])
    z = tf.ones([DIM * DIM], dtype="int32")
    idx = tf.stack([x, y, z])
    idx2 = tf.matmul(m, tf.cast(idx, dtype="float32"))
    idx2 = tf.cast(idx2, dtype="int32")
    idx2 = tf.clip_by_value(idx2, -DIM // 2 + 1, DIM // 2)
    idx3 = tf.stack([DIM // 2 - idx2[0], DIM // 2 - 1 + idx2[1]])
    d = tf.gather_nd(image, tf.transpose(idx3))
    return tf.reshape(d, [DIM, DIM, 3]), label


for image, label in load_dataset(files, ordered=True).map(transform).take(3):
    print(image.shape, round(float(tf.reduce_mean(image)), 4), int(label))


def dropout(image, label):
    DIM, CT, SZ = IMAGE_SIZE[0], 4, 0.2
    for k in range(CT):
        x = (k * 5) % DIM
        y = (k * 7) % DIM
        width = int(SZ * DIM)
        ya, yb = max(0, y - width // 2), min(DIM, y + width // 2)
        xa, xb = max(0, x - width // 2), min(DIM, x + width // 2)
        one = image[ya:yb, 0:xa, :]
        two = tf.zeros([yb - ya, xb - xa, 3])
        three = image[ya:yb, xb:DIM, :]
        middle = tf.concat([one, two, three], axis=1)
        image = tf.concat([image[0:ya, :, :], middle, image[yb:DIM, :, :]], axis=0)
    return tf.reshape(image, [DIM, DIM, 3]), label


print(
    [
        round(float(tf.reduce_sum(image)), 2)
        for image, _ in load_dataset(files, ordered=True).map(dropout).take(3)
    ]
)
