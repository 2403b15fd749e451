"""The example that trains with PyTorch: killed in mid-epoch and started again, it is as if nobody had killed it."""

from __future__ import annotations


def test_a_killed_run_goes_on_with_the_rows_and_losses_that_were_due(run_example, tmp_path):
    whole = run_example("resume_torch.py", tmp_path / "whole")
    assert len(whole) == 119
    killed = run_example("resume_torch.py", tmp_path / "killed", kill_at=47)
    last = run_example("resume_torch.py", tmp_path / "killed")

    # Steps after the latest save come once more, with the same rows and losses.
    for lines in (killed, last):
        first = int(lines[0].split()[1]) - 1
        assert first % 20 == 0
        assert lines == whole[first : first + len(lines)]
    assert last[0].startswith("step 41 ")
    assert last[-1] == whole[-1]
    assert last[-1].startswith("done after 118 steps")
