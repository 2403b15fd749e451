"""Random changes of pictures whose randomness is counted: in a pipeline by seed, epoch and number of the row.

A row draws the same whenever, wherever and in whatever chunk it is made, so that a pipeline that goes on after a stop,
is split among workers, or is asked for a row by its number gives what it would have given; each epoch draws anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from penstock import _native
from penstock.errors import ArgumentTypeError
from penstock.graph.placed import count_here, draws_at_random, place_here
from penstock.graph.seeds import next_seeds
from penstock.image.stateless import (
    stateless_random_brightness,
    stateless_random_contrast,
    stateless_random_crop,
    stateless_random_flip_left_right,
    stateless_random_flip_up_down,
)
from penstock.trace.value import Traced

__all__ = [
    "random_brightness",
    "random_contrast",
    "random_crop",
    "random_flip_left_right",
    "random_flip_up_down",
]

# Far apart, and small enough that sums of them and 61-bit numbers stay in int64.
_OPERATION: Final = 0x9E3779B97F
_GLOBAL: Final = 0x1B873593


def _seed_of(where: str, image: Any, seed: int | None) -> Any:
    """Two numbers for an operation that draws now: of the row that is made, or the next ones of penstock's seeds."""
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer)):
        raise ArgumentTypeError(where, "seed", got=seed, want="a whole number or None")
    place = place_here()
    if place is None and isinstance(image, Traced):
        raise image.recorder.fail(f"calls {where}, for which only functions of map have what to count from")
    if place is None:
        return next_seeds(seed)
    if seed is None:
        return np.stack([place[0] + place[2] + count_here() * _OPERATION, place[1] + place[3]])
    first, second = _scrambled(int(seed))
    return np.stack([place[0] + place[4] * _GLOBAL + first, place[1] + second])


def _scrambled(seed: int) -> tuple[int, int]:
    """Two numbers of 61 bits that tell seeds apart."""
    words = _native.stateless_numbers(np.array([[seed % (1 << 63), 0]], np.int64), 4).tolist()
    return words[0] | (words[1] >> 3) << 32, words[2] | (words[3] >> 3) << 32


@draws_at_random
def random_flip_left_right(image: Any, seed: int | None = None) -> NDArray[Any]:
    """A picture, or in one of two cases its mirror image.

    In a function of `map` the same seed decides alike for all operations of a row, such as for a picture and its mask;
    without a seed each operation decides by itself.

    Args:
        image: `[height, width, channels]` or `[batch, height, width, channels]`, each picture of which is decided
            alone.
        seed: A whole number, the same in every process. Without it the dataset draws one, unless `ps.set_seed`
            was called.

    Raises:
        ArgumentError: No picture, or a seed that is no whole number.

    >>> import penstock as ps
    >>> images = ps.Dataset.from_tensors(np.array([[[1], [2]]])).repeat(6)
    >>> [x[0, 0, 0].item() for x in images.map(lambda image: ps.image.random_flip_left_right(image, seed=1))]
    [2, 1, 1, 1, 2, 2]
    """
    return stateless_random_flip_left_right(image, _seed_of("random_flip_left_right", image, seed))


@draws_at_random
def random_flip_up_down(image: Any, seed: int | None = None) -> NDArray[Any]:
    """A picture, or in one of two cases upside down; see `random_flip_left_right`.

    Args:
        image: `[height, width, channels]` or `[batch, height, width, channels]`.
        seed: A whole number or None.

    Raises:
        ArgumentError: No picture, or a seed that is no whole number.

    >>> random_flip_up_down(np.zeros((2, 3, 1))).shape
    (2, 3, 1)
    """
    return stateless_random_flip_up_down(image, _seed_of("random_flip_up_down", image, seed))


@draws_at_random
def random_crop(value: Any, size: Sequence[int], seed: int | None = None) -> NDArray[Any]:
    """A piece of a picture from anywhere in it; see `random_flip_left_right`.

    Args:
        value: `[height, width, channels]` or `[batch, height, width, channels]`.
        size: The shape of the piece: as many numbers as `value` has axes, such as `[32, 32, 3]`.
        seed: A whole number or None.

    Raises:
        ArgumentError: No picture, `size` is larger than it, or a seed that is no whole number.

    >>> random_crop(np.zeros((9, 9, 3)), [4, 5, 3]).shape
    (4, 5, 3)
    """
    return stateless_random_crop(value, size, _seed_of("random_crop", value, seed))


@draws_at_random
def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> NDArray[Any]:
    """A picture made brighter or darker; see `random_flip_left_right`.

    Args:
        image: `[height, width, channels]` or `[batch, height, width, channels]`; see `adjust_brightness`.
        max_delta: The most that is added or taken away, not negative.
        seed: A whole number or None.

    Raises:
        ArgumentError: No picture, `max_delta` is negative, or a seed that is no whole number.

    >>> abs(random_brightness(np.zeros((1, 1, 1), np.float32), 0.25)).max() <= 0.25
    np.True_
    """
    return stateless_random_brightness(image, max_delta, _seed_of("random_brightness", image, seed))


@draws_at_random
def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> NDArray[Any]:
    """A picture with more or less contrast; see `random_flip_left_right`.

    Args:
        image: `[height, width, channels]` or `[batch, height, width, channels]`; see `adjust_contrast`.
        lower: The smallest factor, not negative.
        upper: What every factor is below, above `lower`.
        seed: A whole number or None.

    Raises:
        ArgumentError: No picture, factors out of order, or a seed that is no whole number.

    >>> random_contrast(np.ones((2, 2, 1), np.float32), 0.5, 2.0)[:, :, 0].tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    return stateless_random_contrast(image, lower, upper, _seed_of("random_contrast", image, seed))
