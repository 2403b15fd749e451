"""When a thread that makes things ahead is worth it."""

import pytest

from penstock.run.overlap import Overlap

LONG, SHORT = 0.01, 0.00001


@pytest.mark.parametrize(
    ("times", "is_worth_it"),
    [
        ([(LONG, LONG)], False),
        ([(LONG, LONG), (LONG, LONG)], True),
        ([(LONG, LONG), (LONG, SHORT), (LONG, LONG)], False),
        ([(LONG, SHORT)] * 9, False),
        ([(SHORT, LONG)] * 9, False),
        ([(LONG, SHORT), *[(SHORT, LONG)] * 9], True),
        ([(LONG, LONG), (LONG, LONG), *[(SHORT, SHORT)] * 9], True),
    ],
    ids=["one", "two", "a pause", "nothing done", "nothing made", "cut from one chunk", "stays"],
)
def test_a_thread_is_worth_it_where_making_and_using_both_take_time(times, is_worth_it):
    overlap = Overlap()
    for making, using in times:
        overlap.note(making, using)
    assert overlap.is_worth_it == is_worth_it
