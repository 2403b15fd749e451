import tensorflow as tf

range_ds = tf.data.Dataset.range(100000)
batches = range_ds.batch(10, drop_remainder=True)
for batch in batches.take(5):
    print(batch.numpy())


def dense_1_step(batch):
    return batch[:-1], batch[1:]


predict_dense_1_step = batches.map(dense_1_step)
for features, label in predict_dense_1_step.take(3):
    print(features.numpy(), " => ", label.numpy())
batches = range_ds.batch(15, drop_remainder=True)


def label_next_5_steps(batch):
    return (batch[:-5], batch[-5:])


predict_5_steps = batches.map(label_next_5_steps)
for features, label in predict_5_steps.take(3):
    print(features.numpy(), " => ", label.numpy())
feature_length = 10
label_length = 3
features = range_ds.batch(feature_length, drop_remainder=True)
labels = range_ds.batch(feature_length).skip(1).map(lambda labels: labels[:label_length])
predicted_steps = tf.data.Dataset.zip((features, labels))
for features, label in predicted_steps.take(5):
    print(features.numpy(), " => ", label.numpy())
window_size = 5
windows = range_ds.window(window_size, shift=1)
for sub_ds in windows.take(5):
    print([x.numpy() for x in sub_ds])
print(windows.element_spec)
for x in windows.flat_map(lambda x: x).take(30):
    print(x.numpy(), end=" ")


def sub_to_batch(sub):
    return sub.batch(window_size, drop_remainder=True)


for example in windows.flat_map(sub_to_batch).take(5):
    print(example.numpy())


def make_window_dataset(ds, window_size=5, shift=1, stride=1):
    windows = ds.window(window_size, shift=shift, stride=stride)

    def sub_to_batch(sub):
        return sub.batch(window_size, drop_remainder=True)

    windows = windows.flat_map(sub_to_batch)
    return windows


ds = make_window_dataset(range_ds, window_size=10, shift=5, stride=3)
for example in ds.take(10):
    print(example.numpy())
dense_labels_ds = ds.map(dense_1_step)
for inputs, labels in dense_labels_ds.take(3):
    print(inputs.numpy(), "=>", labels.numpy())


# forecasting courses
def windowed_dataset(series, window_size, batch_size, shuffle_buffer):
    dataset = tf.data.Dataset.from_tensor_slices(series)
    dataset = dataset.window(window_size + 1, shift=1, drop_remainder=True)
    dataset = dataset.flat_map(lambda window: window.batch(window_size + 1))
    dataset = dataset.shuffle(shuffle_buffer, seed=5).map(lambda window: (window[:-1], window[-1]))
    dataset = dataset.batch(batch_size).prefetch(1)
    return dataset


import numpy as np

for x, y in windowed_dataset(np.sin(np.arange(30, dtype=np.float32)), 4, 8, 10):
    print(x.shape, y.numpy())
two = tf.data.Dataset.from_tensor_slices({"a": np.arange(9), "b": np.arange(9.0)}).window(3, shift=2)
for w in two:
    print({k: list(v.as_numpy_iterator()) for k, v in w.items()})
for w in two.flat_map(lambda w: tf.data.Dataset.zip((w["a"].batch(3), w["b"].batch(3)))):
    print(w)
nested = (
    tf.data.Dataset.from_tensor_slices(([1, 2, 3, 4], [5, 6, 7, 8]))
    .window(2)
    .flat_map(lambda a, b: tf.data.Dataset.zip((a.batch(2), b.batch(2))))
)
print(list(nested.as_numpy_iterator()))


def split_window(features, input_width=3, label_width=1):
    inputs = features[:, slice(0, input_width), :]
    labels = features[:, slice(input_width, None), :]
    labels = tf.stack([labels[:, :, i] for i in (0, 1)], axis=-1)
    inputs.set_shape([None, input_width, None])
    labels.set_shape([None, label_width, None])
    return inputs, labels


data = np.arange(60, dtype=np.float32).reshape(-1, 3)
ds = (
    tf.data.Dataset.from_tensor_slices(data)
    .window(4, shift=2, drop_remainder=True)
    .flat_map(lambda w: w.batch(4))
    .batch(3)
    .map(split_window)
)
print(ds.element_spec)
for i, l in ds.take(1):
    print(i, l)
