"""What is said of names of TensorFlow that are not here."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

__all__ = ["no_attribute"]

_INSTEAD: Final = {
    "tf.compat.v1": "Only TensorFlow 2's names are here: use the same name without compat.v1.",
    "tf.compat.v2": "Use the same name without compat.v2.",
    "tf.contrib": "It is of TensorFlow 1, which has no counterpart here.",
    "tf.Session": "It is of TensorFlow 1: values are there at once, and x.numpy() gives them as NumPy.",
    "tf.placeholder": "It is of TensorFlow 1: give the value itself.",
    "tf.GradientTape": "Models are not penstock's: train with Keras (tf.keras), PyTorch or JAX on these datasets.",
    "tf.distribute": "Use ds.distribute(rank, world), which also goes on in another world.",
    "tf.saved_model": "Models are not penstock's: save them with the framework that trains them.",
    "tf.estimator": "TensorFlow has removed it; use tf.keras.",
    "tf.audio": "Python's wave module or soundfile reads sound, in a function for map().",
    "tf.signal": "numpy.fft and scipy.signal have it, in a function for map(), which then runs row by row.",
    "tf.linalg": "numpy.linalg has it; matmul, norm, eye, einsum and tensordot are here as tf.matmul and so on.",
    "tf.sets": "numpy.intersect1d, setdiff1d and union1d have it, in a function for map().",
    "tf.raw_ops": "They are TensorFlow's own; use the function that stands for it in tf, tf.io or tf.strings.",
    "tf.summary": "Write summaries with the framework that trains.",
    "tf.profiler": "ds.profile() tells where the time goes.",
    "tf.TensorArray": "Use a Python list and tf.stack.",
    "tf.image.combined_non_max_suppression": "Use tf.image.non_max_suppression for each picture and class.",
    "tf.image.non_max_suppression_padded": "Use tf.image.non_max_suppression, and tf.pad its result.",
    "tf.image.ssim": "It is for results of models: scikit-image has structural_similarity.",
    "tf.io.decode_proto": "The protobuf package reads messages of other kinds, in a function for map().",
    "tf.io.encode_proto": "The protobuf package writes messages of other kinds, in a function for map().",
    "tf.io.decode_jxl": "Read JPEG XL with a package of Python, in a function for map().",
    "tf.image.decode_jxl": "Read JPEG XL with a package of Python, in a function for map().",
    "tf.io.match_filenames_once": "Use tf.io.gfile.glob, or tf.data.Dataset.list_files.",
    "tf.random.experimental.stateless_shuffle": "Use tf.random.shuffle in map(), which counts by row, or tf.gather by "
    "tf.argsort(tf.random.stateless_uniform([n], seed)).",
    "tf.data.experimental.snapshot": "Use ds.snapshot(path), or ds.cache(path).",
    "tf.data.experimental.index_table_from_dataset": "Make a tf.lookup.StaticHashTable of the rows.",
    "tf.data.experimental.table_from_dataset": "Make a tf.lookup.StaticHashTable of the rows.",
    "tf.data.experimental.SqlDataset": "Use from_generator over a cursor of sqlite3, or pandas.read_sql.",
    "tf.lookup.experimental": "Use tf.lookup.StaticHashTable, or a Python dict in map(), which then runs row by row.",
    "tf.strings.unicode_script": "Python's unicodedata tells names of characters, in a function for map().",
    "tf.data.experimental.service": "Use ds.distribute(rank, world), or map(..., workers='process').",
    "tf.data.experimental.prefetch_to_device": "Use ds.prefetch(), and ps.torch or ps.jax for arrays on a device.",
    "tf.data.experimental.copy_to_device": "Use ds.prefetch(), and ps.torch or ps.jax for arrays on a device.",
    "tf.data.experimental.make_saveable_from_iterator": "Use tf.train.Checkpoint(iterator=iterator).",
    "tf.io.write_graph": "There are no graphs; ds.to_json() writes a pipeline down.",
    "tf.train.Server": "penstock runs in your process.",
}


def no_attribute(module: str, name: str, known: tuple[str, ...] = ()) -> AttributeError:
    """The error for a name that a module of this namespace does not have, with what to use instead.

    >>> no_attribute("tf", "GradientTape")
    AttributeError("penstock.tf has no 'GradientTape'. Models are not penstock's: train with Keras (tf.keras), \
PyTorch or JAX on these datasets.")
    """
    found = f"penstock.{module} has no {name!r}."
    help = _INSTEAD.get(f"{module}.{name}", "")
    if module == "tf.image" and name.removeprefix("stateless_").startswith("random_"):
        help = f"Here are {', '.join(other for other in known if other.startswith('random_'))}, each stateless_ too."
    if not help and module == "tf.nn":
        help = "Layers are not penstock's: use tf.keras, PyTorch or JAX."
    if not help and module == "tf.sparse":
        help = "Use tf.sparse.to_dense, and functions of dense tensors."
    if not help and (close := get_close_matches(name, known, 1)):
        help = f"Did you mean {module}.{close[0]}?"
    if not help:
        help = "Use NumPy on the values in a function for map(), which runs on whole chunks where it can be traced."
    return AttributeError(f"{found} {help}", name=name)
