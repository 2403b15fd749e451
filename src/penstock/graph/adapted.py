"""A user's function that is called with other values than rows hold, such as the tensors of `penstock.tf`."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field
from functools import partial
from itertools import islice
from types import MethodType
from typing import Any, Final

from penstock.frozen import frozen

__all__ = [
    "Adapted",
    "adapter",
    "adapter_of",
    "by_itself",
    "is_called",
    "set_adapter",
    "users_function",
    "wrapped_in",
]

# A longer list is data.
_MOST_ITEMS: Final = 64


_called = threading.local()


def is_called() -> bool:
    """Whether an adapted function is being called in this thread."""
    return getattr(_called, "now", False)


@contextmanager
def by_itself() -> Iterator[None]:
    """What is called in it counts as called by no adapted function."""
    outside = is_called()
    _called.now = False
    try:
        yield
    finally:
        _called.now = outside


@frozen
class Adapted:
    """A function as penstock calls it: all but the call sees the user's function, its name, code and signature.

    Args:
        function: The user's.
        given: What it is given, of a part of a row.
        taken: The row, of what it returned.
        original: What is pickled in place of a function that was made of it; None for the function itself.

    >>> as_text = Adapted(len, given=str, taken=float)
    >>> as_text(1234), as_text.__name__
    (4.0, 'len')
    """

    function: Callable[..., Any]
    given: Callable[[Any], Any]
    taken: Callable[[Any], Any]
    original: Callable[..., Any] | None = field(default=None, repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Adapted, (self.original or self.function, self.given, self.taken)

    def __call__(self, *parts: Any) -> Any:
        outside = is_called()
        _called.now = True
        try:
            return self.taken(self.function(*map(self.given, parts)))
        finally:
            _called.now = outside

    @property
    def __name__(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.function)

    @property
    def __code__(self) -> Any:
        return self.function.__code__  # AttributeError where the user's function has none


_adapters: Final = dict[str, Callable[[Callable[..., Any]], Adapted]]()
_names: Final = dict[tuple[Any, Any], str]()


def set_adapter(name: str, make: Callable[[Callable[..., Any]], Adapted]) -> None:
    """Say how functions are adapted that recipes say are; the face whose values they take does.

    >>> set_adapter("texts", lambda function: Adapted(function, given=str, taken=float))
    >>> adapter_of(Adapted(len, given=str, taken=float)), adapter("texts")(len)(1234)
    ('texts', 4.0)
    """
    _adapters[name] = make
    one = make(len)
    _names[one.given, one.taken] = name


def adapter_of(function: Adapted) -> str | None:
    """The name of what adapts functions so; None where it has none."""
    return _names.get((function.given, function.taken))


def adapter(name: str) -> Callable[[Callable[..., Any]], Adapted] | None:
    """What adapts functions under a name; None where this program has none."""
    return _adapters.get(name)


def users_function(function: Any) -> Any:
    """The function that a user wrote.

    >>> users_function(Adapted(len, given=str, taken=float))
    <built-in function len>
    """
    return function.function if isinstance(function, Adapted) else function


def wrapped_in(value: Any) -> Iterable[Any] | None:
    """What a bound method, a partial, one of ours, or a list of functions leads to; None for all else."""
    if isinstance(value, MethodType):
        return (value.__func__, value.__self__)
    if isinstance(value, partial):
        return (value.func, *value.args, *value.keywords.values())
    if isinstance(value, Adapted):
        return (value.function,)
    if isinstance(value, list | tuple | dict):
        return islice(value.values() if isinstance(value, dict) else value, _MOST_ITEMS)
    return None
