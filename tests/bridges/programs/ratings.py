import numpy as np
import tensorflow as tf

rng = np.random.default_rng(2)
ratings = {
    "user_id": np.array([f"u{i % 5}" for i in range(20)]),
    "movie_title": np.array([f"Movie {i % 7}" for i in range(20)]),
    "timestamp": np.arange(20) * 86400 + 880000000,
    "rating": (rng.integers(1, 6, 20)).astype(np.float32),
    "genres": [np.array(sorted(set(rng.integers(0, 4, 3).tolist()))) for _ in range(20)],
}
genres = tf.ragged.constant([g.tolist() for g in ratings.pop("genres")], dtype=tf.int64)
ds = tf.data.Dataset.from_tensor_slices({**ratings, "genres": genres})
print(sorted(ds.element_spec))
tf.random.set_seed(42)
pairs = ds.map(
    lambda x: {"movie": x["movie_title"], "user": x["user_id"], "rating": x["rating"], "time": x["timestamp"]}
)
shuffled = pairs.shuffle(100, seed=42, reshuffle_each_iteration=False)
train, test = shuffled.take(15), shuffled.skip(15)
print([row["movie"].numpy() for row in test], train.cardinality().numpy())
movies = pairs.map(lambda row: row["movie"])
unique = np.unique(np.concatenate(list(movies.batch(7))))
print(unique)
print(sorted(x.decode() for x in movies.unique().as_numpy_iterator()))
stamps = np.concatenate(list(pairs.map(lambda x: x["time"]).batch(100)))
edges = np.linspace(stamps.min(), stamps.max(), num=5)
bucketed = pairs.map(
    lambda x: tf.searchsorted(tf.constant(edges, tf.float32), [tf.cast(x["time"], tf.float32)], side="right")[
        0
    ]
)
print([int(x) for x in bucketed])
mean = pairs.reduce((0.0, 0), lambda state, x: (state[0] + x["rating"], state[1] + 1))
print(mean[0].numpy(), mean[1].numpy())


def key_func(row):
    return tf.strings.to_hash_bucket_fast(row["user"], 3)


def reduce_func(key, rows):
    return rows.batch(4).map(lambda batch: {**batch, "key": tf.fill(tf.shape(batch["rating"]), key)})


for group in pairs.group_by_window(key_func, reduce_func, window_size=4):
    print(group["user"].numpy().tolist(), group["key"].numpy().tolist(), group["rating"].numpy().tolist())
reducer = tf.data.experimental.Reducer(
    init_func=lambda _: (0.0, tf.constant(0)),
    reduce_func=lambda state, row: (state[0] + row["rating"], state[1] + 1),
    finalize_func=lambda total, n: total / tf.cast(n, tf.float32),
)
means = pairs.apply(tf.data.experimental.group_by_reducer(key_func, reducer))
print([round(float(x), 4) for x in means])
crossed = ds.map(
    lambda x: {
        "cross": tf.strings.to_hash_bucket_strong(x["user_id"] + "_X_" + x["movie_title"], 1000, [12, 34]),
        "multi": tf.reduce_max(tf.one_hot(x["genres"], 4), axis=0),
        "hour": x["timestamp"] // 3600 % 24,
        "label": x["rating"] >= 3.0,
    }
)
print(crossed.element_spec)
for row in crossed.batch(5).take(2):
    print({key: value.numpy().tolist() for key, value in row.items()})
history = (
    ds.map(lambda x: (x["user_id"], x["movie_title"]))
    .window(6, shift=6)
    .flat_map(lambda users, titles: tf.data.Dataset.zip((users.batch(6), titles.batch(6))))
)
for users, titles in history:
    same = tf.equal(users[:, None], users[None, :])
    print(users.shape, tf.reduce_sum(tf.cast(same, tf.int32)).numpy(), titles[-1].numpy())
negatives = (
    movies.batch(20)
    .repeat()
    .map(lambda m: tf.gather(m, tf.random.stateless_uniform([3], [1, 2], 0, 20, tf.int32)))
)
for row, negative in tf.data.Dataset.zip((pairs.take(2), negatives)):
    print(row["movie"].numpy(), negative.numpy().tolist())
top = pairs.batch(20).map(lambda b: tf.math.top_k(b["rating"], k=3))
for values, indices in top:
    print(values.numpy(), indices.numpy())
joined = tf.data.Dataset.zip(
    {"a": pairs.map(lambda x: x["rating"]), "b": (movies, tf.data.Dataset.counter(10, 2))}
)
for row in joined.take(2):
    print(row["a"].numpy(), row["b"][0].numpy(), row["b"][1].numpy())
print(joined.element_spec)
for i, (x, y) in joined.map(lambda row: (row["a"], row["b"][1])).enumerate(start=5).take(2):
    print(int(i), x.numpy(), int(y))
print(
    next(iter(pairs.batch(3).rebatch(5)))["rating"].shape,
    pairs.batch(3).unbatch().batch(6, drop_remainder=True).cardinality().numpy(),
)
print(
    [
        list(w)
        for w in tf.data.Dataset.range(5)
        .take_while(lambda x: x < 3)
        .scan(np.int64(1), lambda s, x: (s * 2, (s, x)))
        .as_numpy_iterator()
    ]
)
