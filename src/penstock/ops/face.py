"""What all operations with TensorFlow's names share: silent arithmetic, and errors that name the operation."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from penstock.errors import ArgumentTypeError, InvalidArgumentError, LimitError, PenstockError

__all__ = ["as_ours", "face", "refused"]

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def face(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """A function whose arithmetic gives no warnings, as TensorFlow's, and whose errors are penstock's.

    NumPy's errors about shapes and axes become InvalidArgumentErrors that name the function, and values for which there
    is no memory LimitErrors.
    """

    @wraps(function)
    def called(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        try:
            with np.errstate(all="ignore"):
                return function(*args, **kwargs)
        except PenstockError:
            raise
        except (MemoryError, ValueError, IndexError, OverflowError) as error:
            raise as_ours(function.__name__, error) from error

    return called


def as_ours(where: str, error: Exception) -> PenstockError:
    """An error of NumPy or of memory as one of penstock that names the function which failed."""
    if isinstance(error, MemoryError):
        return LimitError(f"{where}: {str(error) or 'there is no memory for the result'}.")
    return InvalidArgumentError(f"{where}: {str(error).rstrip('. ')}.")


def refused(where: str, name: str, value: Any, want: str, help: str = "") -> ArgumentTypeError:
    """The error of a value of the wrong kind; a traced value is shown as what is known of it."""
    return ArgumentTypeError(where, name, got=value, want=want, help=help)
