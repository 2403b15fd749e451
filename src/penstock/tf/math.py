"""`tf.math`: arithmetic; functions of `ps.math`, and of arrays, that take and give tensors."""

from __future__ import annotations

from typing import Any, Final

import penstock as ps
from penstock.tf import arranging, finding
from penstock.tf.names import from_modules

_HERE: Final = frozenset({"add_n", "bincount", "top_k"})


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    places = [ps.math, arranging, finding] if name in _HERE else [ps.math]
    return from_modules("tf.math", name, places, __dir__())


def __dir__() -> list[str]:
    return sorted({*ps.math.__all__, *_HERE})
