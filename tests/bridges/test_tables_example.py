"""The example that trains from a Hugging Face stream is as if nobody had killed it."""

from __future__ import annotations

PROGRAM = "resume_huggingface.py"  # USE_TORCH: Hugging Face would import it, which takes seconds


def test_a_killed_run_goes_on_with_the_rows_and_losses_that_were_due(run_example, tmp_path):
    whole = run_example(PROGRAM, tmp_path / "whole", USE_TORCH="0")
    assert len(whole) > 100
    killed = run_example(PROGRAM, tmp_path / "killed", kill_at=47, USE_TORCH="0")
    last = run_example(PROGRAM, tmp_path / "killed", USE_TORCH="0")

    # Steps after the latest save come once more, with the same rows and losses.
    for lines in (killed, last):
        first = int(lines[0].split()[1]) - 1
        assert first % 20 == 0
        assert lines == whole[first : first + len(lines)]
    assert last[-1] == whole[-1]
    assert last[-1].startswith("done after")
