"""`tf.image`: pictures; functions of `ps.image` that take and give tensors, and boxes."""

from __future__ import annotations

from typing import Any

import penstock as ps
from penstock.tf import detection
from penstock.tf.names import from_modules


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return from_modules("tf.image", name, [ps.image, ps.io, detection], __dir__())


def __dir__() -> list[str]:
    return sorted({*ps.image.__all__, *ps.io.__all__, *detection.__all__})
