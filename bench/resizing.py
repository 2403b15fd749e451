"""Pictures of 500 x 375 made into 128 x 128: nothing is read or decoded. Each yields how many it has made."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

import numpy as np
from measures import START, forever, measure, tensorflow

PICTURES = 200
SIZE = (128, 128)


def pictures() -> np.ndarray:
    return np.random.default_rng(6).integers(0, 256, (PICTURES, 375, 500, 3), np.uint8)


@measure("resize", "penstock")
def _() -> Iterator[int]:
    import penstock as ps

    rows = ps.Dataset.from_tensor_slices(pictures()).map(lambda image: ps.image.resize(image, SIZE))
    yield START
    yield from forever(lambda: (1 for _ in rows))


@measure("resize", "tf.data")
def _() -> Iterator[int]:
    tf = tensorflow()
    rows = tf.data.Dataset.from_tensor_slices(pictures()).map(lambda image: tf.image.resize(image, SIZE))
    yield START
    yield from forever(lambda: (1 for _ in rows.as_numpy_iterator()))


@measure("resize one", "penstock")
def _() -> Iterator[int]:
    import penstock as ps

    image = pictures()[0]
    yield START
    for one in repeat(image):
        ps.image.resize(one, SIZE)
        yield 1


@measure("resize one", "TensorFlow")
def _() -> Iterator[int]:
    tf = tensorflow()
    image = tf.constant(pictures()[0])
    yield START
    for one in repeat(image):
        tf.image.resize(one, SIZE)
        yield 1
