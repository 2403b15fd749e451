"""All of penstock, for names that come from outside: of nodes, values and operations in recipes, states and traces.

A module is imported when something of it is first used, and says then what it has. Whoever looks for a name that
he did not import himself asks for everything first.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["import_everything", "set_everything"]

_imports: list[Callable[[], None]] = []


def set_everything(imports: Callable[[], None]) -> None:
    """Say how everything is imported; the package does, which alone knows its parts. May be called often."""
    _imports[:] = [imports]


def import_everything() -> None:
    """Import all that registers nodes, values or operations. Quick where that has happened."""
    for imports in _imports:
        imports()
