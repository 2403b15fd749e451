"""What a cache and a save that goes on take a pipeline for: the code that its functions reach, wherever it stands."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import penstock as ps
from penstock.graph.content import content_digest

LIBRARY = """
FACTOR = 2
def prep(x): return x * 2
class Prep:
    factor = 2
    @staticmethod
    def go(x): return x * 2
    def run(self, x): return x * self.factor
class Inner(Prep):
    pass
prepare = Inner()
"""


@pytest.fixture
def utils(tmp_path: Path) -> Iterator[ModuleType]:
    module = ModuleType("users_utils")
    module.__file__ = str(tmp_path / "users_utils.py")
    sys.modules["users_utils"] = module
    exec(LIBRARY, module.__dict__)
    yield module
    del sys.modules["users_utils"]


def digest(utils: ModuleType, code: str) -> str:
    function: Any = eval(f"lambda x: {code}", {"utils": utils, "Prep": utils.Prep, "prepare": utils.prepare})
    return content_digest(ps.Dataset.range(3).map(function).plan)


@pytest.mark.parametrize(
    ("code", "old", "new"),
    [
        ("utils.prep(x)", "def prep(x): return x * 2", "def prep(x): return x * 3"),
        ("x * utils.FACTOR", "FACTOR = 2", "FACTOR = 3"),
        ("Prep.go(x)", "def go(x): return x * 2", "def go(x): return x * 3"),
        ("utils.Prep.go(x)", "def go(x): return x * 2", "def go(x): return x * 3"),
        ("prepare.run(x)", "return x * self.factor", "return 1 + x * self.factor"),
        ("prepare.run(x)", "factor = 2\n    @", "factor = 3\n    @"),
    ],
)
def test_code_that_is_reached_by_a_name_counts(code: str, old: str, new: str, utils: ModuleType):
    before = digest(utils, code)
    assert digest(utils, code) == before
    assert old in LIBRARY
    exec(LIBRARY.replace(old, new), utils.__dict__)
    assert digest(utils, code) != before
