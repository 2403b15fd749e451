"""`penstock head`: the first rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from penstock.cli.inputs import Opened, open_files
from penstock.cli.layout import RowPrinter
from penstock.cli.limits import Limits, limits_options
from penstock.cli.output import json_option, print_json, say, sources_argument
from penstock.cli.rows import json_row
from penstock.errors import InvalidArgumentError
from penstock.records.schema import RecordKind
from penstock.show.render import escape

__all__ = ["command"]


@click.command("head")
@sources_argument
@click.option(
    "-n", "--rows", "n", default=10, show_default=True, type=click.IntRange(min=0), help="How many rows."
)
@click.option("--raw", is_flag=True, help="Show each record as its bytes, whatever it holds.")
@limits_options
@json_option
def command(sources: tuple[str, ...], n: int, raw: bool, limits: Limits, as_json: bool) -> None:
    """Show the first rows of files, without reading further.

    With --json, one JSON document a line, one line a row.

    Example: penstock head -n 3 data/train.tfrecord
    """
    opened, kind, error = _open(sources, raw=raw, limits=limits)
    rows = opened.first_rows(n)
    if as_json:
        for row in rows:
            print_json(json_row(row, kind))
    else:
        _show(opened, rows, kind, n)
    if error is not None:
        raise error


def _open(
    sources: tuple[str, ...], *, raw: bool, limits: Limits
) -> tuple[Opened, RecordKind, InvalidArgumentError | None]:
    """The files, what their rows are shown as, and the error to end with.

    Records that contradict each other have no schema; each is shown as what it is by itself.
    """
    try:
        opened = open_files(sources, raw=raw, limits=limits)
    except InvalidArgumentError as error:
        return open_files(sources, raw=True, limits=limits), "Example", error
    return opened, opened.schema.record, None


def _show(opened: Opened, rows: Iterator[Any], kind: RecordKind, n: int) -> None:
    printer = RowPrinter(kind)
    shown = 0
    try:
        for row in rows:
            printer.add(row)
            shown += 1
    finally:
        # The rows before a damaged place are shown before the error is told.
        printer.flush()
    if not shown and n:
        say(f"{escape(opened.name)}: empty, no records")
