import tensorflow as tf
import numpy as np


def ex(i):
    f = {
        "ids": tf.train.Feature(int64_list=tf.train.Int64List(value=list(range(i)))),
        "w": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5 * j for j in range(i)])),
        "s": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x" * j for j in range(i)])),
        "m": tf.train.Feature(float_list=tf.train.FloatList(value=np.arange(6.0) + i)),
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
    }
    return tf.train.Example(features=tf.train.Features(feature=f)).SerializeToString()


recs = [ex(i) for i in range(5)]
with tf.io.TFRecordWriter("v.tfrecord.gz", tf.io.TFRecordOptions(compression_type="GZIP")) as w:
    for r in recs:
        w.write(r)
desc = {
    "ids": tf.io.VarLenFeature(tf.int64),
    "w": tf.io.VarLenFeature(tf.float32),
    "s": tf.io.VarLenFeature(tf.string),
    "m": tf.io.FixedLenFeature([2, 3], tf.float32),
    "label": tf.io.FixedLenFeature([], tf.int64),
    "none": tf.io.FixedLenFeature([], tf.string, "dflt"),
}


def parse(r):
    p = tf.io.parse_single_example(r, desc)
    p["ids"] = tf.sparse.to_dense(p["ids"])
    p["s"] = tf.sparse.to_dense(p["s"], default_value="")
    p["n"] = tf.shape(p["ids"])[0]
    p["wsum"] = tf.reduce_sum(tf.sparse.to_dense(p["w"]))
    return p


ds = tf.data.TFRecordDataset("v.tfrecord.gz", compression_type="GZIP").map(parse)
for p in ds:
    print(
        {
            k: (v.indices.numpy().tolist(), v.values.numpy(), v.dense_shape.numpy())
            if isinstance(v, tf.SparseTensor)
            else v.numpy()
            for k, v in sorted(p.items())
        }
    )
print(sorted(ds.element_spec.items()))
b = (
    tf.data.TFRecordDataset("v.tfrecord.gz", compression_type="GZIP", num_parallel_reads=2, buffer_size=1000)
    .batch(3)
    .map(lambda r: tf.io.parse_example(r, desc))
)
for p in b:
    for k in sorted(p):
        v = p[k]
        if isinstance(v, tf.sparse.SparseTensor):
            v = tf.sparse.to_dense(v)
        print(k, v.numpy().tolist(), v.shape)
rd = {
    "ids": tf.io.RaggedFeature(tf.int64),
    "w": tf.io.RaggedFeature(tf.float32),
    "seq": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
}
for p in tf.data.Dataset.from_tensor_slices(recs).batch(2).map(lambda r: tf.io.parse_example(r, rd)):
    print(p["ids"], p["w"], p["seq"])
    print(p["ids"].to_tensor(), p["ids"].row_lengths().numpy(), p["ids"].flat_values)


def parse2(r):
    p = tf.io.parse_single_example(
        r,
        {
            "ids": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
            "label": tf.io.FixedLenFeature([], tf.int64),
        },
    )
    return p["ids"], p["label"]


for x, y in tf.data.Dataset.from_tensor_slices(recs).map(parse2).padded_batch(3, padded_shapes=([None], [])):
    print(x, y)
for x, y in (
    tf.data.Dataset.from_tensor_slices(recs)
    .map(parse2)
    .padded_batch(2, ([7], []), padding_values=(tf.constant(-1, tf.int64), None), drop_remainder=True)
):
    print(x, y)
se = tf.train.SequenceExample(
    context=tf.train.Features(feature={"id": tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))}),
    feature_lists=tf.train.FeatureLists(
        feature_list={
            "tok": tf.train.FeatureList(
                feature=[tf.train.Feature(int64_list=tf.train.Int64List(value=[t])) for t in (4, 5, 6)]
            ),
            "fr": tf.train.FeatureList(
                feature=[tf.train.Feature(bytes_list=tf.train.BytesList(value=[t])) for t in (b"a", b"b")]
            ),
        }
    ),
)
c, s = tf.io.parse_single_sequence_example(
    se.SerializeToString(),
    context_features={"id": tf.io.FixedLenFeature([], tf.int64)},
    sequence_features={
        "tok": tf.io.FixedLenSequenceFeature([], tf.int64),
        "fr": tf.io.FixedLenSequenceFeature([], tf.string),
    },
)
print(c, sorted(s.items()))
c, s, l = tf.io.parse_sequence_example(
    [se.SerializeToString()] * 2,
    {"id": tf.io.FixedLenFeature([], tf.int64)},
    {"tok": tf.io.RaggedFeature(tf.int64), "fr": tf.io.VarLenFeature(tf.string)},
)
print(c["id"], s["tok"], tf.sparse.to_dense(s["fr"]), l)
try:
    tf.io.parse_single_example(recs[0], {"zzz": tf.io.FixedLenFeature([], tf.int64)})
except tf.errors.InvalidArgumentError as e:
    print("zzz" in e.message)


def featurize(d):
    return tf.concat([tf.cast(d["label"][tf.newaxis], tf.float32), tf.reshape(d["m"], [-1])], 0)


print(list(ds.map(featurize).batch(2).as_numpy_iterator()))
