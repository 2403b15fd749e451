"""The calls of random pipelines, by the kind of the rows that they take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from penstock.frozen import frozen
from penstock.testing.pipeline_sources import Kind

__all__ = ["CALLS", "Call", "Draw", "Named", "anything"]


class Named(NamedTuple):
    """A row with names, and with a part that holds no value."""

    first: Any
    rest: Any


@frozen
class Call:
    """A call on a dataset: its text, the kind of rows after it (None: as before), and how it is made.

    Attributes:
        build: (class of datasets, dataset) -> dataset.
    """

    text: str
    kind: Kind | None
    build: Callable[[Any, Any], Any]


Draw: TypeAlias = Callable[[Random], Call]


def _call(text: str, build: Callable[[Any], Any], kind: Kind | None = None) -> Call:
    return Call(f".{text}", kind, lambda _, rows: build(rows))


def anything(random: Random) -> Call:
    """A call that takes rows of any kind and leaves them as they are."""
    n, seed = random.choice([1, 2, 3, 5, 30]), random.randrange(100)
    again = random.random() < 0.5
    text = f"shuffle({n}, seed={seed}, reshuffle_each_iteration={again})"
    shuffled = _call(text, lambda rows: rows.shuffle(n, seed=seed, reshuffle_each_iteration=again))
    return random.choice(
        [
            shuffled,
            shuffled,
            _call(f"take({n})", lambda rows: rows.take(n)),
            _call(f"skip({n})", lambda rows: rows.skip(n)),
            _call(f"shard({n}, {n // 2})", lambda rows: rows.shard(n, n // 2)),
            _call(f"repeat({n % 4})", lambda rows: rows.repeat(n % 4)),
            _call(f"repeat().take({2 * n})", lambda rows: rows.repeat().take(2 * n)),
            _call(f"prefetch({n})", lambda rows: rows.prefetch(n)),
            _call("cache()", lambda rows: rows.cache()),
            _call("ignore_errors()", lambda rows: rows.ignore_errors()),
            _call(f"concatenate(itself.take({n}))", lambda rows: rows.concatenate(rows.take(n))),
            _call(f"concatenate(itself.skip({n}))", lambda rows: rows.concatenate(rows.skip(n))),
        ]
    )


# --- numbers ---


def _hailstone(x: Any) -> Any:
    # A branch on data: it cannot be traced, and runs row by row.
    if x % 2 == 0:
        return x // 2
    return x * 3 + 1


def _map_numbers(random: Random) -> Call:
    n, threads = random.choice([1, 2, 3, 5]), random.choice([None, None, 3])
    of = f", num_parallel_calls={threads})"
    functions: list[tuple[str, Callable[[Any], Any], Kind | None]] = [
        (f"x * {n} + 1", lambda x: x * n + 1, None),
        ("x % 7 if even else ...", _hailstone, None),
        ("(x, x % 7)", lambda x: (x, x % 7), Kind.PAIR),
        (f"dict(a=x, b=x - {n})", lambda x: {"a": x, "b": x - n}, Kind.DICT),
        (f"Named(x, (x * {n}, None))", lambda x: Named(x, (x * n, None)), Kind.NAMED),
    ]
    text, function, kind = random.choice(functions)
    return _call(f"map({text}{of}", lambda rows: rows.map(function, num_parallel_calls=threads), kind)


def _drop_numbers(random: Random) -> Call:
    n = random.choice([1, 2, 3, 5])
    return random.choice(
        [
            _call(f"filter(x % {n} != 1)", lambda rows: rows.filter(lambda x: x % n != 1)),
            _call(f"take_while(x < {n * 5})", lambda rows: rows.take_while(lambda x: x < n * 5)),
            _call("unique()", lambda rows: rows.unique()),
            _call(f"map(x % {n}).unique()", lambda rows: rows.map(lambda x: x % n).unique()),
        ]
    )


def _batch_numbers(random: Random) -> Call:
    n, drop = random.choice([1, 2, 3, 5]), random.random() < 0.5
    return random.choice(
        [
            _call(
                f"batch({n}, drop_remainder={drop})",
                lambda rows: rows.batch(n, drop_remainder=drop),
                Kind.LIST,
            ),
            _call(
                f"window({n + 1}, shift={n}, drop_remainder={drop}).flat_map(batch)",
                lambda rows: rows.window(n + 1, shift=n, drop_remainder=drop).flat_map(lambda w: w.batch(n)),
                Kind.LIST,
            ),
            _call(
                f"window(4, {n}, stride=2).flat_map(skip)",
                lambda rows: rows.window(4, shift=n, stride=2).flat_map(lambda w: w.skip(1)),
            ),
            _call(
                f"group_by_window(x % 3, batch, {n})",
                lambda rows: rows.group_by_window(
                    lambda x: x % 3, lambda _, w: w.batch(n + 1), window_size=n
                ),
                Kind.LIST,
            ),
        ]
    )


def _state_numbers(random: Random) -> Call:
    n = random.choice([1, 2, 3])
    return random.choice(
        [
            _call("scan(sum)", lambda rows: rows.scan(np.int64(0), lambda total, x: (total + x, total + x))),
            _call(f"enumerate({n})", lambda rows: rows.enumerate(n), Kind.PAIR),
            Call(
                f".zip(itself.skip({n}))",
                Kind.PAIR,
                lambda dataset, rows: dataset.zip((rows, rows.skip(n))),
            ),
            Call(
                f".zip(a=itself, b=itself.take({3 * n}))",
                Kind.DICT,
                lambda dataset, rows: dataset.zip({"a": rows, "b": rows.take(3 * n)}),
            ),
        ]
    )


def _branch_numbers(random: Random) -> Call:
    """Every number becomes a dataset of up to three numbers."""
    n, cycle, threads = random.choice([1, 2, 3]), random.choice([1, 2, 3]), random.choice([None, 1])

    def branch(dataset: Any) -> Callable[[Any], Any]:
        return lambda x: dataset.range(x % 4).map(lambda y: y + x)

    arguments = {"cycle_length": cycle, "block_length": n, "num_parallel_calls": threads}
    return random.choice(
        [
            Call(".flat_map(range(x % 4) + x)", None, lambda dataset, rows: rows.flat_map(branch(dataset))),
            Call(
                f".interleave(range(x % 4) + x, {arguments})",
                None,
                lambda dataset, rows: rows.interleave(branch(dataset), **arguments),
            ),
        ]
    )


_WEIGHTS: Final = np.array([[0.5, 0.5], [0.0, 1.0], [0.9, 0.2]], np.float32)


def _mix_numbers(random: Random) -> Call:
    """The numbers and those after the first n, in an order drawn by chance or by a choice that is a dataset."""
    n, seed, stop = random.choice([1, 2, 3]), random.randrange(100), random.random() < 0.5
    again = f"stop_on_empty_dataset={stop})"
    return random.choice(
        [
            Call(
                f".sample_from_datasets(itself, itself.skip({n}), seed={seed}, {again}",
                None,
                lambda dataset, rows: dataset.sample_from_datasets(
                    [rows, rows.skip(n)], weights=[0.7, 0.3], seed=seed, stop_on_empty_dataset=stop
                ),
            ),
            Call(
                f".sample_from_datasets(itself, itself.skip({n}), weights that change, seed={seed}, {again}",
                None,
                lambda dataset, rows: dataset.sample_from_datasets(
                    [rows, rows.skip(n)],
                    weights=dataset.from_tensor_slices(_WEIGHTS).repeat(),
                    seed=seed,
                    stop_on_empty_dataset=stop,
                ),
            ),
            Call(
                f".choose_from_datasets(itself, itself.skip({n}), in turn, {again}",
                None,
                lambda dataset, rows: dataset.choose_from_datasets(
                    [rows, rows.skip(n)], dataset.range(30).map(lambda i: i % 2), stop_on_empty_dataset=stop
                ),
            ),
        ]
    )


# --- pairs, dicts and deeper ---


def _of_pairs(random: Random) -> Call:
    n = random.choice([2, 3, 5])
    return random.choice(
        [
            _call("map(i + x)", lambda rows: rows.map(lambda i, x: i + x), Kind.NUMBER),
            _call("map((x, i))", lambda rows: rows.map(lambda i, x: (x, i))),
            _call(f"filter(i % {n} == 0)", lambda rows: rows.filter(lambda i, _: i % n == 0)),
            _call("map(dict)", lambda rows: rows.map(lambda i, x: {"a": i, "b": x}), Kind.DICT),
            _call(f"batch({n}).unbatch()", lambda rows: rows.batch(n).unbatch()),
            _call(f"take_while(i < {3 * n})", lambda rows: rows.take_while(lambda i, _: i < 3 * n)),
            Call(
                f".window({n}, shift=2).flat_map(zip)",
                None,
                lambda dataset, rows: rows.window(n, shift=2).flat_map(
                    lambda i, x: dataset.zip((i, x.skip(1)))
                ),
            ),
            _call(
                f"group_by_window(x % 2, skip, {n})",
                lambda rows: rows.group_by_window(lambda _, x: x % 2, lambda _, w: w.skip(1), window_size=n),
            ),
        ]
    )


def _of_dicts(random: Random) -> Call:
    n = random.choice([2, 3, 5])
    return random.choice(
        [
            _call("map(a + b)", lambda rows: rows.map(lambda row: row["a"] + row["b"]), Kind.NUMBER),
            _call("map((b, a))", lambda rows: rows.map(lambda row: (row["b"], row["a"])), Kind.PAIR),
            _call(f"filter(a % {n} != 0)", lambda rows: rows.filter(lambda row: row["a"] % n != 0)),
            _call("map(dict)", lambda rows: rows.map(lambda row: {"b": row["b"] - 1, "a": row["a"] * 3})),
            _call(f"batch({n}).unbatch()", lambda rows: rows.batch(n).unbatch()),
            Call(
                f".window({n}).flat_map(zip)",
                None,
                lambda dataset, rows: rows.window(n).flat_map(
                    lambda w: dataset.zip({"a": w["a"], "b": w["b"]})
                ),
            ),
        ]
    )


def _of_nested(random: Random) -> Call:
    n = random.choice([2, 3, 5])
    return random.choice(
        [
            _call("map(n)", lambda rows: rows.map(lambda row: row["n"]), Kind.NUMBER),
            _call("map(vector)", lambda rows: rows.map(lambda row: row["in"][0] * 0.5), Kind.VECTOR),
            _call("map(text)", lambda rows: rows.map(lambda row: row["in"][1]), Kind.TEXT),
            _call(
                "map(n + 1)",
                lambda rows: rows.map(lambda row: {"n": row["n"] + 1, "in": (row["in"][0], row["in"][1])}),
            ),
            _call(f"filter(n % {n} != 1)", lambda rows: rows.filter(lambda row: row["n"] % n != 1)),
            _call(f"batch({n}).unbatch()", lambda rows: rows.batch(n).unbatch()),
            _call(f"padded_batch({n}).unbatch()", lambda rows: rows.padded_batch(n).unbatch()),
        ]
    )


def _of_named(random: Random) -> Call:
    n = random.choice([2, 3, 5])
    return random.choice(
        [
            _call("map(first)", lambda rows: rows.map(lambda row: row.first), Kind.NUMBER),
            _call(
                "map(swapped)",
                lambda rows: rows.map(lambda row: Named(row.rest[0] + 1, (row.first, row.rest[1]))),
            ),
            _call(f"filter(first % {n} != 0)", lambda rows: rows.filter(lambda row: row.first % n != 0)),
            _call(f"batch({n}).unbatch()", lambda rows: rows.batch(n).unbatch()),
        ]
    )


# --- lists, vectors, strings ---


def _of_lists(random: Random) -> Call:
    n = random.choice([1, 2, 4])
    return random.choice(
        [
            _call("unbatch()", lambda rows: rows.unbatch(), Kind.NUMBER),
            _call("map(x * 2)", lambda rows: rows.map(lambda x: x * 2)),
            _call("map(x[0])", lambda rows: rows.map(lambda x: x[0]), Kind.NUMBER),
            _call(f"filter(x[-1] % {n} == 0)", lambda rows: rows.filter(lambda x: x[-1] % n == 0)),
            _call(f"padded_batch({n}).unbatch()", lambda rows: rows.padded_batch(n).unbatch()),
            _call(f"rebatch({n})", lambda rows: rows.rebatch(n)),
            _call(f"rebatch([{n}, 3], True)", lambda rows: rows.rebatch([n, 3], drop_remainder=True)),
            _call("unbatch().enumerate()", lambda rows: rows.unbatch().enumerate(), Kind.PAIR),
            _call("unique()", lambda rows: rows.unique()),
            _call(
                f"sparse_batch({n}, [40])",
                lambda rows: rows.map(lambda x: x[:40]).map(_growing).sparse_batch(n, [40]),
                Kind.SPARSE,
            ),
            _call(f"ragged_batch({n})", lambda rows: rows.map(_growing).ragged_batch(n), Kind.RAGGED),
        ]
    )


def _growing(x: Any) -> Any:
    # Numbers from an index that depends on the row: lists of different lengths, in tf.data too.
    return x[x[0] % 2 :]


def _of_ragged(random: Random) -> Call:
    n = random.choice([1, 2, 4])
    return random.choice([_call("enumerate().map(x)", lambda rows: rows.enumerate(n).map(lambda _, x: x))])


def _of_sparse(random: Random) -> Call:
    n = random.choice([1, 2, 4])
    return random.choice(
        [
            _call("enumerate().map(x)", lambda rows: rows.enumerate(n).map(lambda _, x: x)),
            _call(f"window({n}).flat_map(skip)", lambda rows: rows.window(n).flat_map(lambda w: w.skip(1))),
        ]
    )


def _of_vectors(random: Random) -> Call:
    n = random.choice([1, 2, 4])
    return random.choice(
        [
            _call("map(x * 2 - 1)", lambda rows: rows.map(lambda x: x * 2 - 1)),
            _call("filter(x[0] > x[1] / 2)", lambda rows: rows.filter(lambda x: x[0] > x[1] / 2)),
            _call("map(x / 3)", lambda rows: rows.map(lambda x: x / 3, num_parallel_calls=3)),
            _call(f"batch({n}).unbatch()", lambda rows: rows.batch(n, drop_remainder=True).unbatch()),
            _call(f"batch({n}).rebatch(3).unbatch()", lambda rows: rows.batch(n).rebatch(3).unbatch()),
        ]
    )


def _of_texts(random: Random) -> Call:
    n = random.choice([2, 3, 5])
    return random.choice(
        [
            _call("unique()", lambda rows: rows.unique()),
            _call("enumerate().map(i)", lambda rows: rows.enumerate().map(lambda i, _: i), Kind.NUMBER),
            _call(
                f"enumerate().filter(i % {n} != 0).map(x)",
                lambda rows: rows.enumerate().filter(lambda i, _: i % n != 0).map(lambda _, x: x),
            ),
            _call(f"batch({n}).unbatch()", lambda rows: rows.batch(n).unbatch()),
            _call(f"window({n}, 1).flat_map(w)", lambda rows: rows.window(n, shift=1).flat_map(lambda w: w)),
        ]
    )


def _of_sized(random: Random) -> Call:
    n, drop = random.choice([1, 2, 3]), random.random() < 0.5
    return random.choice(
        [
            _call("map(x)", lambda rows: rows.map(lambda _, x: x), Kind.NUMBER),
            _call("map(size * 2)", lambda rows: rows.map(lambda s, x: (s * 2, x + 1))),
            _call(
                f"bucket_by_sequence_length([2, 5], [{n}, 2, 3], drop_remainder={drop}).unbatch()",
                lambda rows: rows.bucket_by_sequence_length(
                    lambda s, _: s, [2, 5], [n, 2, 3], drop_remainder=drop
                ).unbatch(),
            ),
        ]
    )


CALLS: Final[Mapping[Kind, tuple[Draw, ...]]] = {
    Kind.NUMBER: (
        _map_numbers,
        _map_numbers,
        _drop_numbers,
        _batch_numbers,
        _state_numbers,
        _branch_numbers,
        _mix_numbers,
    ),
    Kind.PAIR: (_of_pairs,),
    Kind.LIST: (_of_lists,),
    Kind.DICT: (_of_dicts,),
    Kind.NESTED: (_of_nested,),
    Kind.VECTOR: (_of_vectors,),
    Kind.TEXT: (_of_texts,),
    Kind.RAGGED: (_of_ragged,),
    Kind.NAMED: (_of_named,),
    Kind.SPARSE: (_of_sparse,),
    Kind.SIZED: (_of_sized,),
}
