"""CSV and Parquet files as streams of Arrow record batches, and batches as a Parquet file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

from penstock.errors import ArgumentError, DependencyError, InvalidArgumentError

__all__ = ["read_csv", "read_parquet", "reading", "write_parquet"]

_BLOCK_BYTES = 8 << 20
_BATCH_ROWS = 8192


def read_csv(path: str, columns: Sequence[str] | None = None) -> Any:
    """The rows of a CSV file with a header line, as a `pyarrow.RecordBatchReader`.

    Types are told from the first 8 MB: int64, float64, bool, else text (dates too). An empty cell is missing.

    Args:
        path: A file; `.gz`, `.bz2` and `.zst` are unpacked.
        columns: The columns to take, in this order; all where None.

    Raises:
        DependencyError: pyarrow is not installed.
        InvalidArgumentError: It is no such file. Inside `reading`, also where a later row does not fit.
    """
    pa = _pyarrow("csv")
    from pyarrow import csv

    read = csv.ReadOptions(block_size=_BLOCK_BYTES)
    with reading(path):
        first = csv.open_csv(path, read_options=read).schema
        _check_columns(path, first.names, columns)
        kept = {field.name: pa.string() for field in first if not _is_plain(pa, field.type)}
        convert = csv.ConvertOptions(
            column_types=kept,
            include_columns=columns or [],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        return csv.open_csv(path, read_options=read, convert_options=convert)


def read_parquet(path: str, columns: Sequence[str] | None = None) -> Any:
    """The rows of a Parquet file, as a `pyarrow.RecordBatchReader`.

    Raises:
        DependencyError: pyarrow is not installed.
        InvalidArgumentError: It is no such file.
    """
    pa = _pyarrow("parquet")
    from pyarrow import parquet

    with reading(path):
        file = parquet.ParquetFile(path)
        _check_columns(path, file.schema_arrow.names, columns)
        fields = [file.schema_arrow.field(name) for name in columns or file.schema_arrow.names]
        batches = file.iter_batches(_BATCH_ROWS, columns=columns)
        return pa.RecordBatchReader.from_batches(
            pa.schema(fields), (b.select([f.name for f in fields]) for b in batches)
        )


def write_parquet(file: BinaryIO, rows: Any) -> int:
    """Write rows (anything with `__arrow_c_stream__`) as Parquet; returns how many there were.

    Raises:
        DependencyError: pyarrow is not installed.
    """
    pa = _pyarrow("parquet")
    from pyarrow import parquet

    import penstock.bridges.arrow  # noqa: F401 - gives datasets their Arrow stream

    reader = pa.RecordBatchReader.from_stream(rows)
    n = 0
    with parquet.ParquetWriter(file, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(batch)
            n += batch.num_rows
    return n


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn Arrow's errors about the content of a file into ours, which name it."""
    pa = _pyarrow("convert")
    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        found = f"it cannot be read: {error}."
        help = "A column holds what its first rows did not: clean it, or leave it out with --features."
        raise InvalidArgumentError(found, path=path, help=help) from error


def _is_plain(pa: Any, kind: Any) -> bool:
    types = pa.types
    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_string(kind)
    )


def _check_columns(path: str, names: Sequence[str], columns: Sequence[str] | None) -> None:
    unknown = [name for name in columns or () if name not in names]
    if unknown:
        raise ArgumentError(
            "convert", "--features", got=unknown[0], want=f"columns of {path}: {', '.join(names)}"
        )


def _pyarrow(where: str) -> Any:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise DependencyError(f"convert ({where})", package="pyarrow", extra="arrow") from error
    return pa
