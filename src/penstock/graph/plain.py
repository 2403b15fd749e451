"""The plain meaning of a plan: rows one by one, without chunks, edges or marks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.spec import Spec

if TYPE_CHECKING:
    from penstock.graph.plan import Plan

__all__ = ["PlainRows", "plain_rows"]


@dataclass
class PlainRows(Iterator[Any]):
    """Rows and their spec, as `Node.plain` takes them."""

    rows: Iterator[Any]
    spec: Spec

    def __next__(self) -> Any:
        return next(self.rows)


def plain_rows(plan: Plan) -> PlainRows:
    """The rows of a plan by the plain meaning of its nodes."""
    inputs = [plain_rows(part) for part in plan.inputs]
    return PlainRows(plan.node.plain(*inputs), plan.spec)
