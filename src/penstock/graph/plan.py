"""Nodes put together: a plan is a node and the plans of its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from penstock.graph.node import Node, RowSource
from penstock.spec import Spec


@dataclass(frozen=True)
class Plan:
    """A tree of nodes; a value that can be shared, compared and run many times."""

    node: Node
    inputs: tuple[Plan, ...] = ()

    def __getstate__(self) -> dict[str, object]:
        # What was worked out (open files, indexes) stays in its process.
        return {"node": self.node, "inputs": self.inputs}

    @cached_property
    def spec(self) -> Spec:
        """The spec of the rows that come out."""
        return self.node.spec(*(plan.spec for plan in self.inputs))

    @cached_property
    def cardinality(self) -> int:
        """Rows of an epoch, INFINITE or UNKNOWN."""
        return self.node.cardinality(*(plan.cardinality for plan in self.inputs))

    @cached_property
    def rows(self) -> RowSource | None:
        """Rows by number, or None where some node cannot say where its row i comes from."""
        inputs = [plan.rows for plan in self.inputs]
        known = [rows for rows in inputs if rows is not None]
        return self.node.random_access(*known) if len(known) == len(inputs) else None
