import tensorflow as tf
import numpy as np

digits = tf.ragged.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []])
words = tf.ragged.constant([["So", "long"], ["thanks", "for", "all", "the", "fish"]])
print(tf.add(digits, 3))
print(tf.reduce_mean(digits, axis=1))
print(tf.concat([digits, [[5, 3]]], axis=0))
print(tf.tile(digits, [1, 2]))
print(tf.strings.substr(words, 0, 2))
print(tf.map_fn(tf.math.square, digits))
print(digits[0])
print(digits[:, :2])
print(digits[:, -2:])
print(digits + 3)
print(digits + tf.ragged.constant([[1, 2, 3, 4], [], [5, 6, 7], [8], []]))
times_two_plus_one = lambda x: x * 2 + 1
print(tf.ragged.map_flat_values(times_two_plus_one, digits))
print(digits.to_list(), digits.numpy())
sentences = tf.ragged.constant(
    [["Let's", "build", "some", "ragged", "tensors", "!"], ["We", "can", "use", "tf.ragged.constant", "."]]
)
print(sentences)
paragraphs = tf.ragged.constant(
    [
        [["I", "have", "a", "cat"], ["His", "name", "is", "Mat"]],
        [["Do", "you", "want", "to", "come", "visit"], ["I'm", "free", "tomorrow"]],
    ]
)
print(paragraphs)
print(tf.RaggedTensor.from_value_rowids(values=[3, 1, 4, 1, 5, 9, 2], value_rowids=[0, 0, 0, 0, 2, 2, 3]))
print(tf.RaggedTensor.from_row_lengths(values=[3, 1, 4, 1, 5, 9, 2], row_lengths=[4, 0, 2, 1]))
print(tf.RaggedTensor.from_row_splits(values=[3, 1, 4, 1, 5, 9, 2], row_splits=[0, 4, 4, 6, 7]))
try:
    tf.ragged.constant([["one", "two"], [3, 4]])
except ValueError as exception:
    print("ValueError")
try:
    tf.ragged.constant(["A", ["B", "C"]])
except ValueError as exception:
    print("ValueError")
queries = tf.ragged.constant(
    [["Who", "is", "Dan", "Smith"], ["Pause"], ["Will", "it", "rain", "later", "today"]]
)
num_buckets = 1024
embedding_size = 4
embedding_table = tf.constant(
    np.random.default_rng(0).normal(size=(num_buckets, embedding_size)).astype(np.float32)
)
word_buckets = tf.strings.to_hash_bucket_fast(queries, num_buckets)
word_embeddings = tf.gather(embedding_table, word_buckets)
marker = tf.fill([queries.nrows(), 1], "#")
padded = tf.concat([marker, queries, marker], axis=1)
bigrams = tf.strings.join([padded[:, :-1], padded[:, 1:]], separator="+")
print(bigrams)
bigram_embeddings = tf.gather(embedding_table, tf.strings.to_hash_bucket_fast(bigrams, num_buckets))
all_embeddings = tf.concat([word_embeddings, bigram_embeddings], axis=1)
avg_embedding = tf.reduce_mean(all_embeddings, axis=1)
print(avg_embedding.numpy().round(5))
rt = tf.ragged.constant([[0, 1], [2, 3, 4], []])
print(rt.shape, rt.bounding_shape(), rt.ragged_rank, rt.row_splits, rt.values, tf.shape(tf.constant([1])))
print(tf.ragged.constant([["a"]]).dtype, rt.nrows(), rt.flat_values.shape)
ragged = tf.ragged.constant([["Hi"], ["Welcome", "to", "the", "fair"], ["Have", "fun"]])
print(ragged.to_tensor(default_value="", shape=[None, 10]).shape, ragged.to_tensor(default_value=""))
print(ragged.to_sparse())
st = tf.SparseTensor(indices=[[0, 0], [2, 0], [2, 1]], values=["a", "b", "c"], dense_shape=[3, 3])
print(tf.RaggedTensor.from_sparse(st))
dense = [["the", "big", "", ""], ["cat", "", "", ""]]
print(tf.RaggedTensor.from_tensor(dense, padding=""))
print(tf.RaggedTensor.from_tensor([[1, 0, 0], [2, 3, 0]], lengths=[1, 2]))
dataset = tf.data.Dataset.from_tensor_slices(ragged)
for e in dataset:
    print(e)
bd = tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]]).batch(2)
d = (
    tf.data.Dataset.from_tensor_slices(np.arange(5))
    .map(lambda x: tf.range(x))
    .apply(tf.data.experimental.dense_to_ragged_batch(batch_size=2))
)
for b in d:
    print(b)
for b in d.unbatch():
    print(b, end=" ")
for b in tf.data.Dataset.range(5).map(tf.range).ragged_batch(2, drop_remainder=True):
    print(b)
ds = tf.data.Dataset.from_tensor_slices({"r": queries, "n": [1, 2, 3]}).map(
    lambda d: (d["r"], tf.size(d["r"]), d["n"])
)
for e in ds:
    print(e)
for b in tf.data.Dataset.from_tensor_slices(queries).batch(2):
    print(b, b.shape, type(b).__name__)
print(tf.data.Dataset.from_tensor_slices(queries).batch(2).element_spec)
lens = tf.ragged.constant([[3.0, 1.0], [2.0]])
print(
    tf.reduce_sum(lens, 1),
    tf.reduce_max(lens, 0),
    tf.reduce_any(tf.ragged.constant([[True], [False, False]]), axis=1),
)
print(
    tf.ragged.boolean_mask(digits, digits > 2),
    tf.where(digits > 3, digits, -digits),
    tf.ragged.range([3, 0, 2]),
    tf.ragged.stack([[1, 2], [3]]),
)
print(tf.squeeze(tf.expand_dims(lens, 0), 0), tf.cast(digits, tf.float32), tf.ones_like(digits))
x = tf.ragged.constant([[1, 2], [3]])
for r in x:
    print(r)
print(x == x, x[1, 0], x[1][0], repr(x))
