import re
import string

import tensorflow as tf

TEXTS = [
    "The film was GREAT!<br />Really.",
    "bad, bad; terrible acting",
    "It's fine. I guess, it's fine",
    "",
    "wonderful wonderful wonderful film with a very long text that goes on and on",
    "not good",
    "café déjà vu: 10/10",
]
LABELS = [1, 0, 1, 0, 1, 0, 1]


def standardize(text):
    text = tf.strings.lower(text)
    text = tf.strings.regex_replace(text, "<br />", " ")
    return tf.strings.regex_replace(text, f"[{re.escape(string.punctuation)}]", "")


dataset = tf.data.Dataset.from_tensor_slices((TEXTS, LABELS))
counts = {}
for text, _ in dataset:
    for word in tf.strings.split(standardize(text)).numpy():
        counts[word.decode()] = counts.get(word.decode(), 0) + 1
vocabulary = sorted(counts, key=lambda word: (-counts[word], word))[:12]
print(vocabulary)
table = tf.lookup.StaticVocabularyTable(
    tf.lookup.KeyValueTensorInitializer(
        tf.constant(vocabulary), tf.range(2, len(vocabulary) + 2, dtype=tf.int64), tf.string, tf.int64
    ),
    num_oov_buckets=1,
)


def encode(text, label):
    words = tf.strings.split(standardize(text))
    return table.lookup(words)[:8], label


encoded = dataset.map(encode, num_parallel_calls=tf.data.AUTOTUNE)
for ids, label in encoded:
    print(ids.numpy(), label.numpy())
print(encoded.element_spec)

for ids, labels in encoded.padded_batch(
    3, padded_shapes=([None], []), padding_values=(tf.constant(0, tf.int64), None)
):
    print(ids.numpy(), labels.numpy())

buckets = encoded.bucket_by_sequence_length(
    element_length_func=lambda ids, label: tf.shape(ids)[0],
    bucket_boundaries=[3, 6],
    bucket_batch_sizes=[2, 2, 2],
    pad_to_bucket_boundary=False,
)
for ids, labels in buckets:
    print(ids.shape, ids.numpy().tolist(), labels.numpy())

ragged = dataset.batch(3).map(lambda text, label: (tf.strings.split(standardize(text)), label))
for words, labels in ragged:
    print(words.to_list(), words.row_lengths().numpy(), labels.numpy())
    print(table.lookup(words).to_tensor(default_value=0).numpy())
    print(tf.ragged.map_flat_values(tf.strings.length, words))
rows = encoded.apply(tf.data.experimental.dense_to_ragged_batch(4))
for ids, labels in rows:
    print(
        type(ids).__name__,
        ids.shape,
        tf.reduce_mean(tf.cast(ids, tf.float32), axis=1).numpy().round(4),
        labels.numpy(),
    )


def multi_hot(ids, label):
    return tf.reduce_max(tf.one_hot(ids, len(vocabulary) + 3), axis=0), label


for hot, label in encoded.filter(lambda ids, label: tf.size(ids) > 0).map(multi_hot).take(2):
    print(hot.numpy(), label.numpy())


def bigrams(text, label):
    return tf.strings.ngrams(tf.strings.split(text), 2, separator="_"), label


for grams, label in dataset.map(bigrams):
    print(grams.numpy(), label.numpy())
characters = dataset.map(lambda text, _: tf.strings.unicode_split(text, "UTF-8")[:5])
print([row.tolist() for row in characters.as_numpy_iterator()])
