"""penstock keeps machine-learning datasets and feeds them to training."""

from importlib import import_module
from typing import Any

from penstock import bridges, errors, experimental, image, io, math, random, strings, train
from penstock._native import __version__
from penstock.bridges.tf import from_tf
from penstock.column.values import Ragged, Sparse
from penstock.dataset import Dataset
from penstock.errors import *  # noqa: F403  (every exception is public)
from penstock.graph.node import AUTOTUNE
from penstock.graph.node import INFINITE as INFINITE_CARDINALITY
from penstock.graph.node import UNKNOWN as UNKNOWN_CARDINALITY
from penstock.graph.seeds import set_seed
from penstock.loading import Version, gc, load, versions
from penstock.nodes.with_options import Options, ThreadingOptions
from penstock.opening import open
from penstock.ops.casting import cast, saturate_cast
from penstock.ops.choosing import gather, where
from penstock.ops.ensuring import ensure_shape
from penstock.ops.joining import concat, stack, unstack
from penstock.ops.making import fill, one_hot, ones, ones_like, zeros, zeros_like
from penstock.ops.shapes import expand_dims, pad, rank, reshape, shape, size, squeeze, tile, transpose
from penstock.records.schema import Field, Schema
from penstock.run.described import StateDescription, describe_state
from penstock.run.explained import Explanation, Origin
from penstock.run.position import State
from penstock.saving import Saved
from penstock.spec import DatasetSpec, NoneSpec, RaggedSpec, SparseSpec, TensorSpec, string, text
from penstock.store.progress import Progress
from penstock.writing import Written, write

FixedLengthRecordDataset = Dataset.FixedLengthRecordDataset
TFRecordDataset = Dataset.TFRecordDataset
TextLineDataset = Dataset.TextLineDataset
CsvDataset = Dataset.CsvDataset

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "CsvDataset",
    "Dataset",
    "DatasetSpec",
    "Explanation",
    "Field",
    "FixedLengthRecordDataset",
    "NoneSpec",
    "Options",
    "Origin",
    "Progress",
    "Ragged",
    "RaggedSpec",
    "Saved",
    "Schema",
    "Sparse",
    "SparseSpec",
    "State",
    "StateDescription",
    "TFRecordDataset",
    "TensorSpec",
    "TextLineDataset",
    "ThreadingOptions",
    "Version",
    "Written",
    "__version__",
    "bridges",
    "cast",
    "concat",
    "describe_state",
    "ensure_shape",
    "errors",
    "expand_dims",
    "experimental",
    "fill",
    "from_tf",
    "gather",
    "gc",
    "image",
    "io",
    "load",
    "math",
    "one_hot",
    "ones",
    "ones_like",
    "open",
    "pad",
    "random",
    "rank",
    "reshape",
    "saturate_cast",
    "set_seed",
    "shape",
    "size",
    "squeeze",
    "stack",
    "string",
    "strings",
    "text",
    "tile",
    "train",
    "transpose",
    "unstack",
    "versions",
    "where",
    "write",
    "zeros",
    "zeros_like",
]
__all__ += errors.__all__

# Bridges by their framework, each an extra, its extra's name and a file of `bridges`: imported when first asked for.
_FRAMEWORKS = frozenset({"grain", "huggingface", "jax", "keras", "orbax", "tensorflow", "torch"})


def __getattr__(name: str) -> Any:
    if name == "testing":
        return import_module("penstock.testing")
    if name not in _FRAMEWORKS:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    try:
        return import_module(f"penstock.bridges.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("penstock"):
            raise
        raise errors.DependencyError(f"penstock.{name}", package=str(error.name), extra=name) from error
