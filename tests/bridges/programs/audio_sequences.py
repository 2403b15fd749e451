import numpy as np
import tensorflow as tf

rng = np.random.default_rng(1)


def sequence(i):
    frames = 3 + i % 4
    mel = rng.normal(size=(frames, 4)).astype(np.float32)
    context = tf.train.Features(
        feature={
            "id": tf.train.Feature(bytes_list=tf.train.BytesList(value=[f"clip{i}".encode()])),
            "rate": tf.train.Feature(int64_list=tf.train.Int64List(value=[16000])),
            "labels": tf.train.Feature(int64_list=tf.train.Int64List(value=list(range(i % 3)))),
        }
    )
    lists = tf.train.FeatureLists(
        feature_list={
            "mel": tf.train.FeatureList(
                feature=[tf.train.Feature(float_list=tf.train.FloatList(value=row)) for row in mel]
            ),
            "phones": tf.train.FeatureList(
                feature=[
                    tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"p%d" % (j % 2)] * (j % 3)))
                    for j in range(frames)
                ]
            ),
            "voiced": tf.train.FeatureList(
                feature=[
                    tf.train.Feature(int64_list=tf.train.Int64List(value=[j % 2])) for j in range(frames)
                ]
            ),
        }
    )
    return tf.train.SequenceExample(context=context, feature_lists=lists)


with tf.io.TFRecordWriter("audio.tfrecord") as writer:
    for i in range(7):
        writer.write(sequence(i).SerializeToString())

CONTEXT = {
    "id": tf.io.FixedLenFeature([], tf.string),
    "rate": tf.io.FixedLenFeature([], tf.int64),
    "labels": tf.io.VarLenFeature(tf.int64),
    "speaker": tf.io.FixedLenFeature([], tf.string, default_value="unknown"),
}
SEQUENCE = {
    "mel": tf.io.FixedLenSequenceFeature([4], tf.float32),
    "voiced": tf.io.FixedLenSequenceFeature([], tf.int64),
    "phones": tf.io.VarLenFeature(tf.string),
    "missing": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
}


def parse(record):
    context, sequence = tf.io.parse_single_sequence_example(record, CONTEXT, SEQUENCE)
    multi_hot = tf.reduce_max(tf.one_hot(tf.sparse.to_dense(context["labels"]), 3), axis=0)
    mel = sequence["mel"]
    mean, variance = tf.nn.moments(mel, axes=[0])
    normal = (mel - mean) / tf.sqrt(variance + 1e-6)
    delta = mel[1:] - mel[:-1]
    return {
        "id": tf.strings.join([context["id"], context["speaker"]], separator="/"),
        "mel": normal,
        "delta": delta,
        "phones": tf.sparse.to_dense(sequence["phones"], default_value="_"),
        "voiced": sequence["voiced"],
        "frames": tf.shape(mel)[0],
        "target": tf.maximum(multi_hot, 0.0),
        "missing": sequence["missing"],
    }


ds = tf.data.TFRecordDataset("audio.tfrecord").map(parse)
print(ds.element_spec)
for row in ds.take(4):
    print(row["id"].numpy(), row["frames"].numpy(), row["target"].numpy().tolist(), row["missing"].shape)
    print(row["mel"].numpy().round(3).tolist(), row["delta"].shape)
    print(row["phones"].numpy().tolist(), row["voiced"].numpy().tolist())

lengths = ds.map(lambda row: (row["mel"], row["frames"], row["target"]))
bucketed = lengths.bucket_by_sequence_length(
    element_length_func=lambda mel, frames, target: frames,
    bucket_boundaries=[4, 6],
    bucket_batch_sizes=[3, 2, 2],
    padded_shapes=([None, 4], [], [3]),
)
for mel, frames, target in bucketed:
    mask = tf.sequence_mask(frames, tf.shape(mel)[1])
    print(mel.shape, frames.numpy(), mask.numpy().astype(int).tolist(), target.numpy().tolist())

batch = tf.data.TFRecordDataset("audio.tfrecord").batch(3)
for records in batch.take(1):
    context, sequences, sizes = tf.io.parse_sequence_example(records, CONTEXT, SEQUENCE)
    print(sorted(context), sorted(sequences), {k: v.numpy().tolist() for k, v in sorted(sizes.items())})
    print(
        context["labels"].indices.numpy().tolist(),
        sequences["mel"].shape,
        sequences["phones"].dense_shape.numpy(),
    )

ragged = tf.data.TFRecordDataset("audio.tfrecord").map(
    lambda record: tf.io.parse_single_sequence_example(
        record,
        sequence_features={"phones": tf.io.RaggedFeature(tf.string), "mel": tf.io.RaggedFeature(tf.float32)},
    )[1]
)
print(sorted(ragged.element_spec))
for row in ragged.take(2):
    print(row["phones"].to_list(), row["phones"].row_lengths().numpy(), row["mel"].shape)
