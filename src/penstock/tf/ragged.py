"""`tf.ragged`: ragged tensors."""

from typing import Any

from penstock.tf.composite import RaggedTensor
from penstock.tf.composite import ragged_constant as constant
from penstock.tf.composite import stacked_rows as stack
from penstock.tf.missing import no_attribute

__all__ = ["RaggedTensor", "constant", "stack"]


def __getattr__(name: str) -> Any:
    raise no_attribute("tf.ragged", name, tuple(__all__))
