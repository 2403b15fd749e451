"""`Plan.of_pass`: any pass over shuffled rows, in whichever process."""

import json
from itertools import islice

import pytest

import penstock as ps


def of_pass(ds, number):
    return list(map(int, ps.Dataset(ds.plan.of_pass(number))))


DATASETS = {
    "shuffled": lambda: ps.Dataset.range(9).shuffle(9, seed=1),
    "repeated": lambda: ps.Dataset.range(9).shuffle(4, seed=1).repeat(3),
    "twice": lambda: ps.Dataset.range(9).shuffle(9, seed=1).repeat(2).shuffle(5, seed=2),
}


@pytest.mark.parametrize("name", DATASETS)
def test_a_pass_by_its_number_is_the_one_that_iterating_comes_to(name):
    ds = DATASETS[name]()
    passes = [list(map(int, ds)) for _ in range(3)]
    assert [of_pass(ds, number) for number in (2, 0, 1)] == [passes[2], passes[0], passes[1]]


def test_a_plan_used_twice_has_both_passes():
    shuffled = ps.Dataset.range(5).shuffle(5, seed=1)
    ds = ps.Dataset.zip((shuffled, shuffled))
    passes = [list(ds) for _ in range(2)]
    assert [list(ps.Dataset(ds.plan.of_pass(number))) for number in (1, 0)] == passes[::-1]


def test_rows_that_are_not_shuffled_have_one_order():
    plan = ps.Dataset.range(3).plan
    assert plan.of_pass(7) is plan


def shuffled(n=10):
    return ps.Dataset.range(n).shuffle(5, seed=1).repeat(3)


CUT = {
    "repeated": shuffled,
    "in a buffer": lambda: shuffled().shuffle(12, seed=2),
    "endless": lambda: ps.Dataset.range(10).shuffle(5, seed=1).repeat().shuffle(12, seed=3),
    "apart": lambda: shuffled().filter(lambda x: x > 1),
}
AHEAD = {
    "prefetch": lambda ds: ds.prefetch(2),
    "far": lambda ds: ds.prefetch(8),
    "twice": lambda ds: ds.prefetch(1).map(lambda x: x + 0).prefetch(3),
    "parallel": lambda ds: ds.map(lambda x: int(str(x)), num_parallel_calls=3),
    "found out": lambda ds: ds.map(lambda x: int(str(x)), num_parallel_calls=-1).prefetch(-1),
}


def taken(ds, n=4):
    return [list(map(int, ds)) for _ in range(n)]


@pytest.mark.parametrize("ahead", AHEAD)
@pytest.mark.parametrize("name", CUT)
def test_passes_after_one_that_is_cut_begin_where_its_rows_ended_however_far_was_read_ahead(name, ahead):
    build = CUT[name]
    for most in (9, 15):
        want = taken(build().take(most))
        assert taken(AHEAD[ahead](build()).take(most)) == want
        assert len(set(map(tuple, want))) == 4


@pytest.mark.parametrize("name", CUT)
def test_passes_after_one_that_was_gone_on_with_are_those_of_a_run_that_never_stopped(name):
    def build():
        return CUT[name]().prefetch(2).take(9).repeat(2)

    want = taken(build())
    for cut in range(19):
        first = iter(build())
        list(islice(first, cut))
        ds = build()
        again = iter(ds)
        again.set_state(json.loads(json.dumps(first.get_state())))
        assert [list(map(int, again)), *taken(ds, 3)] == [want[0][cut:], *want[1:]]
