"""What a pipeline is, in a few words a node: enough to tell that a state belongs to another one.

A fingerprint is plain JSON: for each node, the last one first, [name, arguments, number of inputs]. Short arguments are
kept as they are, so that a message can show them; of all others there is a digest. Functions are a name and a digest of
their code, files their names below the directory that they share, their sizes and a digest of how some of them begin
and end, arrays their dtype, their shape and a digest of their values. What changes no row (threads, chunk sizes) is
left out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import Field, fields, is_dataclass
from functools import partial
from hashlib import blake2b
from pathlib import PurePath
from types import CodeType
from typing import Any, Final, TypeAlias

import numpy as np

from penstock.column.batches import Batches, RowsInMemory
from penstock.column.chunk import Chunk
from penstock.errors import PenstockError
from penstock.frozen import frozen
from penstock.fs.files import ends_of, middle_of
from penstock.fs.paths import names_pattern
from penstock.graph.adapted import users_function
from penstock.graph.named import repeats_shuffled
from penstock.graph.named_files import named_files
from penstock.graph.node import Node, method_of
from penstock.graph.plan import Plan
from penstock.graph.recorded import CodeMark, RecordedFunction
from penstock.graph.seeds import Drawn
from penstock.graph.shortened import is_alike
from penstock.graph.uses import uses_of
from penstock.graph.which_files import marks_of_files, which_files
from penstock.graph.whole import whole_digest
from penstock.spec import Spec

__all__ = [
    "MOST_CONTENTS",
    "Difference",
    "Fingerprint",
    "call_text",
    "chain",
    "code_mark",
    "differences",
    "fields_of",
    "files_described",
    "files_of",
    "fingerprint",
    "name_of",
    "short_fingerprint",
    "values_digest",
]

Fingerprint: TypeAlias = list[Any]

_SHORT: Final = 24
_FEW: Final = 4
_ROWS: Final = 32
_ARRAY_BYTES: Final = 1 << 14
_DEEPEST: Final = 6
_DIGITS: Final = 12

# Of files: not in states of before, and not known of files elsewhere.
_WHERE_KNOWN: Final = frozenset({"names", "ends", "blocks", "contents"})

_WHAT_IS_IN_THEM: Final = frozenset({"blocks", "contents"})

# Which of several files is another: it only says more of what others tell.
_EACH: Final = "each"
_OF_FILES: Final = frozenset({"files", "names", "length_bytes", "ends", "blocks", "contents"})

# How passes over repeated shuffles are counted, where more than one may come; states of before counted them otherwise.
_PASSES: Final = "passes"
_PASSES_NOW: Final = 2

# Behind the name of an argument whose values are in memory: a digest of all of them, which states of before have not.
_VALUES: Final = ".values"

# Of more files than this some are looked into, evenly spread: opening 100,000 would take long where disks are far.
_MOST_OPENED: Final = 16
_MOST_BLOCKS: Final = 256
MOST_CONTENTS: Final = 4096
_READERS: Final = 8
_AT_ONCE: Final = 64


def fingerprint(plan: Plan) -> Fingerprint:
    """What a plan is; worked out once and then kept with it.

    >>> from penstock.graph.node import registered
    >>> fingerprint(Plan(registered()["take"](3)))
    [['take', {'count': 3}, 0]]
    """
    known: Fingerprint | None = plan.__dict__.get("_fingerprint")
    if known is None:
        known = plan.__dict__["_fingerprint"] = list(_nodes(plan))
    return known


def short_fingerprint(plan: Plan) -> Fingerprint:
    """The fingerprint as states keep it: without the ends of files whose blocks, which have them all, are known."""
    return [
        [name, {key: arguments[key] for key in arguments if key != "ends" or "blocks" not in arguments}, n]
        for name, arguments, n in fingerprint(plan)
    ]


@frozen
class Difference:
    """Where a pipeline is not the one of a state.

    Attributes:
        argument: The argument, as `node.argument`; the node alone where that is another one.
        theirs: What the state says, as a call.
        ours: What this pipeline says.
        which: Which files are others, as a sentence; empty where it is not about files.
        is_function: Whether it is the code of a function.
        is_node: Whether there is another node.
    """

    argument: str
    theirs: str
    ours: str
    which: str = ""
    is_function: bool = False
    is_node: bool = False


def differences(theirs: Any, plan: Plan) -> Iterator[Difference]:
    """Where a fingerprint is not that of a plan, the last node first; after another node nothing more is compared.

    Args:
        theirs: One that was read from somewhere, and may be anything.
        plan: The plan.
    """
    ours = fingerprint(plan)
    if not isinstance(theirs, list):
        yield Difference("state", "no pipeline", call_text(*ours[0][:2]), is_node=True)
        return
    for mine, other, node in zip(ours, theirs, _each_node(plan), strict=False):
        if not _is_node(other) or (mine[0], mine[2]) != (other[0], other[2]):
            found = call_text(*other[:2]) if _is_node(other) else "no node"
            yield Difference(mine[0], found, call_text(*mine[:2]), is_node=True)
            return
        yield from _arguments_that_differ(mine[0], other[1], mine[1], node)
    if len(theirs) != len(ours):
        yield Difference(ours[0][0], f"{len(theirs)} nodes", f"{len(ours)} nodes", is_node=True)


def _arguments_that_differ(
    name: str, theirs: Mapping[str, Any], ours: Mapping[str, Any], node: Node
) -> Iterator[Difference]:
    for argument in {**ours, **theirs}:
        if argument == _EACH:
            continue
        other, mine = theirs.get(argument), ours.get(argument)
        is_of_files = argument in _WHERE_KNOWN and (argument in _WHAT_IS_IN_THEM or "files" in ours)
        is_new = is_of_files or argument.endswith(_VALUES)
        if is_alike(argument, theirs, ours) or (is_new and None in (other, mine)):
            continue
        if argument in node.where_known and argument not in theirs:
            continue
        if argument == _PASSES and argument not in theirs:
            yield _other_passes(name)
            continue
        if (argument, other) in _as_before(node):
            continue
        is_function = _is_function(other) and _is_function(mine)
        if is_function and (_is_of_another_python(other, mine) or _is_same_function(other, mine)):
            continue
        texts = call_text(name, {argument: other}), call_text(name, {argument: mine})
        if texts[0] == texts[1]:
            texts = f"{texts[0]} that uses other functions or values", texts[1]
        which = ""
        if argument in _OF_FILES and (names := list(files_of(node))):
            which = which_files(theirs.get(_EACH), ours.get(_EACH), _below(names))
        yield Difference(f"{name}.{argument}", *texts, which, is_function)


def _other_passes(name: str) -> Difference:
    theirs, ours = f"{name} of an earlier version of penstock", f"{name} of this version"
    which = "Repeated shuffles went on there with other passes than here."
    return Difference(f"{name}.{_PASSES}", theirs, ours, which)


def files_of(node: Node) -> Iterator[str]:
    """The files that a node reads, and those that its rows name; of many of the latter some."""
    for part in fields_of(node):
        value = getattr(node, part.name)
        if part.name == "paths":
            yield from map(os.fsdecode, value)
        elif isinstance(value, RowsInMemory):
            yield from map(os.fsdecode, named_files(value))
        elif isinstance(value, Node):
            yield from files_of(value)


def chain(pipeline: Any) -> str:
    """A fingerprint as the names of its nodes, the source first.

    >>> chain([["batch", {"batch_size": 2}, 1], ["Range", {"stop": 5}, 0]])
    'Range.batch'
    """
    nodes = pipeline if isinstance(pipeline, list) else []
    return ".".join(node[0] if _is_node(node) else "?" for node in reversed(nodes))


def _is_node(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and isinstance(value[0], str)
        and isinstance(value[1], dict)
    )


def _is_of_another_python(other: Any, mine: Any) -> bool:
    """Whether two functions of one name cannot be compared: code looks different to every version of Python."""
    return bool(other["python"] != mine["python"] and other["function"] == mine["function"])


def _is_same_function(other: Any, mine: Any) -> bool:
    """Whether two functions are alike in all that is known of both: states of before do not say what one uses."""
    known = other.keys() & mine.keys()
    return all(is_alike(part, other, mine) for part in known)


def _is_function(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() - {"uses"} == {"function", "code", "python"}


def call_text(name: str, arguments: Mapping[str, Any]) -> str:
    """A node of a fingerprint as a call.

    >>> call_text("take", {"count": 3})
    'take(count=3)'
    """
    shown = (
        f"{argument}={value['function'] + ' #' + value['code'] if _is_function(value) else value}"
        for argument, value in arguments.items()
        if argument != _EACH
    )
    return f"{name}({', '.join(shown)})"


# --- a plan in words ---


def _nodes(plan: Plan) -> Iterator[list[Any]]:
    calls = any(part.node.users_functions for part in plan.parts)
    for part in plan.parts:
        passes = {_PASSES: _PASSES_NOW} if _has_passes_of_repeated(part) else {}
        yield [name_of(part.node), {**_arguments(part.node, calls=calls), **passes}, len(part.inputs)]


def _has_passes_of_repeated(plan: Plan) -> bool:
    """Whether a node begins several passes over a shuffled plan that is repeated."""
    if plan.node.named:
        return repeats_shuffled(*plan.node.users_functions)
    return plan.repeats_shuffled and any(
        part.repeats_shuffled for below in plan.inputs for part in below.parts
    )


def _each_node(plan: Plan) -> Iterator[Node]:
    return (part.node for part in plan.parts)


def name_of(node: Node) -> str:
    """The name of a node's method, or that of its class."""
    return method_of(type(node)) or type(node).__name__


def _arguments(node: Node, *, calls: bool) -> dict[str, Any]:
    """The arguments in words. Where no function is called nobody opens the files that rows may name."""
    named: dict[str, Any] = {}
    for part in fields_of(node):
        if not part.init or part.name in node.changes_no_row | node.in_state:
            continue
        value = getattr(node, part.name)
        if part.name == "paths":
            named |= files_described(value)
        elif isinstance(value, Node):
            named |= _arguments(value, calls=calls)
        elif value is None or not _is_default(value, part.default):
            named[part.name] = _described(value)
            if (values := values_digest(node, part.name, value)) is not None:
                named[part.name + _VALUES] = values[:_DIGITS]
            if calls and isinstance(value, RowsInMemory) and (paths := named_files(value)):
                named |= _opened_described([os.fsdecode(path) for path in paths])
    return named


def _as_before(node: Node) -> Iterator[tuple[str, Any]]:
    """Arguments of which states of before say more: where a schema is from counted too."""
    for part in fields_of(node):
        value = getattr(node, part.name)
        if isinstance(value, Node):
            yield from _as_before(value)
        elif any("changes_no_row" in inner.metadata for inner in fields_of(value)):
            yield part.name, f"{_kind(value)} #{_digest_of_all(value)}"


def values_digest(node: Node, name: str, value: Any) -> str | None:
    """The digest of all values of an argument, worked out once for a node, whatever is put behind it.

    None where it holds no rows or arrays in memory, or those of which `whole_digest` gives none.
    """
    if not isinstance(value, RowsInMemory | np.ndarray) or not hasattr(node, "__dict__"):
        return None
    known: dict[str, str | None] = node.__dict__.setdefault("_values", {})
    if name not in known:
        known[name] = whole_digest(value)
    return known[name]


def _is_default(value: Any, default: Any) -> bool:
    # By value: what was pickled or read from a recipe is equal to the default, and another object.
    is_plain = isinstance(value, bool | int | float | str) or is_dataclass(value)
    return value is default or (is_plain and type(value) is type(default) and bool(value == default))


def fields_of(value: Any) -> list[Field[Any]]:
    """The fields of a data class that take part in comparing it; none of anything else.

    One whose metadata say `changes_no_row` counts as if it had its default.
    """
    return [part for part in fields(value) if part.compare] if is_dataclass(value) else []


def _described(value: Any) -> Any:
    """A short value as it is; else what kind it is and a digest."""
    if isinstance(value, Drawn):
        return "drawn"
    if (
        value is None
        or isinstance(value, bool | int | float)
        or (isinstance(value, str) and len(value) <= _SHORT)
    ):
        return value
    if (
        isinstance(value, tuple)
        and len(value) <= _FEW
        and all(isinstance(part, int | float) for part in value)
    ):
        return list(value)
    if callable(value) and not isinstance(value, type):
        mark = code_mark(value)
        named = {"function": mark.name, "code": mark.code, "python": mark.python}
        uses = None if isinstance(value, RecordedFunction) else uses_of(users_function(value))
        return named if uses is None else {**named, "uses": uses}
    return str(value) if isinstance(value, np.dtype) else f"{_kind(value)} #{_digest(value)}"


def code_mark(function: Callable[..., Any]) -> CodeMark:
    """What tells the code of a function from others; of a recorded one what its code was."""
    if isinstance(function, RecordedFunction):
        return function.mark
    function = users_function(function)
    version = ".".join(map(str, sys.version_info[:2]))
    return CodeMark(_function_name(function), _digest(function), version)


def _kind(value: Any) -> str:
    if isinstance(value, RowsInMemory):
        return f"{len(value)} rows"
    return f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) else type(value).__name__


def _function_name(function: Any) -> str:
    inner = function.func if isinstance(function, partial) else function
    name: str = getattr(inner, "__name__", type(inner).__name__)
    return name[:_SHORT]


def files_described(paths: tuple[Any, ...]) -> dict[str, Any]:
    """Files as a fingerprint has them: names below the directory that they share, sizes, digests of some content."""
    names = [os.fsdecode(path) for path in paths]
    below = _below(names)
    is_one = len(below) == 1 and len(below[0]) <= 2 * _SHORT
    named: dict[str, Any] = {"files": below[0] if is_one else f"{len(below)} #{_digest(below)}"}
    if not is_one and (pattern := names_pattern([os.path.basename(name) for name in below])):
        named["names"] = pattern
    if any(isinstance(path, bytes) for path in paths):
        # Names that are rows, as functions open them: sizes come after what states of before have, which is no size.
        return {**named, "length_bytes": _digest([]), **_opened_described(names)}
    sizes = [_size(name) for name in names]
    named["length_bytes"] = sizes[0] if len(sizes) == 1 else _digest(sizes)
    if (ends := _looked_into(names, _MOST_OPENED, ends_of)) is not None:
        named["ends"] = ends.digest
        if (blocks := _looked_into(names, _MOST_BLOCKS, middle_of)) is not None:
            named |= {"blocks": blocks.digest, **_contents(names, blocks, sizes, middle_of)}
    return named


def _opened_described(names: list[str]) -> dict[str, Any]:
    """What is in files that functions open by these names."""
    blocks = _looked_into(names, _MOST_BLOCKS, _content_of_named)
    if blocks is None:
        return {}
    sizes = [_size(name) for name in names]
    more = _contents(names, blocks, sizes, _content_of_named)
    return {"blocks": _digest([blocks.digest, *sizes]), **more}


def _contents(
    names: list[str], blocks: _Looked, sizes: list[int | None], read: Callable[[str], bytes]
) -> dict[str, str]:
    """What states of before have not: digests of more files than those of their blocks, and which is another."""
    if len(names) <= _MOST_BLOCKS:
        return _each(blocks, sizes)
    contents = _looked_into(names, MOST_CONTENTS, read)
    return {} if contents is None else {"contents": contents.digest, **_each(contents, sizes)}


def _below(names: list[str]) -> list[str]:
    """Names below the directory that all share."""
    shared = os.path.commonpath(set(map(os.path.dirname, names))) if _can_share(names) else ""
    return [_posix(name[len(shared) :].lstrip("/\\")) for name in names]


def _each(looked: _Looked, sizes: list[int | None]) -> dict[str, str]:
    """What tells which of several files is another."""
    contents = [f"{size} ".encode() + looked.parts.get(i, b"") for i, size in enumerate(sizes)]
    return {_EACH: marks_of_files(contents)} if len(contents) > 1 else {}


def _content_of_named(name: str) -> bytes:
    """Of a file what `middle_of` gives; nothing of what is none, which `list_files` finds too."""
    return middle_of(name) if os.path.isfile(name) else b""


def _posix(name: str) -> str:
    return name if os.sep == "/" and "//" not in name and "/." not in name else PurePath(name).as_posix()


def _can_share(names: list[str]) -> bool:
    return bool(names) and len({os.path.isabs(name) for name in names}) == 1


def _size(name: str) -> int | None:
    # Of a file elsewhere asking would take a request each; what has changed shows as it is read.
    if "://" in name:
        return None
    try:
        return os.stat(name).st_size
    except (OSError, ValueError):  # a text that is no path has a NUL
        return None


@frozen
class _Looked:
    """Digests of parts of files: of all together, and of each by its number."""

    digest: str
    parts: dict[int, bytes]


def _looked_into(names: list[str], most: int, read: Callable[[str], bytes]) -> _Looked | None:
    """Digests of parts of files, of a few where there are many; None where one cannot be read."""
    n = len(names)
    few = range(n) if n <= most else [i * (n - 1) // (most - 1) for i in range(most)]
    if any("://" in names[i] for i in few):
        return None
    digest, parts = blake2b(digest_size=6), {}
    try:
        for i, part in zip(few, _each_read([names[i] for i in few], read), strict=True):
            digest.update(part)
            parts[i] = blake2b(part, digest_size=6).digest()
    except (PenstockError, OSError, ValueError):
        return None
    return _Looked(digest.hexdigest(), parts)


def _each_read(names: list[str], read: Callable[[str], bytes]) -> Iterator[bytes]:
    """Of many several at a time: where disks are far each takes a millisecond, and little of that is work."""
    if len(names) <= _MOST_BLOCKS:
        yield from map(read, names)
        return
    slices = [names[first : first + _AT_ONCE] for first in range(0, len(names), _AT_ONCE)]
    with ThreadPoolExecutor(_READERS) as pool:
        for parts in pool.map(lambda some: list(map(read, some)), slices):
            yield from parts


# --- digests ---


def _digest(value: Any) -> str:
    return _digest_of(_parts(value, 0))


def _digest_of(parts: Iterable[bytes]) -> str:
    digest = blake2b(digest_size=6)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _digest_of_all(value: Any) -> str:
    """The digest of a data class with the fields that change no row."""
    every = [_as_marked(getattr(value, part.name)) for part in fields_of(value)]
    return _digest_of((f"{type(value).__name__}:".encode(), *_parts(every, 1)))


def _parts(value: Any, depth: int) -> Iterator[bytes]:
    """Bytes that tell a value from others, the same in every process; of what is unknown only the type."""
    kind: type = Chunk if isinstance(value, Batches) else type(value)
    yield f"{kind.__name__}:".encode()
    if isinstance(value, _AsMarked):
        yield code_mark(value.function).code.encode()
    elif value is None or isinstance(value, bool | int | float | complex | str | np.generic | np.dtype):
        yield repr(value).encode()
    elif isinstance(value, bytes | bytearray):
        yield bytes(value)
    elif isinstance(value, np.ndarray):
        yield from _array(value, depth)
    elif isinstance(value, Spec):
        yield str(value.structure).encode()
    elif isinstance(value, RowsInMemory):
        yield from _chunk(value, depth)
    elif depth < _DEEPEST:
        yield from _deeper(value, depth + 1)


@frozen
class _AsMarked:
    """A function that is part of another value: its mark alone counts, which a recipe keeps."""

    function: Callable[..., Any]


def _as_marked(value: Any) -> Any:
    return _AsMarked(value) if callable(value) and not isinstance(value, type) else value


def _deeper(value: Any, depth: int) -> Iterator[bytes]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _parts(key, depth)
            yield from _parts(part, depth)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _parts(part, depth)
    elif isinstance(value, frozenset | set):
        yield from sorted(repr(part).encode() for part in value)
    elif isinstance(value, CodeType):
        yield value.co_code
        yield f"{value.co_argcount} {value.co_posonlyargcount} {value.co_kwonlyargcount} {value.co_flags}".encode()
        yield from _parts((value.co_consts, value.co_names), depth)
    elif isinstance(value, partial):
        named = {name: _as_marked(part) for name, part in value.keywords.items()}
        yield from _parts((_as_marked(value.func), tuple(map(_as_marked, value.args)), named), depth)
    elif isinstance(value, type) or (callable(value) and not hasattr(value, "__code__")):
        yield str(getattr(value, "__qualname__", "")).encode()
    elif callable(value):
        yield from _code(value, depth)
    elif is_dataclass(value):
        yield from _parts([_as_marked(_that_counts(value, part)) for part in fields_of(value)], depth)
    elif hasattr(value, "tolist"):
        yield from _parts(value.tolist(), depth)


def _that_counts(value: Any, part: Field[Any]) -> Any:
    return part.default if "changes_no_row" in part.metadata else getattr(value, part.name)


def _code(function: Callable[..., Any], depth: int) -> Iterator[bytes]:
    """The code of a function, and the values around it that it uses."""
    yield from _parts(getattr(function, "__code__", None), depth)
    yield from _parts(getattr(function, "__defaults__", None), depth)
    for cell in getattr(function, "__closure__", None) or ():
        try:
            value = cell.cell_contents
        except ValueError:  # not set yet
            continue
        # Lists, dicts and objects may be what a function counts in.
        if callable(value) or isinstance(value, bool | int | float | str | bytes | np.generic):
            yield from _parts(value, depth)


def _array(values: np.ndarray[Any, Any], depth: int) -> Iterator[bytes]:
    yield f"{values.dtype}{values.shape}".encode()
    if values.dtype == object:
        yield from _parts(values.reshape(-1)[:_ROWS].tolist(), depth)
    elif values.size:
        flat = values.reshape(-1)
        most = max(1, _ARRAY_BYTES // values.itemsize)
        for part in (flat[:most], flat[-most:], flat[:: max(1, len(flat) // most)]):
            yield np.ascontiguousarray(part).tobytes()


def _chunk(rows: RowsInMemory, depth: int) -> Iterator[bytes]:
    yield f"{len(rows)} {rows.spec.structure}".encode()
    if len(rows):
        places = np.unique(np.linspace(0, len(rows) - 1, _ROWS).astype(np.int64))
        yield from _parts(rows.gather(places).to_list(), depth)
