"""`tf.random`: a seed for datasets, and random tensors; functions of `ps.random` that take and give tensors.

`stateless_*` give TensorFlow's numbers. Those of `uniform`, `normal` and `shuffle` are our own; in a function for `map`
they are counted by row, so that they go on after a stop.

>>> import penstock.tf as tf
>>> tf.random.stateless_uniform([2], seed=[1, 2])
<tf.Tensor: shape=(2,), dtype=float32, numpy=array([0.8440604 , 0.19204533], dtype=float32)>
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import penstock as ps
from penstock.tf.functions import on_tensors
from penstock.tf.names import lookup

__all__ = ["experimental", "set_seed"]

set_seed = ps.set_seed

experimental = SimpleNamespace(
    stateless_fold_in=on_tensors(ps.random.fold_in), stateless_split=on_tensors(ps.random.split)
)
"""Older names."""

_get, _known = lookup("tf.random", "random")


def __getattr__(name: str) -> Any:
    return _get(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_known()})
