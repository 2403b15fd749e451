"""Rows some of whose leaves may be None: `x is None` cannot be seen by a trace, so nobody may look at them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.spec import flatten, is_structure

__all__ = ["guarded"]


def guarded(row: Any, spec: Any, stop: Callable[[str], None]) -> Any:
    """A row that calls `stop` where a leaf is looked at that may be missing; a dict may pass it on unseen."""
    if isinstance(spec, dict):
        return _dict_of(row, spec, stop)
    if type(spec) is tuple:
        return tuple(guarded(part, inner, stop) for part, inner in zip(row, spec, strict=True))
    if any(leaf.optional for leaf in flatten(spec)):
        stop("is given a value that may be missing (None)")
    return row


def _dict_of(row: dict[Any, Any], spec: dict[Any, Any], stop: Callable[[str], None]) -> dict[Any, Any]:
    hidden = {name for name, part in spec.items() if not is_structure(part) and part.optional}
    shown = {
        name: row[name] if name in hidden else guarded(row[name], part, stop) for name, part in spec.items()
    }
    return _Guarded(shown, hidden, stop) if hidden else shown


class _Guarded(dict[Any, Any]):
    """A dict some of whose values must not be looked at. Copies made by `{**row}` and `dict(row)` hold them all."""

    def __init__(self, values: dict[Any, Any], hidden: set[Any], stop: Callable[[str], None]) -> None:
        super().__init__(values)
        self._hidden, self._stop = hidden, stop

    def _look(self, *names: Any) -> None:
        for name in self._hidden & set(names):
            self._stop(f"looks at {name!r}, which may be missing (None)")

    def __getitem__(self, name: Any) -> Any:
        self._look(name)
        return super().__getitem__(name)

    def __setitem__(self, name: Any, value: Any) -> None:
        self._hidden = self._hidden - {name}
        super().__setitem__(name, value)

    def get(self, name: Any, default: Any = None) -> Any:
        self._look(name)
        return super().get(name, default)

    def pop(self, name: Any, *default: Any) -> Any:
        self._look(name)
        return super().pop(name, *default)

    def values(self) -> Any:
        self._look(*self)
        return super().values()

    def items(self) -> Any:
        self._look(*self)
        return super().items()
