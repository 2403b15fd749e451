"""The data of the benchmark, made once from written seeds into .cache/bench, without penstock or any peer.

small.tfrecord  500,000 Examples {x: float32[3], y: int64, s: 10 bytes}
raw.tfrecord    20,000 Examples {image: uint8[64,64,3] as raw bytes, label: int64}, noise on gradients
big.tfrecord    raw.tfrecord eight times, 2 GB
jpeg.tfrecord   2,000 Examples {image: JPEG of uint8[375,500,3], quality 90, label: int64}, slight noise on gradients,
                written by penstock, whose JPEG files have the bytes of TensorFlow's
many            10,000 files of 8 records of small.tfrecord each
shards          raw.tfrecord in 200 files
arrays          its images in 200 .npy files
pictures        1,000 Examples {image: a JPEG of 500x375, label: int64} in 4 files, clouds with some grain
thumbnails      8,000 of them with a side of 40 to 89, as tutorial 4 makes them
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import struct
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from crc32c import crc32c

FOLDER = Path(__file__).resolve().parents[1] / ".cache" / "bench"
SMALL_ROWS, RAW_ROWS, RAW_SHARDS, BIG_COPIES, JPEG_ROWS = 500_000, 20_000, 200, 8, 2000
IMAGE_SHAPE = (64, 64, 3)
PICTURES, THUMBNAILS, PICTURE_SHARDS, PICTURE_SHAPE = 1_000, 8_000, 4, (375, 500)


def small_columns() -> dict[str, np.ndarray]:
    """x float32[500000, 3], y int64[500000], s S10[500000] of lower-case letters."""
    random = np.random.default_rng(1)
    letters = random.integers(ord("a"), ord("z") + 1, (SMALL_ROWS, 10), dtype=np.uint8)
    return {
        "x": random.standard_normal((SMALL_ROWS, 3), dtype=np.float32),
        "y": random.integers(0, 1000, SMALL_ROWS),
        "s": letters.view("S10").ravel(),
    }


def raw_columns() -> dict[str, np.ndarray]:
    """image uint8[20000, 64, 64, 3], label int64[20000]."""
    random = np.random.default_rng(2)
    slopes = random.uniform(-1.5, 1.5, (RAW_ROWS, 2, 3)).astype(np.float32)
    axis = np.arange(64, dtype=np.float32) - 32
    images = np.empty((RAW_ROWS, *IMAGE_SHAPE), dtype=np.uint8)
    for i, (down, across) in enumerate(slopes):
        plane = 128 + axis[:, None, None] * down + axis[None, :, None] * across
        images[i] = np.clip(plane + random.integers(-6, 7, IMAGE_SHAPE), 0, 255)
    return {"image": images, "label": random.integers(0, 10, RAW_ROWS)}


def small_rows() -> list[dict[str, object]]:
    """The small rows as a program that makes them one at a time would have them."""
    columns = small_columns()
    return [
        {"x": x, "y": y, "s": s}
        for x, y, s in zip(columns["x"], columns["y"].tolist(), columns["s"].tolist(), strict=True)
    ]


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, payload: bytes) -> bytes:
    return bytes([number << 3 | 2]) + varint(len(payload)) + payload


def example(features: dict[str, bytes]) -> bytes:
    """A serialized tf.train.Example of features that are already serialized."""
    entries = (
        field(1, field(1, name.encode()) + field(2, value)) for name, value in sorted(features.items())
    )
    return field(1, b"".join(entries))


def framed(payload: bytes) -> bytes:
    length = struct.pack("<Q", len(payload))
    return b"".join((length, masked(length), payload, masked(payload)))


def masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", (crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF)


def small_records() -> Iterator[bytes]:
    columns = small_columns()
    for x, y, s in zip(columns["x"], columns["y"].tolist(), columns["s"].tolist(), strict=True):
        features = {
            "x": field(2, field(1, x.tobytes())),
            "y": field(3, field(1, varint(y))),
            "s": field(1, field(1, s)),
        }
        yield framed(example(features))


def raw_records() -> Iterator[bytes]:
    columns = raw_columns()
    for image, label in zip(columns["image"], columns["label"].tolist(), strict=True):
        features = {"image": field(1, field(1, image.tobytes())), "label": field(3, field(1, varint(label)))}
        yield framed(example(features))


def picture_sizes() -> list[tuple[int, int]]:
    return [PICTURE_SHAPE] * PICTURES


def thumbnail_sizes() -> list[tuple[int, int]]:
    sides = np.random.default_rng(4).integers(40, 90, (THUMBNAILS, 2))
    return [(height, width) for height, width in sides.tolist()]


def picture_records(sizes: list[tuple[int, int]]) -> Iterator[bytes]:
    """JPEGs of quality 90, which at 500x375 are about 60 kB, as photographs are."""
    from PIL import Image

    random = np.random.default_rng(3)
    for label, (height, width) in enumerate(sizes):
        clouds = Image.fromarray(random.integers(0, 256, (12, 16, 3), dtype=np.uint8))
        smooth = np.asarray(clouds.resize((width, height), Image.Resampling.BICUBIC), np.int16)
        grain = random.integers(-12, 13, smooth.shape, dtype=np.int16)
        packed = io.BytesIO()
        Image.fromarray(np.clip(smooth + grain, 0, 255).astype(np.uint8)).save(packed, "JPEG", quality=90)
        features = {
            "image": field(1, field(1, packed.getvalue())),
            "label": field(3, field(1, varint(label % 10))),
        }
        yield framed(example(features))


def jpeg_records() -> Iterator[bytes]:
    from penstock.io import encode_jpeg

    random = np.random.default_rng(7)
    down, across = np.arange(375, dtype=np.float32)[:, None, None], np.arange(500, dtype=np.float32)[:, None]
    for label in range(JPEG_ROWS):
        slopes = random.uniform(-0.4, 0.4, (2, 3)).astype(np.float32)
        plane = 128 + (down - 187) * slopes[0] + (across - 250) * slopes[1]
        noisy = plane + random.integers(-4, 5, (375, 500, 3))
        file = encode_jpeg(np.clip(noisy, 0, 255).astype(np.uint8), quality=90)
        yield framed(
            example({"image": field(1, field(1, file)), "label": field(3, field(1, varint(label % 10)))})
        )


def path(name: str) -> Path:
    """A data file, made now if it is not there."""
    target = FOLDER / name
    if not target.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f"{name}.partial")
        if partial.is_dir():  # of a run that was interrupted; a file is written anew
            shutil.rmtree(partial)
        MAKERS[name](partial)
        os.replace(partial, target)
    return target


def _write(partial: Path, pieces: Iterable[bytes]) -> None:
    with partial.open("wb") as file:
        file.writelines(pieces)


def _spread(partial: Path, records: Iterator[bytes], files: int, rows: int) -> None:
    partial.mkdir()
    for i in range(files):
        _write(partial / f"part-{i:05d}.tfrecord", islice(records, rows))


def _spread_pictures(partial: Path, sizes: list[tuple[int, int]]) -> None:
    partial.mkdir()
    records = picture_records(sizes)
    for i in range(PICTURE_SHARDS):
        _write(partial / f"pictures-{i}.tfrecord", islice(records, len(sizes) // PICTURE_SHARDS))


def _compress(partial: Path, source: Path) -> None:
    with source.open("rb") as plain, gzip.GzipFile(partial, "wb", compresslevel=6, mtime=0) as packed:
        shutil.copyfileobj(plain, packed, 1 << 20)


def _index(partial: Path, source: Path) -> None:
    """The index that vahidk's tools and DALI read: one line "offset size" a record."""
    data, offset, lines = source.read_bytes(), 0, []
    while offset < len(data):
        size = struct.unpack_from("<Q", data, offset)[0] + 16
        lines.append(f"{offset} {size}\n")
        offset += size
    partial.write_text("".join(lines))


MAKERS: dict[str, Callable[[Path], None]] = {
    "many": lambda partial: _spread(partial, small_records(), 10_000, 8),
    "shards": lambda partial: _spread(partial, raw_records(), RAW_SHARDS, RAW_ROWS // RAW_SHARDS),
    "arrays": lambda partial: _spread_arrays(partial, np.split(raw_columns()["image"], RAW_SHARDS)),
    "pictures": lambda partial: _spread_pictures(partial, picture_sizes()),
    "thumbnails": lambda partial: _spread_pictures(partial, thumbnail_sizes()),
    "small.tfrecord": lambda partial: _write(partial, small_records()),
    "raw.tfrecord": lambda partial: _write(partial, raw_records()),
    "jpeg.tfrecord": lambda partial: _write(partial, jpeg_records()),
    "jpeg.idx": lambda partial: _index(partial, path("jpeg.tfrecord")),
    "small.tfrecord.gz": lambda partial: _compress(partial, path("small.tfrecord")),
    "raw.tfrecord.gz": lambda partial: _compress(partial, path("raw.tfrecord")),
    "small.idx": lambda partial: _index(partial, path("small.tfrecord")),
    "raw.idx": lambda partial: _index(partial, path("raw.tfrecord")),
    "big.tfrecord": lambda partial: _write(
        partial, (path("raw.tfrecord").read_bytes() for _ in range(BIG_COPIES))
    ),
    "raw.npy": lambda partial: _save(partial, raw_columns()["image"]),
}


def _save(partial: Path, values: np.ndarray) -> None:
    with partial.open("wb") as file:
        np.save(file, values)


def _spread_arrays(partial: Path, parts: list[np.ndarray]) -> None:
    partial.mkdir()
    for i, part in enumerate(parts):
        _save(partial / f"part-{i:05d}.npy", part)


if __name__ == "__main__":
    for name in MAKERS:
        print(f"{path(name)}: {path(name).stat().st_size / 1e6:.1f} MB")
