"""The module pyarrow, which is an extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from penstock.errors import DependencyError

__all__ = ["pyarrow"]


def pyarrow(where: str, part: str = "compute") -> Any:
    """The module pyarrow, with one of its parts loaded.

    Raises:
        DependencyError: It is not installed.
    """
    try:
        import pyarrow as pa

        for name in ("compute", part):
            import_module(f"pyarrow.{name}")
    except ImportError:
        raise DependencyError(where, package="pyarrow", extra="arrow") from None
    return pa
