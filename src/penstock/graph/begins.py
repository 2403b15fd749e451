"""How passes begin over what a function has named in a dataset that it returned for a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from penstock.frozen import frozen

if TYPE_CHECKING:
    from penstock.graph.plan import Plan

__all__ = ["NEVER_BEFORE", "Begins", "KeptFrom", "kept_at"]

KeptFrom: TypeAlias = tuple[Any, ...]
"""Of each cache in a row of them the origin from which it has kept rows, as its states have it, or None."""


@frozen
class Begins:
    """What a pass over a dataset that was opened for a row goes by.

    Attributes:
        epochs: The epochs that come next, of plans by their ids; 0 of all others.
        caches: The ids that each cache which functions name may have in the dataset.
        kept: The origins of the rows that these have kept.
        counted: The ids that each plan may have in the dataset whose passes are counted as they begin.
    """

    epochs: Mapping[int, int] = field(default_factory=dict)
    caches: tuple[tuple[int, ...], ...] = ()
    kept: KeptFrom = ()
    counted: tuple[tuple[int, ...], ...] = ()

    def of(self, id_of: Callable[[int], int]) -> Begins:
        """The same of other plans, by the ids of those that these stand for; functions name the same ones as before."""
        followed = {id_of(part): epoch for part, epoch in self.epochs.items()}
        caches, counted = (
            tuple((*ids, *map(id_of, ids)) for ids in of) for of in (self.caches, self.counted)
        )
        return Begins({**self.epochs, **followed}, caches, self.kept, counted)

    def kept_by_id(self) -> dict[int, Any]:
        """The origins by the ids of caches."""
        return {one: origin for ids, origin in zip(self.caches, self.kept, strict=True) for one in ids}


NEVER_BEFORE: Final = Begins()
"""Of a dataset that has begun nowhere before, and whose caches have kept nothing."""


def kept_at(mark: tuple[Any, ...], plan: Plan) -> dict[int, tuple[Plan, Any]]:
    """The caches that have kept rows by a mark, and the origins of these, by the ids of their plans.

    Of one that has kept rows in several places it is the origin of the first.
    """
    if mark[5][6:]:  # it says it for all below, where passes are counted in turn
        told = zip(plan.caches_in_turn, mark[5][6], strict=True)
        return {id(of): (of, origin) for of, origin in told if origin is not None}
    caches, kept = plan.node.caches(plan), plan.node.kept_after(mark[1])
    found = {id(of): (of, origin) for of, origin in zip(caches, kept, strict=False) if origin is not None}
    for below, part in zip(mark[4], plan.inputs, strict=True):
        found = kept_at(below, part) | found
    return found
