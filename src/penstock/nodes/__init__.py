"""One transformation a file. Importing this package registers them all."""

from penstock.nodes import ragged_batch

__all__ = ["ragged_batch"]
