"""Rows of several datasets in one structure: their dict entries may stand in different orders, nothing else differs."""

from __future__ import annotations

from typing import Any

from penstock.column.chunk import Chunk
from penstock.errors import InvalidArgumentError
from penstock.spec import DatasetSpec, LeafSpec, NoneSpec, flatten, form, pack, paths, string, text

__all__ = ["chunk_in_form", "kinds_of", "like_first", "row_in_form"]


def chunk_in_form(chunk: Chunk, structure: Any) -> Chunk:
    """The columns in the order of a structure with the same paths.

    Raises:
        InvalidArgumentError: It has others.
    """
    if form(chunk.template) == form(structure):
        return chunk
    return Chunk(row_in_form(chunk.structure, structure), len(chunk)).came_from(chunk)


def row_in_form(row: Any, structure: Any) -> Any:
    """A row in the order of a structure with the same paths.

    Raises:
        InvalidArgumentError: It has others.

    >>> row_in_form({"b": 1, "a": 2}, {"a": None, "b": None})
    {'a': 2, 'b': 1}
    """
    names, wanted = paths(row), paths(structure)
    if set(names) != set(wanted):
        shown = " and ".join(", ".join(map(repr, one)) for one in (wanted, names))
        raise InvalidArgumentError(f"rows of different structures come after each other: of {shown}.")
    named = dict(zip(names, flatten(row), strict=True))
    return pack(structure, [named[path] for path in wanted])


def kinds_of(chunk: Chunk) -> tuple[str, ...]:
    """The dtype and the number of axes of each leaf.

    >>> from penstock.column.fixed import FixedColumn
    >>> import numpy as np
    >>> kinds_of(Chunk((FixedColumn(np.arange(2)), FixedColumn(np.zeros((2, 3))))))
    ('int64 of 0 axes', 'float64 of 1 axes')
    """
    return tuple(_kind(column.spec) for column in chunk.columns)


def like_first(chunk: Chunk, scratch: dict[str, Any], where: str) -> Chunk:
    """Rows of a dataset that a function returned, in the form of the first that came, which `scratch` keeps.

    Raises:
        InvalidArgumentError: They have other paths, or a leaf has another dtype or number of axes.
    """
    if "first" not in scratch:
        scratch["first"] = chunk.template, kinds_of(chunk)
        return chunk
    template, kinds = scratch["first"]
    try:
        made = chunk_in_form(chunk, template)
        _check_kinds(made, kinds)
    except InvalidArgumentError as error:
        help = (
            "The datasets that the function returns need rows of one structure, dtypes and numbers of axes."
        )
        raise InvalidArgumentError(f"{where}: {error} {help}") from None
    return made


def _check_kinds(chunk: Chunk, wanted: tuple[str, ...]) -> None:
    found = kinds_of(chunk)
    if found != wanted:
        i = next(i for i, (one, other) in enumerate(zip(found, wanted, strict=True)) if one != other)
        where = f"in component {path!r} " if (path := paths(chunk.template)[i]) else ""
        told = f"rows of several dtypes or numbers of axes come after each other: {where}{wanted[i]} and {found[i]}."
        raise InvalidArgumentError(told)


def _kind(leaf: LeafSpec) -> str:
    if isinstance(leaf, NoneSpec | DatasetSpec):
        return type(leaf).__name__
    dtype = string if leaf.dtype == text else leaf.dtype
    return f"{'string' if dtype == string else dtype} of {len(leaf.shape)} axes"
