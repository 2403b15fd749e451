import collections
import tensorflow as tf

REVIEWS = [
    "This movie was GREAT!!! <br /> Loved it.",
    "terrible; awful plot... would NOT watch again",
    "It's okay, I guess. <br/>Not great, not terrible",
    "",
    "Großartig — naïve café!",
]
LABELS = [1, 0, 1, 0, 1]
ds = tf.data.Dataset.from_tensor_slices((REVIEWS, LABELS))


def standardize(text):
    lowered = tf.strings.lower(text, encoding="utf-8")
    stripped = tf.strings.regex_replace(lowered, r"<br\s*/?>", " ")
    return tf.strings.strip(
        tf.strings.regex_replace(stripped, "[!\"#$%&()*+,\\-./:;<=>?@\\[\\]^_`{|}~']", "")
    )


clean = ds.map(lambda text, label: (standardize(text), label))
counter = collections.Counter()
for text, _ in clean:
    counter.update(token.decode() for token in tf.strings.split(text).numpy())
words = [word for word, _ in sorted(counter.items(), key=lambda item: (-item[1], item[0]))][:12]
print(words)
with tf.io.gfile.GFile("vocab.txt", "w") as file:
    for word in words:
        file.write(word + "\n")

init = tf.lookup.TextFileInitializer(
    "vocab.txt",
    key_dtype=tf.string,
    key_index=tf.lookup.TextFileIndex.WHOLE_LINE,
    value_dtype=tf.int64,
    value_index=tf.lookup.TextFileIndex.LINE_NUMBER,
)
table = tf.lookup.StaticVocabularyTable(init, num_oov_buckets=3)
print(table.size().numpy(), table.lookup(tf.constant(["not", "zzz"])).numpy())


def encode(text, label):
    tokens = tf.strings.split(text)
    ids = table.lookup(tokens) + 2
    ids = tf.concat([[1], ids, [0]], axis=0)
    return ids[:8], tf.size(ids), label


encoded = clean.map(encode)
print(encoded.element_spec)
for ids, size, label in encoded.padded_batch(2, padded_shapes=([8], [], [])):
    print(ids.numpy().tolist(), size.numpy(), label.numpy())

reverse = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(tf.range(len(words), dtype=tf.int64), tf.constant(words)), "<unk>"
)
for ids, _, _ in encoded.take(2):
    print(tf.strings.reduce_join(reverse.lookup(ids - 2), separator=" ").numpy())

ragged = clean.batch(3).map(lambda text, label: (table.lookup(tf.strings.split(text)), label))
print(ragged.element_spec)
for ids, label in ragged:
    print(
        ids.to_list(),
        ids.row_lengths().numpy(),
        ids.to_tensor(default_value=-1, shape=[None, 6]).numpy().tolist(),
    )

bigrams = clean.map(lambda text, _: tf.strings.ngrams(tf.strings.split(text), [1, 2], separator="_"))
for grams in bigrams:
    print(grams.numpy().tolist())


def multi_hot(text, label):
    ids = table.lookup(tf.strings.split(text))
    return tf.reduce_max(tf.one_hot(ids, depth=15, dtype=tf.int32), axis=0), tf.math.bincount(
        tf.cast(ids, tf.int32), minlength=15, maxlength=15
    )


for hot, counts in clean.filter(lambda text, _: tf.strings.length(text) > 0).map(multi_hot):
    print(hot.numpy().tolist(), counts.numpy().tolist())

characters = ds.map(lambda text, _: tf.strings.unicode_split(text, "UTF-8")).map(
    lambda parts: (tf.size(parts), parts[:4], tf.strings.length(tf.strings.reduce_join(parts), "UTF8_CHAR"))
)
for size, first, length in characters:
    print(size.numpy(), first.numpy().tolist(), length.numpy())
print(
    [
        b.numpy().tolist()
        for b in clean.map(lambda t, _: tf.strings.to_hash_bucket_fast(tf.strings.split(t), 50))
    ]
)
print(
    tf.strings.as_string(tf.constant([1.5, 2.25]), precision=1).numpy(),
    tf.strings.format("{} of {}", (1, [2, 3])).numpy(),
)
