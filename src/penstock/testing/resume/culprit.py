"""The step of a pipeline that does not give the same rows again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

from penstock.graph.explain import call_of
from penstock.graph.plan import Plan
from penstock.testing.resume.report import Culprit
from penstock.testing.resume.runs import Path

__all__ = ["culprit"]


def culprit(plan: Plan, differs: Callable[[Path], bool]) -> Culprit | None:
    """The lowest part of a plan that differs, while its inputs do not.

    Args:
        plan: The plan.
        differs: Whether the rows of a part of it differ when it is run by itself.
    """
    path = _lowest(plan, (), differs)
    if path is None:
        return None
    for i in path:
        plan = plan.inputs[i]
    found = next(_functions(plan.node), None)
    if found is None:
        return Culprit(call_of(plan.node))
    name, code = found
    if code is None:
        return Culprit(call_of(plan.node), name)
    return Culprit(call_of(plan.node), name, code.co_filename, code.co_firstlineno)


def _lowest(plan: Plan, path: Path, differs: Callable[[Path], bool]) -> Path | None:
    for i, part in enumerate(plan.inputs):
        found = _lowest(part, (*path, i), differs)
        if found is not None:
            return found
    return path if differs(path) else None


def _functions(node: Any) -> Iterator[tuple[str, Any]]:
    """The functions among the arguments of a node: name and code."""
    for part in fields(node) if is_dataclass(node) else ():
        value = getattr(node, part.name)
        while isinstance(value, partial):
            value = value.func
        if callable(value) and not isinstance(value, type) and not part.name.startswith("_"):
            yield _named(value)


def _named(function: Any) -> tuple[str, Any]:
    code = getattr(function, "__code__", None) or getattr(
        getattr(function, "__func__", type(function).__call__), "__code__", None
    )
    return getattr(function, "__qualname__", type(function).__qualname__), code
