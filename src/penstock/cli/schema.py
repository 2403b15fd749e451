"""`penstock schema`: what the records hold."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from penstock.cli.inputs import open_files
from penstock.cli.limits import Limits, limits_options
from penstock.cli.output import json_option, print_json, sample_option, say, sources_argument
from penstock.cli.rows import KIND_NAMES
from penstock.cli.table import table
from penstock.records.schema import UNSET, Field, Schema, step_spec
from penstock.show.render import count_text, escape
from penstock.spec import LeafSpec, string, text

__all__ = ["command", "json_schema", "spec_text"]


@click.command("schema")
@sources_argument
@sample_option
@limits_options
@json_option
def command(sources: tuple[str, ...], sample: int, limits: Limits, as_json: bool) -> None:
    """Show what the records hold: each feature with its dtype and shape.

    The schema comes from a file beside the data (ours, TFDS, TFX), or from the first records.

    Example: penstock schema data/train.tfrecord
    """
    opened = open_files(sources, sample=sample, limits=limits)
    if as_json:
        print_json({"files": opened.paths, **json_schema(opened.schema)})
    elif opened.is_empty:
        say(f"{escape(opened.name)}: empty, no records")
    else:
        _show(opened.schema)


def _show(schema: Schema) -> None:
    origin = {"inferred": f"seen in {count_text(schema.sampled, 'record')}"}.get(
        schema.origin, f"from {schema.origin}"
    )
    say(f"{KIND_NAMES[schema.record]}, {escape(origin)}")
    cells = [(escape(field.name), spec_text(field.spec), _notes(field)) for field in schema.fields]
    cells += [
        (escape(field.name), spec_text(step_spec(field)), f"list {_notes(field)}") for field in schema.lists
    ]
    if cells:
        say("\n".join(table(("feature", "type", ""), cells)))


def spec_text(spec: LeafSpec) -> str:
    """A dtype and a shape in short: `uint8[28, 28]`, `text[]`, `float32[?]`."""
    dtype = {string: "bytes", text: "text"}.get(spec.dtype, str(spec.dtype))
    return f"{dtype}[{', '.join('?' if size is None else str(size) for size in spec.shape)}]"


def _notes(field: Field) -> str:
    if field.kind == UNSET:
        return "never set"
    content = "utf-8" if field.content == "text" and field.dtype == string else field.content
    notes = [content] if content not in (None, "text") else []
    notes += ["may be missing"] if field.optional else []
    notes += ["stored as raw bytes"] if field.raw else []
    return ", ".join(map(str, notes))


def json_schema(schema: Schema) -> dict[str, Any]:
    """A schema as a JSON value; documented in docs/cli.md."""
    return {
        "record": schema.record,
        "origin": schema.origin,
        "sampled": schema.sampled,
        "features": [_json_field(field) for field in schema.fields],
        "feature_lists": [_json_field(field) for field in schema.lists],
    }


def _json_field(field: Field) -> dict[str, Any]:
    names = {string: "bytes", text: "text"}
    assert field.dtype is not None
    return {**asdict(field), "shape": list(field.shape), "dtype": names.get(field.dtype, str(field.dtype))}
