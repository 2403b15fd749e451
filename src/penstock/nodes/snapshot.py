"""Rows kept on disk by the first pass, by tf.data's name."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

from penstock.errors import ArgumentError
from penstock.graph.node import method
from penstock.graph.plan import Plan
from penstock.nodes.cache_on_disk import on_disk

__all__ = ["snapshot"]

_COMPRESSIONS: Final = {
    None: "none",
    "": "none",
    "NONE": "none",
    "AUTO": "none",
    "SNAPPY": "lz4",
    "LZ4": "lz4",
    "GZIP": "zstd",
    "ZLIB": "zstd",
    "ZSTD": "zstd",
}


@method("snapshot")
def snapshot(
    plan: Plan,
    path: str | os.PathLike[str],
    compression: str | None = "AUTO",
    reader_func: Callable[..., Any] | None = None,
    shard_func: Callable[..., Any] | None = None,
) -> Plan:
    """The same rows, written by the first complete pass and read by all later ones: `cache(path)` by tf.data's name.

    The files are penstock's own (`penstock cache list PATH`), not those of `tf.data.Dataset.snapshot`. Rows come in the
    order in which they were written, with and without TensorFlow's `reader_func`.

    Args:
        plan: The rows.
        path: A folder, made where it is not there.
        compression: "AUTO" and None for none, "SNAPPY" for lz4, "GZIP" for zstd: the nearest that Arrow files have.
        reader_func: Only None.
        shard_func: Only None.

    Raises:
        ArgumentError: An unknown compression, a `reader_func` or a `shard_func`; otherwise as `cache`.
        DependencyError: pyarrow is not installed.

    >>> import tempfile
    >>> import penstock as ps
    >>> ds = ps.Dataset.range(3).snapshot(tempfile.mkdtemp())
    >>> list(ds), list(ds)
    ([np.int64(0), np.int64(1), np.int64(2)], [np.int64(0), np.int64(1), np.int64(2)])
    """
    name = compression.upper() if isinstance(compression, str) else compression
    if name not in _COMPRESSIONS:
        want = '"AUTO", "GZIP", "SNAPPY" or None'
        raise ArgumentError("snapshot", "compression", got=compression, want=want)
    if reader_func is not None:
        help = (
            "Rows are read in the order in which they were written; shuffle or interleave after snapshot()."
        )
        raise ArgumentError("snapshot", "reader_func", got=reader_func, want="None", help=help)
    if shard_func is not None:
        help = "Shards end by their size; to choose the shard of each row, use save(path, shard_func=...)."
        raise ArgumentError("snapshot", "shard_func", got=shard_func, want="None", help=help)
    return Plan(on_disk("snapshot", plan, path, None, _COMPRESSIONS[name]), (plan,))
