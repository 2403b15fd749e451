"""Rows as short digests, and as short texts."""

from __future__ import annotations

import struct
from hashlib import blake2b
from itertools import islice
from typing import Any, Final, Protocol

import numpy as np

from penstock.column.values import Ragged, Sparse

__all__ = ["digest_of", "shown"]

_WIDTH: Final = 12
_MOST_SHOWN: Final = 120
_MOST_ROWS: Final = 1000


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...


def digest_of(row: Any) -> str:
    """Hex digits that stand for a row: structure, order of names, dtypes, shapes and values.

    >>> digest_of({"a": np.int64(1)}) == digest_of({"a": np.int64(1)})
    True
    >>> digest_of({"a": np.int64(1)}) == digest_of({"a": np.int32(1)})
    False
    """
    digest = blake2b(digest_size=_WIDTH)
    _feed(digest, row)
    return digest.hexdigest()


def _feed(digest: _Digest, value: Any) -> None:
    if isinstance(value, dict):
        _begin(digest, "dict", len(value))
        for key, part in value.items():
            _feed(digest, key)
            _feed(digest, part)
    elif isinstance(value, Ragged):
        _parts(digest, "ragged", value.values, value.row_splits)
    elif isinstance(value, Sparse):
        _parts(digest, "sparse", value.indices, value.values, np.asarray(value.dense_shape))
    elif isinstance(value, np.ma.MaskedArray):
        _parts(digest, "masked", np.ma.getmaskarray(value), np.ma.filled(value, 0))
    elif isinstance(value, np.ndarray | np.generic):
        _array(digest, np.asarray(value))
    elif isinstance(value, list | tuple):
        _parts(digest, type(value).__name__, *value)
    elif isinstance(value, bytes):
        _begin(digest, "bytes", len(value))
        digest.update(value)
    elif isinstance(value, BaseException):
        _parts(digest, "error", type(value).__name__, str(value))
    elif hasattr(value, "plan"):
        _parts(digest, "dataset", *islice(value, _MOST_ROWS))
    elif hasattr(value, "__dict__"):
        _feed(digest, vars(value))
    else:
        text = repr(value).encode("utf-8", "surrogatepass")
        _begin(digest, type(value).__name__, len(text))
        digest.update(text)


def _parts(digest: _Digest, name: str, *parts: Any) -> None:
    _begin(digest, name, len(parts))
    for part in parts:
        _feed(digest, part)


def _array(digest: _Digest, array: np.ndarray[Any, Any]) -> None:
    _begin(digest, f"array {array.dtype.str} {array.shape}", array.size)
    if array.dtype == object:
        for part in array.reshape(-1).tolist():
            _feed(digest, part)
    else:
        digest.update(np.ascontiguousarray(array).tobytes())


def _begin(digest: _Digest, name: str, n: int) -> None:
    digest.update(f"{name}:".encode() + struct.pack("<q", n))


def shown(row: Any) -> str:
    """A row in one short line."""
    text = repr(row) if not isinstance(row, bytes) else repr(row[:_MOST_SHOWN])
    text = " ".join(text.split())
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."
