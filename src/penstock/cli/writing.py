"""How the verbs that write files name and compress them."""

from __future__ import annotations

from penstock.records.compress import writing_name

__all__ = ["compression_for"]

_BY_ENDING = {".gz": "gzip", ".gzip": "gzip", ".zlib": "zlib", ".zz": "zlib", ".zst": "zstd", ".zstd": "zstd"}


def compression_for(target: str, given: str | None) -> str:
    """The compression asked for; without one, what the ending of the target says.

    Raises:
        ArgumentError: An unknown name.

    >>> compression_for("all.tfrecord.gz", None), compression_for("all.tfrecord", None)
    ('gzip', 'none')
    """
    if given is not None:
        return writing_name(given, where="--compression")
    return next((name for ending, name in _BY_ENDING.items() if target.lower().endswith(ending)), "none")
