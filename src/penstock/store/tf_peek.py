"""The first rows of saved files, where only they can tell how many axes a component has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from math import prod
from typing import Final

from penstock.store.tf_elements import frames_of
from penstock.store.tf_spec import Component
from penstock.store.tf_wire import MalformedError, fields, read_varint

__all__ = ["first_rank"]

_ROWS: Final = 64
_MOST_AXES: Final = 254
_SHAPE, _TENSORS, _CONTENT = 2, 3, 4


def first_rank(
    paths: Sequence[str], compression: str | None, component: Component, place: int, size: int
) -> int | None:
    """The number of axes of a component in the first row that tells it; None where a row cannot be read.

    Where no row tells it nothing has axes: there is no row, all are missing, or lists of nothing. Then it is the least.

    Args:
        paths: The files.
        compression: None to find it out.
        component: What its records are.
        place: Which of the records of a row it is.
        size: Records of a row.
    """
    for path in paths:
        for record in _records(path, compression, place, size):
            try:
                rank = _rank(record, component)
            except (MalformedError, TypeError, IndexError):
                return None
            if rank is not None:
                return rank if rank <= _MOST_AXES else None
    return component.ragged_rank + 1 if component.kind == "ragged" else int(component.kind == "sparse")


def _records(path: str, compression: str | None, place: int, size: int) -> Iterator[bytes]:
    with frames_of(path, compression) as reader:
        while (frames := reader.read(_ROWS * size, multiple=size)) is not None:
            for at in range(place, len(frames), size):
                yield frames.payload(at)


def _rank(record: bytes, component: Component) -> int | None:
    kind = component.kind
    if kind == "dense":
        return len(_sizes(record))
    messages = _messages(record)
    if kind == "sparse":
        return _sizes(_tensors(messages[2])[0])[0]
    tensors = [tensor for message in messages for tensor in _tensors(message)]
    if not tensors:
        return None  # missing, or a list of nothing
    if kind == "ragged":
        return component.ragged_rank + len(_sizes(tensors[-1]))
    return len(_sizes(tensors[0]))


def _sizes(tensor: bytes) -> list[int]:
    shapes = [value for number, value in fields(tensor) if number == _SHAPE]
    dims = [value for number, value in fields(_message(shapes[-1])) if number == 2] if shapes else []
    return [dict(fields(_message(dim))).get(1, 0) for dim in dims]  # type: ignore[misc]


def _messages(record: bytes) -> list[bytes]:
    """The messages of a variant tensor: their lengths stand before them."""
    content = b"".join(_message(value) for number, value in fields(record) if number == _CONTENT)
    lengths: list[int] = []
    count, at = prod(_sizes(record)), 0
    while len(lengths) < count:
        length, at = read_varint(content, at)
        lengths.append(length)
    ends = [at, *accumulate(lengths, initial=at)][1:]
    return [content[start:end] for start, end in pairwise(ends)]


def _tensors(message: bytes) -> list[bytes]:
    return [_message(value) for number, value in fields(message) if number == _TENSORS]


def _message(value: int | bytes) -> bytes:
    """The bytes of a field; of a number `bytes` would make as many as it says."""
    if isinstance(value, int):
        raise MalformedError("a number in place of a message")
    return value
