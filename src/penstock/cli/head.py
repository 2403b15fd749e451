"""`penstock head`: the first rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from penstock.cli.inputs import Opened, open_files
from penstock.cli.layout import RowPrinter
from penstock.cli.output import json_option, print_json, say, sources_argument
from penstock.cli.rows import json_row

__all__ = ["command"]


@click.command("head")
@sources_argument
@click.option(
    "-n", "--rows", "n", default=10, show_default=True, type=click.IntRange(min=0), help="How many rows."
)
@click.option("--raw", is_flag=True, help="Show each record as its bytes, whatever it holds.")
@json_option
def command(sources: tuple[str, ...], n: int, raw: bool, as_json: bool) -> None:
    """Show the first rows of files, without reading further.

    With --json, one JSON document a line, one line a row.

    Example: penstock head -n 3 data/train.tfrecord
    """
    opened = open_files(sources, raw=raw)
    rows = opened.first_rows(n)
    if as_json:
        for row in rows:
            print_json(json_row(row, opened.schema.record))
    else:
        _show(opened, rows, n)


def _show(opened: Opened, rows: Iterator[Any], n: int) -> None:
    printer = RowPrinter(opened.schema.record)
    shown = 0
    try:
        for row in rows:
            printer.add(row)
            shown += 1
    finally:
        # The rows before a damaged place are shown before the error is told.
        printer.flush()
    if not shown and n:
        say(f"{opened.name}: empty, no records")
