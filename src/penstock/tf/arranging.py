"""Functions of NumPy by TensorFlow's names, where the two mean the same; of tensors outside of this file."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.errors import ArgumentError
from penstock.ops.operands import tensor as tensor_of

__all__ = [
    "add_n",
    "broadcast_to",
    "matmul",
    "repeat",
    "reverse",
    "roll",
    "sort",
    "split",
    "stop_gradient",
]


def add_n(inputs: Any) -> Any:
    """The sum of several values of one shape.

    >>> add_n([np.array([1, 2]), np.array([3, 4])]).tolist()
    [4, 6]
    """
    first, *others = (tensor_of("add_n", "inputs", part) for part in inputs)
    for other in others:
        first = first + other
    return first


def broadcast_to(input: Any, shape: Any) -> Any:  # noqa: A002
    """The value repeated so that it has a shape.

    >>> broadcast_to(np.array([1, 2]), (2, 2)).tolist()
    [[1, 2], [1, 2]]
    """
    return np.broadcast_to(tensor_of("broadcast_to", "input", input), tuple(shape))


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """The matrix product.

    >>> matmul(np.eye(2), np.eye(2) * 3).tolist()
    [[3.0, 0.0], [0.0, 3.0]]
    """
    left, right = tensor_of("matmul", "a", a), tensor_of("matmul", "b", b)
    left = np.swapaxes(left, -1, -2) if transpose_a else left
    return np.matmul(left, np.swapaxes(right, -1, -2) if transpose_b else right)


def repeat(input: Any, repeats: Any, axis: int | None = None) -> Any:  # noqa: A002
    """Every entry so many times.

    >>> repeat(np.array([1, 2]), 2).tolist()
    [1, 1, 2, 2]
    """
    return np.repeat(tensor_of("repeat", "input", input), repeats, axis)


def reverse(tensor: Any, axis: Any) -> Any:
    """The entries of some axes in reverse.

    >>> reverse(np.array([1, 2, 3]), [0]).tolist()
    [3, 2, 1]
    """
    return np.flip(tensor_of("reverse", "tensor", tensor), tuple(axis))


def roll(input: Any, shift: Any, axis: Any) -> Any:  # noqa: A002
    """The entries of some axes moved on, the last ones to the front.

    >>> roll(np.array([1, 2, 3]), 1, 0).tolist()
    [3, 1, 2]
    """
    return np.roll(tensor_of("roll", "input", input), shift, axis)


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING") -> Any:
    """The entries of an axis in order.

    Raises:
        ArgumentError: `direction` is neither "ASCENDING" nor "DESCENDING".

    >>> sort(np.array([2, 3, 1]), direction="DESCENDING").tolist()
    [3, 2, 1]
    """
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ArgumentError("sort", "direction", got=direction, want="'ASCENDING' or 'DESCENDING'")
    made = np.sort(tensor_of("sort", "values", values), axis)
    return made if direction == "ASCENDING" else np.flip(made, axis)


def split(value: Any, num_or_size_splits: Any, axis: int = 0) -> list[Any]:
    """Parts of an axis: as many of one size, or of the sizes given.

    >>> [part.tolist() for part in split(np.arange(5), [2, 3])]
    [[0, 1], [2, 3, 4]]
    """
    array = tensor_of("split", "value", value)
    if np.ndim(num_or_size_splits) == 0:
        return list(np.split(array, int(num_or_size_splits), axis))
    return list(np.split(array, np.cumsum(num_or_size_splits)[:-1].tolist(), axis))


def stop_gradient(input: Any) -> Any:  # noqa: A002
    """The value itself: there are no gradients.

    >>> stop_gradient(1)
    1
    """
    return input
