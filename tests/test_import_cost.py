"""`import penstock` brings NumPy and penstock, and nothing that can wait."""

import subprocess
import sys

LATE = {"click", "rich", "pyarrow", "pandas", "polars", "PIL", "tensorflow", "torch", "asyncio", "unittest"}
LATE |= {"email", "zipfile"}


def modules_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_importing_penstock_imports_nothing_that_can_wait():
    added = modules_after("import penstock") - modules_after("import numpy")
    assert not added & LATE
