"""Threads end before the interpreter: a program may stop anywhere in its rows."""

import subprocess
import sys
import textwrap

import pytest

PIPELINES = {
    "ahead": "ds.map(lambda n: float(n), num_parallel_calls=2).prefetch(2)",
    "nested": "ds.prefetch(2).map(lambda n: float(n), num_parallel_calls=3).batch(2).prefetch(2)",
}


@pytest.mark.parametrize("name", PIPELINES)
def test_a_program_ends_in_the_middle_of_its_rows(name):
    program = f"""
        import time
        import penstock as ps
        ds = ps.Dataset.range(10**9)
        rows = iter({PIPELINES[name]})
        first = next(rows)
        start = time.monotonic()
        import atexit  # registered after all others, so that it runs first
        print(first)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_thread_that_is_only_about_to_begin_is_not_waited_for():
    program = """
        from threading import Thread
        from penstock.run import threads
        threads._RUNNING.add(about_to_begin := Thread(target=print))
        print("ended")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("ended\n", "")
