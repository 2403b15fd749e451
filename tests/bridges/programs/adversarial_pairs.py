import numpy as np
import tensorflow as tf

images = np.arange(6 * 8 * 8 * 3, dtype=np.uint8).reshape(6, 8, 8, 3)
labels = np.array([0, 1, 2, 0, 1, 2], np.int32)
real = tf.data.Dataset.from_tensor_slices((images, labels))
seeds = tf.data.Dataset.counter().map(lambda i: tf.stack([i, 7]))
noise = tf.data.Dataset.counter().map(lambda i: tf.random.stateless_normal([4], seed=tf.stack([i, 3])))


def scale(image, label):
    return (tf.cast(image, tf.float32) - 127.5) / 127.5, label


both = tf.data.Dataset.zip((real.map(scale).repeat(), noise)).batch(4, drop_remainder=True)
for (image, label), z in both.take(3):
    print(image.shape, image.numpy().mean().round(5), label.numpy(), z.numpy().round(4).tolist())


def augment(image, seed):
    image = tf.image.resize_with_crop_or_pad(image, 10, 10)
    new = seed
    image = tf.image.stateless_random_crop(image, [8, 8, 3], seed=new)
    image = tf.image.stateless_random_flip_left_right(image, seed=new)
    image = tf.image.stateless_random_brightness(image, 0.2, seed=new)
    image = tf.image.stateless_random_contrast(image, 0.5, 1.5, seed=new)
    image = tf.image.stateless_random_saturation(image, 0.5, 1.5, seed=new)
    return tf.clip_by_value(image, 0, 255)


def two_views(data, seed):
    image, label = data
    image = tf.cast(image, tf.float32)
    return (augment(image, seed), augment(image, seed + 1)), label


pairs = tf.data.Dataset.zip((real, seeds)).map(two_views, num_parallel_calls=tf.data.AUTOTUNE)
for (one, two), label in pairs:
    print(one.shape, one.numpy().mean().round(3), two.numpy().mean().round(3), label.numpy())


def mixup(first, second):
    (a, x), (b, y) = first, second
    part = 0.25
    one, two = tf.one_hot(x, 3), tf.one_hot(y, 3)
    return part * a + (1 - part) * b, part * one + (1 - part) * two


mixed = tf.data.Dataset.zip((real.map(scale), real.map(scale).skip(3))).map(mixup)
for image, label in mixed:
    print(image.numpy().mean().round(5), label.numpy())
positive = real.map(lambda image, label: image[0, 0])
negative = real.skip(1).concatenate(real.take(1)).map(lambda image, label: image[0, 0])
triplets = tf.data.Dataset.zip((positive, positive, negative))
for anchor, same, other in triplets.batch(2):
    print(
        anchor.numpy().tolist(),
        tf.norm(tf.cast(anchor - same, tf.float32), axis=-1).numpy(),
        other.numpy().tolist(),
    )
chosen = tf.data.Dataset.choose_from_datasets(
    [
        real.filter(lambda image, label, k=k: label == k).map(lambda image, label: label).repeat()
        for k in range(3)
    ],
    tf.data.Dataset.range(3).repeat(3),
)
print(list(chosen.as_numpy_iterator()))
validation = real.enumerate().filter(lambda i, row: i % 3 == 0).map(lambda i, row: row)
training = real.enumerate().filter(lambda i, row: i % 3 != 0).map(lambda i, row: row)
print([int(y) for _, y in validation], [int(y) for _, y in training])
print([y.tolist() for _, y in real.shuffle(6, seed=4).batch(2).as_numpy_iterator()])
print(
    [
        y.tolist()
        for _, y in real.shuffle(3, seed=4, reshuffle_each_iteration=True)
        .repeat(2)
        .batch(4)
        .as_numpy_iterator()
    ]
)
mask = tf.data.Dataset.zip((real, seeds)).map(
    lambda row, seed: tf.where(
        tf.random.stateless_uniform([8, 8, 1], seed) < 0.5, row[0], tf.zeros_like(row[0])
    )
)
print([int(tf.reduce_sum(tf.cast(image, tf.int32))) for image in mask])
patches = real.batch(2).map(
    lambda image, label: tf.image.extract_patches(image, [1, 4, 4, 1], [1, 4, 4, 1], [1, 1, 1, 1], "VALID")
)
print([patch.shape.as_list() for patch in patches])
cut = tf.data.Dataset.zip((real, seeds)).map(
    lambda row, seed: tf.slice(
        row[0], tf.concat([tf.random.stateless_uniform([2], seed, 0, 4, tf.int32), [0]], 0), [4, 4, 3]
    )
)
print([int(tf.reduce_sum(tf.cast(image, tf.int32))) for image in cut])
