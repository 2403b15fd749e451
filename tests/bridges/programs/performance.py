import tensorflow as tf
import time


class ArtificialDataset(tf.data.Dataset):
    def _generator(num_samples):
        time.sleep(0.0003)
        for sample_idx in range(num_samples):
            time.sleep(0.00015)
            yield (sample_idx,)

    def __new__(cls, num_samples=3):
        return tf.data.Dataset.from_generator(
            cls._generator, output_signature=tf.TensorSpec(shape=(1,), dtype=tf.int64), args=(num_samples,)
        )


seen = []


def benchmark(dataset, num_epochs=2):
    n = 0
    for epoch_num in range(num_epochs):
        for sample in dataset:
            n += 1
    print(n)


benchmark(ArtificialDataset())
benchmark(ArtificialDataset().prefetch(tf.data.AUTOTUNE))
benchmark(tf.data.Dataset.range(2).interleave(lambda _: ArtificialDataset()))
benchmark(
    tf.data.Dataset.range(2).interleave(lambda _: ArtificialDataset(), num_parallel_calls=tf.data.AUTOTUNE)
)


def mapped_function(s):
    tf.py_function(lambda: time.sleep(0.003), [], ())
    return s


benchmark(ArtificialDataset().map(mapped_function))
benchmark(ArtificialDataset().map(mapped_function, num_parallel_calls=tf.data.AUTOTUNE))
benchmark(ArtificialDataset().map(mapped_function).cache(), 5)
fast_dataset = tf.data.Dataset.range(10000)


def fast_benchmark(dataset, num_epochs=2):
    for _ in tf.data.Dataset.range(num_epochs):
        for _ in dataset:
            pass


def increment(x):
    return x + 1


fast_benchmark(fast_dataset.map(increment).batch(256))
fast_benchmark(fast_dataset.batch(256).map(increment))
from itertools import count
from collections import defaultdict


class TimeMeasuredDataset(tf.data.Dataset):
    OUTPUT_TYPES = (tf.dtypes.string, tf.dtypes.float32, tf.dtypes.int32)
    OUTPUT_SHAPES = ((2, 1), (2, 2), (2, 3))
    _INSTANCES_COUNTER = count()
    _EPOCHS_COUNTER = defaultdict(count)

    def _generator(instance_idx, num_samples):
        epoch_idx = next(TimeMeasuredDataset._EPOCHS_COUNTER[instance_idx])
        open_enter = time.perf_counter()
        open_elapsed = 0
        for sample_idx in range(num_samples):
            read_elapsed = 0
            yield (
                [("Open",), ("Read",)],
                [(open_enter, open_elapsed), (0.0, read_elapsed)],
                [(instance_idx, 0, -1), (instance_idx, 0, sample_idx)],
            )
            open_enter, open_elapsed = -1.0, -1.0

    def __new__(cls, num_samples=3):
        return tf.data.Dataset.from_generator(
            cls._generator,
            output_types=cls.OUTPUT_TYPES,
            output_shapes=cls.OUTPUT_SHAPES,
            args=(next(cls._INSTANCES_COUNTER), num_samples),
        )


def map_decorator(func):
    def wrapper(steps, times, values):
        return tf.py_function(func, inp=(steps, times, values), Tout=(steps.dtype, times.dtype, values.dtype))

    return wrapper


@map_decorator
def naive_map(steps, times, values):
    map_enter = time.perf_counter()
    return (
        tf.concat((steps, [["Map"]]), axis=0),
        tf.concat((times, [[map_enter, 0.0]]), axis=0),
        tf.concat((values, [values[-1]]), axis=0),
    )


@map_decorator
def time_consuming_map(steps, times, values):
    values2 = tf.tile(tf.expand_dims(values, 0), [3, 1, 1]) if len(values.shape) == 2 else values
    return (steps, times, values)


ds = TimeMeasuredDataset(3).map(naive_map)
print(TimeMeasuredDataset(3).element_spec)
for s, t, v in ds.batch(2, drop_remainder=True).map(time_consuming_map).repeat(1):
    print(s, v, t.shape)


def gen2():
    d = (
        tf.data.Dataset.range(2)
        .interleave(lambda i: TimeMeasuredDataset(2), num_parallel_calls=2)
        .batch(2, drop_remainder=True)
        .cache()
        .prefetch(1)
    )
    for s, t, v in d:
        print(s.shape, v.numpy()[:, 1, 2].tolist())


gen2()


def vec(s):
    return s


options = tf.data.Options()
options.deterministic = False
options.threading.private_threadpool_size = 2
options.autotune.enabled = True
options.experimental_optimization.apply_default_optimizations = True
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
print(
    sorted(fast_dataset.take(3).with_options(options).as_numpy_iterator()),
    fast_dataset.with_options(options).options().deterministic,
)
