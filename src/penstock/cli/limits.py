"""The options that lift the limits on what is read into memory."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypedDict

import click

from penstock.records.frames import MAX_RECORD_BYTES

__all__ = ["DEFAULT_LIMITS", "Limits", "limits_options"]


class Limits(TypedDict):
    """Sizes that protect memory, as every reader takes them."""

    max_record_bytes: int
    max_ratio: int


DEFAULT_LIMITS = Limits(max_record_bytes=MAX_RECORD_BYTES, max_ratio=1000)


def limits_options(command: Callable[..., None]) -> Callable[..., None]:
    """Two options of a verb that reads records; the verb gets them as `limits`."""

    @click.option(
        "--max-record-bytes",
        default=DEFAULT_LIMITS["max_record_bytes"],
        show_default=True,
        type=click.IntRange(min=1),
        help="Refuse longer records.",
    )
    @click.option(
        "--max-ratio",
        default=DEFAULT_LIMITS["max_ratio"],
        show_default=True,
        type=click.IntRange(min=1),
        help="Refuse compressed files that unpack to more than this many times their size.",
    )
    @functools.wraps(command)
    def with_limits(*args: Any, max_record_bytes: int, max_ratio: int, **others: Any) -> None:
        command(*args, limits=Limits(max_record_bytes=max_record_bytes, max_ratio=max_ratio), **others)

    return with_limits
