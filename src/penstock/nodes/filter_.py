"""Rows for which a function holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from penstock.column.base import BoolArray
from penstock.column.chunk import Chunk
from penstock.column.fixed import FixedColumn
from penstock.errors import ArgumentTypeError, InvalidArgumentError
from penstock.graph.node import END, Failing, Function, Node, PlainRows, Rows, State, Step, transform
from penstock.graph.plan import Plan
from penstock.nodes.calls import HOW, Calls, CallsBySpec, function_error, pulled
from penstock.spec import Spec, TensorSpec
from penstock.trace import Trace, call

__all__ = ["Filter", "Predicate"]

_BOOL = Spec(TensorSpec((), np.bool_))


@dataclass
class Predicate(Calls):
    """A function that says yes or no to every row."""

    @property
    def is_traced(self) -> bool:
        return isinstance(self.traced, Trace) and self.traced.spec == _BOOL

    @property
    def is_settled(self) -> bool:
        return self._is_checked or not self.is_traced

    def answers(self, chunk: Chunk, first: int) -> tuple[BoolArray, list[tuple[int, Exception]]]:
        """Yes or no for every row, no for rows that failed; and the errors of those, with their places."""
        if self.is_traced:
            made = self.over(chunk, first)
            if isinstance(made, Chunk) and isinstance(column := made.columns[0], FixedColumn):
                return column.values, []
        results, errors = self.called(chunk, first)
        if not errors and set(map(type, results)) <= {bool, np.bool_}:
            return np.array(results, np.bool_), []
        answers = np.zeros(len(chunk), np.bool_)
        failed = dict(errors)
        places = [place for place in range(len(chunk)) if place not in failed]
        for place, result in zip(places, results, strict=True):
            if _is_answer(result):
                answers[place] = result
            else:
                failed[place] = function_error(no_answer(self.where, result), self.where, first + place)
        return answers, sorted(failed.items())


def _is_answer(result: Any) -> bool:
    return isinstance(result, bool | np.bool_) or (
        isinstance(result, np.ndarray) and result.shape == () and result.dtype == np.bool_
    )


def no_answer(where: str, result: Any) -> Exception:
    """The error for a predicate that returned something else than a bool."""
    return InvalidArgumentError(
        f"Invalid `predicate`. {where} wants a function that returns a scalar bool, found {type(result).__name__} "
        f"{str(result)[:60]!r}."
    )


@transform("filter")
@dataclass(frozen=True)
class Filter(Node):
    """The rows for which a function returns True, in order.

    Args:
        predicate: Takes a row (a tuple as several arguments) and returns a scalar bool. Traced as in `map`.

    Raises:
        ArgumentTypeError: `predicate` is no function.
        FunctionError: As rows are taken: it failed on a row, or returned something else; names the row. The iterator
            can go on after it.

    >>> import penstock as ps
    >>> list(ps.Dataset.range(6).filter(lambda x: x % 3 == 0))
    [np.int64(0), np.int64(3)]
    """

    by_itself: ClassVar[bool] = True
    predicate: Callable[..., Any]
    _calls: CallsBySpec[Predicate] = field(default_factory=CallsBySpec, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not callable(self.predicate):
            raise ArgumentTypeError("filter", "predicate", got=self.predicate, want="a function")

    def calls(self, rows: Spec) -> Predicate:
        """The predicate over rows of a spec; traced once."""
        return self._calls.of(rows, lambda: Predicate("filter", self.predicate, rows))

    def spec(self, rows: Spec) -> Spec:  # type: ignore[override]
        return rows

    def functions(self, rows: Spec) -> Mapping[str, Function]:  # type: ignore[override]
        return {"predicate": self.calls(rows)}

    def how(self, rows: Spec) -> str:  # type: ignore[override]
        return self.calls(rows).how()

    def step(self, state: State, rows: Rows) -> Step:
        found = pulled(self.calls, rows)
        if found is END:
            return state, END
        calls, chunk = found
        first = rows.position - len(chunk)
        calls.settle(state, Plan(self, (rows.plan,)))
        if not calls.is_settled:  # later steps wait for these rows
            _, made = _work(calls, None, chunk, first, calls.pace(rows))
            return calls.state, made
        return calls.state, partial(_work, calls, calls.state, chunk, first, calls.pace(rows))

    def knows(self, state: State) -> bool:
        return state in HOW

    def plain(self, rows: PlainRows) -> Iterator[Any]:  # type: ignore[override]
        for i, row in enumerate(rows):
            try:
                answer = call(self.predicate, row)
            except Exception as error:
                raise function_error(error, "filter", i) from error
            if answer:
                yield row

    def sample(self, rows: PlainRows) -> Iterator[Any]:  # type: ignore[override]
        return rows

    @classmethod
    def examples(cls) -> list[Node]:
        return [cls(_is_even), cls(_is_there), cls(_is_large)]


def _work(
    calls: Predicate, state: State, chunk: Chunk, first: int, pace: dict[str, int]
) -> tuple[State, Chunk | Failing]:
    answers, errors = calls.timed(lambda: calls.answers(chunk, first), len(chunk), pace)
    kept = np.flatnonzero(answers)
    rows = chunk if len(kept) == len(chunk) else chunk.gather(kept)
    if not errors:
        return state, rows
    # A row that failed counts among those that passed before it.
    before = np.searchsorted(kept, [place for place, _ in errors]).tolist()
    return state, Failing(
        rows, [(i + n, error) for i, (n, (_, error)) in enumerate(zip(before, errors, strict=True))]
    )


def _is_even(row: dict[str, Any]) -> Any:
    return row["number"] % 2 == 0


def _is_there(row: dict[str, Any]) -> bool:
    return row["text"] is not None


def _is_large(row: dict[str, Any]) -> Any:
    return row["number"] > 4
