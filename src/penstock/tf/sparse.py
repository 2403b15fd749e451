"""`tf.sparse`: sparse tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import penstock as ps
from penstock.column.packing import pack_value
from penstock.errors import ArgumentError, ArgumentTypeError, InvalidArgumentError
from penstock.ops.casting import cast
from penstock.ops.face import face
from penstock.tf.fillers import filler
from penstock.tf.functions import convert_to_tensor
from penstock.tf.missing import no_attribute
from penstock.tf.sparse_tensor import SparseTensor, TracedSparse
from penstock.tf.tensors import Tensor, unwrap

__all__ = [
    "SparseTensor",
    "add",
    "concat",
    "expand_dims",
    "eye",
    "fill_empty_rows",
    "from_dense",
    "map_values",
    "maximum",
    "minimum",
    "reduce_max",
    "reduce_sum",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "slice",
    "softmax",
    "sparse_dense_matmul",
    "split",
    "to_dense",
    "to_indicator",
    "transpose",
]


@face
def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """The whole tensor.

    >>> import penstock.tf as tf
    >>> tf.sparse.to_dense(tf.SparseTensor([[1]], [5], [3]), default_value=-1).numpy()
    array([-1,  5, -1], dtype=int32)
    """
    if isinstance(sp_input, TracedSparse):
        return sp_input.to_dense()
    given = _sparse("to_dense", sp_input)
    default = None
    if default_value is not None:
        default = filler("sparse.to_dense", default_value, SparseTensor.of(given).dtype)
    if not given.shape and len(given.values) == 1:
        return Tensor(given.values[0])
    if validate_indices:
        _require_order("to_dense", given)
    return Tensor(given.to_dense(default))


@face
def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The values of a tensor that are not 0, with their places."""
    array = np.asarray(convert_to_tensor(tensor))
    places = np.argwhere(array != (b"" if array.dtype == object else 0))
    return SparseTensor(places, array[tuple(places.T)], np.array(array.shape, np.int64))


_OF_NUMBERS: Final = ("add", "maximum", "minimum", "reduce_max", "reduce_sum")


def _sparse(where: str, value: Any) -> ps.Sparse:
    found = unwrap(value)
    if not isinstance(found, ps.Sparse):
        raise ArgumentError(f"sparse.{where}", "sp_input", got=value, want="a SparseTensor")
    if where in _OF_NUMBERS and found.dtype.kind in "bO":
        raise ArgumentTypeError(
            f"sparse.{where}", "dtype", got=SparseTensor.of(found).dtype.name, want="numbers"
        )
    return found


def _require_order(where: str, given: ps.Sparse) -> None:
    """Refuse places outside of the shape, out of order, or twice, as TensorFlow does; NumPy takes the last one."""
    places = given.indices
    is_out = ((places < 0) | (places >= given.dense_shape)).any(axis=1)
    if is_out.any():
        found = f"a value lies at {places[is_out][0].tolist()}, outside the shape {list(given.shape)}"
        raise InvalidArgumentError(f"sparse.{where}: {found}.")
    order = np.lexsort(places.T[::-1])
    is_twice = (places[1:] == places[:-1]).all(axis=1)
    if (order != np.arange(len(order))).any() or is_twice.any():
        help = "Use tf.sparse.reorder, or validate_indices=False."
        raise InvalidArgumentError(
            f"sparse.{where}: values are out of order, or two lie at one place. {help}"
        )


def _made(places: Any, values: Any, shape: Any) -> SparseTensor:
    sizes = np.asarray(shape, np.int64)
    return SparseTensor(
        np.asarray(places, np.int64).reshape(len(values), len(sizes)), np.asarray(values), sizes
    )


def _in_order(places: NDArray[Any], values: NDArray[Any], shape: Any) -> SparseTensor:
    order = np.lexsort(places.T[::-1])
    return _made(places[order], values[order], shape)


@face
def reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The same in the order of places, row by row.

    >>> reorder(SparseTensor([[1], [0]], [5, 6], [2])).values.numpy().tolist()
    [6, 5]
    """
    given = _sparse("reorder", sp_input)
    return _in_order(given.indices, given.values, given.dense_shape)


@face
def reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The same in another shape; a size of -1 follows from the others."""
    given, sizes = _sparse("reshape", sp_input), [int(size) for size in np.asarray(unwrap(shape))]
    total = int(np.prod(given.dense_shape))
    if -1 in sizes:
        sizes[sizes.index(-1)] = total // max(1, -int(np.prod(sizes)))
    if -1 in sizes or int(np.prod(sizes)) != total:
        raise InvalidArgumentError(
            f"sparse.reshape: {list(given.shape)} has no form as {list(unwrap(shape))}."
        )
    flat = (
        np.ravel_multi_index(tuple(given.indices.T), given.shape) if len(given.indices) else np.empty(0, int)
    )
    return _made(np.stack(np.unravel_index(flat, sizes), axis=1), given.values, sizes)


@face
def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same in a larger shape, or in the smallest one that holds all values."""
    given = _sparse("reset_shape", sp_input)
    least = given.indices.max(axis=0, initial=-1) + 1
    sizes = least if new_shape is None else np.asarray(unwrap(new_shape), np.int64)
    if len(sizes) != len(least) or (sizes < (least if new_shape is None else given.dense_shape)).any():
        raise InvalidArgumentError(f"sparse.reset_shape: {given.shape} does not fit into {sizes.tolist()}.")
    return _made(given.indices, given.values, sizes)


@face
def transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """The axes in another order: that of `perm`, else turned round."""
    given = _sparse("transpose", sp_input)
    order = (
        list(range(len(given.shape)))[::-1]
        if perm is None
        else [int(axis) for axis in np.asarray(unwrap(perm))]
    )
    if sorted(order) != list(range(len(given.shape))):
        raise ArgumentError(
            "sparse.transpose", "perm", got=order, want=f"the {len(given.shape)} axes, each once"
        )
    return _in_order(given.indices[:, order], given.values, given.dense_shape[order])


@face
def expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """One axis more, of size 1, before the axis given; -1 puts it last."""
    given = _sparse("expand_dims", sp_input)
    place = -1 if axis is None else int(unwrap(axis))
    rank = len(given.shape)
    if not -rank - 1 <= place <= rank:
        raise ArgumentError("sparse.expand_dims", "axis", got=place, want=f"{-rank - 1} to {rank}")
    place = place if place >= 0 else place + rank + 1
    return _made(
        np.insert(given.indices, place, 0, axis=1), given.values, np.insert(given.dense_shape, place, 1)
    )


@face
def slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:  # noqa: A001
    """A part of a size from a place on, as far as there is one."""
    given = _sparse("slice", sp_input)
    first, sizes = np.asarray(unwrap(start), np.int64), np.asarray(unwrap(size), np.int64)
    rank = len(given.shape)
    for part, value in (("start", first), ("size", sizes)):
        if value.shape != (rank,) or (value < 0).any():
            want = f"a number from 0 on for each of {rank} axes"
            raise ArgumentError("sparse.slice", part, got=value.tolist(), want=want)
    sizes = np.maximum(np.minimum(sizes, given.dense_shape - first), 0)
    is_in = ((given.indices >= first) & (given.indices < first + sizes)).all(axis=1)
    return _made(given.indices[is_in] - first, given.values[is_in], sizes)


@face
def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The values for which a list of bools says so."""
    given, is_kept = _sparse("retain", sp_input), np.asarray(unwrap(to_retain), bool)
    return _made(given.indices[is_kept], given.values[is_kept], given.dense_shape)


@face
def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
    """What a function gives for the values of sparse tensors of the same places, at these places."""
    of = [_sparse("map_values", one) for one in (*args, *kwargs.values()) if isinstance(one, SparseTensor)]
    if not of or any(not np.array_equal(of[0].indices, other.indices) for other in of):
        raise ArgumentError("sparse.map_values", "args", got=args, want="sparse tensors of the same places")

    def values(one: Any) -> Any:
        return one.values if isinstance(one, SparseTensor) else one

    made = op(*map(values, args), **{name: values(value) for name, value in kwargs.items()})
    return _made(of[0].indices, unwrap(made), of[0].dense_shape)


@face
def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """The sum of two, of which one may be a tensor; sums of two sparse values below `threshold` are left out.

    >>> to_dense(add(SparseTensor([[0]], [5], [2]), SparseTensor([[1]], [6], [2]))).numpy().tolist()
    [5, 6]
    """
    first, second = unwrap(a), unwrap(b)
    if not (isinstance(first, ps.Sparse) and isinstance(second, ps.Sparse)):
        dense = [one.to_dense() if isinstance(one, ps.Sparse) else np.asarray(one) for one in (first, second)]
        return Tensor(dense[0] + dense[1])
    first, second = _sparse("add", first), _sparse("add", second)
    if first.shape != second.shape:
        raise ArgumentError("sparse.add", "shape of b", got=second.shape, want=str(first.shape))
    places = np.concatenate([first.indices, second.indices])
    found, inverse = np.unique(places, axis=0, return_inverse=True)
    sums = np.zeros(len(found), np.result_type(first.values, second.values))
    np.add.at(sums, inverse.reshape(-1), np.concatenate([first.values, second.values]))
    is_single = np.bincount(inverse.reshape(-1), minlength=len(sums)) == 1
    # The least of a small dtype has no magnitude in it.
    magnitudes = np.abs(sums.astype(np.int64) if sums.dtype.kind == "i" else sums)
    is_kept = is_single | (magnitudes >= unwrap(threshold))
    return _made(found[is_kept], sums[is_kept], first.dense_shape)


@face
def maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The larger of two values at every place that one of the two has; the other's is 0 there.

    >>> maximum(SparseTensor([[0]], [-5], [2]), SparseTensor([[1]], [6], [2])).values.numpy().tolist()
    [0, 6]
    """
    return _of_both("maximum", np.maximum, sp_a, sp_b)


@face
def minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The smaller of two values at every place that one of the two has; the other's is 0 there."""
    return _of_both("minimum", np.minimum, sp_a, sp_b)


def _of_both(where: str, choose: Callable[[Any, Any], Any], sp_a: Any, sp_b: Any) -> SparseTensor:
    first, second = _sparse(where, sp_a), _sparse(where, sp_b)
    if first.shape != second.shape or first.dtype != second.dtype:
        found, want = f"{second.dtype}{second.shape}", f"{first.dtype}{first.shape}, as sp_a"
        raise ArgumentError(f"sparse.{where}", "dtype and shape of sp_b", got=found, want=want)
    places, inverse = np.unique(np.concatenate([first.indices, second.indices]), axis=0, return_inverse=True)
    sides = np.zeros((2, len(places)), first.dtype)
    sides[0, inverse.reshape(-1)[: len(first.values)]] = first.values
    sides[1, inverse.reshape(-1)[len(first.values) :]] = second.values
    return _made(places, choose(*sides), first.dense_shape)


@face
def softmax(sp_logits: Any, name: str | None = None) -> SparseTensor:
    """The exponentials by their sum along the last axis, of the values that are there."""
    given = _sparse("softmax", sp_logits)
    if given.dtype.kind != "f" or len(given.shape) < 2:
        found = f"{given.dtype}{given.shape}"
        raise ArgumentError("sparse.softmax", "sp_logits", got=found, want="floats of two axes or more")
    _, rows = np.unique(given.indices[:, :-1], axis=0, return_inverse=True)
    most, total = np.full((2, rows.max(initial=-1) + 1), [[-np.inf], [0]], given.dtype)
    np.maximum.at(most, rows.reshape(-1), given.values)
    powers = np.exp(given.values - most[rows.reshape(-1)])
    np.add.at(total, rows.reshape(-1), powers)
    return _made(given.indices, powers / total[rows.reshape(-1)], given.dense_shape)


@face
def split(
    sp_input: Any = None, num_split: Any = None, axis: Any = None, name: str | None = None
) -> list[SparseTensor]:
    """So many parts along an axis; the first are longer by one where the size is no multiple."""
    given, n, along = _sparse("split", sp_input), int(unwrap(num_split)), int(unwrap(axis))
    rank = len(given.shape)
    if not -rank <= along < rank or not 1 <= n <= given.shape[along]:
        found = f"{n} along {along}"
        raise ArgumentError(
            "sparse.split", "num_split", got=found, want=f"1 to a size of {list(given.shape)}"
        )
    size, n_longer = divmod(given.shape[along], n)
    start, lengths = np.zeros(rank, np.int64), given.dense_shape.copy()
    parts = []
    for i in range(n):
        lengths[along] = size + (i < n_longer)
        parts.append(slice(given, start, lengths))
        start[along] += lengths[along]
    return parts


@face
def concat(
    axis: Any, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """Several one after the other along an axis; other axes are equal, or grow where that is said."""
    given = [_sparse("concat", one) for one in sp_inputs]
    rank = len(given[0].shape)
    along = int(unwrap(axis))
    if not -rank <= along < rank:
        raise ArgumentError("sparse.concat", "axis", got=along, want=f"an axis of {rank}")
    along %= rank
    shapes = np.stack([one.dense_shape for one in given])
    sizes = shapes.max(axis=0)
    others = np.delete(shapes, along, axis=1)
    if not expand_nonconcat_dims and (others != others[0]).any():
        raise ArgumentError(
            "sparse.concat", "shapes", got=shapes.tolist(), want="equal ones but for the axis"
        )
    starts = np.cumsum(shapes[:, along]) - shapes[:, along]
    sizes[along] = shapes[:, along].sum()
    moved = [
        one.indices + np.eye(rank, dtype=np.int64)[along] * start
        for one, start in zip(given, starts, strict=True)
    ]
    return _in_order(np.concatenate(moved), np.concatenate([one.values for one in given]), sizes)


@face
def reduce_sum(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: Any = None,
) -> Any:
    """The sums along axes, of all where none is given; a tensor, or a sparse one."""
    given = _sparse("reduce_sum", sp_input)
    how = {"axis": _axes(axis), "keepdims": bool(keepdims)}
    made = np.asarray(ps.math.reduce_sum(given.to_dense(), **how))
    return _where_values_are(given, made, **how) if output_is_sparse else Tensor(made[()])


@face
def reduce_max(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: Any = None,
) -> Any:
    """The largest of the values that are there along axes, 0 where none is; a tensor, or a sparse one."""
    given = _sparse("reduce_max", sp_input)
    kind = given.dtype
    least = np.iinfo(kind).min if kind.kind in "iu" else -np.inf
    filled, is_there = np.full(given.shape, least, kind), np.zeros(given.shape, bool)
    filled[tuple(given.indices.T)], is_there[tuple(given.indices.T)] = given.values, True
    how = {"axis": _axes(axis), "keepdims": bool(keepdims)}
    made = np.where(is_there.any(**how), filled.max(**how, initial=least), 0).astype(kind)
    return _where_values_are(given, made, **how) if output_is_sparse else Tensor(made[()])


def _where_values_are(given: ps.Sparse, made: NDArray[Any], *, axis: Any, keepdims: bool) -> SparseTensor:
    """What was made along axes, at the places of which a value is part, whatever it is there."""
    rank = len(given.shape)
    axes = range(rank) if axis is None else [one % rank for one in np.atleast_1d(axis).tolist()]
    kept = [i for i in range(rank) if keepdims or i not in axes]
    places = given.indices.copy()
    places[:, list(axes)] = 0
    places = np.unique(places, axis=0)[:, kept]
    return _made(places, made[tuple(places.T)] if kept else np.repeat(made, len(places)), made.shape)


def _axes(axis: Any) -> Any:
    found = unwrap(axis)
    return tuple(int(one) for one in found) if isinstance(found, list | tuple | np.ndarray) else found


@face
def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = np.float32, name: str | None = None
) -> SparseTensor:
    """Ones where row and column are equal."""
    rows = int(unwrap(num_rows))
    columns = rows if num_columns is None else int(unwrap(num_columns))
    places = np.repeat(np.arange(min(rows, columns))[:, np.newaxis], 2, axis=1)
    return _made(places, np.ones(len(places), unwrap(dtype)), [rows, columns])


@face
def fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """The same with a value at the beginning of rows that have none, and which rows these are."""
    given = _sparse("fill_empty_rows", sp_input)
    is_empty = np.ones(given.shape[0], bool)
    is_empty[given.indices[:, 0]] = False
    added = np.zeros((int(is_empty.sum()), len(given.shape)), np.int64)
    added[:, 0] = np.flatnonzero(is_empty)
    default = filler("sparse.fill_empty_rows", default_value, SparseTensor.of(given).dtype)
    fills = np.full(len(added), default, given.dtype)
    places, values = np.concatenate([given.indices, added]), np.concatenate([given.values, fills])
    return _in_order(places, values, given.dense_shape), Tensor(is_empty)


@face
def to_indicator(sp_input: Any, vocab_size: int, name: str | None = None) -> Tensor:
    """Bools of which those are true whose number is a value, in place of the last axis."""
    given = _sparse("to_indicator", sp_input)
    values = np.asarray(cast(given.values, np.int64))
    if len(values) and not (values.min() >= 0 and values.max() < vocab_size):
        raise InvalidArgumentError(f"sparse.to_indicator: values from 0 to below {vocab_size} are wanted.")
    made = np.zeros((*given.shape[:-1], vocab_size), bool)
    made[(*given.indices[:, :-1].T, values)] = True
    return Tensor(made)


@face
def sparse_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """The matrix product of a sparse tensor and a tensor."""
    left, right = (
        one.to_dense() if isinstance(one, ps.Sparse) else np.asarray(pack_value(one))
        for one in map(unwrap, (sp_a, b))
    )
    if not left.ndim == right.ndim == 2:
        shapes = [list(one.shape) for one in (left, right)]
        raise ArgumentError("sparse.sparse_dense_matmul", "shapes", got=shapes, want="two matrices")
    if left.dtype != right.dtype:
        want = f"{left.dtype} as the first operand: use tf.cast"
        raise ArgumentTypeError("sparse.sparse_dense_matmul", "dtype", got=right.dtype, want=want)
    return Tensor((left.conj().T if adjoint_a else left) @ (right.conj().T if adjoint_b else right))


def __getattr__(name: str) -> Any:
    raise no_attribute("tf.sparse", name, tuple(__all__))
