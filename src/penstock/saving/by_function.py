"""Each row to the shard that a function names."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final

import numpy as np

from penstock.column.base import IntArray
from penstock.column.chunk import Chunk
from penstock.column.fixed import FixedColumn
from penstock.errors import ArgumentError, ArgumentTypeError
from penstock.graph.node import Failing
from penstock.nodes.calls import Calls
from penstock.run.iterator import RowIterator
from penstock.saving.groups import Ends, Groups
from penstock.saving.job import Job
from penstock.store.manifest import SavedShard
from penstock.store.progress import Progress
from penstock.store.staged import StagedShard

__all__ = ["MOST_SHARDS", "write_by_function"]

MOST_SHARDS: Final = 100_000
_MOST_OPEN: Final = 512


def write_by_function(
    job: Job, rows: RowIterator, numbers: Calls, tell: Callable[[Progress], None]
) -> list[SavedShard]:
    """Each row to the shard of the number that `numbers` gives for it; rows of a shard stay in order."""
    total = job.plan.cardinality if job.plan.cardinality >= 0 else None
    groups, staged, done, started = (
        Groups(rows, Ends(None, 1)),
        dict[int, StagedShard](),
        0,
        monotonic(),
    )
    try:
        while (group := groups.next()) is not None:
            which = _shard_numbers(numbers.over(group, done), done)
            for number in np.unique(which).tolist():
                if number not in staged:
                    _check_few(len(staged))
                    staged[number] = job.stage(number)
                staged[number].write(group.gather(np.flatnonzero(which == number)))
            done += len(group)
            nbytes = sum(shard.nbytes for shard in staged.values())
            tell(Progress(done, total, nbytes, monotonic() - started))
        if not staged:
            staged[0] = job.stage(0)
        return [staged[number].finish() for number in sorted(staged)]
    finally:
        for shard in staged.values():
            shard.discard()


def _shard_numbers(made: Chunk | Failing, first: int) -> IntArray:
    if isinstance(made, Failing):
        raise made.take_errors()[0][1]
    column = made.structure
    values = column.values if isinstance(column, FixedColumn) else np.zeros(0)
    if values.shape != (len(made),) or values.dtype.kind not in "iu" or column.valid is not None:
        want = "one int for each row"
        raise ArgumentTypeError("save", "result of shard_func", got=made.spec.structure, want=want)
    wrong = np.flatnonzero((values < 0) | (values >= MOST_SHARDS))
    if len(wrong):
        want = f"from 0 to {MOST_SHARDS - 1}"
        place = f"result of shard_func for row {first + int(wrong[0])}"
        raise ArgumentError("save", place, got=int(values[wrong[0]]), want=want)
    return values.astype(np.int64)


def _check_few(n: int) -> None:
    if n >= _MOST_OPEN:
        want = f"at most {_MOST_OPEN} different numbers, since all these files are open at a time"
        raise ArgumentError("save", "shard_func", got=f"more than {n} shards", want=want)
