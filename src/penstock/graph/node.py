"""What a node of a plan must say of itself.

A node is a frozen value: its fields are the user's arguments. Its state is a plain value (numbers, strings,
bytes, tuples), handed in and out; nothing is kept on `self`. Rows come only from edges.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar

from penstock.column.base import IntArray
from penstock.column.chunk import Chunk
from penstock.errors import PenstockError
from penstock.spec import Spec

__all__ = [
    "END",
    "INFINITE",
    "UNKNOWN",
    "Broken",
    "Node",
    "PlainRows",
    "RowSource",
    "Rows",
    "State",
    "Step",
    "Work",
    "registered",
    "transform",
]

State: TypeAlias = Any
"""Numbers, strings, bytes, None, and tuples of them."""

INFINITE: Final = -1
"""Cardinality of a dataset that never ends; tf.data's number."""

UNKNOWN: Final = -2
"""Cardinality that only a pass can tell; tf.data's number."""


class _End(Enum):
    END = "end"


END: Final = _End.END
"""What an edge or a step gives when there are no more rows."""

Work: TypeAlias = Callable[[], tuple[State, Chunk]]
"""What is left to do for a chunk of a source, done by whoever asks for the rows while further steps are made.

It gives the state after its rows, another than that of its step where they end early, or raises `Broken`.
"""

Step: TypeAlias = tuple[State, Chunk | Work | Literal[_End.END]]


class Broken(Exception):
    """Raised by a step that failed: the error for the user, and the state from which reading can go on."""

    def __init__(self, error: PenstockError, state: State) -> None:
        super().__init__(error)
        self.error, self.state = error, state


class Rows(Protocol):
    """The side of an edge that a node sees."""

    def pull(self, limit: int | None = None) -> Chunk | Literal[_End.END]:
        """The next rows, at least one and at most `limit`; as many as are at hand."""

    def pull_exact(self, n: int) -> Chunk | Literal[_End.END]:
        """The next n rows, fewer only at the end or before an error."""

    def pull_groups(self, size: int) -> Chunk | Literal[_End.END]:
        """The next rows in whole groups of `size`, as many as are at hand; fewer than `size` only at the end."""


@dataclass
class PlainRows(Iterator[Any]):
    """Rows one by one and their spec, as `Node.plain` takes them."""

    rows: Iterator[Any]
    spec: Spec

    def __next__(self) -> Any:
        return next(self.rows)


class RowSource(Protocol):
    """Rows by number."""

    def __len__(self) -> int: ...

    def gather(self, rows: IntArray) -> Chunk:
        """The rows asked for, in that order; each in [0, len)."""


class Node(ABC):
    """One step of a plan.

    A source has no inputs; its steps are given its own `open_session()` in place of edges.
    """

    def __repr__(self) -> str:  # dataclasses write a better one
        return type(self).__name__

    @abstractmethod
    def spec(self, *rows: Spec) -> Spec:
        """The spec of its rows, from those of its inputs. Raises where the inputs do not fit."""

    def start(self, epoch: int) -> State:
        """The state before the first row of an epoch."""
        return None

    def knows(self, state: State) -> bool:
        """Whether a state that was read from somewhere can be one of this node's."""
        return state is None

    @abstractmethod
    def step(self, state: State, *edges: Any) -> Step:
        """The next rows, and the state after them. A failed step raises `Broken`."""

    @abstractmethod
    def plain(self, *rows: PlainRows) -> Iterator[Any]:
        """The meaning, row by row, slow and obvious; the laws compare `step` with it."""

    def cardinality(self, *n: int) -> int:
        """Rows of an epoch, from those of its inputs; INFINITE or UNKNOWN where it is so."""
        return UNKNOWN

    def random_access(self, *inputs: RowSource) -> RowSource | None:
        """Rows by number, where the node can say how row i comes from rows of its inputs."""
        return None

    def open_session(self) -> Any:
        """What a source keeps open between steps only to be faster: dropping it never changes a row."""
        return None

    @classmethod
    def examples(cls) -> list[Node]:
        """Two to four small instances for the laws; sources that need files give none."""
        return []


_NodeClass = TypeVar("_NodeClass", bound=type[Node])
_REGISTERED: dict[str, type[Node]] = {}


def transform(name: str) -> Callable[[_NodeClass], _NodeClass]:
    """Register a node under the name of its method on `Dataset`."""

    def register(node: _NodeClass) -> _NodeClass:
        assert name not in _REGISTERED, f"{name} is registered twice"
        _REGISTERED[name] = node
        return node

    return register


def registered() -> dict[str, type[Node]]:
    """Every registered transformation by name."""
    return dict(_REGISTERED)
