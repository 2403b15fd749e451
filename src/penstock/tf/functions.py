"""Functions of penstock and NumPy by TensorFlow's names: tensors go in, tensors come out."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import numpy as np

from penstock.column.packing import pack_value
from penstock.errors import ArgumentTypeError, LimitError
from penstock.graph.adapted import by_itself
from penstock.spec import is_structure, map_structure
from penstock.tf.composite import RaggedTensor, SparseTensor
from penstock.tf.dtypes import as_dtype
from penstock.tf.ragged_functions import across, is_among
from penstock.tf.tensors import Tensor, alike_in_lists, beside_tensors, is_traced, unwrap, wrap
from penstock.trace.value import Traced, untold

__all__ = [
    "constant",
    "convert_to_tensor",
    "function",
    "numpy_function",
    "on_tensors",
    "print_",
    "printed_value",
    "py_function",
]


def on_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of values as one of tensors. `name=`, which TensorFlow takes everywhere, is taken and not used."""
    takes_name = _takes(function, "name")
    first = _OF_PAIRS.get(function.__name__)
    names = _names(function)
    # Lists of values are tensors; those of sizes, or of what is unlike, are what they are.
    n_values = 0 if names[:1] in _SIZES else 1 if first is None else 3

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if not takes_name:
            kwargs.pop("name", None)
        try:
            given, by_name = (args, kwargs) if first is None else _beside(args, kwargs, first, names)
            of_values = (alike_in_lists(value) for value in given[:n_values])
            values = tuple(map(unwrap, (*of_values, *given[n_values:])))
            lists = {name: alike_in_lists(by_name[name]) for name in names[:n_values] if name in by_name}
            named = unwrap({**by_name, **lists})
            if is_among((*values, *named.values())):
                return wrap(across(function, values, named))
            return wrap(function(*values, **named))
        except MemoryError as error:
            raise LimitError(
                f"{function.__name__}: {str(error) or 'there is no memory for the result'}."
            ) from error

    return called


_PAIRS: Final = (
    "add subtract multiply divide truediv floordiv floormod mod maximum minimum pow squared_difference divide_no_nan "
    "multiply_no_nan equal not_equal greater greater_equal less less_equal atan2 clip_by_value"
)
_OF_PAIRS: Final = dict.fromkeys(_PAIRS.split(), 0) | {"where": 1, "einsum": 1, "matmul": 0}
"""Functions of values of one dtype, and which argument is the first of these: NumPy's take that of the tensors, as they
do beside an operator."""


_SIZES: Final = (("shape",), ("dims",), ("size",), ("record_defaults",))


def _beside(
    args: tuple[Any, ...], kwargs: dict[str, Any], first: int, names: tuple[str, ...]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with NumPy's in the dtype of the tensors, whether given by place or by name."""
    by_name = [name for name in names[first:] if name in kwargs]
    alike = beside_tensors((*args[first:], *(kwargs[name] for name in by_name)))
    n = max(len(args) - first, 0)
    return (*args[:first], *alike[:n]), {**kwargs, **dict(zip(by_name, alike[n:], strict=True))}


def _names(function: Callable[..., Any]) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)
    except ValueError:
        return ()


def _takes(function: Callable[..., Any], name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


# --- making tensors ---


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
    r"""A tensor of a value: numbers and lists of them as TensorFlow packs them, NumPy's values in their dtype.

    Args:
        value: Numbers, text, bytes, lists, arrays, tensors.
        dtype: Of the tensor; None for float32, int32 (int64 where it does not fit), bool, string.
        shape: A shape for its items; a single one is repeated.

    >>> import penstock.tf as tf
    >>> tf.constant([1.5, 2]), tf.constant("é").numpy()
    (<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.5, 2. ], dtype=float32)>, b'\xc3\xa9')
    """
    made = convert_to_tensor(value, dtype)
    if shape is None:
        return made
    array = np.asarray(made)
    sizes = tuple(unwrap(shape))
    return Tensor(np.full(sizes, array[()], array.dtype) if array.size == 1 else array.reshape(sizes))


def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Any:
    """A tensor of a value; one that is a tensor is itself.

    Raises:
        ArgumentTypeError: The value has another dtype than that asked for, or no form as a tensor.
    """
    if isinstance(value, Tensor):
        if dtype is not None and value.dtype != dtype:
            want = f"{as_dtype(dtype).name}: use tf.cast"
            raise ArgumentTypeError("convert_to_tensor", "dtype", got=value.dtype, want=want)
        return value
    if isinstance(value, RaggedTensor | SparseTensor):
        return value
    values = unwrap(alike_in_lists(list(value) if isinstance(value, tuple | range) else value))
    if isinstance(values, Traced):
        return Tensor(values)
    if isinstance(values, list) and any(map(is_traced, values)):
        return wrap(np.stack(values))
    return Tensor(_packed(values, dtype))


def _packed(values: Any, dtype: Any) -> Any:
    if dtype is None:
        return pack_value(_lists(values))
    kind = as_dtype(dtype)
    if kind.name == "string":
        return _text(values)
    array = np.asarray(values)
    is_exact = kind.is_floating or kind.is_complex or _is_numpy(values) or not array.size
    if array.dtype.kind in "fc" and not is_exact:
        raise ArgumentTypeError("constant", "value", got=values, want=f"values of {kind.name}")
    return np.asarray(values).astype(kind.dtype)[()]


def _text(values: Any) -> Any:
    """A text, or an array of texts: also of none, whose list tells no dtype."""
    packed = pack_value(_lists(values))
    return packed if np.size(packed) else np.empty(np.shape(packed), object)


def _is_numpy(values: Any) -> bool:
    return isinstance(values, np.ndarray | np.generic)


def _lists(values: Any) -> Any:
    """Nested tuples as lists, and lists that hold arrays as an array."""
    if not isinstance(values, list | tuple):
        return values
    parts = [_lists(part) for part in values]
    if parts and all(_is_numpy(part) for part in parts):
        return np.stack(parts)
    return parts


# --- Python functions of values ---


def py_function(func: Callable[..., Any], inp: Any = None, Tout: Any = None, name: str | None = None) -> Any:  # noqa: N803
    """What a Python function returns for tensors, as tensors of the dtypes said.

    Within a function for `map` it makes that run row by row.

    Args:
        func: Takes the tensors; may call `.numpy()`.
        inp: The tensors.
        Tout: The dtype of the result; a list or tuple of them for several results.

    >>> import penstock.tf as tf
    >>> ds = tf.data.Dataset.range(2).map(lambda x: tf.py_function(lambda n: n.numpy() * 1.5, [x], tf.float32))
    >>> list(ds.as_numpy_iterator())
    [np.float32(0.0), np.float32(1.5)]
    """
    values = [unwrap(_as_tensor(value)) for value in inp or ()]
    if any(map(is_traced, values)):
        return _untold("tf.py_function", values, Tout)
    with by_itself():
        return _as_declared(func(*map(wrap, values)), Tout)


def _as_tensor(value: Any) -> Any:
    """A Python number as a tensor; what may be a structure or is a row's stays as it is."""
    return Tensor(pack_value(value)) if type(value) in (bool, int, float, str) else value


def numpy_function(
    func: Callable[..., Any],
    inp: Any = None,
    Tout: Any = None,  # noqa: N803
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """What a function of NumPy values returns, as tensors of the dtypes said; see `py_function`."""
    values = [unwrap(_as_tensor(value)) for value in inp or ()]
    if any(map(is_traced, values)):
        return _untold("tf.numpy_function", values, Tout)
    with by_itself():
        return _as_declared(func(*values), Tout)


def _untold(where: str, inputs: list[Any], declared: Any) -> Any:
    """What stands for the results while a function is traced, which fails: their dtypes are known, not their shapes."""
    given = next(value for value in inputs if isinstance(value, Traced))
    reason = f"calls {where}, whose function needs the value itself"

    def result(dtype: Any) -> Tensor:
        if hasattr(dtype, "row_splits_dtype"):
            raise given.recorder.fail(reason)
        return Tensor(untold(given, reason, as_dtype(getattr(dtype, "dtype", dtype)).dtype))

    if declared is None or (isinstance(declared, list | tuple) and not declared):
        given.recorder.note(reason)
        return None
    if isinstance(declared, list | tuple):
        return [_untold(where, inputs, dtype) for dtype in declared]
    return map_structure(result, declared)


def _as_declared(result: Any, declared: Any) -> Any:
    """A result in the dtypes said: one, several, or a structure of them."""
    if declared is None or (isinstance(declared, list | tuple) and not declared):
        return None
    if isinstance(declared, list | tuple):
        parts = list(result) if isinstance(result, list | tuple) else [result]
        if len(parts) != len(declared):
            want = f"{len(declared)} values, as Tout says"
            raise ArgumentTypeError("py_function", "result of the function", got=result, want=want)
        return [_as_declared(part, dtype) for part, dtype in zip(parts, declared, strict=True)]
    if is_structure(declared):
        return {name: _as_declared(result[name], dtype) for name, dtype in declared.items()}
    if isinstance(result, RaggedTensor | SparseTensor):
        return result
    dtype = as_dtype(getattr(declared, "dtype", declared))
    value = unwrap(result)
    if dtype.name == "string":
        return Tensor(_text(value))
    return Tensor(np.asarray(value).astype(dtype.dtype)[()])


def function(func: Callable[..., Any] | None = None, **options: Any) -> Any:
    """The function itself: there are no graphs to compile. Taken as a decorator, with options or without.

    >>> import penstock.tf as tf
    >>> @tf.function
    ... def double(x):
    ...     return x * 2
    >>> int(double(tf.constant(3)))
    6
    """
    if func is None:
        return lambda decorated: function(decorated, **options)

    @wraps(func)
    def called(*args: Any, **kwargs: Any) -> Any:
        return wrap(unwrap(func(*_as_tensors(args), **_as_tensors(kwargs))))

    return called


def _as_tensors(values: Any) -> Any:
    """Arguments with tensors in place of NumPy values; Python values stay as they are."""
    return map_structure(lambda one: wrap(one) if isinstance(one, np.ndarray | np.generic) else one, values)


def print_(*inputs: Any, output_stream: Any = None, sep: str = " ", end: str = "\n", **_: Any) -> None:
    """Write values to standard error, as `tf.print` writes them.

    Within a function for `map` that runs on whole chunks it makes that run row by row.
    """
    import sys

    for value in inputs:
        if is_traced(value):
            unwrap(value).recorder.note("prints a value")
            return
    stream = output_stream if hasattr(output_stream, "write") else sys.stderr
    stream.write(sep.join(map(_printed, inputs)) + end)


def _printed(value: Any, nested: bool = False) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name!r}: {_printed(part, True)}" for name, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        text = ", ".join(_printed(part, True) for part in value)
        return f"[{text}]" if isinstance(value, list) else f"({text})"
    if not isinstance(value, Tensor):
        return repr(value) if nested and isinstance(value, str) else str(value)
    return printed_value(unwrap(value))


def printed_value(value: Any) -> str:
    """Three items at each end of an axis, as `tf.print` summarizes."""
    if isinstance(value, bytes):
        return f'"{value.decode(errors="replace")}"'
    if isinstance(value, np.ndarray) and value.ndim:
        is_long = len(value) > 6
        shown = [printed_value(part) for part in ([*value[:3], *value[-3:]] if is_long else value)]
        if is_long:
            shown.insert(3, "...")
        return f"[{(' ' if value.ndim == 1 else chr(10) + ' ').join(shown)}]"
    if isinstance(value, np.bool_):
        return str(int(value))
    return f"{value:g}" if isinstance(value, np.floating) else str(value)
