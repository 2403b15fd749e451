"""The plain meaning of a plan: rows one by one, without chunks, edges or marks."""

from __future__ import annotations

from penstock.graph.node import PlainRows
from penstock.graph.plan import Plan

__all__ = ["plain_rows"]


def plain_rows(plan: Plan) -> PlainRows:
    """The rows of a plan by the plain meaning of its nodes."""
    inputs = [plain_rows(part) for part in plan.inputs]
    return PlainRows(plan.node.plain(*inputs), plan.spec)
