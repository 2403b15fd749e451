"""Columns of text that line up."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

import click

__all__ = ["MISSING", "pad", "table", "width_of"]

MISSING = "missing"


def width_of(text: str) -> int:
    """Cells that a text takes on a terminal: East Asian wide signs take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        for sign in text
    )


def pad(text: str, width: int, *, right: bool = False) -> str:
    """The text with spaces up to `width` cells, after it, or before it with `right`."""
    space = " " * (width - width_of(text))
    return space + text if right else text + space


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[int] = ()) -> list[str]:
    """Lines of a table: bold heads, columns two spaces apart, missing values dim.

    Args:
        heads: Name of each column.
        rows: One text for each column, already escaped.
        right: Numbers of the columns that hold numbers.
    """
    rows = list(rows)
    widths = [max(map(width_of, column)) for column in zip(heads, *rows, strict=True)]
    aligned = set(right)

    def line(cells: Sequence[str]) -> list[str]:
        padded = [pad(cell, widths[i], right=i in aligned) for i, cell in enumerate(cells)]
        return [*padded[:-1], padded[-1] if len(cells) - 1 in aligned else cells[-1]]

    lines = [click.style("  ".join(line(heads)), bold=True)]
    for cells in rows:
        shown = (
            click.style(text, dim=True) if cell == MISSING else text
            for cell, text in zip(cells, line(cells), strict=True)
        )
        lines.append("  ".join(shown))
    return lines
