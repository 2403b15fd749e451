import tensorflow as tf
import numpy as np

window_size = 5
key_func = lambda x: x % 2
reduce_func = lambda key, dataset: dataset.batch(window_size)
dataset = tf.data.Dataset.range(10).group_by_window(
    key_func=key_func, reduce_func=reduce_func, window_size=window_size
)
for data in dataset.as_numpy_iterator():
    print(data)
elements = [[0], [1, 2, 3, 4, 5, 6, 7], [8, 9, 10], [11, 12, 13, 14], [15]]


def gen():
    for e in elements:
        yield e


dataset = tf.data.Dataset.from_generator(gen, tf.int64, output_shapes=[None])
dataset = dataset.bucket_by_sequence_length(
    element_length_func=lambda elem: tf.shape(elem)[0], bucket_boundaries=[3, 5], bucket_batch_sizes=[2, 2, 2]
)
for elem in dataset.as_numpy_iterator():
    print(elem)
print(dataset.element_spec)
d2 = tf.data.Dataset.from_generator(gen, output_signature=tf.TensorSpec([None], tf.int64)).map(
    lambda x: {"x": x, "len": tf.size(x), "y": tf.reduce_max(x)}
)
d3 = d2.bucket_by_sequence_length(
    lambda d: d["len"],
    [4],
    [3, 1],
    padded_shapes={"x": [None], "len": [], "y": []},
    padding_values={"x": tf.constant(-1, tf.int64), "len": 0, "y": tf.constant(0, tf.int64)},
    pad_to_bucket_boundary=False,
)
for e in d3:
    print(e)
d4 = tf.data.Dataset.from_generator(gen, tf.int64, [None]).apply(
    tf.data.experimental.bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [3, 5], [2, 2, 2], no_padding=False, drop_remainder=True
    )
)
print(list(d4.as_numpy_iterator()))
r = tf.data.experimental.Reducer(
    init_func=lambda _: np.int64(0), reduce_func=lambda s, v: s + v, finalize_func=lambda s: s
)
print(
    list(
        tf.data.Dataset.range(12)
        .apply(tf.data.experimental.group_by_reducer(lambda x: x % 3, r))
        .as_numpy_iterator()
    )
)
ds = tf.data.Dataset.from_tensor_slices((["a", "bb", "a", "ccc", "bb"], [1, 2, 3, 4, 5]))
g = ds.group_by_window(
    lambda s, v: tf.strings.to_hash_bucket_fast(s, 7), lambda k, w: w.batch(10), window_size=10
)
for s, v in g:
    print(s.numpy(), v.numpy())
print(list(tf.data.Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique().as_numpy_iterator()))
print(list(tf.data.Dataset.from_tensor_slices(["a", "b", "a"]).unique()))
dataset = tf.data.Dataset.range(10)
print([a.numpy() for a in dataset.scan(tf.constant(0, tf.int64), lambda state, i: (state + i, state + i))])
dataset = tf.data.Dataset.range(10).take_while(lambda x: x < 5)
print(list(dataset.as_numpy_iterator()), dataset.cardinality().numpy() == tf.data.UNKNOWN_CARDINALITY)
for i, x in tf.data.Dataset.from_tensor_slices([10, 20, 30]).enumerate(start=5):
    print(i, x)
for i, x in enumerate(tf.data.Dataset.from_tensor_slices([10, 20, 30])):
    print(i, x)
ds = tf.data.Dataset.range(42).apply(tf.data.experimental.assert_cardinality(42))
print(ds.cardinality(), len(ds))
bad = tf.data.Dataset.range(5).filter(lambda x: True).apply(tf.data.experimental.assert_cardinality(42))
try:
    for _ in bad:
        pass
except tf.errors.FailedPreconditionError as e:
    print(
        "Failed",
        type(e).__name__,
        "expected to contain 42 elements but contained only 5" in str(e),
        isinstance(e.message, str),
    )
print(list(tf.data.Dataset.range(7).window(2).map(lambda w: w.reduce(np.int64(0), lambda a, b: a + b))))
print(
    list(
        tf.data.Dataset.range(3)
        .interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(4), cycle_length=2, block_length=2)
        .as_numpy_iterator()
    )
)
print(list(tf.data.Dataset.range(3).flat_map(lambda x: tf.data.Dataset.range(x)).as_numpy_iterator()))
