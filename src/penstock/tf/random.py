"""`tf.random`: a seed for datasets, and random tensors to make data of.

The numbers are NumPy's, not TensorFlow's. In a function for `map` use `tf.image.stateless_random_*`, whose numbers are
counted by row.

>>> import penstock.tf as tf
>>> tf.random.set_seed(1)
>>> tf.random.uniform([2, 3]).shape
TensorShape([2, 3])
>>> tf.random.set_seed(None)
"""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as ps
from penstock.tf.dtypes import DTYPES, as_dtype
from penstock.tf.missing import no_attribute
from penstock.tf.tensors import Tensor, unwrap
from penstock.trace.randomness import watch

__all__ = ["normal", "set_seed", "shuffle", "uniform"]

# By the seed of the call, None where it has none; begun anew by set_seed.
_generators: dict[int | None, np.random.Generator] = {}
_seed: list[int | None] = [None]
watch(_generators)  # a function that draws from them is random, so that it is not traced


def set_seed(seed: int | None) -> None:
    """The seed of datasets without one of their own, and of the random tensors that follow."""
    ps.set_seed(seed)
    _seed[0] = seed
    _generators.clear()


def _drawn(seed: int | None) -> np.random.Generator:
    if seed not in _generators:
        seeds = [part for part in (_seed[0], seed) if part is not None]
        _generators[seed] = np.random.default_rng(seeds or None)
    return _generators[seed]


def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = DTYPES["float32"],
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers from `minval` to below `maxval` (1 for floats), all as likely."""
    kind, sizes = as_dtype(dtype), tuple(unwrap(shape))
    low, high = unwrap(minval), unwrap(maxval)
    if kind.is_integer:
        return Tensor(_drawn(seed).integers(low, high, sizes, kind.dtype))
    drawn = _drawn(seed).uniform(low, 1 if high is None else high, sizes)
    return Tensor(np.asarray(drawn).astype(kind.dtype)[()])


def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = DTYPES["float32"],
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers of a normal distribution."""
    drawn = _drawn(seed).normal(unwrap(mean), unwrap(stddev), tuple(unwrap(shape)))
    return Tensor(np.asarray(drawn).astype(as_dtype(dtype).dtype)[()])


def shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """The entries of the first axis in a random order."""
    return Tensor(_drawn(seed).permutation(np.asarray(value)))


def __getattr__(name: str) -> Any:
    raise no_attribute("tf.random", name, tuple(__all__))
