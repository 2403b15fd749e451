"""Steps that do the same with every float32 of a value and one number: what makes these can do it on the way."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from penstock.trace.steps import Ref, Step

__all__ = ["ARITHMETIC", "Then", "then_of"]

Then: TypeAlias = tuple[tuple[str, float], ...]
"""Operations on every item, one after the other: "add", "sub", "mul" or "truediv", and a number."""

_NAMES: Final = {
    "add": "add",
    "np.add": "add",
    "sub": "sub",
    "np.subtract": "sub",
    "mul": "mul",
    "np.multiply": "mul",
    "truediv": "truediv",
    "np.divide": "truediv",
}
_MOST: Final = float(np.finfo(np.float32).max)
_EITHER_SIDE: Final = frozenset(["add", "mul"])
_KEEPING: Final = frozenset(["astype", "image.convert_image_dtype"])

ARITHMETIC: Final = (*_NAMES, *_KEEPING)
"""The operations that `then_of` may know a step of."""


def then_of(step: Step) -> Then | None:
    """What a step does with the float32 that it takes; None where that is more, or gives another dtype.

    >>> then_of(Step("truediv", (Ref(0), 255))), then_of(Step("truediv", (255, Ref(0))))
    ((('truediv', 255.0),), None)
    """
    if step.kwargs or len(step.args) != 2:
        return None
    left, right = step.args
    if step.name in _KEEPING:
        return () if isinstance(right, np.dtype) and right == np.float32 else None
    name = _NAMES.get(step.name)
    if name in _EITHER_SIDE and isinstance(right, Ref):
        left, right = right, left
    if name is None or not isinstance(left, Ref) or not _is_number(right):
        return None
    return ((name, float(right)),)


def _is_number(value: Any) -> bool:
    """Whether NumPy takes it for a float32 beside others: numbers of Python have no dtype of their own."""
    return type(value) in (int, float, np.float32) and abs(float(value)) <= _MOST
