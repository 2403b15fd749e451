import numpy as np
import tensorflow as tf

time = np.arange(60, dtype=np.float32)
data = np.stack([np.sin(time / 5), time / 60, np.cos(time / 3)], axis=1)
split = tf.data.Dataset.from_tensor_slices(data)
mean, std = data[:40].mean(axis=0), data[:40].std(axis=0)


def windowed(dataset, size, shift=1, horizon=1):
    dataset = dataset.window(size + horizon, shift=shift, drop_remainder=True)
    dataset = dataset.flat_map(lambda window: window.batch(size + horizon))
    return dataset.map(lambda window: (window[:-horizon], window[-horizon:, :1]))


normalised = split.map(lambda row: (row - mean) / std)
for x, y in windowed(normalised, 4, shift=10, horizon=2):
    print(x.shape, y.shape, x.numpy().round(3).tolist(), y.numpy().round(3).ravel())

series = tf.data.Dataset.range(20)
for stride in (1, 2):
    pieces = series.window(5, shift=4, stride=stride, drop_remainder=False)
    print([list(piece.as_numpy_iterator()) for piece in pieces])

both = tf.data.Dataset.zip((series, series.skip(1).map(lambda x: tf.cast(x, tf.float32) ** 2)))
for x, y in both.batch(6, drop_remainder=True):
    print(x.numpy(), y.numpy())
scan = series.scan(tf.constant(0, tf.int64), lambda total, x: (total + x, total + x))
print(list(scan.as_numpy_iterator()))
smooth = tf.data.Dataset.from_tensor_slices(data[:, 0]).scan(
    tf.constant(0.0), lambda state, x: (0.9 * state + 0.1 * x, 0.9 * state + 0.1 * x)
)
print(np.round(list(smooth.as_numpy_iterator()), 4)[:10])
n = len(data)
train, rest = split.take(int(n * 0.7)), split.skip(int(n * 0.7))
valid, test = rest.take(int(n * 0.2)), rest.skip(int(n * 0.2))
print([part.cardinality().numpy() for part in (train, valid, test)])
total = train.reduce((np.zeros(3, np.float32), 0), lambda state, row: (state[0] + row, state[1] + 1))
print(total[0].numpy().round(3), total[1].numpy())
stateful = windowed(split, 3).enumerate().filter(lambda i, _: i % 20 == 0)
for i, (x, y) in stateful:
    print(i.numpy(), x.numpy().round(3).tolist(), y.numpy().round(3))
frames = tf.data.Dataset.from_tensor_slices(tf.reshape(tf.range(24), [2, 12])).map(
    lambda row: tf.stack([row[i : i + 4] for i in range(0, 9, 4)])
)
print([frame.tolist() for frame in frames.as_numpy_iterator()])
print(
    series.batch(8)
    .map(lambda row: tf.math.cumsum(row) - tf.roll(row, 1, 0))
    .unbatch()
    .take(10)
    .reduce(tf.constant(0, tf.int64), lambda a, b: a + b)
    .numpy()
)
