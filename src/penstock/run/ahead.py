"""Steps of a source made by a thread before they are asked for.

A chunk travels with the state after it, so that a mark taken between chunks is exact; what was made but
never asked for is simply made again.
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Callable
from threading import Condition, Thread
from typing import TypeAlias

from penstock.graph.node import END, Broken, State, Step

__all__ = ["Ahead"]

_Made: TypeAlias = Step | BaseException


class Ahead:
    """The steps after a state, in order, up to `depth` of them made in advance.

    The thread ends with the steps, or as soon as this object is dropped.
    """

    def __init__(self, step: Callable[[State], Step], state: State, depth: int = 2) -> None:
        self._line = _Line(depth)
        Thread(target=_make, args=(step, state, self._line), name="penstock-ahead", daemon=True).start()
        weakref.finalize(self, _stop, self._line, os.getpid())

    def next(self) -> Step:
        """The next step; raises what it raised. Not to be asked again after END or an error but `Broken`."""
        made = self._line.take()
        if isinstance(made, BaseException):
            raise made
        return made


class _Line:
    """A bounded queue whose waiting maker can be sent home."""

    def __init__(self, depth: int) -> None:
        self._made: deque[_Made] = deque()
        self._depth = depth
        self._changed = Condition()
        self._stopped = False

    def put(self, made: _Made) -> bool:
        """Wait for room; False where nobody wants more."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or len(self._made) < self._depth)
            self._made.append(made)
            self._changed.notify_all()
            return not self._stopped

    def take(self) -> _Made:
        with self._changed:
            self._changed.wait_for(lambda: self._made)
            made = self._made.popleft()
            self._changed.notify_all()
            return made

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()


def _make(step: Callable[[State], Step], state: State, line: _Line) -> None:
    goes_on = True
    while goes_on:
        try:
            state, chunk = step(state)
            goes_on = line.put((state, chunk)) and chunk is not END
        except Broken as broken:
            state = broken.state
            goes_on = line.put(broken)
        except BaseException as error:  # noqa: BLE001  (raised again where the rows are asked for)
            line.put(error)
            return


def _stop(line: _Line, process: int) -> None:
    # In a forked process there is no thread to stop, and its lock may be held for ever.
    if process == os.getpid():
        line.stop()
