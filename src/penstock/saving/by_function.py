"""Each row to the shard that a function names."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final

import numpy as np

from penstock.errors import ArgumentError
from penstock.nodes.calls import Calls
from penstock.nodes.shard_numbers import shard_numbers
from penstock.run.iterator import RowIterator
from penstock.saving.groups import Ends, Groups
from penstock.saving.job import Job
from penstock.store.manifest import SavedShard
from penstock.store.progress import Progress
from penstock.store.staged import StagedShard

__all__ = ["write_by_function"]

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
            which = shard_numbers("save", numbers.over(group, done), done)
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


def _check_few(n: int) -> None:
    if n >= _MOST_OPEN:
        want = f"at most {_MOST_OPEN} different numbers, since all these files are open at a time"
        raise ArgumentError("save", "shard_func", got=f"more than {n} shards", want=want)
