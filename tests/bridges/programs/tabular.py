import os

import numpy as np
import tensorflow as tf

HEADER = "age,job,balance,housing,y\n"
LINES = [
    "30,admin,100.5,yes,0",
    "41,technician,,no,1",
    "25,,7,yes,0",
    '55,"retired, early",-20.25,no,1',
    "38,admin,1e3,yes,1",
    "29,student,0,no,0",
    ",student,3.5,yes,1",
]
os.makedirs("csv")
for i in range(2):
    with open(f"csv/part-{i}.csv", "w") as file:
        file.write(HEADER + "".join(line + "\n" for line in LINES[i * 4 : i * 4 + 4]))

DEFAULTS = [0.0, "unknown", tf.constant([0.0], tf.float32), "no", tf.constant([0], tf.int64)]
NAMES = ["age", "job", "balance", "housing", "y"]
raw = tf.data.experimental.CsvDataset(sorted(tf.io.gfile.glob("csv/*.csv")), DEFAULTS, header=True)
for row in raw:
    print([value.numpy() for value in row])


def pack(*row):
    features = dict(zip(NAMES, row))
    label = features.pop("y")
    return features, label


print(raw.map(pack).element_spec)
jobs = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(["admin", "technician", "student"], [1, 2, 3]), default_value=0
)


def preprocess(features, label):
    age = tf.where(features["age"] == 0.0, 35.0, features["age"])
    bucket = tf.searchsorted([30.0, 40.0, 50.0], tf.reshape(age, [1]), side="right")[0]
    job = tf.one_hot(jobs.lookup(features["job"]), 4)
    crossed = tf.strings.to_hash_bucket_fast(features["job"] + "_x_" + features["housing"], 10)
    balance = tf.sign(features["balance"]) * tf.math.log1p(tf.abs(features["balance"]))
    numeric = tf.stack([age / 100.0, balance, tf.cast(features["housing"] == "yes", tf.float32)])
    return {"dense": tf.concat([numeric, job], axis=0), "bucket": bucket, "cross": crossed}, label


for features, label in raw.map(pack).map(preprocess).batch(3):
    for key in sorted(features):
        print(key, features[key].dtype.name, features[key].numpy().round(4).tolist())
    print(label.numpy())

files = tf.data.Dataset.list_files("csv/*.csv", shuffle=False)
lines = files.interleave(lambda path: tf.data.TextLineDataset(path).skip(1), cycle_length=2, block_length=1)
parsed = lines.map(lambda line: tf.io.decode_csv(line, [[0.0], ["?"], [0.0], ["no"], [0]], select_cols=None))
for row in parsed:
    print([value.numpy() for value in row])

made = tf.data.experimental.make_csv_dataset(
    "csv/*.csv", batch_size=4, label_name="y", num_epochs=1, shuffle=False, select_columns=["age", "job", "y"]
)
for features, label in made:
    print({key: value.numpy().tolist() for key, value in sorted(features.items())}, label.numpy())

weights = {0: 1.0, 1: 2.5}
weighed = raw.map(pack).map(lambda x, y: (x["age"], y, tf.gather(tf.constant([weights[0], weights[1]]), y)))
print([tuple(value.item() for value in row) for row in weighed.as_numpy_iterator()])
groups = raw.map(pack).group_by_window(
    key_func=lambda x, y: y, reduce_func=lambda key, part: part.batch(2), window_size=2
)
for x, y in groups:
    print(x["age"].numpy(), y.numpy())
columns = {"a": np.arange(4, dtype=np.int32), "b": np.array(["x", "y", "z", "w"])}
for row in tf.data.Dataset.from_tensor_slices(columns).shard(2, 1):
    print(row["a"].numpy(), row["b"].numpy())
unique = raw.map(lambda age, job, *rest: job).unique()
print(list(unique.as_numpy_iterator()))
