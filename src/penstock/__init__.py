"""penstock keeps machine-learning datasets and feeds them to training."""

from penstock import bridges, errors, io, train
from penstock._native import __version__
from penstock.column.values import Ragged, Sparse
from penstock.dataset import Dataset
from penstock.errors import *  # noqa: F403  (every exception is public)
from penstock.open import open
from penstock.records.schema import Field, Schema
from penstock.spec import RaggedSpec, TensorSpec, string, text
from penstock.write import Written, write

__all__ = [
    "Dataset",
    "Field",
    "Ragged",
    "RaggedSpec",
    "Schema",
    "Sparse",
    "TensorSpec",
    "Written",
    "__version__",
    "bridges",
    "errors",
    "io",
    "open",
    "string",
    "text",
    "train",
    "write",
]
__all__ += errors.__all__
