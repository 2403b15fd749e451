"""How much can run at a time."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Final

__all__ = ["has_lock", "usable_cores"]

has_lock: Final[Callable[[], bool]] = getattr(sys, "_is_gil_enabled", lambda: True)
"""Whether one thread at a time runs Python code, as in all Pythons but the free-threaded ones."""


def usable_cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
