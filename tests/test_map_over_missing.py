"""map over rows some of whose values are missing: what is passed on may be missing in the results too."""

import numpy as np
import pytest

import penstock as ps
from penstock.errors import FunctionError
from penstock.testing.laws import same

SOME, NAME = ps.TensorSpec((), np.int64, optional=True), ps.TensorSpec((), ps.text, optional=True)
ROWS = [
    {"a": 1, "b": None, "c": 1.5},
    {"a": None, "b": "x", "c": 2.5},
    {"a": 3, "b": "y", "c": 3.5},
]


def table(rows=ROWS):
    spec = {"a": SOME, "b": NAME, "c": ps.TensorSpec((), np.float64)}
    return ps.Dataset.from_generator(lambda: iter(rows), output_signature=spec)


def plainly(x):
    return x if x > 0 else -x


def test_a_copy_of_the_row_is_traced_and_keeps_what_is_missing():
    ds = table().map(lambda row: {**row, "c": row["c"] * 2})
    assert "traced" in ds.explain()
    assert ds.element_spec == {
        "a": SOME,
        "b": ps.TensorSpec((), ps.string, optional=True),
        "c": ps.TensorSpec((), np.float64),
    }
    assert same(
        list(ds)[:2],
        [{"a": np.int64(1), "b": None, "c": np.float64(3)}, {"a": None, "b": b"x", "c": np.float64(5)}],
    )


@pytest.mark.parametrize("first", [0, 1])
def test_a_function_that_runs_row_by_row_passes_on_what_is_missing_whichever_row_comes_first(first):
    ds = table(ROWS[first:]).map(lambda row: {"c": plainly(row["c"]), "b": row["b"], "a": row["a"]})
    assert "row by row" in ds.explain()
    assert ds.element_spec["a"] == SOME
    assert ds.element_spec["b"] == ps.TensorSpec((), ps.string, optional=True)
    assert [(row["a"], row["b"]) for row in ds] == [(1, None), (None, b"x"), (3, b"y")][first:]


def test_what_is_passed_on_in_a_tuple_may_be_missing_too():
    ds = table().map(lambda row: (row["a"], row["c"])).map(lambda a, c: (c, a))
    assert ds.element_spec == (ps.TensorSpec((), np.float64), SOME)
    assert [a for _, a in ds] == [1, None, 3]


def test_what_a_function_puts_in_place_of_missing_values_is_there_in_every_row():
    ds = table().map(lambda row: np.int64(0) if row["a"] is None else row["a"] + 1)
    assert ds.element_spec == ps.TensorSpec((), np.int64)
    assert list(ds) == [2, 0, 4]


def test_a_first_row_that_lacks_one_value_tells_which_it_is():
    row, *rest = table(ROWS[1:]).map(lambda row: (row["c"], row["a"]))
    assert same(row, (np.float64(2.5), None))
    assert same(rest, [(np.float64(3.5), np.int64(3))])


def test_none_that_a_function_makes_of_values_names_the_way_out():
    def doubled(row):
        return None if row["a"] is None else row["a"] * 2

    with pytest.raises(FunctionError, match=r"found None.*output_signature=.*optional=True"):
        list(table().map(doubled))
    assert list(table().map(doubled, output_signature=SOME)) == [2, None, 6]


@pytest.mark.parametrize("stop", range(4))
def test_they_come_by_a_state_as_without(stop):
    ds = table().map(lambda row: {"a": row["a"], "c": plainly(row["c"])})
    rows = iter(ds)
    for _ in range(stop):
        next(rows)
    again = iter(ds)
    again.set_state(rows.get_state())
    assert same(list(again), list(ds)[stop:])


def test_workers_pass_on_what_is_missing():
    ds = table().map(lambda row: {"a": row["a"], "c": plainly(row["c"])}, 2, workers="process")
    assert [row["a"] for row in ds] == [1, None, 3]


def test_text_that_a_trace_passes_on_is_its_utf8_as_where_the_function_is_called():
    rows = ps.Dataset.from_pandas(pd_frame())
    traced = rows.map(lambda row: {"t": row["t"], "n": row["n"] + 1})
    plain = rows.map(lambda row: {"t": row["t"], "n": plainly(row["n"]) + 1})
    assert "traced" in traced.explain()
    assert traced.element_spec == plain.element_spec
    assert same(list(traced), list(plain))
    assert next(iter(traced))["t"] == "é".encode()


def pd_frame():
    pd = pytest.importorskip("pandas")
    return pd.DataFrame({"t": ["é", "b"], "n": [1, 2]})


def test_a_function_that_differs_from_its_trace_passes_on_what_is_missing():
    calls = []

    def counted(row):
        calls.append(0)
        return {**row, "c": row["c"] + len(calls)}

    ds = table().map(counted)
    assert [row["a"] for row in ds] == [1, None, 3]
    assert "row by row" in ds.explain()


def test_a_first_row_that_lacks_several_values_tells_which_they_are():
    rows = [{"a": None, "b": None, "c": 0.5}, *ROWS]
    ds = table(rows).map(lambda row: (row["b"], row["c"], row["a"]))
    assert ds.element_spec[2] == SOME
    assert [(b, a) for b, _, a in ds] == [(None, None), (None, 1), (b"x", None), (b"y", 3)]


def test_scan_passes_on_what_is_missing():
    ds = table().scan(np.int64(0), lambda n, row: (n + 1, (n, row["a"])))
    assert ds.element_spec == (ps.TensorSpec((), np.int64), SOME)
    assert [a for _, a in ds] == [1, None, 3]


def test_what_is_passed_on_unless_it_is_missing_is_there_in_every_row():
    ds = table().map(lambda row: (row["a"] if row["a"] is not None else np.int64(0), row["b"]))
    assert ds.element_spec[0] == ps.TensorSpec((), np.int64)
    assert [a for a, _ in ds] == [1, 0, 3]


def test_a_function_that_wants_what_is_missing_passes_it_on_where_it_is_there():
    ds = table(ROWS[:1] * 3).map(lambda row: {"a": row["a"], "double": int(row["a"]) * 2})
    assert ds.element_spec["a"] == SOME
    assert [row["double"] for row in ds] == [2, 2, 2]
