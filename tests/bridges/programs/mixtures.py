import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
images = rng.random((12, 8, 8, 3)).astype(np.float32)
labels = np.arange(12) % 3
AUTO = tf.data.AUTOTUNE


def preprocess(image, label):
    image = tf.image.resize(image, (6, 6))
    return tf.cast(image, tf.float32), tf.one_hot(label, 3)


def shuffled(seed):
    ds = tf.data.Dataset.from_tensor_slices((images, labels)).map(preprocess, num_parallel_calls=AUTO)
    return ds.shuffle(12, seed=seed, reshuffle_each_iteration=False).batch(4)


def sample_beta(seed, size, a=0.4, b=0.4):
    first = tf.random.stateless_uniform([size], seed, 0.1, 1.0)
    second = tf.random.stateless_uniform([size], seed + 1, 0.1, 1.0)
    return first / (first + second)


def mix_up(one, two, seed):
    images_one, labels_one = one
    images_two, labels_two = two
    batch_size = tf.shape(images_one)[0]
    share = sample_beta(tf.stack([seed, seed]), batch_size)
    x = tf.reshape(share, (batch_size, 1, 1, 1))
    y = tf.reshape(share, (batch_size, 1))
    return images_one * x + images_two * (1 - x), labels_one * y + labels_two * (1 - y)


both = tf.data.Dataset.zip((shuffled(1), shuffled(2), tf.data.Dataset.counter()))
mixed = both.map(mix_up, num_parallel_calls=AUTO)
print(mixed.element_spec)
for x, y in mixed:
    print(x.shape, x.numpy().mean(axis=(1, 2, 3)).round(3).tolist(), y.numpy().round(3).tolist())


@tf.function
def get_box(share, seed, size=6):
    ratio = tf.math.sqrt(1.0 - share)
    cut_w = tf.cast(size * ratio, tf.int32)
    cut_h = tf.cast(size * ratio, tf.int32)
    cx = tf.random.stateless_uniform((1,), seed, minval=0, maxval=size, dtype=tf.int32)
    cy = tf.random.stateless_uniform((1,), seed + 7, minval=0, maxval=size, dtype=tf.int32)
    x1 = tf.clip_by_value(cx[0] - cut_w // 2, 0, size)
    y1 = tf.clip_by_value(cy[0] - cut_h // 2, 0, size)
    x2 = tf.clip_by_value(cx[0] + cut_w // 2, 0, size)
    y2 = tf.clip_by_value(cy[0] + cut_h // 2, 0, size)
    height = y2 - y1
    if height == 0:
        height = 1
    width = x2 - x1
    if width == 0:
        width = 1
    return tf.minimum(x1, size - 1), tf.minimum(y1, size - 1), height, width


def cut_mix(one, two, seed):
    (image1, label1), (image2, label2) = one, two
    share = sample_beta(tf.stack([seed, seed]), 1)[0]
    x, y, h, w = get_box(share, tf.stack([seed, seed]))
    crop = tf.image.crop_to_bounding_box(image2, y, x, h, w)
    patch = tf.image.pad_to_bounding_box(crop, y, x, 6, 6)
    hole = tf.image.pad_to_bounding_box(tf.image.crop_to_bounding_box(image1, y, x, h, w), y, x, 6, 6)
    result = image1 - hole + patch
    share = 1 - tf.cast(w * h, tf.float32) / tf.cast(6 * 6, tf.float32)
    return result, share * label1 + (1 - share) * label2


pairs = tf.data.Dataset.zip((shuffled(3).unbatch(), shuffled(4).unbatch(), tf.data.Dataset.counter(5)))
for x, y in pairs.map(cut_mix).take(6):
    print(x.shape, round(float(tf.reduce_mean(x)), 4), y.numpy().round(3).tolist())

by_class = [
    tf.data.Dataset.from_tensor_slices((images, labels)).filter(lambda _, label, i=i: label == i).repeat()
    for i in range(3)
]
balanced = tf.data.Dataset.sample_from_datasets(by_class, weights=[1 / 3] * 3, seed=9)
print([int(label) for _, label in balanced.take(15)])
counts = balanced.take(90).reduce(
    tf.zeros([3], tf.int32), lambda total, row: total + tf.one_hot(row[1], 3, dtype=tf.int32)
)
print(counts.numpy())
chosen = tf.data.Dataset.choose_from_datasets(
    by_class, tf.data.Dataset.from_tensor_slices([0, 0, 2, 1, 2]).map(lambda i: tf.cast(i, tf.int64))
)
print([int(label) for _, label in chosen])


def class_func(image, label):
    return label


skewed = tf.data.Dataset.from_tensor_slices((images, np.array([0] * 9 + [1, 2, 1])))
resampled = skewed.rejection_resample(
    class_func, target_dist=[1 / 3] * 3, initial_dist=[0.75, 1 / 6, 1 / 12], seed=1
)
print(resampled.element_spec[1], sorted({int(extra) for extra, _ in resampled.repeat(3)}))


def augment(image, label, step):
    seed = tf.stack([step, step * 2 + 1])
    image = tf.image.stateless_random_flip_left_right(image, seed)
    image = tf.image.stateless_random_crop(image, [5, 5, 3], seed)
    image = tf.image.stateless_random_brightness(image, 0.2, seed)
    image = tf.image.stateless_random_contrast(image, 0.5, 1.5, seed)
    image = tf.image.stateless_random_saturation(image, 0.5, 1.5, seed)
    noise = tf.random.stateless_normal(tf.shape(image), seed, stddev=0.01)
    return tf.clip_by_value(image + noise, 0.0, 1.0), label


numbered = (
    tf.data.Dataset.from_tensor_slices((images, labels)).enumerate().map(lambda i, row: augment(*row, i))
)
for image, label in numbered.take(4):
    print(round(float(tf.reduce_sum(image)), 2), image.shape, int(label))


def grid(image, label):
    x, y = tf.meshgrid(tf.linspace(-1.0, 1.0, 8), tf.linspace(-1.0, 1.0, 8))
    radius = tf.sqrt(x**2 + y**2)
    mask = tf.cast(radius < 0.8, tf.float32)[..., tf.newaxis]
    return tf.reduce_sum(image * mask), tf.where(label == 0, tf.constant(-1, tf.int64), label)


print(
    [
        (round(float(a), 3), int(b))
        for a, b in tf.data.Dataset.from_tensor_slices((images, labels)).map(grid).take(4)
    ]
)
