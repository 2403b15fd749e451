"""One job a file, several files at a time, results in the order of the files."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from penstock.cli.inputs import total_bytes
from penstock.cli.output import Advance, progress

__all__ = ["for_each_file"]

Result = TypeVar("Result")
Job = Callable[[str, Callable[[int], None]], Result]


class _StoppedError(Exception):
    """Nobody waits for the result any more."""


def for_each_file(what: str, job: Job[Result], paths: Sequence[str]) -> Iterator[tuple[str, Future[Result]]]:
    """Run `job(path, tell)` for every file; `tell` is to be called with the bytes of the file read so far.

    Yields:
        Each file with its future, which is done, so that the caller decides what an error means. When the caller
        stops early (also by Ctrl-C), running jobs end at their next `tell`.
    """
    stop = threading.Event()
    with progress(what, total_bytes(paths)) as advance:
        pool = ThreadPoolExecutor(max(1, min(len(paths), os.cpu_count() or 1)), "penstock")
        try:
            waiting = [(path, pool.submit(job, path, _teller(advance, stop))) for path in paths]
            for path, future in waiting:
                future.exception()
                yield path, future
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


def _teller(advance: Advance, stop: threading.Event) -> Callable[[int], None]:
    told = 0

    def tell(done: int) -> None:
        nonlocal told
        if stop.is_set():
            raise _StoppedError
        advance(done - told)
        told = done

    return tell
