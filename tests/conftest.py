"""What every test may use: real files by name, and a Hypothesis that gives the same run twice."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parents[1]

# Derandomized: a failure on one machine is a failure on all. HYPOTHESIS_PROFILE=long searches further.
settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("long", settings.get_profile("steady"), derandomize=False, max_examples=5_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of files written by TensorFlow whose content is known to the byte."""
    return REPOSITORY / "tests" / "golden"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real files; the test is skipped where they are not beside the repository."""
    folder = Path(os.environ.get("PENSTOCK_SHARED_DATA", REPOSITORY.parent / "shared" / "data"))
    if not (folder / "EXPECTED.json").is_file():
        pytest.skip(f"no real files in {folder}; set PENSTOCK_SHARED_DATA")
    return folder
