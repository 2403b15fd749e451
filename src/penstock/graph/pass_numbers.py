"""Which epochs of the plans in a pipeline belong to its pass of a number, counted from 0."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.graph.plan import Plan

__all__ = ["EpochsOfPass", "epochs_of_passes"]


@dataclass(frozen=True, slots=True)
class EpochsOfPass:
    """The epochs of a plan.

    Attributes:
        first: The first one of pass 0.
        in_each: In each pass; of several plans that are counted together those of all.
    """

    first: int
    in_each: int

    def of(self, number: int) -> int:
        """The first epoch of a pass."""
        return number * self.in_each + self.first

    def all_of(self, number: int) -> int:
        """The first epoch of a pass of any of the plans that are counted together."""
        return number * self.in_each


def epochs_of_passes(plan: Plan, *, named: bool = False) -> dict[int, EpochsOfPass]:
    """The epochs of each plan in one that is on top, or where it is `named` in one that a function names, by its id.

    What names the same datasets is counted together with these: each draws from where the one before it has ended.
    """
    epochs: Counter[int] = Counter()
    _count(plan, 1, 0, epochs, named=named)
    group_of = _groups(plan)
    drawn: Counter[int] = Counter()
    first: dict[int, int] = {}
    for key, n in epochs.items():
        first[key] = drawn[group_of.get(key, key)]
        drawn[group_of.get(key, key)] += n
    return {key: EpochsOfPass(first[key], drawn[group_of.get(key, key)]) for key in epochs}


def _count(plan: Plan, n: int, more: int, epochs: Counter[int], *, named: bool) -> None:
    """Count how many epochs of each plan a pass takes, by its id; endless ones as one.

    Args:
        plan: The plan.
        n: Epochs of it.
        more: Of how many more it only begins.
        epochs: Those that are counted already.
        named: As for `Node.begins_again`.
    """
    node = plan.node
    epochs[id(plan)] += n * plan.epochs_in_a_pass + (0 if node.named else more)
    again = 0 if node.takes_none else getattr(node, "count", None) or 1 if node.repeats else 1
    begun = 0 if node.keeps_rows else node.begins_with(*plan.inputs)
    ends = n * node.begins_again(getattr(node, "count", None), *plan.inputs, named=named)
    for i, part in enumerate(plan.inputs):
        _count(part, n * again, (more if i < begun else 0) + ends, epochs, named=named)


def _groups(plan: Plan) -> dict[int, int]:
    """Of each plan that is named, or names others, one that stands for all that are counted together, by its id."""
    group_of: dict[int, int] = {}
    for part in plan.parts:
        if not part.node.named:
            continue
        together = {id(part), *map(id, part.node.named)}
        known = {group_of[key] for key in together if key in group_of}
        together |= {key for key, group in group_of.items() if group in known}
        group_of.update(dict.fromkeys(together, id(part)))
    return group_of
