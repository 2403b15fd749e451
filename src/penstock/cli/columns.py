"""Whole columns as JSON values."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.column.base import Column
from penstock.column.fixed import FixedColumn
from penstock.show.render import json_value

__all__ = ["json_column"]


def json_column(column: Column) -> list[Any]:
    """Every row of a column as `json_value` has it; numbers of whole columns at once."""
    values = column.values if isinstance(column, FixedColumn) and column.valid is None else None
    if values is not None and values.dtype.kind in "biu":
        return list(values.tolist())
    if values is not None and values.dtype == np.float64 and np.isfinite(values).all():
        return list(values.tolist())
    if values is not None and values.dtype == np.float32 and values.ndim == 1 and np.isfinite(values).all():
        return list(map(float, map(str, values)))
    return list(map(json_value, column.to_list()))
