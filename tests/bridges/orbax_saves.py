"""What test_orbax_kill.py kills: saves each step in the background, a model that takes a while beside the position."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import orbax.checkpoint as ocp

import penstock as ps

MODEL_ROWS = 1 << 20


def model(step):
    return {"step": np.full(MODEL_ROWS, step, np.float32)}


def checked(manager, rows):
    """The latest step; model and position are both of it."""
    step = manager.latest_step()
    if step is None:
        return 0
    data = ps.orbax.CheckpointRestore(rows)
    found = manager.restore(
        step, args=ocp.args.Composite(model=ocp.args.StandardRestore(model(0)), data=data)
    )
    assert (found.model["step"] == step).all()
    assert rows.get_state()["rows"] == step
    return step


def main(folder, steps):
    rows = iter(ps.Dataset.range(1000).shuffle(100, seed=1))
    with ocp.CheckpointManager(folder, options=ocp.CheckpointManagerOptions(max_to_keep=3)) as manager:
        first = checked(manager, rows)
        for step in range(first + 1, first + 1 + steps):
            next(rows)
            both = ocp.args.Composite(
                model=ocp.args.StandardSave(model(step)), data=ps.orbax.CheckpointSave(rows)
            )
            manager.save(step, args=both)
            sys.stdout.write(f"{step}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
