"""What has no answer is refused by one clear error, also in `map`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock.tf as tf
from penstock.errors import ArgumentError, ArgumentTypeError, PenstockError

REFUSED: dict[str, Callable[[], Any]] = {
    "segments of strings": lambda: tf.math.segment_sum(["a"], [0]),
    "largest of strings": lambda: tf.math.unsorted_segment_max(["a"], [0], 1),
    "segments of bools": lambda: tf.math.segment_sum([True], [0]),
    "largest of complex numbers": lambda: tf.math.segment_max([1j], [0]),
    "ids that are floats": lambda: tf.math.segment_sum([1], [0.0]),
    "ids without an axis": lambda: tf.math.segment_sum(5, 0),
    "roots of whole numbers": lambda: tf.math.unsorted_segment_sqrt_n([1, 2], [0, 0], 2),
    "a histogram with NaN": lambda: tf.histogram_fixed_width([float("nan"), 1.0], [0.0, 5.0], 5),
    "classes of two axes": lambda: tf.math.confusion_matrix([[0, 1]], [[0, 1]]),
    "classes without an axis": lambda: tf.math.confusion_matrix(0, 1),
    "no classes": lambda: tf.math.confusion_matrix([], []),
    "classes that are NaN": lambda: tf.math.confusion_matrix([float("nan")], [0]),
    "a seed of one number": lambda: tf.image.stateless_sample_distorted_bounding_box(
        [10, 10, 3], [[[0.0, 0.0, 1.0, 1.0]]], seed=5
    ),
    "division of complex numbers": lambda: tf.truncatediv(1j, 2j),
    "a division cut off by 0": lambda: tf.truncatediv([1, 2], [1, 0]),
    "the rest of a division by 0": lambda: tf.truncatemod([1, 2], [1, 0]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_answer_is_refused(name: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError, tf.errors.InvalidArgumentError)):
        REFUSED[name]()


def test_what_is_no_permutation_is_refused_in_map() -> None:
    rows = np.array([[2, 0, 1], [0, 0, 0]])
    inverted = tf.data.Dataset.from_tensor_slices(rows).map(tf.math.invert_permutation)
    assert next(iter(inverted)).numpy().tolist() == [1, 2, 0]
    with pytest.raises(PenstockError, match="wanted each of 0, 1, 2"):
        list(inverted)


def test_a_float_beside_whole_numbers_is_refused_in_map_as_it_is_outside() -> None:
    with pytest.raises(TypeError, match=r"Cannot convert 2\.5 to EagerTensor of dtype int64"):
        tf.constant([1, 2], tf.int64) * 2.5
    with pytest.raises(PenstockError, match=r"Cannot convert 2\.5 to EagerTensor of dtype int64"):
        list(tf.data.Dataset.range(3).map(lambda x: x * 2.5))
    halves = tf.data.Dataset.range(3).map(lambda x: tf.cast(x, tf.float32) * 2.5)
    assert list(halves.as_numpy_iterator()) == [0.0, 2.5, 5.0]
