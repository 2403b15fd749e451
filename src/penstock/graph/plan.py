"""Nodes put together: a plan is a node and the plans of its inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from threading import Lock
from typing import Any

from penstock.column.chunk import Chunk
from penstock.column.empty import zero_row
from penstock.column.make import chunk_of
from penstock.column.packing import spec_of
from penstock.errors import ArgumentTypeError, FailedPreconditionError, FunctionError, PenstockError
from penstock.frozen import frozen
from penstock.graph.node import Node, PlainRows, RowSource, SpecUnknown
from penstock.graph.placed import note_unnoted, unnoted
from penstock.spec import Spec, pack, paths

__all__ = ["AsOne", "Plan", "first_rows", "plain_rows", "plan_of"]

_EPOCHS = Lock()


@frozen
class Plan:
    """A tree of nodes; a value that can be shared, compared and run many times."""

    node: Node
    inputs: tuple[Plan, ...] = ()

    def __getstate__(self) -> dict[str, object]:
        # What was worked out (open files, indexes) stays in its process.
        return {"node": self.node, "inputs": self.inputs}

    @cached_property
    def spec(self) -> Spec:
        """The spec of the rows that come out. Makes a row where only that can tell.

        Raises:
            FailedPreconditionError: Only a row can tell, and there is none.
            FunctionError: Only a row can tell, and a function fails on all of them.
        """
        drawn = unnoted()
        try:
            found = self._told_spec()
        finally:
            note_unnoted(drawn)  # rows that only tell a spec are none of the run that asks for it
        if found is not None:
            return found
        raise FailedPreconditionError(
            f"element_spec: {type(self.node).__name__} runs a function that only a row can tell the result of, and "
            "there are no rows. Say what it returns by output_signature=."
        )

    def _told_spec(self) -> Spec | None:
        try:
            return self.node.spec(*(plan.spec for plan in self.inputs))
        except SpecUnknown as unknown:
            return self._seen_spec(unknown.known)

    @property
    def line(self) -> list[Plan]:
        """This plan and those below it, one the input of the other, whose nodes may run as one; itself first."""
        line = [self]
        while line[-1].node.may_join(*line[-1].inputs):
            line.append(line[-1].inputs[0])
        return line

    @cached_property
    def as_one(self) -> AsOne | None:
        """Its node and some below it as one node, where that is cheaper. May make a row, as `spec`."""
        line = self.line
        return self.node.as_one(line) if len(line) > 1 else None

    @property
    def spec_now(self) -> Spec | None:
        """The spec, or None where it cannot be told before rows come: there are none, or functions fail on them."""
        try:
            return self.spec
        except (FailedPreconditionError, FunctionError):
            return None

    def _seen_spec(self, known: Any) -> Spec | None:
        """The spec of the first row, with sizes that are known; where there is none, that of what a function makes of
        a row of zeros.
        """
        sampled = _Passes(sample=True)
        try:
            for row in sampled.of(self):
                opened = None if sampled.opened is None else sampled.opened.spec_now
                return (
                    spec_of(row).loosened(known)
                    if opened is None
                    else _with_missing(spec_of(row), opened).loosened()
                )
        except FunctionError:
            zeros = self._spec_of_zeros(known)
            if zeros is None:
                raise
            return zeros
        if sampled.opened is not None:  # the datasets that functions returned have no rows
            return sampled.opened.spec.loosened()
        return self._spec_of_zeros(known) if self.inputs else None

    def _spec_of_zeros(self, known: Any) -> Spec | None:
        zeros = [zero_row(part.spec) for part in self.inputs]
        if None in zeros:
            return None
        sampled = _Passes(sample=True)
        rows = [iter(zero.to_list()) for zero in zeros if zero is not None]
        try:
            for row in sampled.over(self, rows):
                return spec_of(row).loosened(known)
        except PenstockError:  # of the user's function, which may refuse zeros
            return None
        return None if sampled.opened is None else sampled.opened.spec.loosened()

    @cached_property
    def cardinality(self) -> int:
        """Rows of an epoch, INFINITE or UNKNOWN."""
        return self.node.cardinality(*(plan.cardinality for plan in self.inputs))

    @cached_property
    def rows(self) -> RowSource | None:
        """Rows by number, or None where some node cannot say where its row i comes from.

        Where it is shuffled anew each time, they are those of the first pass.
        """
        if self.node.repeats and any(plan.is_shuffled for plan in self.inputs):
            return None
        shuffled = [id(plan) for plan in self._shuffled()]
        if len(set(shuffled)) < len(shuffled):  # each use of one is another pass
            return None
        return self.node.by_number(*self.inputs)

    def rows_now(self) -> RowSource | None:
        """As `rows`; where there are none, also those that a pass may have left behind in a cache meanwhile."""
        if self.rows is not None:
            return self.rows
        known: RowSource | None = self.__dict__.get("_rows_now")
        if known is None:
            known = self.__dict__["_rows_now"] = self._with_left_rows().rows
        return known

    def _with_left_rows(self) -> Plan:
        made = Plan(self.node, tuple(plan._with_left_rows() for plan in self.inputs))  # noqa: SLF001  (its own kind)
        if made.rows is None:
            made.__dict__["rows"] = self.node.left_rows(*self.inputs)
        return made

    @property
    def finds_rows(self) -> bool:
        """Whether rows by number cost little more than rows in order."""
        if self.rows is None or not self.node.finds_rows():
            return False
        return self.node.goes_by_number or all(plan.finds_rows for plan in self.inputs)

    def _shuffled(self) -> Iterator[Plan]:
        """The plans in this one whose nodes shuffle anew each time, as often as they are used."""
        if self.node.is_shuffled:
            yield self
        for plan in self.inputs:
            yield from plan._shuffled()  # noqa: SLF001  (its own kind)

    @cached_property
    def is_shuffled(self) -> bool:
        """Whether epochs differ."""
        return self.node.is_shuffled or any(plan.is_shuffled for plan in self.inputs)

    def of_pass(self, number: int) -> Plan:
        """The same plan, whose next pass is the one of a number, counted from 0, however many began here before.

        So that several processes that iterate over the same rows have the same order in each pass.
        """
        if not self.is_shuffled:
            return self
        epochs: Counter[int] = Counter()
        self._count_epochs(1, epochs)
        return self._begun(number, epochs, {})

    def _count_epochs(self, n: int, epochs: Counter[int]) -> None:
        """Count how many epochs of each plan a pass takes, by its id; endless ones as one."""
        epochs[id(self)] += n
        again = getattr(self.node, "count", None) or 1 if self.node.repeats else 1
        for plan in self.inputs:
            plan._count_epochs(n * again, epochs)  # noqa: SLF001  (its own kind)

    def _begun(self, number: int, epochs: Counter[int], known: dict[int, Plan]) -> Plan:
        if id(self) not in known:
            parts = tuple(plan._begun(number, epochs, known) for plan in self.inputs)  # noqa: SLF001  (its own kind)
            known[id(self)] = made = Plan(self.node, parts)
            known_too = self.__dict__.keys() & {"spec", "cardinality", "rows", "_fingerprint"}
            made.__dict__.update({name: self.__dict__[name] for name in known_too})
            made.__dict__["_epochs"] = number * epochs[id(self)]
        return known[id(self)]

    def new_epoch(self) -> int:
        """The epoch of the next pass over these rows: 0 but for those that are shuffled anew each time."""
        if not self.node.is_shuffled:
            return 0
        with _EPOCHS:
            epoch: int = self.__dict__.get("_epochs", 0)
            self.__dict__["_epochs"] = epoch + 1
        return epoch

    def note_epoch(self, epoch: int) -> None:
        """Take note that a pass has reached an epoch, so that later passes are of later ones."""
        if self.node.is_shuffled:
            with _EPOCHS:
                self.__dict__["_epochs"] = max(epoch + 1, self.__dict__.get("_epochs", 0))


@frozen
class AsOne:
    """The last n nodes of a plan, one below the other, as one.

    Attributes:
        n: How many they are, at least 2; each makes one row of one.
        plan: The node that does what all of them do, over what is below them. Its state is the tuple of theirs, the
            lowest first.
    """

    n: int
    plan: Plan


def plan_of(dataset: Any, where: str, name: str = "dataset") -> Plan:
    """The plan of an argument that has to be a dataset.

    Raises:
        ArgumentTypeError: It is none.
    """
    plan = getattr(dataset, "plan", None)
    if not isinstance(plan, Plan):
        raise ArgumentTypeError(where, name, got=dataset, want="a Dataset")
    return plan


def _with_missing(seen: Spec, opened: Spec) -> Spec:
    """The spec of a row, and that leaves may be missing where those of the dataset that gave it may."""
    mine, theirs = seen.leaves, opened.leaves
    if paths(seen.structure) != paths(opened.structure):
        return seen
    leaves = [
        other if getattr(other, "optional", False) else leaf for leaf, other in zip(mine, theirs, strict=True)
    ]
    return Spec(pack(seen.structure, leaves))


def plain_rows(plan: Plan) -> PlainRows:
    """The rows of a plan by the plain meaning of its nodes, from epoch 0 on, without chunks, edges or marks."""
    return _Passes().of(plan)


def first_rows(plan: Plan, n: int) -> Chunk | None:
    """Some n rows as those of a plan are, the first it can show without much work; None where there are none."""
    rows = list(islice(_Passes(sample=True).of(plan), n))
    return chunk_of(rows, plan.spec) if rows else None


class _Passes:
    """The passes over plans that belong to one pass over the plan on top.

    Attributes:
        opened: The last plan that the node on top opened while it ran.
    """

    def __init__(self, *, sample: bool = False) -> None:
        self._sample = sample
        self._top: _Place | None = None
        self._epochs: Counter[int] = Counter()
        self._known: list[Plan] = []  # an id is that of one plan only as long as the plan lives
        self.opened: Plan | None = None

    def of(self, plan: Plan) -> PlainRows:
        """The rows of a plan."""
        place = self._place(plan)
        self._top = self._top or place
        return self._pass(place)

    def over(self, plan: Plan, inputs: list[Iterator[Any]]) -> PlainRows:
        """The rows of a plan's node over given rows."""
        place = self._top = self._place(plan)
        parts = [self._rows(rows, below) for rows, below in zip(inputs, place.below, strict=True)]
        return self._rows(self._make(plan)(*parts), place)

    def _open(self, place: _Place, plan: Plan) -> PlainRows:
        if self._top is not None and any(place is below for below in self._top.below):
            self.opened = plan
        return self.of(plan)

    def _place(self, plan: Plan) -> _Place:
        self._known.append(plan)
        epoch = self._epochs[id(plan)]
        self._epochs[id(plan)] += 1
        return _Place(plan, epoch, [self._place(part) for part in plan.inputs])

    def _next_epoch(self, place: _Place) -> None:
        place.epoch += 1
        self._epochs[id(place.plan)] = max(place.epoch + 1, self._epochs[id(place.plan)])
        for below in place.below:
            self._next_epoch(below)

    def _pass(self, place: _Place) -> PlainRows:
        inputs = [self._pass(below) for below in place.below]
        for rows in inputs:
            rows.epoch = place.epoch
        return self._rows(self._make(place.plan)(*inputs), place)

    def _rows(self, rows: Iterator[Any], place: _Place) -> PlainRows:
        def again() -> PlainRows:
            self._next_epoch(place)
            return self._pass(place)

        return PlainRows(rows, place.plan, place.epoch, again, partial(self._open, place))

    def _make(self, plan: Plan) -> Callable[..., Iterator[Any]]:
        return plan.node.sample if self._sample else plan.node.plain


@dataclass
class _Place:
    """Where a plan stands in another one, and the epoch of the latest pass over it there."""

    plan: Plan
    epoch: int
    below: list[_Place]
