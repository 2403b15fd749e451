"""Functions and specs with the names of `tf.io`: read serialized Examples, write TFRecord files.

>>> import numpy as np, penstock as ps
>>> spec = {"x": ps.io.RaggedFeature(np.int64)}
>>> ps.io.parse_example([b"", b""], spec)["x"].to_list()
[[], []]
"""

from penstock.records.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from penstock.records.parse import parse_example, parse_single_example
from penstock.records.parse_sequence import parse_sequence_example, parse_single_sequence_example
from penstock.records.writer import TFRecordWriter

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "SparseFeature",
    "TFRecordWriter",
    "VarLenFeature",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
]
