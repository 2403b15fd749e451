r"""`tf.io`: files, Examples and encoded data.

>>> import penstock.tf as tf
>>> tf.io.decode_raw(b"\x01\x00\x02\x00", tf.uint16)
<tf.Tensor: shape=(2,), dtype=uint16, numpy=array([1, 2], dtype=uint16)>
"""

from __future__ import annotations

from typing import Any

from penstock import io as ps_io
from penstock.tf import gfile
from penstock.tf.composite import TracedSparse
from penstock.tf.names import lookup
from penstock.tf.tensors import Tensor, unwrap, wrap
from penstock.trace.value import Traced

__all__ = ["TFRecordOptions", "TFRecordWriter", "gfile", "parse_single_example"]

TFRecordWriter = ps_io.TFRecordWriter


def TFRecordOptions(compression_type: str | None = None, **_: Any) -> str | None:  # noqa: N802
    """What `TFRecordWriter` takes as its options: the compression alone. Others steer zlib and are not used."""
    return compression_type


def parse_single_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> Any:
    """The values of one serialized Example, by feature; see `ps.io.parse_single_example`."""
    record = unwrap(serialized)
    if not isinstance(record, Traced):
        return wrap(ps_io.parse_single_example(record, features))
    sparse = {key for key, spec in features.items() if isinstance(spec, ps_io.VarLenFeature)}
    lists = {
        key: ps_io.RaggedFeature(spec.dtype) if key in sparse else spec for key, spec in features.items()
    }
    made = ps_io.parse_single_example(record, lists)
    return {key: TracedSparse(value) if key in sparse else Tensor(value) for key, value in made.items()}


__getattr__, __dir__ = lookup("tf.io", "io")
