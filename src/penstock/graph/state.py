"""States and marks as JSON and back."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from penstock.errors import ArgumentError

__all__ = ["Written", "from_json", "to_json"]

_WIDTHS = (1, 2, 3, 4, 8)
_THREE = 3

# Arrays of fewer values are written faster than looked up; of longer ones so many are known at a time.
_LONG = 64
_MOST_KNOWN = 64


Written: TypeAlias = dict[int, tuple[NDArray[Any], Any]]
"""Arrays by their identity, and what was written for them."""


def to_json(value: Any, written: Written | None = None) -> Any:
    """A plain value with tuples as lists; whatever JSON has no word for becomes an object with one key.

    Whole numbers of an array take as many bytes as their range needs, so that 10,000 positions that lie near each
    other take 27 kB.

    Args:
        value: The value.
        written: Long arrays that were written before are taken from here, and those written now are noted.

    >>> to_json((1, b"a", np.array([7, 8])))
    [1, {'bytes': 'YQ=='}, {'ints': ['int64', [2], 7, 1, 'AAE=']}]
    """
    if isinstance(value, tuple | list):
        return [to_json(part, written) for part in value]
    if isinstance(value, dict):
        return {"dict": [[to_json(key), to_json(part, written)] for key, part in value.items()]}
    if isinstance(value, bytes):
        return {"bytes": _text(value)}
    if isinstance(value, np.ndarray):
        return _array(value) if written is None or value.size < _LONG else _known(value, written)
    if isinstance(value, np.generic):
        return {"scalar": _array(np.asarray(value))}
    return value


def _known(values: NDArray[Any], written: Written) -> Any:
    """What is written for a long array, which is never changed: the next mark mostly holds it again."""
    if id(values) not in written:
        while len(written) >= _MOST_KNOWN:
            written.pop(next(iter(written)))
        written[id(values)] = (values, _array(values))
    return written[id(values)][1]


def _array(values: NDArray[Any]) -> dict[str, Any]:
    if values.dtype == object:
        return {"objects": [list(values.shape), [to_json(part) for part in values.reshape(-1).tolist()]]}
    if values.dtype.kind in "iu" and values.size and (packed := _packed(values)) is not None:
        return packed
    return {"array": [values.dtype.str, list(values.shape), _text(np.ascontiguousarray(values).tobytes())]}


def _packed(values: NDArray[Any]) -> dict[str, Any] | None:
    low, high = int(values.min()), int(values.max())
    width = next(width for width in _WIDTHS if high - low < 1 << (8 * width))
    if width >= values.itemsize:
        return None
    spread = values.reshape(-1) - values.dtype.type(low)
    if width == _THREE:  # the low two bytes of all, then the high byte of all
        data = spread.astype("<u2").tobytes() + (spread >> 16).astype(np.uint8).tobytes()
    else:
        data = spread.astype(f"<u{width}").tobytes()
    return {"ints": [values.dtype.name, list(values.shape), low, width, _text(data)]}


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def from_json(value: Any) -> Any:
    """The plain value that `to_json` wrote, lists as tuples.

    Raises:
        ArgumentError: It is none.

    >>> from_json([1, {'ints': ['int64', [2], 7, 1, 'AAE=']}])
    (1, array([7, 8]))
    """
    try:
        return _read(value)
    except (
        TypeError,
        ValueError,
        KeyError,
        IndexError,
        OverflowError,
        RecursionError,
        binascii.Error,
    ) as error:
        want = "a state as get_state gives it"
        raise ArgumentError("set_state", "state", got=value, want=want) from error


def _read(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_read(part) for part in value)
    if not isinstance(value, dict):
        return value
    [(kind, part)] = value.items()
    return _READERS[kind](part)


def _read_bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _read_array(part: list[Any]) -> NDArray[Any]:
    dtype, shape, text = part
    return np.frombuffer(_read_bytes(text), _plain_dtype(dtype)).reshape(shape)


def _read_ints(part: list[Any]) -> NDArray[Any]:
    name, shape, low, width, text = part
    data, dtype = _read_bytes(text), _plain_dtype(name)
    if width == _THREE:
        n = len(data) // width
        spread = np.frombuffer(data, "<u2", n).astype(np.int64)
        spread |= np.frombuffer(data, np.uint8, n, 2 * n).astype(np.int64) << 16
    else:
        spread = np.frombuffer(data, f"<u{width}")
    values: NDArray[Any] = spread.astype(dtype) + dtype.type(low)
    return values.reshape(shape)


def _plain_dtype(name: str) -> np.dtype[Any]:
    dtype = np.dtype(name)
    if dtype.hasobject:
        raise ValueError("an array of objects is not written this way")
    return dtype


def _read_objects(part: list[Any]) -> NDArray[np.object_]:
    shape, values = part
    array = np.empty(len(values), object)
    for i, value in enumerate(values):
        array[i] = _read(value)
    return array.reshape(shape)


_READERS: dict[str, Callable[[Any], Any]] = {
    "dict": lambda part: {_read(key): _read(value) for key, value in part},
    "bytes": _read_bytes,
    "array": _read_array,
    "ints": _read_ints,
    "objects": _read_objects,
    "scalar": lambda part: _read(part)[()],
}
