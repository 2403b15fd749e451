"""Where rows stand: what functions that draw at random count from, so that a row draws the same whenever it is made.

The place of a row is int64[5]: its number, the epoch, two numbers of the node that gave it, and the global seed. It
comes with the row, as any other value of it, so that it is traced, saved, sharded and reached by number as rows are.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from threading import local
from types import FunctionType, MethodType
from typing import Any, Final, TypeVar

from penstock.graph.adapted import Adapted
from penstock.graph.uses import content_of, is_library, names_in

__all__ = ["AtPlace", "count_here", "draws_at_random", "is_placed", "place_here"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_DRAWING: dict[str, Any] = {}
_DEEPEST: Final = 8
_MOST_ITEMS: Final = 64


class _Here(local):
    """The place of the row that this thread works on, and how many unseeded operations have drawn there."""

    place: Any = None
    drawn: int = 0


_HERE: Final = _Here()


def draws_at_random(function: _Function) -> _Function:
    """Mark a function of penstock: functions for `map` that call it are given the places of rows."""
    _DRAWING[function.__name__] = function
    return function


def place_here() -> Any:
    """The place of the row that this thread makes, which may be traced; None where no `AtPlace` is called."""
    return _HERE.place


def count_here() -> int:
    """How many times it was called for this row before."""
    _HERE.drawn += 1
    return _HERE.drawn - 1


@dataclass(frozen=True)
class AtPlace:
    """A user's function of rows as one of rows and their places.

    Args:
        function: The user's.
        call: How it is called with a row.
    """

    function: Callable[..., Any]
    call: Callable[[Callable[..., Any], Any], Any]

    def __call__(self, row: Any, place: Any) -> Any:
        before = _HERE.place, _HERE.drawn
        _HERE.place, _HERE.drawn = place, 0
        try:
            return self.call(self.function, row)
        finally:
            _HERE.place, _HERE.drawn = before


def is_placed(function: Any) -> bool:
    """Whether a function calls one that draws at random, itself or through functions that it refers to by name."""
    return _draws(function, _DEEPEST, set(), _package(function))


def _package(function: Any) -> str:
    """The package of a user's function: what is of it is the user's as well, installed or not."""
    while isinstance(function, Adapted | partial | MethodType):
        function = function.__func__ if isinstance(function, MethodType) else _inner(function)
    of = function if isinstance(function, FunctionType) else type(function)
    top = (of.__module__ or "").partition(".")[0]
    return "" if top in {"numpy", "penstock"} or top in sys.stdlib_module_names else top


def _inner(function: Adapted | partial[Any]) -> Any:
    return function.function if isinstance(function, Adapted) else function.func


def _is_foreign(module: str | None, package: str) -> bool:
    """Whether code is of a library that is not the user's own package."""
    return is_library(module) and (module or "").partition(".")[0] != package


def _draws(value: Any, depth: int, seen: set[int], package: str) -> bool:
    if id(value) in seen or not depth:
        return False
    seen.add(id(value))
    if any(value is function for function in _DRAWING.values()):
        return True
    if isinstance(value, FunctionType):
        if _is_foreign(value.__module__, package):
            return False
        if names_in(value.__code__) & _DRAWING.keys():
            return True
    return any(_draws(part, depth - 1, seen, package) for part in _parts(value, package))


def _parts(value: Any, package: str) -> Iterator[Any]:
    """What a callable may call in turn."""
    if isinstance(value, FunctionType):
        yield from map(content_of, value.__closure__ or ())
        yield from value.__defaults__ or ()
        names = names_in(value.__code__)
        for name in names & value.__globals__.keys():
            found = value.__globals__[name]
            yield found
            if inspect.ismodule(found) and not _is_foreign(found.__name__, package):
                yield from (vars(found)[inner] for inner in names & vars(found).keys())
    elif isinstance(value, MethodType):
        yield from (value.__func__, value.__self__)
    elif isinstance(value, partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, Adapted):
        yield value.function
    elif isinstance(value, list | tuple | dict):  # of functions to be called one after the other
        yield from islice(value.values() if isinstance(value, dict) else value, _MOST_ITEMS)
    elif not isinstance(value, type) and not _is_foreign(type(value).__module__, package):
        yield from (part for part in vars(type(value)).values() if isinstance(part, FunctionType))
        yield from getattr(value, "__dict__", {}).values()
