"""What a pass has learned of the results of a function from the first one, as a text that the state of its node keeps.

Rows behind a mark then come as they would have come: a later row alone might tell another dtype, or another order of
dict entries. Classes are not in it, nor what names entries besides texts: they are those of the row that comes next.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Final

from penstock.errors import PenstockError
from penstock.spec import DatasetSpec, LeafSpec, Spec, is_structure
from penstock.spec.lacking import as_noted
from penstock.spec.structure import entries, with_parts
from penstock.spec.written import leaf_from_json, leaf_to_json, structure_from_json, structure_to_json

__all__ = ["as_learned", "is_learned", "learned"]

# Far more than a row of thousands of leaves takes.
_MOST_LETTERS: Final = 1 << 20

_UNREADABLE: Final = (PenstockError, AttributeError, TypeError, ValueError, RecursionError)


def learned(spec: Spec) -> str | None:
    """The text of a spec; None of one that would not be read again as it is.

    >>> from penstock.spec import TensorSpec
    >>> learned(Spec({"a": TensorSpec((), "int64")}))
    '{"dict":[["a",{"leaf":{"shape":[],"dtype":"<i8"}}]]}'
    """
    try:
        text = json.dumps(structure_to_json(_with_texts(spec.structure), leaf_to_json), separators=(",", ":"))
        return text if is_learned(text) and as_learned(text, spec) == (spec, True) else None
    except _UNREADABLE:
        return None


def is_learned(value: Any) -> bool:
    """Whether a value that was read from a state may be such a text."""
    if not isinstance(value, str) or len(value) > _MOST_LETTERS:
        return False
    try:
        return bool(_read(value).leaves)
    except _UNREADABLE:
        return False


def as_learned(text: str, found: Spec) -> tuple[Spec, bool]:
    """The spec that was learned, for a later result; and whether that is of this form.

    Args:
        text: What `learned` gave.
        found: The spec of the result, which has the classes.
    """
    told = _read(text)
    try:
        return Spec(_in_classes_of(found.structure, told.structure)), True
    except _OtherFormError:
        return told, False


class _OtherFormError(Exception):
    pass


@lru_cache(maxsize=256)
def _read(text: str) -> Spec:
    return Spec(structure_from_json(json.loads(text), leaf_from_json))


def _with_texts(structure: Any) -> Any:
    """A structure in which texts alone name the entries of dicts."""
    if not is_structure(structure):
        return structure
    made = [(text, _with_texts(part)) for text, (_, part) in _by_text(structure).items()]
    return with_parts(structure, made)


def _text(name: Any) -> str:
    return name if type(name) is str else f"\0{type(name).__name__} {name!r}"


def _in_classes_of(structure: Any, told: Any) -> Any:
    """The leaves and the order of entries that were told, in the classes of a structure."""
    if is_structure(structure) != is_structure(told):
        raise _OtherFormError
    if not is_structure(structure):
        return _leaf(structure, told)
    parts, told_parts = _by_text(structure), _by_text(told)
    if parts.keys() != told_parts.keys() or _kind(structure) != _kind(told):
        raise _OtherFormError
    made = [(parts[text][0], _in_classes_of(parts[text][1], part)) for text, (_, part) in told_parts.items()]
    return with_parts(structure, made)


def _kind(structure: Any) -> str:
    return "dict" if isinstance(structure, dict) else type(structure).__name__


def _by_text(structure: Any) -> dict[str, tuple[Any, Any]]:
    """(name, part) of a structure by the text of the name."""
    return {_text(name): (name, part) for name, part in entries(structure) or ()}


def _leaf(found: LeafSpec, told: LeafSpec) -> LeafSpec:
    if isinstance(found, DatasetSpec) and isinstance(told, DatasetSpec):
        return DatasetSpec(_in_classes_of(found.element_spec, told.element_spec), told.cardinality)
    return as_noted(told, found)
