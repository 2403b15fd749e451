"""Rows of two datasets compared by digests: 16 bytes of memory a row."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from penstock import _native
from penstock.frozen import frozen
from penstock.records.frames import Frames

__all__ = ["Comparison", "compare", "digests_of"]

Rows = NDArray[np.int64]
_WIDTH = 16


@frozen
class Comparison:
    """How the rows of B differ from those of A.

    Attributes:
        same: Rows that are in both, counted as often as they are in both.
        removed: Numbers of rows that only A has.
        added: Numbers of rows that only B has.
        changed: Pairs (row of A, row of B) that stand in the same place between equal rows.
        reordered: Whether equal rows come in another order.
    """

    same: int
    removed: Rows
    added: Rows
    changed: list[tuple[int, int]]
    reordered: bool


def digests_of(frames: Frames, *, as_examples: bool) -> bytes:
    """The joined digests of records.

    Args:
        frames: The records.
        as_examples: Digest what an Example says, not its bytes: features written in another order are the same.
            A record that is no Example counts by its bytes.
    """
    payloads = map(_canonical, frames.payloads()) if as_examples else frames.payloads()
    return b"".join(blake2b(payload, digest_size=_WIDTH).digest() for payload in payloads)


def _canonical(payload: bytes) -> bytes:
    try:
        features = _native.read_example(payload)
    except _native.MessageError:
        return payload
    return _native.write_example([(name.encode(), kind, values) for name, (kind, values) in features.items()])


def compare(a: bytes, b: bytes) -> Comparison:
    """Compare two lists of joined digests, as multisets first, then by place."""
    left, right = _words(a), _words(b)
    _, ids = np.unique(np.concatenate([left, right]), return_inverse=True)
    in_a, in_b = ids[: len(left)], ids[len(left) :]
    matched_a = _occurrences(in_a) < np.bincount(in_b, minlength=len(ids))[in_a]
    matched_b = _occurrences(in_b) < np.bincount(in_a, minlength=len(ids))[in_b]
    removed, added = np.flatnonzero(~matched_a), np.flatnonzero(~matched_b)
    changed = _same_places(matched_a, matched_b, removed, added)
    reordered = not np.array_equal(in_a[matched_a], in_b[matched_b])
    taken_a, taken_b = {i for i, _ in changed}, {j for _, j in changed}
    return Comparison(
        same=int(matched_a.sum()),
        removed=np.array([i for i in removed.tolist() if i not in taken_a], np.int64),
        added=np.array([j for j in added.tolist() if j not in taken_b], np.int64),
        changed=changed,
        reordered=reordered,
    )


def _words(digests: bytes) -> NDArray[np.void]:
    return np.frombuffer(digests, np.dtype((np.void, _WIDTH)))


def _occurrences(ids: NDArray[np.intp]) -> NDArray[np.intp]:
    """How many equal ids come before each one."""
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    begins = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ids) else np.zeros(0, np.intp)
    counts = np.diff(np.r_[begins, len(ids)])
    result = np.empty(len(ids), np.intp)
    result[order] = np.arange(len(ids)) - np.repeat(begins, counts)
    return result


def _same_places(
    matched_a: NDArray[np.bool_], matched_b: NDArray[np.bool_], removed: Rows, added: Rows
) -> list[tuple[int, int]]:
    """Pair rows of A and B that have as many equal rows before them, in order within such a gap."""
    gaps_a, gaps_b = np.cumsum(matched_a)[removed], np.cumsum(matched_b)[added]
    pairs, j = [], 0
    for i, gap in zip(removed.tolist(), gaps_a.tolist(), strict=True):
        while j < len(added) and gaps_b[j] < gap:
            j += 1
        if j < len(added) and gaps_b[j] == gap:
            pairs.append((i, int(added[j])))
            j += 1
    return pairs
