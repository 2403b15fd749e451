"""Pictures with samples of another type, scaled as TensorFlow scales them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from penstock.errors import ArgumentError, ArgumentTypeError
from penstock.image.pictures import on_samples
from penstock.spec import TensorSpec
from penstock.spec.small_dtypes import float_limits
from penstock.trace import operation
from penstock.trace.form import Arg

__all__ = ["convert_image_dtype", "converted"]


def _chunk(image: Any, dtype: DTypeLike, saturate: bool = False) -> Any:
    target = _dtype(dtype)
    return on_samples(image, lambda samples: converted(samples, target, saturate))


def _result(image: Arg, dtype: DTypeLike, saturate: bool = False) -> TensorSpec:  # noqa: ARG001
    return TensorSpec(image.shape, _dtype(dtype))


@operation("image.convert_image_dtype", chunk=_chunk, result=_result, traced="first", any_sizes=True)
def convert_image_dtype(image: Any, dtype: DTypeLike, saturate: bool = False) -> NDArray[Any]:
    """A picture with samples of another type, its values scaled, as `tf.image.convert_image_dtype` gives it.

    Floats stand for values in [0, 1), whole numbers for values up to the largest of their type.

    Args:
        image: Numbers of any shape.
        dtype: The new dtype, of floats or whole numbers.
        saturate: Bring values that do not fit the new type into its range; otherwise they are anything.

    Raises:
        ArgumentTypeError: `image` or `dtype` is neither of floats nor of whole numbers.

    >>> convert_image_dtype(np.array([0, 255], np.uint8), np.float32)
    array([0., 1.], dtype=float32)
    >>> convert_image_dtype(np.array([0.5, 1.0, 1.5], np.float32), np.uint8, saturate=True)
    array([127, 255, 255], dtype=uint8)
    """
    return converted(np.asarray(image), _dtype(dtype), saturate)


def _dtype(dtype: DTypeLike) -> np.dtype[Any]:
    found = np.dtype(getattr(dtype, "as_numpy_dtype", dtype))
    if _kind(found) not in "iuf":
        raise ArgumentTypeError(
            "convert_image_dtype", "dtype", got=dtype, want="a dtype of floats or whole numbers"
        )
    return found


def _kind(dtype: np.dtype[Any]) -> str:
    return "f" if dtype.kind == "V" else dtype.kind  # bfloat16 and its like are floats


def converted(samples: NDArray[Any], dtype: np.dtype[Any], saturate: bool = False) -> NDArray[Any]:
    """The samples in another dtype; the way is chosen by the two types, as formats.md 4.4 has it."""
    kinds = _kind(samples.dtype), _kind(dtype)
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
    if _kind(old) != "f":
        known = np.iinfo(old)
        return old.type(max(bounds.min, known.min)), old.type(min(bounds.max, known.max))
    most = float_limits(old).max
    low, high = old.type(max(bounds.min, -float(most))), old.type(min(bounds.max, float(most)))
    return low, np.nextafter(high, old.type(0)) if float(high) > bounds.max else high
