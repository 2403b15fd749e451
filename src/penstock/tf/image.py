"""`tf.image`: pictures; functions of `ps.image` that take and give tensors."""

from penstock.tf.names import lookup

__getattr__, __dir__ = lookup("tf.image", "image", "io")
