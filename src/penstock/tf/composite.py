"""`RaggedTensor` and `SparseTensor`: the names of TensorFlow over `ps.Ragged` and `ps.Sparse`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import numpy as np

import penstock as ps
from penstock.column.packing import pack_value
from penstock.tf.dtypes import DType, as_dtype
from penstock.tf.shapes import TensorShape
from penstock.tf.tensors import Tensor, set_wrapper, unwrap, wrap
from penstock.trace.value import Traced

__all__ = ["RaggedTensor", "SparseTensor", "TracedSparse", "ragged_constant", "stacked_rows"]


@final
class RaggedTensor:
    """Rows of different lengths.

    >>> import penstock.tf as tf
    >>> tf.ragged.constant([[1, 2], [3]])
    <tf.RaggedTensor [[1, 2], [3]]>
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, rows: Any) -> None:
        self._rows: ps.Ragged = rows

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any) -> RaggedTensor:
        """Row i is `values[row_splits[i]:row_splits[i + 1]]`."""
        return cls(ps.Ragged(_array(values), _array(row_splits)))

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any) -> RaggedTensor:
        """Row i has `row_lengths[i]` values."""
        return cls(ps.Ragged(_array(values), np.concatenate([[0], np.cumsum(_array(row_lengths))])))

    def __penstock__(self) -> ps.Ragged:
        return self._rows

    @property
    def values(self) -> Any:
        """All rows one after the other."""
        return wrap(self._rows.values)

    @property
    def flat_values(self) -> Tensor:
        """The innermost values."""
        return Tensor(self._rows.flat_values)

    @property
    def row_splits(self) -> Tensor:
        """Where each row begins, and where the last one ends."""
        return Tensor(self._rows.row_splits)

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The splits of every ragged axis, outermost first."""
        return tuple(map(Tensor, self._rows.nested_row_splits))

    @property
    def ragged_rank(self) -> int:
        """Number of ragged axes."""
        return self._rows.ragged_rank

    @property
    def shape(self) -> TensorShape:
        """Lengths of the axes; None for a ragged one."""
        return TensorShape(self._rows.shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return as_dtype(self._rows.dtype)

    def row_lengths(self) -> Tensor:
        """Number of entries in each row."""
        return Tensor(self._rows.row_lengths())

    def nrows(self) -> Tensor:
        """Number of rows."""
        return Tensor(np.int64(len(self._rows)))

    def to_list(self) -> list[Any]:
        """The rows as nested lists."""
        return self._rows.to_list()

    def to_tensor(self, default_value: Any = None) -> Tensor:
        """All rows in one tensor, shorter ones filled up."""
        return Tensor(self._rows.to_padded(unwrap(default_value)))

    def numpy(self) -> Any:
        """An array where all rows have one length; else an object array of rows."""
        rows = [row.to_list() if isinstance(row, ps.Ragged) else row for row in self._rows]
        if len({len(row) for row in rows}) <= 1:
            return np.array(rows)
        made = np.empty(len(rows), object)
        for i, row in enumerate(rows):
            made[i] = row
        return made

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return map(wrap, self._rows)

    def __getitem__(self, key: Any) -> Any:
        return wrap(self._rows[unwrap(key)])

    def __repr__(self) -> str:
        return f"<tf.RaggedTensor {self._rows.to_list()}>"


@final
class SparseTensor:
    """A few values at given places.

    >>> import penstock.tf as tf
    >>> tf.sparse.to_dense(tf.SparseTensor([[0], [2]], [5, 7], [4])).numpy()
    array([5, 0, 7, 0], dtype=int32)
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self._sparse = ps.Sparse(_array(indices), _array(values), _array(dense_shape))

    @classmethod
    def of(cls, sparse: ps.Sparse) -> SparseTensor:
        """The face of a `ps.Sparse`."""
        made = object.__new__(cls)
        made._sparse = sparse
        return made

    def __penstock__(self) -> ps.Sparse:
        return self._sparse

    @property
    def indices(self) -> Tensor:
        """The place of each value."""
        return Tensor(self._sparse.indices)

    @property
    def values(self) -> Tensor:
        """The values."""
        return Tensor(self._sparse.values)

    @property
    def dense_shape(self) -> Tensor:
        """Lengths of the axes of the whole."""
        return Tensor(self._sparse.dense_shape)

    @property
    def shape(self) -> TensorShape:
        """The same, as a shape."""
        return TensorShape(self._sparse.shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return as_dtype(self._sparse.dtype)

    def get_shape(self) -> TensorShape:
        """The same as `shape`."""
        return self.shape

    def __repr__(self) -> str:
        return f"SparseTensor(indices={self.indices!s}, values={self.values!s}, dense_shape={self.dense_shape!s})"


@final
class TracedSparse:
    """A sparse value of one axis while a function is traced: its values alone, which `tf.sparse.to_dense` gives."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: Traced) -> None:
        self._values = values

    def __penstock__(self) -> Any:
        raise self._values.recorder.fail("uses a sparse value other than by tf.sparse.to_dense")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("values", "dtype"):
            made = Tensor(self._values)
            return made if name == "values" else made.dtype
        return self.__penstock__()

    def to_dense(self) -> Tensor:
        """All its values: of one axis, none is left out."""
        return Tensor(self._values)


def ragged_constant(pylist: Any, dtype: Any = None) -> RaggedTensor:
    """A ragged tensor of nested lists, by `tf.ragged.constant`'s name."""
    if dtype is None:
        values, splits = _flattened(pylist)
        return RaggedTensor(_nested(np.asarray(pack_value(values)), splits))
    values, splits = _flattened(pylist)
    if as_dtype(dtype).name == "string":
        texts = pack_value(values) if values else np.empty(0, object)
        return RaggedTensor(_nested(np.asarray(texts, object), splits))
    return RaggedTensor(_nested(np.asarray(values, unwrap(as_dtype(dtype))), splits))


def _flattened(rows: list[Any]) -> tuple[list[Any], list[list[int]]]:
    splits = []
    while any(isinstance(row, list) for row in rows):
        lengths = [len(row) for row in rows]
        splits.append(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64).tolist())
        rows = [item for row in rows for item in row]
    return rows, splits or [[0] * (len(rows) + 1)]


def _nested(values: Any, splits: list[list[int]]) -> ps.Ragged:
    return ps.Ragged.from_nested(values, [np.array(one, np.int64) for one in splits])


def stacked_rows(rows: Any) -> RaggedTensor:
    """Rows of different lengths as a ragged tensor, by `tf.ragged.stack`'s name."""
    arrays = [np.asarray(unwrap(row)) for row in rows]
    splits = np.concatenate([[0], np.cumsum([len(row) for row in arrays])])
    return RaggedTensor(ps.Ragged(np.concatenate(arrays), splits))


def _array(value: Any) -> Any:
    return np.asarray(pack_value(unwrap(value)))


set_wrapper(ps.Ragged, RaggedTensor)
set_wrapper(ps.Sparse, SparseTensor.of)
