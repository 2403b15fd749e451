"""`tf.strings`: byte strings; functions of `ps.strings` that take and give tensors."""

from penstock.tf.names import lookup

__getattr__, __dir__ = lookup("tf.strings", "strings")
