"""Rows without those that fail."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from traceback import walk_tb
from types import ModuleType
from typing import Any, ClassVar, Final

from penstock.errors import OtherFileError, PenstockError
from penstock.frozen import frozen
from penstock.graph.node import Node, PlainRows, Rows, State, Step, transform
from penstock.spec import Spec

__all__ = ["IgnoreErrors"]

_LOG: Final = logging.getLogger("penstock")

# As Python says it of every function that is written in Python.
_WRONG_CALL: Final = re.compile(
    r"\) (takes .*positional arguments? but|missing \d+ required (positional|keyword-only) argument"
    r"|got an unexpected keyword argument|got multiple values for argument)"
)


def _is_of_more_than_a_row(error: PenstockError) -> bool:
    """Whether it is about more than one row: a function asks for a name that there is not, of itself or of a module, or
    calls with wrong arguments; or the files of a run that goes on are others.
    """
    cause = error.__cause__
    if isinstance(error, OtherFileError) or isinstance(cause, OtherFileError):
        return True
    if isinstance(cause, TypeError):  # raised in a function of yours it may be about one row
        modules = [str(frame.f_globals.get("__name__")) for frame, _ in walk_tb(cause.__traceback__)]
        is_our_call = all(name.startswith("penstock.") for name in modules[-1:])
        return is_our_call and _WRONG_CALL.search(str(cause)) is not None
    if isinstance(cause, AttributeError):
        return isinstance(cause.obj, ModuleType)
    return isinstance(cause, NameError | ImportError) and not isinstance(cause, UnboundLocalError)


@transform("ignore_errors")
@frozen
class IgnoreErrors(Node):
    """The rows that could be made; those in whose place an error comes are left out.

    Errors of your functions and of the data are left out. Those of the system, such as a disk that fails, are not, nor
    is the word that a file is another than when the state was taken with which a run goes on. Nor are names that do
    not exist, and calls with another number of arguments than a function takes, for which every row would fail.

    Args:
        log_warning: Tell each error as a warning of the logger "penstock".

    >>> import penstock as ps
    >>> rows = ps.Dataset.range(4).batch(2).concatenate(ps.Dataset.range(3).batch(3)).batch(2)
    >>> [batch.tolist() for batch in rows.ignore_errors()]
    [[[0, 1], [2, 3]], [[0, 1, 2]]]
    """

    by_itself: ClassVar[bool] = True
    changes_no_row: ClassVar[frozenset[str]] = frozenset({"log_warning"})
    log_warning: bool = False

    def spec(self, rows: Spec) -> Spec:  # type: ignore[override]
        return rows

    def step(self, state: State, rows: Rows) -> Step:
        try:
            return state, rows.pull()
        except PenstockError as error:
            if _is_of_more_than_a_row(error):
                raise
            if self.log_warning:
                _LOG.warning("ignore_errors: a row is left out: %s", error)
            return state, None

    def plain(self, rows: PlainRows) -> Iterator[Any]:  # type: ignore[override]
        while True:
            try:
                yield next(rows)
            except StopIteration:
                return
            except PenstockError as error:
                if _is_of_more_than_a_row(error):
                    raise

    @classmethod
    def examples(cls) -> list[Node]:
        return [cls(), cls(log_warning=True)]
