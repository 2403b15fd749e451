import os
import numpy as np
import tensorflow as tf

os.makedirs("data/nested/deep", exist_ok=True)
rows = ["age,sex,fare,class,deck,alone,survived"]
for i in range(14):
    rows.append(
        f"{20 + i if i % 5 else ''},{'male' if i % 2 else 'female'},{i * 2.5},{['First', 'Second', 'Third'][i % 3]},{'unknown' if i % 4 else 'C'},{'ny'[i % 2]},{i % 2}"
    )
open("data/titanic.csv", "w").write("\n".join(rows) + "\n")
open("data/nested/other.csv", "w").write("\n".join(rows[:3]) + "\n")
open("data/nested/deep/notes.txt", "w").write("hello\nworld\n")
print(sorted((top, sorted(folders), sorted(files)) for top, folders, files in tf.io.gfile.walk("data")))
print(sorted(tf.io.gfile.listdir("data")), tf.io.gfile.isdir("data/nested"), tf.io.gfile.exists("nothing"))
print(sorted(tf.io.gfile.glob("data/*/*.csv")), tf.io.gfile.stat("data/titanic.csv").length)
with tf.io.gfile.GFile("data/nested/deep/notes.txt") as file:
    print(file.readline(), file.read(), file.size())
tf.io.gfile.copy("data/nested/other.csv", "data/copy.csv", overwrite=True)
tf.io.gfile.rename("data/copy.csv", "data/moved.csv")
tf.io.gfile.remove("data/moved.csv")
tf.io.gfile.makedirs("data/a/b/c")
tf.io.gfile.rmtree("data/a")
print(tf.io.gfile.exists("data/a"), tf.io.gfile.join("data", "x", "y.csv"))
for wrong in (
    lambda: tf.io.gfile.remove("data/none"),
    lambda: tf.io.gfile.listdir("none"),
    lambda: tf.io.gfile.mkdir("x/y/z"),
):
    try:
        wrong()
    except tf.errors.OpError as error:
        print(type(error).__name__)

batches = tf.data.experimental.make_csv_dataset(
    "data/titanic.csv",
    batch_size=5,
    label_name="survived",
    na_value="",
    num_epochs=1,
    ignore_errors=True,
    shuffle=False,
)
print(
    {key: (spec.dtype, spec.shape) for key, spec in batches.element_spec[0].items()}, batches.element_spec[1]
)
for features, label in batches.take(2):
    for key, value in features.items():
        print(f"{key:10s}: {value}")
    print("label", label)


def stack_numeric(features, label, names=("age", "fare")):
    numeric = [tf.cast(features.pop(name), tf.float32) for name in names]
    features["numeric"] = tf.stack(numeric, axis=-1)
    return features, label


for features, label in batches.map(stack_numeric).take(1):
    print(list(features), features["numeric"].numpy().tolist())

CLASSES = tf.constant(["First", "Second", "Third"])


def encode(features, label):
    sex = tf.cast(tf.equal(features["sex"], "male"), tf.float32)
    onehot = tf.cast(tf.equal(features["class"][:, tf.newaxis], CLASSES), tf.float32)
    ages = tf.cast(features["age"], tf.float32)
    ages = tf.where(ages == 0, tf.reduce_mean(ages), ages)
    buckets = tf.searchsorted([22.0, 28.0], ages, side="right")
    return tf.concat([sex[:, None], onehot, ages[:, None]], axis=1), buckets, label


for x, buckets, y in batches.map(encode):
    print(x.numpy().round(2).tolist(), buckets.numpy().tolist(), y.numpy().tolist())

plain = tf.data.experimental.CsvDataset(
    "data/titanic.csv", [0.0, "", 0.0, "", "", "", 0], header=True, na_value=""
)
print([tuple(value.numpy() for value in row) for row in plain.take(2)])
some = tf.data.experimental.CsvDataset(
    "data/titanic.csv", [tf.float32, tf.int32], header=True, select_cols=[2, 6]
)
print([tuple(value.item() for value in row) for row in some.take(3).as_numpy_iterator()])
lines = tf.data.TextLineDataset("data/titanic.csv").skip(1)


def parse_line(line):
    fields = tf.io.decode_csv(line, [[-1.0], [""], [0.0], [""], [""], [""], [0]], na_value="")
    packed = dict(zip(rows[0].split(","), fields))
    label = packed.pop("survived")
    return packed, label


parsed = lines.map(parse_line)
print(parsed.element_spec[0]["age"], [float(row["age"]) for row, _ in parsed])
survived = parsed.filter(lambda row, label: tf.equal(label, 1)).map(lambda row, label: row["fare"])
print([fare.numpy() for fare in survived])
missing = tf.data.experimental.CsvDataset(
    "data/titanic.csv", [tf.float32, tf.string], header=True, select_cols=[0, 1], na_value=""
)
try:
    list(missing)
except tf.errors.InvalidArgumentError as error:
    print("missing value refused", type(error).__name__)
print(sum(1 for _ in missing.ignore_errors()))
by_fare = parsed.group_by_window(
    lambda row, label: tf.cast(row["fare"] // 10, tf.int64), lambda key, group: group.batch(8), window_size=8
)
for row, label in by_fare:
    print(row["fare"].numpy().tolist(), label.numpy().tolist())
options = tf.data.Options()
options.deterministic = True
options.threading.private_threadpool_size = 2
options.autotune.enabled = True
options.experimental_optimization.map_parallelization = True
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
print(sum(1 for _ in parsed.with_options(options)), parsed.with_options(options).options().deterministic)
numeric = {"age": np.array([1, 2, 3]), "fare": np.array([1.5, 2.5, 3.5], np.float32)}
for row, target in tf.data.Dataset.from_tensor_slices((numeric, np.array([0, 1, 0]))).batch(2):
    print(row, target)
