"""What is said of names of TensorFlow that are not here."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

__all__ = ["no_attribute"]

_INSTEAD: Final = {
    "tf.compat": "Only TensorFlow 2's names are here; of tf.compat.v1 use the same name without it.",
    "tf.contrib": "It is of TensorFlow 1, which has no counterpart here.",
    "tf.Session": "It is of TensorFlow 1: values are there at once, and x.numpy() gives them as NumPy.",
    "tf.placeholder": "It is of TensorFlow 1: give the value itself.",
    "tf.GradientTape": "Models are not penstock's: train with Keras (tf.keras), PyTorch or JAX on these datasets.",
    "tf.distribute": "Use ds.distribute(rank, world), which also goes on in another world.",
    "tf.saved_model": "Models are not penstock's: save them with the framework that trains them.",
    "tf.estimator": "TensorFlow has removed it; use tf.keras.",
    "tf.nn": "Models are not penstock's: use tf.keras, PyTorch or JAX.",
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
    if not help and (close := get_close_matches(name, known, 1)):
        help = f"Did you mean {module}.{close[0]}?"
    if not help:
        help = "Use NumPy on the values in a function for map(), which runs on whole chunks where it can be traced."
    return AttributeError(f"{found} {help}", name=name)
