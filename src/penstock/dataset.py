"""`Dataset`: the rows of a plan, to iterate over, to index and to transform."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, fields
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

import penstock.nodes  # noqa: F401  (registers every transformation)
from penstock.column.chunk import Chunk
from penstock.column.empty import empty_batch
from penstock.errors import (
    ArgumentTypeError,
    FailedPreconditionError,
    OutOfRangeError,
    UnknownLengthError,
)
from penstock.graph.node import END, INFINITE, UNKNOWN, Node, RowSource, registered
from penstock.graph.plan import Plan
from penstock.records.frames import Damage
from penstock.records.schema import Schema
from penstock.run.edge import Edge
from penstock.run.iterator import RowIterator
from penstock.sources.tfrecord import TFRecordFiles

__all__ = ["Dataset"]

RowNumbers: TypeAlias = Sequence[int] | NDArray[np.integer[Any]] | NDArray[np.bool_] | slice


class Dataset:
    """Rows in order: NumPy values in a structure of dicts and tuples.

    A dataset is a value: transformations return new ones, iterating changes nothing.

    >>> import os, tempfile
    >>> import penstock as ps
    >>> path = os.path.join(tempfile.mkdtemp(), "train.tfrecord")
    >>> _ = ps.write(path, {"label": [7, 8, 9]})
    >>> ds = ps.open(path)
    >>> ds[0]["label"], ds[[2, 0]]["label"]
    (np.int64(7), array([9, 7]))
    >>> [batch["label"].shape for batch in ds.batches(2)]
    [(2,), (1,)]
    """

    ragged_batch: Callable[..., Dataset]
    to_arrow: Callable[[Dataset], Any]
    to_pandas: Callable[[Dataset], Any]
    __arrow_c_stream__: Callable[..., object]
    _repr_html_: Callable[[Dataset], str]

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    @property
    def plan(self) -> Plan:
        """The tree of nodes that makes the rows."""
        return self._plan

    @property
    def element_spec(self) -> Any:
        """The spec of a row: `TensorSpec` and `RaggedSpec` in the row's structure."""
        return self._plan.spec.structure

    @property
    def schema(self) -> Schema | None:
        """What the records hold, for a dataset that reads records as they are; else None."""
        node = self._plan.node
        return node.schema if isinstance(node, TFRecordFiles) else None

    @property
    def damage(self) -> list[Damage]:
        """Damage that reading with `on_corrupt="skip"` has passed over so far, by whichever iterator found it."""
        return [damage for node in _nodes(self._plan) for damage in getattr(node, "damage", ())]

    def __iter__(self) -> RowIterator:
        return RowIterator(self._plan)

    def chunks(self) -> Iterator[Chunk]:
        """The rows as chunks, in the sizes in which they come; for code that works on columns."""
        edge = Edge(self._plan)
        while (chunk := edge.pull()) is not END:
            yield chunk

    def batches(self, size: int, *, drop_remainder: bool = False) -> Dataset:
        """Rows in batches of `size`; arrays gain a leading axis, lists of different lengths become `ps.Ragged`.

        Missing numbers are masked (`numpy.ma`), missing strings are None, a missing list is an empty row.

        Args:
            size: Rows in a batch, at least 1.
            drop_remainder: Leave out a last batch of fewer than `size` rows.

        Raises:
            ArgumentError: A size below 1.
        """
        return self.ragged_batch(size, drop_remainder=drop_remainder)

    def cardinality(self) -> int:
        """Rows, -1 where they never end, -2 where only a pass or an index can tell. Reads no data."""
        return self._plan.cardinality

    def __len__(self) -> int:
        """Rows. Counts them on first need, by the index of the files.

        Raises:
            UnknownLengthError: The rows never end, or only a pass over the data can tell.
        """
        known = self._plan.cardinality
        if known >= 0:
            return known
        if known == INFINITE or self._plan.rows is None:
            reason = (
                "has no end" if known == INFINITE else "has an unknown length: its nodes drop or make rows"
            )
            raise UnknownLengthError(f"len: the dataset {reason}. Count by iterating, or see cardinality().")
        return len(self._plan.rows)

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, rows: int | RowNumbers) -> Any:
        """Row i, or a batch of the rows asked for (a list or array of numbers, a mask, or a slice).

        Negative numbers count from the end.

        Raises:
            OutOfRangeError: There is no such row; the message tells how many there are.
            FailedPreconditionError: Rows cannot be reached by number.
        """
        source = self._row_source()
        if isinstance(rows, int | np.integer) and not isinstance(rows, bool):
            return source.gather(_row_numbers([int(rows)], len(source))).row(0)
        numbers = _row_numbers(rows, len(source))
        batch = source.gather(numbers).batched() if len(numbers) else empty_batch(self._plan.spec)
        return batch.row(0)

    def _row_source(self) -> RowSource:
        if self._plan.rows is None:
            raise FailedPreconditionError(
                f"getitem: rows of {self._plan.node} cannot be reached by number. Iterate over the dataset instead."
            )
        return self._plan.rows

    def _then(self, node: Node) -> Self:
        return type(self)(Plan(node, (self._plan,)))

    def __repr__(self) -> str:
        known = self._plan.cardinality
        count = {INFINITE: "endless", UNKNOWN: "rows not counted yet"}.get(known, f"{known} rows")
        head = f"Dataset of {count}"
        node = self._plan.node
        if isinstance(node, TFRecordFiles):
            files = node.paths[0] if len(node.paths) == 1 else f"{len(node.paths)} files"
            return f"{head} from {files}\n{node.schema}"
        return f"{head}\n{self.element_spec}"


def _nodes(plan: Plan) -> Iterator[Node]:
    yield plan.node
    for part in plan.inputs:
        yield from _nodes(part)


def _row_numbers(rows: Any, n: int) -> NDArray[np.int64]:
    if isinstance(rows, slice):
        return np.arange(*rows.indices(n), dtype=np.int64)
    numbers = np.asarray(rows)
    if numbers.ndim == 1 and not len(numbers):
        return np.zeros(0, np.int64)
    if numbers.dtype == np.bool_ and numbers.shape == (n,):
        return np.flatnonzero(numbers)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise ArgumentTypeError(
            "getitem", "rows", got=rows, want="a row number, a list of them, a mask or a slice"
        )
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, -1)
    if low < -n or high >= n:  # before the cast, which would wrap numbers past int64
        wrong = next(i for i in numbers.tolist() if not -n <= i < n)
        raise OutOfRangeError(f"getitem: row {wrong} does not exist, the dataset has {n} rows.")
    numbers = numbers.astype(np.int64)
    return numbers if low >= 0 else np.where(numbers < 0, numbers + n, numbers)


def _install(name: str, node: type[Node]) -> None:
    """Give `Dataset` the method of a registered transformation, with the node's arguments and documentation."""

    def method(self: Dataset, *args: Any, **kwargs: Any) -> Dataset:
        return self._then(node(*args, **kwargs))

    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for part in fields(node):  # type: ignore[arg-type]
        default = inspect.Parameter.empty if part.default is MISSING else part.default
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(inspect.Parameter(part.name, kind, default=default, annotation=part.type))
    method.__name__, method.__qualname__, method.__doc__ = name, f"Dataset.{name}", node.__doc__
    method.__signature__ = inspect.Signature(parameters, return_annotation="Dataset")  # type: ignore[attr-defined]
    setattr(Dataset, name, method)


for _name, _node in registered().items():
    _install(_name, _node)
