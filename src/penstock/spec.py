"""What a row looks like: dtypes, shapes and ragged axes in the user's own structure.

A structure is a dict, a tuple or a named tuple of structures; everything else is a leaf. A list is a leaf,
as in tf.data, where a list becomes a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from penstock.errors import ArgumentError

__all__ = [
    "LeafSpec",
    "RaggedSpec",
    "Shape",
    "Spec",
    "TensorSpec",
    "flatten",
    "is_ragged",
    "map_structure",
    "pack",
    "string",
    "text",
]

Shape: TypeAlias = tuple[int | None, ...]

string: np.dtype[Any] = np.dtype("S")
"""The dtype of byte strings of any length; rows hold `bytes`."""

text: np.dtype[Any] = np.dtype("U")
"""The dtype of text of any length, stored as UTF-8; rows hold `str`."""


def _dtype(value: DTypeLike) -> np.dtype[Any]:
    if value is bytes:
        return string
    if value is str:
        return text
    dtype = np.dtype(getattr(value, "as_numpy_dtype", value))  # a tf.DType names its NumPy dtype
    return string if dtype == np.dtype(object) else dtype


def _dtype_name(dtype: np.dtype[Any]) -> str:
    return {string: "string", text: "text"}.get(dtype, str(dtype))


def _shape(value: Iterable[int | None] | int) -> Shape:
    sizes = (value,) if isinstance(value, int) else tuple(value)
    for size in sizes:
        if size is not None and size < 0:
            raise ArgumentError(
                "TensorSpec", "shape", got=value, want="sizes of at least 0, None where unknown"
            )
    return sizes


@dataclass(frozen=True)
class TensorSpec:
    """An array of one dtype; `None` in the shape is a size that differs from row to row.

    Attributes:
        shape: Sizes of the axes; `()` is a scalar.
        dtype: A NumPy dtype, `ps.string` for bytes or `ps.text` for str.
        optional: Whether rows may hold None in its place.

    >>> TensorSpec((None, 3), np.float32)
    TensorSpec(shape=(None, 3), dtype=float32)
    """

    shape: Shape
    dtype: np.dtype[Any]
    optional: bool = field(default=False, kw_only=True)

    def __init__(
        self, shape: Iterable[int | None] | int = (), dtype: DTypeLike = np.float32, *, optional: bool = False
    ) -> None:
        object.__setattr__(self, "shape", _shape(shape))
        object.__setattr__(self, "dtype", _dtype(dtype))
        object.__setattr__(self, "optional", optional)

    def batched(self, size: int | None) -> LeafSpec:
        """The spec of `size` such rows together (None: a number that differs)."""
        if None not in self.shape:
            return TensorSpec((size, *self.shape), self.dtype)
        return RaggedSpec((size, *self.shape), self.dtype, ragged_rank=1)

    def __repr__(self) -> str:
        optional = ", optional=True" if self.optional else ""
        return f"TensorSpec(shape={self.shape}, dtype={_dtype_name(self.dtype)}{optional})"


@dataclass(frozen=True)
class RaggedSpec:
    """A `ps.Ragged` value: rows of different lengths on its first `ragged_rank + 1` axes.

    >>> RaggedSpec((None, None), np.int64)
    RaggedSpec(shape=(None, None), dtype=int64, ragged_rank=1)
    """

    shape: Shape
    dtype: np.dtype[Any]
    ragged_rank: int = 1
    optional: bool = field(default=False, kw_only=True)

    def __init__(
        self,
        shape: Iterable[int | None],
        dtype: DTypeLike = np.float32,
        ragged_rank: int = 1,
        *,
        optional: bool = False,
    ) -> None:
        object.__setattr__(self, "shape", _shape(shape))
        object.__setattr__(self, "dtype", _dtype(dtype))
        object.__setattr__(self, "ragged_rank", ragged_rank)
        object.__setattr__(self, "optional", optional)

    def batched(self, size: int | None) -> LeafSpec:
        """The spec of `size` such rows together: one ragged axis more."""
        return RaggedSpec((size, *self.shape), self.dtype, self.ragged_rank + 1)

    def __repr__(self) -> str:
        return (
            f"RaggedSpec(shape={self.shape}, dtype={_dtype_name(self.dtype)}, ragged_rank={self.ragged_rank}"
            f"{', optional=True' if self.optional else ''})"
        )


LeafSpec: TypeAlias = TensorSpec | RaggedSpec


def is_ragged(spec: LeafSpec) -> bool:
    """Whether rows of this spec differ in shape."""
    return isinstance(spec, RaggedSpec) or None in spec.shape


def flatten(structure: Any) -> list[Any]:
    """The leaves of a structure, dict entries in the order they stand in.

    >>> flatten({"a": 1, "b": (2, {"c": 3})})
    [1, 2, 3]
    """
    if isinstance(structure, dict):
        return [leaf for part in structure.values() for leaf in flatten(part)]
    if isinstance(structure, tuple):
        return [leaf for part in structure for leaf in flatten(part)]
    return [structure]


def pack(structure: Any, leaves: Iterable[Any]) -> Any:
    """A structure of the same form with other leaves.

    >>> pack({"a": 0, "b": (0, 0)}, [1, 2, 3])
    {'a': 1, 'b': (2, 3)}
    """
    return _pack(structure, iter(leaves))


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(structure, dict):
        return {name: _pack(part, leaves) for name, part in structure.items()}
    if isinstance(structure, tuple):
        parts = [_pack(part, leaves) for part in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)
    return next(leaves)


def map_structure(function: Callable[[Any], Any], structure: Any) -> Any:
    """The same form with `function` applied to every leaf."""
    return pack(structure, map(function, flatten(structure)))


@dataclass(frozen=True)
class Spec:
    """The spec of whole rows: leaf specs in the user's structure.

    Attributes:
        structure: Nested dicts and tuples of `TensorSpec` and `RaggedSpec`.
    """

    structure: Any

    @property
    def leaves(self) -> list[LeafSpec]:
        """The leaf specs in order."""
        return flatten(self.structure)

    def batched(self, size: int | None) -> Spec:
        """The spec of `size` rows together (None: a number that differs)."""
        return Spec(map_structure(lambda leaf: leaf.batched(size), self.structure))

    def paths(self) -> list[str]:
        """A readable name for each leaf: `"a"`, `"b/0"`, ...; `""` for a row that is a single leaf."""
        return ["/".join(path) for path in _paths(self.structure, ())]


def _paths(structure: Any, prefix: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(structure, dict):
        entries: Iterable[tuple[str, Any]] = structure.items()
    elif isinstance(structure, tuple):
        names = getattr(structure, "_fields", None) or map(str, range(len(structure)))
        entries = zip(names, structure, strict=True)
    else:
        yield prefix
        return
    for name, part in entries:
        yield from _paths(part, (*prefix, str(name)))
