"""Columns in the form that a spec has, so that all rows of a dataset are kept in one way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.column.base import Column
from penstock.column.chunk import Chunk
from penstock.column.empty import empty_chunk
from penstock.column.shaped import ShapedColumn
from penstock.column.unify import one_form
from penstock.errors import InvalidArgumentError
from penstock.spec import LeafSpec, NoneSpec, Spec

__all__ = ["fitted"]


def fitted(rows: Chunk, spec: Spec, where: str) -> tuple[Column, ...]:
    """The columns of some rows, ragged where `spec` says so even if these rows agree in size. Shares the values.

    Raises:
        InvalidArgumentError: Rows are not what the spec says; names the leaf.

    >>> import numpy as np
    >>> from penstock.column.fixed import FixedColumn
    >>> from penstock.spec import TensorSpec
    >>> two = Chunk(FixedColumn(np.ones((2, 3))))
    >>> [column] = fitted(two, Spec(TensorSpec((None,), np.float64)), "save")
    >>> type(column).__name__
    'RaggedColumn'
    """
    names, leaves = spec.paths(), spec.leaves
    if len(rows.columns) != len(leaves):
        raise InvalidArgumentError(f"{where}: rows of {len(rows.columns)} leaves, wanted {spec.structure}.")
    return tuple(
        _fitted(column, leaf, name, where)
        for column, leaf, name in zip(rows.columns, leaves, names, strict=True)
    )


def _fitted(column: Column, leaf: LeafSpec, name: str, where: str) -> Column:
    column = _without_valid(column) if not leaf.optional else column
    found = column.spec
    if found == leaf:
        return column
    if isinstance(leaf, NoneSpec) or isinstance(found, NoneSpec) or found.dtype != leaf.dtype:
        raise _unfit(found, leaf, name, where)
    present = replace(leaf, optional=False) if leaf.optional else leaf  # type: ignore[arg-type]
    empty = empty_chunk(Spec(present)).columns[0]
    try:
        form, fits = one_form([empty, column])
    except InvalidArgumentError:
        raise _unfit(found, leaf, name, where) from None
    is_missing = column.valid is not None and column.valid.ndim == 1
    if type(form) is not type(empty) or form.spec != empty.spec or (is_missing and not leaf.optional):
        raise _unfit(found, leaf, name, where)
    return fits


def _without_valid(column: Any) -> Column:
    """The column; where all rows are there, without saying so."""
    valid = column.valid
    if valid is None or not valid.all():
        return column  # type: ignore[no-any-return]
    if isinstance(column, ShapedColumn):
        return replace(column, flat=replace(column.flat, valid=None))
    return replace(column, valid=None)  # type: ignore[no-any-return]


def _unfit(found: LeafSpec, leaf: LeafSpec, name: str, where: str) -> InvalidArgumentError:
    place = f"leaf {name!r} of " if name else ""
    return InvalidArgumentError(
        f"{where}: {place}some rows is {found}, wanted {leaf} as the dataset's element_spec says."
    )
