"""The native floor: every function of the extension module, with its shapes and meanings.

Arrays are C-contiguous NumPy arrays. Data arguments may be any object with a contiguous buffer of bytes
(`bytes`, `bytearray`, `memoryview`, `uint8[...]`). Every function leaves the interpreter (no lock held) while it works,
returns new arrays that own their memory, and never trusts a number that it read from the data.
"""

from typing import Any, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer as _Buffer

# NumPy's stub says that arrays are buffers only from Python 3.12 on.
Buffer: TypeAlias = _Buffer | NDArray[Any]
U8: TypeAlias = NDArray[np.uint8]
I64: TypeAlias = NDArray[np.int64]
Bool: TypeAlias = NDArray[np.bool_]
Values: TypeAlias = NDArray[np.uint8] | NDArray[np.int64] | NDArray[np.float32]

__version__: str

class NativeError(ValueError):
    """Base of what the native floor raises; the floors above turn it into an error of `penstock.errors`."""

class StreamError(NativeError):
    """A compressed stream is damaged. `args` is (message,)."""

class BombError(NativeError):
    """A compressed stream passes the allowed ratio. `args` is (message,)."""

class MessageError(NativeError):
    """Bytes are not the protobuf message they should be. `args` is (message, byte offset in the message)."""

# --- framing: TFRecord, formats.md section 1 -------------------------------------------------------------------

def crc32c(data: Buffer, value: int = 0) -> int:
    """CRC-32C of `data`, continuing from `value` (the CRC of what came before)."""

def masked_crc32c(data: Buffer) -> int:
    """CRC-32C of `data` as TFRecord stores it."""

def scan_frames(
    data: Buffer, start: int, stop: int, *, verify: bool, limit: int, max_record_bytes: int
) -> tuple[I64, I64, int, int, int]:
    """Find the whole records in data[start:stop].

    `verify=False` leaves out the payload checksums; the length checksum is always compared.

    Returns:
        starts: int64[k], where each payload begins in `data`.
        lengths: int64[k], payload bytes.
        position: Where the next header begins (after the last whole record).
        end: Why the scan stopped:
            0 `limit` records were found, or `position == stop`;
            1 the record at `position` is only partly there;
            2 its length checksum is wrong;
            3 its payload checksum is wrong;
            4 its length passes `max_record_bytes` (the length checksum is right).
        need: With end 1, 3 and 4: bytes of the record from `position` (exactly, so it may pass 2**64), 12 while the
            header is not whole. Else 0.
    """

def find_frame(
    data: Buffer, start: int, stop: int, *, max_record_bytes: int, last: bool = False
) -> tuple[int, int, int]:
    """Find the next place at or after `start` where a record can begin. Linear in time on any bytes.

    With `last` nothing follows `stop`: a record that goes beyond it is none, and state 2 is never returned.

    Returns:
        position: The place; where none was found, the first place that has not been ruled out.
        state: 0 none in data[start:stop]; 1 header and payload are whole and both checksums right;
            2 the header is right and the payload goes beyond `stop`.
        need: With state 2: bytes of the record from `position`. Else 0.
    """

def frame_records(data: Buffer, offsets: I64) -> tuple[U8, I64]:
    """Frame payloads data[offsets[i]:offsets[i+1]]; returns the framed bytes and int64[k+1] offsets of the frames in it."""

def read_ranges(fd: int, offsets: I64, lengths: I64) -> U8:
    """Bytes [offsets[i], offsets[i]+lengths[i]) of an open file, one after the other. OSError, also when the file is shorter."""

# --- compression -----------------------------------------------------------------------------------------------

@final
class Decompressor:
    """One compressed stream, a piece at a time. Trailers are checked; joined members (gzip) and frames (zstd) are all read.

    Zeros after the last gzip member are accepted, as gzip(1) does; any other byte there is a StreamError, and so is any
    byte after a zlib stream. A zstd window is at most 128 MiB. What comes before damage is given out first: the error comes from the next call, for which
    some of the input is always left, and then again and again.
    """

    def __new__(
        cls,
        format: str,
        *,
        max_ratio: int = 1000,
        free_bytes: int = 1 << 24,
        point_span: int = 0,
    ) -> Self:
        """
        Args:
            format: "gzip", "zlib" or "zstd".
            max_ratio: BombError once output passes `free_bytes` and is more than `max_ratio` times the input.
            free_bytes: Output that is never called a bomb.
            point_span: Record an access point about every so many output bytes; 0 for none.
        """

    def decompress(self, data: Buffer, start: int, stop: int, out: U8, out_start: int) -> tuple[int, int]:
        """Decompress data[start:stop] into out[out_start:]; returns (bytes taken, bytes made). StreamError, BombError.

        Stops when the input is used up or `out` is full. Bytes after the end that begin no further member are a StreamError.
        """

    @property
    def at_end(self) -> bool:
        """Whether the stream may end here: nothing read yet, or a trailer has just been checked."""

    @property
    def total_in(self) -> int: ...
    @property
    def total_out(self) -> int: ...
    def take_points(self) -> list[tuple[int, int, int, bytes]]:
        """Access points since the last call: (output offset, input offset, bits, window).

        With bits above 0, the byte at the input offset has that many upper bits still to read. An empty window means
        the beginning of a member or frame: only zstd has no other points.
        """

    @staticmethod
    def resume(
        format: str, point: tuple[int, int, int, bytes], *, max_ratio: int = 1000, free_bytes: int = 1 << 24
    ) -> Decompressor:
        """A decompressor that goes on at an access point; feed it from `input offset` on.

        Totals count from the beginning of the stream, and the ratio from the point.
        Data checksums of the member (gzip, zlib) in progress cannot be checked from its middle; those of later ones are.
        """

@final
class Compressor:
    """One compressed stream, written a piece at a time."""

    def __new__(cls, format: str, *, level: int | None = None) -> Self:
        """`format`: "gzip", "zlib" or "zstd". `level`: None for the format's usual (6, 6, 3)."""

    def compress(self, data: Buffer) -> bytes: ...
    def cut(self) -> bytes:
        """End the current zstd frame so that reading can begin after it; b"" for the other formats."""

    def finish(self) -> bytes:
        """The rest of the stream with its trailer; the object is spent."""

# --- Example and SequenceExample: formats.md sections 2 and 3 ------------------------------------------------------

# A feature of a plan: (name, kind, layout, count, missing, default)
#   kind     1 bytes_list, 2 float_list, 3 int64_list
#   layout   0 fixed: exactly `count` values
#            1 ragged: any number of values
#            2 raw: exactly one bytes value of exactly `count` bytes
#   missing  0 an error, 1 marked in `valid`, 2 replaced by `default`. Ragged with 0 also marks nothing: a missing list is empty.
#   default  with missing 2: the values, as float32[count], int64[count] or a list of `count` bytes
PlanFeature: TypeAlias = tuple[bytes, int, int, int, int, Any]

# The parts of one decoded feature: (values, value_offsets, list_offsets, valid)
#   values        float32[...], int64[...], or uint8[...] for bytes and raw
#   value_offsets bytes kinds (not raw): int64[number of values + 1] into `values`; else None
#   list_offsets  ragged: int64[n+1], counted in values; else None
#   valid         missing 1: bool[n], or None where all n are there
# A feature list of a SequenceExample has n rows of steps: its parts count steps, and step_offsets int64[n+1] count them per row.
# `missing` then speaks of the list and of each step that has no kind set:
#   0  a missing list is an error (of ragged steps: it has no steps); a step has no values, which is a wrong count where it is fixed
#   1  a missing list has no steps and is marked in `list present`; a step is marked in `valid`
#   2  a missing list has no steps; a step gets the default
Parts: TypeAlias = tuple[Values, I64 | None, I64 | None, Bool | None]

# Where and why decoding stopped: (row, feature, code, found, wanted, offset)
#   row      in the batch; rows before it were decoded
#   feature  number in the plan (lists after context), -1 where no feature is known
#   code     1 malformed message; 2 other kind (found, wanted: kinds; found 0 where no kind is set never happens);
#            3 wrong count (values found, wanted); 4 missing; 5 wrong length in bytes of a raw value;
#            6 a feature that the plan does not have (found, wanted: where its name begins in the record, its length);
#            7 a list could not be parsed (strict_tf); 8 unsupported kind (strict_tf)
#   offset   byte in the record where it was noticed
DecodeError: TypeAlias = tuple[int, int, int, int, int, int]

@final
class ExamplePlan:
    """How to decode a batch of serialized Examples straight into columns."""

    def __new__(
        cls, features: list[PlanFeature], *, strict_tf: bool = False, refuse_unknown: bool = False
    ) -> Self: ...
    def decode(self, data: Buffer, starts: I64, lengths: I64) -> tuple[list[Parts], int, DecodeError | None]:
        """Decode records data[starts[i]:starts[i]+lengths[i]]; returns (parts of each feature, rows decoded, error)."""

@final
class SequencePlan:
    """How to decode a batch of serialized SequenceExamples straight into columns."""

    def __new__(
        cls,
        context: list[PlanFeature],
        lists: list[PlanFeature],
        *,
        strict_tf: bool = False,
        refuse_unknown: bool = False,
    ) -> Self: ...
    def decode(
        self, data: Buffer, starts: I64, lengths: I64
    ) -> tuple[list[Parts], list[tuple[Parts, I64, Bool | None]], int, DecodeError | None]:
        """Returns (context parts, per feature list (parts of its steps, step_offsets, list present), rows decoded, error)."""

# A value: (kind, values); values float32[...], int64[...] or a list of bytes; kind 0 and None where no kind is set.
Value: TypeAlias = tuple[int, Any]

def read_example(data: Buffer) -> dict[str, Value]:
    """One Example with every feature, as a conforming protobuf parser reads it (last of a key, last kind of a oneof). MessageError."""

def read_sequence_example(data: Buffer) -> tuple[dict[str, Value], dict[str, list[Value]]]:
    """One SequenceExample: (context, feature lists). MessageError."""

# A column to encode: (name, kind, count, values, value_offsets, list_offsets, valid)
#   count: values per row where list_offsets is None. Row i is left out where valid[i] is False.
#   Kind 1 without value_offsets is raw: one value of `count` bytes a row. A row with no feature is written as no bytes.
#   In a feature list, a step that is not valid is a Feature with no kind set.
#   ValueError where names are not UTF-8 or there twice, or offsets and counts do not fit the values.
EncodeFeature: TypeAlias = tuple[bytes, int, int, Values, I64 | None, I64 | None, Bool | None]

def encode_examples(
    features: list[EncodeFeature], n: int, *, key_order: str = "bytes", framed: bool = True
) -> tuple[U8, I64]:
    """Encode n rows as Examples; returns their bytes and int64[n+1] offsets.

    Args:
        key_order: "bytes" ascending; "upb" as protobuf's `deterministic=True` (a longer key before its prefix); "given".
        framed: As TFRecords with checksums; otherwise only the messages.
    """

def encode_sequence_examples(
    context: list[EncodeFeature],
    lists: list[tuple[EncodeFeature, I64, Bool | None]],
    n: int,
    *,
    key_order: str = "bytes",
    framed: bool = True,
) -> tuple[U8, I64]:
    """The same for SequenceExamples; each list brings its step_offsets int64[n+1] and which rows have the list at all."""

def write_example(features: list[tuple[bytes, int, Any]], *, key_order: str = "bytes") -> bytes:
    """One Example from (name, kind, values); kind 0 writes a Feature with no kind set."""

def write_sequence_example(
    context: list[tuple[bytes, int, Any]],
    lists: list[tuple[bytes, list[tuple[int, Any]]]],
    *,
    key_order: str = "bytes",
) -> bytes: ...

# --- columns ---------------------------------------------------------------------------------------------------

def gather_ranges(data: Buffer, offsets: I64, rows: I64) -> tuple[U8, I64]:
    """Ranges data[offsets[r]:offsets[r+1]] for r in `rows`, joined, and their int64[k+1] offsets. IndexError names a bad row."""

def join_strings(strings: list[Any]) -> tuple[U8, I64]:
    """`bytes` and `str` (as UTF-8) one after the other, and their int64[n+1] offsets. TypeError names any other value."""

def bytes_objects(data: Buffer, offsets: I64) -> NDArray[np.object_]:
    """object[n] of `bytes`, one for each range."""

def text_objects(data: Buffer, offsets: I64) -> NDArray[np.object_]:
    """object[n] of `str`; UnicodeDecodeError names the range that is not UTF-8."""
