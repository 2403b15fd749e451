import tensorflow as tf
import numpy as np

rng = np.random.default_rng(1)
x = rng.normal(size=(2000, 3)).astype(np.float32)
y = (rng.random(2000) < 0.05).astype(np.int32)
ds = tf.data.Dataset.from_tensor_slices((x, y))
creditcard_ds = ds.batch(64)


def count(counts, batch):
    features, labels = batch
    class_1 = labels == 1
    class_1 = tf.cast(class_1, tf.int32)
    class_0 = labels == 0
    class_0 = tf.cast(class_0, tf.int32)
    counts["class_0"] += tf.reduce_sum(class_0)
    counts["class_1"] += tf.reduce_sum(class_1)
    return counts


counts = creditcard_ds.take(10).reduce(initial_state={"class_0": 0, "class_1": 0}, reduce_func=count)
counts = np.array([counts["class_0"].numpy(), counts["class_1"].numpy()]).astype(np.float32)
fractions = counts / counts.sum()
print(fractions)
negative_ds = creditcard_ds.unbatch().filter(lambda features, label: label == 0).repeat()
positive_ds = creditcard_ds.unbatch().filter(lambda features, label: label == 1).repeat()
for features, label in positive_ds.batch(10).take(1):
    print(label.numpy())
balanced_ds = tf.data.Dataset.sample_from_datasets([negative_ds, positive_ds], [0.5, 0.5], seed=7).batch(10)
for features, labels in balanced_ds.take(10):
    print(labels.numpy())


def class_func(features, label):
    return label


resample_ds = (
    creditcard_ds.unbatch()
    .rejection_resample(class_func, target_dist=[0.5, 0.5], initial_dist=fractions, seed=3)
    .batch(10)
)
balanced_ds = resample_ds.map(lambda extra_label, features_and_label: features_and_label)
tot = 0
for features, labels in balanced_ds.take(10):
    tot += labels.numpy().sum()
print(20 < tot < 80, balanced_ds.element_spec)
choice_dataset = tf.data.Dataset.range(3).repeat(3)
dsets = [
    tf.data.Dataset.from_tensors("foo").repeat(),
    tf.data.Dataset.from_tensors("bar").repeat(),
    tf.data.Dataset.from_tensors("baz").repeat(),
]
print(list(tf.data.Dataset.choose_from_datasets(dsets, choice_dataset).as_numpy_iterator()))
w = tf.data.Dataset.sample_from_datasets(
    [tf.data.Dataset.range(0, 10), tf.data.Dataset.range(100, 110)],
    weights=[0.9, 0.1],
    seed=42,
    stop_on_empty_dataset=True,
)
print([int(v) for v in w])
w = tf.data.experimental.sample_from_datasets(
    [tf.data.Dataset.range(0, 5), tf.data.Dataset.range(100, 105)], seed=4
)
print(list(w.as_numpy_iterator()))
print(w.cardinality(), w.repeat(2).cardinality().numpy())
