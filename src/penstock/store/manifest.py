"""What a version of a saved dataset is made of, as the file that says so.

The layout is described in docs/saved.md. A manifest is sealed: a flipped bit in it is found. It names files by a
folder and a name beside it, never by a path.
"""

from __future__ import annotations

import re
from datetime import datetime
from math import prod
from typing import Any, Final, TypeGuard

from penstock.errors import SidecarError
from penstock.frozen import frozen
from penstock.records.schema_json import MalformedError
from penstock.records.sealed import seal, unseal
from penstock.records.sidecar import is_safe_name
from penstock.spec import Spec, TensorSpec
from penstock.spec.written import leaf_from_json, leaf_to_json, structure_from_json, structure_to_json

__all__ = [
    "FORMAT",
    "Made",
    "Manifest",
    "SavedShard",
    "is_size",
    "parse_manifest",
    "shard_from_json",
    "shard_to_json",
    "spec_from_json",
    "spec_to_json",
]

FORMAT: Final = "penstock.dataset"
_VERSION: Final = 1
_DIGEST: Final = re.compile(r"[0-9a-f]{32}\Z")
_NAME: Final = re.compile(r"[A-Za-z0-9._=-]+\Z")
_FOLDER: Final = re.compile(r"data-[0-9a-f]{16}\Z")
_MOST_NESTED: Final = 64
_HELP: Final = "Restore the file from a copy, or load another version: penstock versions DIR lists them."


@frozen
class SavedShard:
    """One file of rows.

    Attributes:
        folder: The data folder that it lies in.
        name: Its path in there: a name, or a folder and a name.
        rows: How many it holds.
        nbytes: Its size on disk.
        digest: XXH3-128 of its bytes on disk.
    """

    folder: str
    name: str
    rows: int
    nbytes: int
    digest: str

    @property
    def place(self) -> str:
        """Its path below the dataset's folder, with forward slashes."""
        return f"{self.folder}/{self.name}"


@frozen
class Made:
    """How a save made its rows.

    Attributes:
        recipe: The pipeline, or None where it could not be written down.
        shards: How many files were asked for; None for as many as their size says.
        shard_func: The function that said for each row in which file it goes, as a recipe has functions; or None.
    """

    recipe: dict[str, Any] | None
    shards: int | None = None
    shard_func: dict[str, Any] | None = None


@frozen
class Manifest:
    """A version of a saved dataset.

    Attributes:
        version: 1 for the first save to a folder, then counted on.
        format: The name of the shards' format.
        compression: Of every shard.
        spec: Of a row.
        shards: In the order of their rows.
        created: When it was committed: UTC, as "2026-01-31T12:00:00Z".
        penstock: The version that wrote it.
        recipe: The pipeline that made the rows, or None where it could not be written down.
        parent: The version that this one was appended to.
        shards_wanted: How many files the save was asked for; None for as many as their size says.
        before: How the rows were made that were there before this version was appended, the oldest first. None where
            an older penstock wrote it, and only the manifests of these versions tell.
        shard_func: The function that said for each row in which file it goes, as a recipe has functions; or None.
    """

    version: int
    format: str
    compression: str
    spec: Spec
    shards: tuple[SavedShard, ...]
    created: str
    penstock: str
    recipe: dict[str, Any] | None = None
    parent: int | None = None
    shards_wanted: int | None = None
    before: tuple[Made, ...] | None = ()
    shard_func: dict[str, Any] | None = None

    @property
    def made(self) -> Made:
        """How the rows of this version's own save were made."""
        return Made(self.recipe, self.shards_wanted, self.shard_func)

    @property
    def rows(self) -> int:
        """Rows of all shards."""
        return sum(shard.rows for shard in self.shards)

    @property
    def nbytes(self) -> int:
        """Bytes of all shards on disk."""
        return sum(shard.nbytes for shard in self.shards)

    @property
    def folders(self) -> list[str]:
        """The data folders that it needs, each once."""
        return list(dict.fromkeys(shard.folder for shard in self.shards))

    def row_bytes(self, shard: SavedShard) -> int:
        """About how many bytes of memory a row of a shard takes, at least: as its file and the spec tell."""
        known = [leaf for leaf in self.spec.leaves if isinstance(leaf, TensorSpec)]
        sizes = (leaf.dtype.itemsize * prod(size or 0 for size in leaf.shape) for leaf in known)
        return max(1, shard.nbytes // max(1, shard.rows), sum(sizes))

    def to_bytes(self) -> bytes:
        """The file."""
        return seal(
            {
                "format": FORMAT,
                "version": _VERSION,
                "dataset_version": self.version,
                "parent": self.parent,
                "penstock": self.penstock,
                "created": self.created,
                "rows": self.rows,
                "bytes": self.nbytes,
                "shard_format": self.format,
                "compression": self.compression,
                "element_spec": spec_to_json(self.spec),
                "shards": [shard_to_json(shard) for shard in self.shards],
                "pipeline": self.recipe,
                "shards_wanted": self.shards_wanted,
                "shard_func": self.shard_func,
                "before": None if self.before is None else list(map(_made_to_json, self.before)),
            }
        )


def spec_to_json(spec: Spec) -> Any:
    """A spec as plain values."""
    return structure_to_json(spec.structure, leaf_to_json)


def spec_from_json(form: Any) -> Spec:
    """The spec that was written. Raises ValueError, TypeError, KeyError or one of our errors where it is none."""
    _check_depth(form)
    return Spec(structure_from_json(form, leaf_from_json))


def parse_manifest(data: bytes, path: str) -> Manifest:
    """The manifest that these bytes are.

    Raises:
        SidecarError: They are damaged, or of a newer version of penstock. `path` is named.
    """
    document = unseal(data, path, what="manifest", kind=FORMAT, version=_VERSION, help=_HELP)
    try:
        return _manifest(document)
    except (MalformedError, ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
        raise SidecarError(f"the manifest is malformed: {error}.", path=path, help=_HELP) from error


def _manifest(document: dict[str, Any]) -> Manifest:
    texts = {key: document.get(key) for key in ("created", "penstock", "shard_format", "compression")}
    if not all(isinstance(value, str) for value in texts.values()):
        raise MalformedError(f"one of {', '.join(texts)} is missing")
    _check_time(document["created"])
    shards, recipe, parent = document.get("shards"), document.get("pipeline"), document.get("parent")
    if not isinstance(shards, list) or not (recipe is None or isinstance(recipe, dict)):
        raise MalformedError("it names no shards, or its pipeline is no object")
    version = document.get("dataset_version")
    if not is_size(version) or not version or not (parent is None or is_size(parent)):
        raise MalformedError(f"its version is {version!r}, its parent {parent!r}")
    manifest = Manifest(
        version,
        format=document["shard_format"],
        compression=document["compression"],
        spec=spec_from_json(document.get("element_spec")),
        shards=tuple(map(shard_from_json, shards)),
        created=document["created"],
        penstock=document["penstock"],
        recipe=recipe,
        parent=parent,
        shards_wanted=_wanted(document.get("shards_wanted")),
        before=_before(document.get("before", None if parent is not None else [])),
        shard_func=_shard_func(document.get("shard_func")),
    )
    if len({shard.place for shard in manifest.shards}) != len(shards):
        raise MalformedError("a shard stands twice")
    if (manifest.rows, manifest.nbytes) != (document.get("rows"), document.get("bytes")):
        raise MalformedError("the totals are not those of its shards")
    return manifest


def _check_time(created: str) -> None:
    try:
        datetime.fromisoformat(created).timestamp()
    except (ValueError, OverflowError, OSError):
        raise MalformedError(f"it was created at {created[:40]!r}") from None


def _made_to_json(made: Made) -> dict[str, Any]:
    return {"pipeline": made.recipe, "shards_wanted": made.shards, "shard_func": made.shard_func}


def _before(document: Any) -> tuple[Made, ...] | None:
    if document is None:
        return None
    if not isinstance(document, list) or not all(isinstance(part, dict) for part in document):
        raise MalformedError("what was before it is no list of pipelines")
    recipes = [part.get("pipeline") for part in document]
    if not all(isinstance(recipe, dict | None) for recipe in recipes):
        raise MalformedError("a pipeline before it is no object")
    wanted = [_wanted(part.get("shards_wanted")) for part in document]
    return tuple(map(Made, recipes, wanted, [_shard_func(part.get("shard_func")) for part in document]))


def _wanted(shards: Any) -> int | None:
    if shards is not None and not (is_size(shards) and shards):
        raise MalformedError(f"it was asked for {shards!r} shards")
    return shards


def _shard_func(document: Any) -> dict[str, Any] | None:
    if not isinstance(document, dict | None):
        raise MalformedError("its shard_func is no object")
    return document


def shard_to_json(shard: SavedShard) -> dict[str, Any]:
    """A shard as plain values."""
    return {"file": shard.place, "rows": shard.rows, "bytes": shard.nbytes, "xxh3_128": shard.digest}


def _check_depth(form: Any) -> None:
    """Refuse what is nested so deeply that going through it would take the stack."""
    level, depth = [form], 0
    while level:
        level = [
            part
            for value in level
            if isinstance(value, list | dict)
            for part in (value.values() if isinstance(value, dict) else value)
        ]
        depth += 1
        if depth > _MOST_NESTED:
            raise MalformedError(f"the spec is nested more than {_MOST_NESTED} deep")


def shard_from_json(document: Any) -> SavedShard:
    """The shard that was written. Raises MalformedError where it is none, or its name leads elsewhere."""
    if not isinstance(document, dict):
        raise MalformedError("a shard is no object")
    place, digest = document.get("file"), document.get("xxh3_128")
    rows, nbytes = document.get("rows"), document.get("bytes")
    folder, _, name = place.partition("/") if isinstance(place, str) else ("", "", "")
    parts = name.split("/")
    is_named = all(is_safe_name(part) and _NAME.match(part) for part in parts)
    if not _FOLDER.match(folder) or len(parts) > 2 or not is_named:
        raise MalformedError(f"a shard has the name {place!r}")
    if not isinstance(digest, str) or not _DIGEST.match(digest):
        raise MalformedError(f"{place} has the digest {digest!r}")
    if not (is_size(rows) and is_size(nbytes)):
        raise MalformedError(f"{place} has {rows!r} rows in {nbytes!r} bytes")
    return SavedShard(folder, name, rows, nbytes, digest)


def is_size(value: Any) -> TypeGuard[int]:
    """Whether a value that was read is a count."""
    return type(value) is int and 0 <= value < 1 << 62
