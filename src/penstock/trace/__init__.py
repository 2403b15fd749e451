"""Tracing: a user's function is called once with traced values, and what it does runs on whole chunks.

tracing.py     a trace: run, printed, compared, written
value.py       the traced value
recorder.py    writing steps down; form.py what is known of a value
program.py     running the steps; groups.py and flat.py rows whose sizes differ; fused.py two steps as one
operations.py  the table; ops_*.py its rows; recording.py penstock's own functions as operations
texts.py       arrays of byte strings as columns
calling.py     how functions are called and their results packed
"""

from penstock.trace import (  # noqa: F401  (they fill the table)
    ops_by_row,
    ops_bytes,
    ops_elementwise,
    ops_index,
    ops_join,
    ops_linear,
    ops_reduce,
    ops_shape,
    ops_texts,
    raw,
)
from penstock.trace.calling import call, pack_result
from penstock.trace.operations import registered
from penstock.trace.raw import numbers_of_strings
from penstock.trace.recording import operation
from penstock.trace.tracing import Trace, agrees, trace
from penstock.trace.untraceable import Untraceable

__all__ = [
    "Trace",
    "Untraceable",
    "agrees",
    "call",
    "numbers_of_strings",
    "operation",
    "pack_result",
    "registered",
    "trace",
]
