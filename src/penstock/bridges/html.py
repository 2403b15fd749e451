"""Datasets as a small table in a notebook. Everything from the data is shown as text."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from penstock.dataset import Dataset
from penstock.errors import PenstockError
from penstock.show.render import value_text
from penstock.spec import flatten

_ROWS = 5


def repr_html(dataset: Dataset) -> str:
    """The spec and the first rows as HTML."""
    from html import escape  # its tables of entities are large, and few programs show HTML

    names = [path or "value" for path in dataset.plan.spec.paths()]
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    specs = "".join(f"<td><small>{escape(str(leaf))}</small></td>" for leaf in dataset.plan.spec.leaves)
    try:
        body = "".join(_row(row, escape) for row in islice(dataset, _ROWS))
    except PenstockError as error:
        body = f"<tr><td colspan={len(names)}>{escape(str(error))}</td></tr>"
    title = escape(repr(dataset).splitlines()[0])
    return f"<div><p>{title}</p><table><tr>{head}</tr><tr>{specs}</tr>{body}</table></div>"


def _row(row: Any, escape: Callable[[str], str]) -> str:
    cells = "".join(f"<td>{escape(value_text(value))}</td>" for value in flatten(row))
    return f"<tr>{cells}</tr>"


Dataset._repr_html_ = repr_html
