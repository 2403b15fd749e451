"""`Plan.of_pass`: any pass over shuffled rows, in whichever process."""

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
