import tensorflow as tf
import numpy as np

np.set_printoptions(precision=4)
dataset = tf.data.Dataset.from_tensor_slices([8, 3, 0, 8, 2, 1])
for elem in dataset:
    print(elem.numpy())
it = iter(dataset)
print(next(it).numpy())
print(dataset.reduce(0, lambda state, value: state + value).numpy())
dataset1 = tf.data.Dataset.from_tensor_slices(tf.random.stateless_uniform([4, 10], seed=[1, 2]))
print(dataset1.element_spec)
dataset2 = tf.data.Dataset.from_tensor_slices(
    (
        tf.random.stateless_uniform([4], [1, 1]),
        tf.random.stateless_uniform([4, 100], [2, 3], maxval=100, dtype=tf.int32),
    )
)
print(dataset2.element_spec)
dataset3 = tf.data.Dataset.zip((dataset1, dataset2))
print(dataset3.element_spec)
dataset4 = tf.data.Dataset.from_tensors(
    tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4])
)
print(dataset4.element_spec)
print(dataset4.element_spec.value_type.__name__)
dataset1 = tf.data.Dataset.from_tensor_slices(
    tf.random.stateless_uniform([4, 10], [3, 3], minval=1, maxval=10, dtype=tf.int32)
)
for z in dataset1:
    print(z.numpy())
for a, (b, c) in dataset3:
    print("shapes: {a.shape}, {b.shape}, {c.shape}".format(a=a, b=b, c=c))


def count(stop):
    i = 0
    while i < stop:
        yield i
        i += 1


ds_counter = tf.data.Dataset.from_generator(
    count,
    args=[25],
    output_types=tf.int32,
    output_shapes=(),
)
for count_batch in ds_counter.repeat().batch(10).take(10):
    print(count_batch.numpy())
rng = np.random.default_rng(3)


def gen_series():
    i = 0
    while True:
        size = rng.integers(0, 10)
        yield i, rng.normal(size=(size,))
        i += 1


ds_series = tf.data.Dataset.from_generator(
    gen_series, output_types=(tf.int32, tf.float32), output_shapes=((), (None,))
)
print(ds_series.element_spec)
ds_series_batch = ds_series.shuffle(20, seed=1).padded_batch(10)
ids, sequence_batch = next(iter(ds_series_batch))
print(ids.numpy())
print()
print(sequence_batch.numpy())
inc_dataset = tf.data.Dataset.range(100)
dec_dataset = tf.data.Dataset.range(0, -100, -1)
dataset = tf.data.Dataset.zip((inc_dataset, dec_dataset))
batched_dataset = dataset.batch(4)
for batch in batched_dataset.take(4):
    print([arr.numpy() for arr in batch])
print(batched_dataset.element_spec, dataset.batch(7, drop_remainder=True).element_spec)
dataset = tf.data.Dataset.range(100)
dataset = dataset.map(lambda x: tf.fill([tf.cast(x, tf.int32)], x))
dataset = dataset.padded_batch(4, padded_shapes=(None,))
for batch in dataset.take(2):
    print(batch.numpy())
    print()
print(dataset)
print(batched_dataset)
