"""What the results of a function have from its row: leaves that may be missing, where the first row has told which."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from penstock.column.empty import zero_row
from penstock.spec import LeafSpec, NoneSpec, Spec, flatten, form, pack, paths
from penstock.trace.program import passed_on_spec

__all__ = ["may_lack", "passed_on", "with_passed_on"]


def may_lack(rows: Spec) -> bool:
    """Whether rows may hold None where others hold a value."""
    return any(leaf.optional for leaf in rows.leaves)


def passed_on(row: Any, result: Any, rows: Spec, function: Callable[[Any], Any]) -> Any:
    """Specs of what a function has passed on of a row that may be missing in others; `NoneSpec` in all other places.

    A value is passed on where the same object stands in the row. None is every leaf's: it is that of the same name, or
    of the one leaf that the row lacks; else the function is called once more, with zeros in place of what is missing.

    Args:
        row: The row that the function was given.
        result: What it returned, as it is.
        rows: The spec of the rows.
        function: Takes a row and returns what the function makes of it.
    """
    result = tuple(result) if isinstance(result, list) else result
    leaves = zip(paths(rows.structure), flatten(row), rows.leaves, strict=True)
    some = [(path, value, leaf) for path, value, leaf in leaves if leaf.optional]
    there = {id(value): leaf for _, value, leaf in some if value is not None}
    lacking = {path: leaf for path, value, leaf in some if value is None}
    only = next(iter(lacking.values())) if len(lacking) == 1 else None

    def told(path: str, value: Any) -> LeafSpec:
        found = lacking.get(path, only) if value is None else there.get(id(value))
        return NoneSpec() if found is None else passed_on_spec(found)

    found = list(map(told, paths(result), flatten(result)))
    is_clear = all(
        value is not None or leaf.optional for value, leaf in zip(flatten(result), found, strict=True)
    )
    other = None if is_clear or not lacking else _filled(row, rows)
    if other is not None:
        with suppress(Exception):  # of the user's function, which may refuse zeros
            return with_passed_on(pack(result, found), passed_on(other, function(other), rows, function))
    return pack(result, found)


def _filled(row: Any, rows: Spec) -> Any:
    """A row with zeros in place of what it lacks; None where it lacks what has no zeros."""
    zeros = zero_row(rows)
    if zeros is None:
        return None
    pairs = zip(flatten(row), flatten(next(iter(zeros))), strict=True)
    return pack(row, [zero if value is None else value for value, zero in pairs])


def with_passed_on(known: Any, passed: Any) -> Any:
    """What is known of results, with what was passed on in its place."""
    if known is None or passed is None or form(known) != form(passed):
        return known if passed is None else passed
    pairs = zip(flatten(known), flatten(passed), strict=True)
    return pack(passed, [one if isinstance(other, NoneSpec) else other for one, other in pairs])
