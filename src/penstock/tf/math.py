"""`tf.math`: arithmetic; functions of `ps.math` that take and give tensors."""

from penstock.tf.names import lookup

__getattr__, __dir__ = lookup("tf.math", "math")
