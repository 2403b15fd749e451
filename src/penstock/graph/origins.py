"""Where kept rows of a cache begin in its input, as states say it.

An origin is the mark of the input there. It stands within a tuple where all rows from there on were kept once, followed
by the positions of those that had failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock.column.base import IntArray
from penstock.graph.plain_values import are_rising

if TYPE_CHECKING:
    from penstock.graph.plan import Plan

__all__ = [
    "NONE_FAILED",
    "are_origins",
    "is_of_all",
    "is_origin",
    "is_told_of",
    "mark_of",
    "may_be_mark",
    "of_all",
]

NONE_FAILED: Final = np.zeros(0, np.int64)


def of_all(origin: Any, failed: IntArray = NONE_FAILED) -> Any:
    """An origin as a state has it where all rows from there on were kept once, but for some that had failed."""
    if is_of_all(origin):
        return origin
    return (origin, failed) if len(failed) else (origin,)


def is_of_all(origin: Any) -> bool:
    """Whether all rows from an origin on were kept once."""
    return isinstance(origin, tuple) and 1 <= len(origin) <= 2


def mark_of(origin: Any) -> Any:
    """The mark of the input there."""
    return origin[0] if is_of_all(origin) else origin


def is_told_of(cache: Plan, origin: Any) -> bool:
    """Whether elsewhere other rows would be made again, where no state told from which origin a cache has kept some."""
    # All passes over others have the same rows, unless some failed.
    return cache.is_shuffled or len(origin) > 1


def is_origin(value: Any) -> bool:
    """Whether a value that was read from somewhere is an origin."""
    if is_of_all(value):
        return may_be_mark(value[0]) and all(map(are_rising, value[1:]))
    return may_be_mark(value)


def are_origins(value: Any) -> bool:
    """Whether a value that was read from somewhere is what is said of several caches, of at least one."""
    return isinstance(value, tuple) and bool(value) and all(part is None or is_origin(part) for part in value)


def may_be_mark(value: Any) -> bool:
    """Whether a value that was read from somewhere has the length of a mark."""
    return isinstance(value, tuple) and len(value) == 6
