"""Several shards at a time, where rows can be reached by number and it is known which shard each is in."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Event, Lock
from time import monotonic

import numpy as np

from penstock.column.base import IntArray
from penstock.column.chunk import Chunk
from penstock.graph.node import RowSource
from penstock.saving.groups import SAMPLE_ROWS, Ends, numbered_groups, rows_of_a_group
from penstock.saving.job import Job
from penstock.store.manifest import SavedShard
from penstock.store.progress import Progress

__all__ = ["write_by_number"]

_TELL_SECONDS = 0.2
_PIECE_SECONDS = 0.02


def write_by_number(
    job: Job, source: RowSource, ends: Ends, workers: int, tell: Callable[[Progress], None]
) -> list[SavedShard]:
    """Write all rows by so many threads; the shards, in the order of their rows."""
    return _Writing(job, source, ends).run(workers, tell)


class _Writing:
    """The shards that are finished, and those that threads are at."""

    def __init__(self, job: Job, source: RowSource, ends: Ends) -> None:
        self._job, self._source = job, source
        self._bounds = np.append(0, ends.bounds)
        self._size = 0 if job.journal is None else job.journal.group_rows
        known = {} if job.journal is None else {shard.name: shard for shard in job.journal.finished}
        names = [job.format.shard_name(i, job.compression) for i in range(ends.least)]
        self._finished = {i: known[name] for i, name in enumerate(names) if name in known}
        self._lock, self._stop = Lock(), Event()
        self._rows, self._nbytes = 0, 0

    def run(self, workers: int, tell: Callable[[Progress], None]) -> list[SavedShard]:
        total = int(self._bounds[-1])
        first_row = sum(shard.rows for shard in self._finished.values())
        begun = sum(shard.nbytes for shard in self._finished.values())
        if not self._size and total:
            self._size = rows_of_a_group(self._source.gather(np.arange(min(total, SAMPLE_ROWS))))
        started = monotonic()
        left = [i for i in range(len(self._bounds) - 1) if i not in self._finished]
        with ThreadPoolExecutor(workers, "penstock-save") as threads:
            waiting = {threads.submit(self._write, number) for number in left}
            try:
                while waiting:
                    done, waiting = wait(waiting, _TELL_SECONDS, FIRST_EXCEPTION)
                    for future in done:
                        future.result()
                    rows, nbytes = first_row + self._rows, begun + self._nbytes
                    tell(Progress(rows, total, nbytes, monotonic() - started, first_row))
            except BaseException:
                self._stop.set()
                threads.shutdown(wait=True, cancel_futures=True)
                raise
        return [self._finished[i] for i in sorted(self._finished)]

    def _gathered(self, rows: IntArray) -> Chunk | None:
        """A group, in pieces that take a moment each, so that a stop is noticed; None where it came."""
        pieces, begin, size = [], 0, SAMPLE_ROWS
        while begin < len(rows):
            if self._stop.is_set():
                return None
            started = monotonic()
            pieces.append(self._source.gather(rows[begin : begin + size]))
            begin += size
            size = max(1, 2 * size if monotonic() - started < _PIECE_SECONDS else size // 2)
            with self._lock:
                self._rows += len(pieces[-1])
        return Chunk.concat(pieces)

    def _write(self, number: int) -> None:
        start, stop = self._bounds[number : number + 2].tolist()
        shard = self._job.stage(number)
        try:
            for rows in numbered_groups(start, stop, self._size):
                before = shard.nbytes
                group = self._gathered(rows)
                if group is None:
                    return
                shard.write(group)
                with self._lock:
                    self._nbytes += shard.nbytes - before
            finished = shard.finish()
        finally:
            shard.discard()
        with self._lock:
            self._finished[number] = finished
            self._job.note(self._size, [self._finished[i] for i in sorted(self._finished)], None)
