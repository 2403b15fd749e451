import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
tf.random.set_seed(1)
n = 48
rng = np.random.default_rng(0)
features = {
    "image": rng.integers(0, 255, (n, 6, 6, 1), dtype=np.uint8),
    "numbers": rng.normal(size=(n, 3)).astype(np.float32),
    "word": rng.integers(0, 5, n).astype(np.int32),
}
labels = {"kind": (features["word"] > 2).astype(np.float32), "size": features["numbers"].sum(1)}
dataset = tf.data.Dataset.from_tensor_slices((features, labels))


def scale(x, y):
    return {**x, "image": tf.image.convert_image_dtype(x["image"], tf.float32)}, y


dataset = dataset.map(scale).cache()
train = (
    dataset.take(32).shuffle(32, seed=3, reshuffle_each_iteration=False).batch(8).prefetch(tf.data.AUTOTUNE)
)
valid = dataset.skip(32).batch(8)
print(train.element_spec)


def model(outputs=2):
    image = keras.Input((6, 6, 1), name="image")
    numbers = keras.Input((3,), name="numbers")
    word = keras.Input((), name="word", dtype="int32")
    x = keras.layers.concatenate([keras.layers.Flatten()(image), numbers, keras.layers.Embedding(5, 2)(word)])
    x = keras.layers.Dense(4, activation="relu")(x)
    out = {
        "kind": keras.layers.Dense(1, activation="sigmoid", name="kind")(x),
        "size": keras.layers.Dense(1, name="size")(x),
    }
    return keras.Model({"image": image, "numbers": numbers, "word": word}, out)


two = model()
two.compile("sgd", loss={"kind": "binary_crossentropy", "size": "mse"})
history = two.fit(train, validation_data=valid, epochs=2, verbose=0)
print({key: np.round(value, 4).tolist() for key, value in sorted(history.history.items())})
print({key: value.shape for key, value in sorted(two.predict(valid, verbose=0).items())})

one = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, activation="softmax")])
one.compile("adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
pairs = dataset.map(lambda x, y: (x["numbers"], tf.cast(y["kind"], tf.int32))).batch(8)
print(np.round(one.fit(pairs, class_weight={0: 1.0, 1: 3.0}, epochs=2, verbose=0).history["loss"], 4))
weighed = dataset.map(lambda x, y: (x["numbers"], y["kind"], tf.where(y["kind"] > 0.5, 3.0, 1.0))).batch(8)
print(np.round(one.fit(weighed.repeat(), steps_per_epoch=6, epochs=2, verbose=0).history["loss"], 4))
print(np.round(one.evaluate(pairs, verbose=0), 4))
layer = keras.layers.Normalization()
layer.adapt(dataset.map(lambda x, y: x["numbers"]).batch(8))
print(np.asarray(layer.mean).round(4))
