"""The value that fills places without one."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.column.packing import pack_value
from penstock.errors import ArgumentTypeError
from penstock.tf.dtypes import DType
from penstock.tf.tensors import Tensor, unwrap

__all__ = ["filler"]


def filler(where: str, default_value: Any, dtype: DType) -> Any:
    """A value among others of a dtype; None for none.

    Raises:
        ArgumentTypeError: A tensor of another dtype, or a number that the dtype would cut or round away.

    >>> filler("to_tensor", 2, DType("float32", np.dtype(np.float32)))
    np.int32(2)
    """
    if default_value is None:
        return None
    value = pack_value(unwrap(default_value))
    found, wanted = np.asarray(value).dtype, dtype.dtype
    is_exact = isinstance(default_value, Tensor | np.generic | np.ndarray)
    is_cut = found.kind == "f" and wanted.kind in "biu"
    is_text = isinstance(value, bytes) or found.kind in "OS"
    if is_text != (wanted.kind in "OS") or is_cut or (is_exact and not is_text and found != wanted):
        raise ArgumentTypeError(where, "default_value", got=default_value, want=f"a value of {dtype.name}")
    return value
