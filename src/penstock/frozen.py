"""Frozen data classes that are quick to define.

`dataclasses.dataclass(frozen=True)` runs Python's compiler six times for each class, and importing penstock defines
two hundred: that would be two fifths of the time that the import takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform, overload

__all__ = ["frozen", "is_frozen"]

T = TypeVar("T")


@overload
def frozen(cls: type[T], /) -> type[T]: ...
@overload
def frozen(*, eq: bool = True) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T] | None = None, /, *, eq: bool = True) -> type[T] | Callable[[type[T]], type[T]]:
    """A class as `dataclass(frozen=True, eq=eq)` makes it, to be used as that: with `fields`, `replace` and `field`.

    What differs: a field that has no value yet can be given one, once.

    >>> @frozen
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(1, 0), len({Point(1), Point(1, 0)})
    (Point(x=1, y=0), True, 1)
    >>> Point(1).x = 2
    Traceback (most recent call last):
    dataclasses.FrozenInstanceError: cannot assign to field 'x'
    """
    return (lambda made: _frozen(made, eq)) if cls is None else _frozen(cls, eq)


def is_frozen(cls: Any) -> bool:
    """Whether a data class is frozen: by `frozen`, or as those of the standard library are."""
    return cls.__setattr__ is _set_once or bool(cls.__dataclass_params__.frozen)


def _frozen(cls: type[T], eq: bool) -> type[T]:
    own = {name for name, value in vars(cls).items() if value is not None}
    undocumented = cls.__doc__ is None
    if undocumented:
        cls.__doc__ = cls.__name__  # else the signature would be worked out and written down
    cls = dataclass(repr=False, eq=False)(cls)
    if undocumented:
        cls.__doc__ = None
    every = fields(cls)  # type: ignore[arg-type]
    added: dict[str, Any] = {"__repr__": _repr_of([f.name for f in every if f.repr])}
    if eq:
        compared = _values_of([f.name for f in every if f.compare])
        added |= {"__eq__": _eq_of(compared), "__hash__": _hash_of(compared)}
    added = {name: function for name, function in added.items() if name not in own}
    for name, function in (added | {"__setattr__": _set_once, "__delattr__": _delete}).items():
        setattr(cls, name, function)
    return cls


def _values_of(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _repr_of(names: list[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: N807 (the name that a stack shows)
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _eq_of(compared: Callable[[Any], Any]) -> Callable[[Any, object], bool]:
    def __eq__(self: Any, other: object) -> bool:  # noqa: N807
        return compared(self) == compared(other) if type(other) is type(self) else NotImplemented

    return __eq__


def _hash_of(compared: Callable[[Any], Any]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(compared(self))

    return __hash__


def _set_once(self: Any, name: str, value: object) -> None:
    # A class below that is no data class may have attributes of its own.
    cls = type(self)
    if name in self.__dict__ if name in cls.__dataclass_fields__ else "__dataclass_fields__" in vars(cls):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _delete(self: Any, name: str) -> None:
    cls = type(self)
    if name in cls.__dataclass_fields__ or "__dataclass_fields__" in vars(cls):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)
