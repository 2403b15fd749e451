"""Samples of pictures in another dtype, scaled as TensorFlow scales them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.errors import ArgumentError
from penstock.spec.small_dtypes import float_limits

__all__ = ["converted", "kind_of"]


def kind_of(dtype: np.dtype[Any]) -> str:
    """The letter of NumPy for a kind of numbers."""
    return "f" if dtype.kind == "V" else dtype.kind  # bfloat16 and its like are floats


def converted(samples: NDArray[Any], dtype: np.dtype[Any], saturate: bool = False) -> NDArray[Any]:
    """The samples in another dtype; the way is chosen by the two types, as formats.md 4.4 has it."""
    kinds = kind_of(samples.dtype), kind_of(dtype)
    if kinds[0] not in "iuf":
        raise ArgumentError(
            "convert_image_dtype", "dtype of image", got=samples.dtype, want="floats or whole numbers"
        )
    if samples.dtype == dtype:
        return samples
    if kinds == ("f", "f"):
        return samples.astype(dtype)
    if kinds[0] == "f":
        with np.errstate(all="ignore"):  # what does not fit is anything
            return _cast(samples * samples.dtype.type(np.iinfo(dtype).max + 0.5), dtype, saturate)
    if kinds[1] == "f":
        with np.errstate(all="ignore"):  # whole numbers reach above float16
            floats: NDArray[Any] = samples.astype(dtype)
            floats *= dtype.type(1.0 / np.iinfo(samples.dtype).max)
        return floats
    most, new_most = int(np.iinfo(samples.dtype).max), int(np.iinfo(dtype).max)
    if most > new_most:
        return _cast(samples // samples.dtype.type((most + 1) // (new_most + 1)), dtype, saturate)
    wider: NDArray[Any] = _cast(samples, dtype, saturate) * dtype.type((new_most + 1) // (most + 1))
    return wider


def _cast(samples: NDArray[Any], dtype: np.dtype[Any], saturate: bool) -> NDArray[Any]:
    if saturate:
        low, high = _range_within(samples.dtype, dtype)
        samples = np.clip(samples, low, high)
    return samples.astype(dtype)


def _range_within(old: np.dtype[Any], new: np.dtype[Any]) -> tuple[Any, Any]:
    """The smallest and the largest value of a type of whole numbers that another type has too."""
    bounds = np.iinfo(new)
    if kind_of(old) != "f":
        known = np.iinfo(old)
        return old.type(max(bounds.min, known.min)), old.type(min(bounds.max, known.max))
    most = float_limits(old).max
    low, high = old.type(max(bounds.min, -float(most))), old.type(min(bounds.max, float(most)))
    return low, np.nextafter(high, old.type(0)) if float(high) > bounds.max else high
