"""Train with NumPy alone; killed at any moment and started again, it goes on with the rows that were due.

    python examples/resume_numpy.py FOLDER

The rows lie in Arrow files that are mapped into memory, and model and position in one file. Start it, kill it with
kill -9, start it again: each step has the same rows and the same loss as in a run that nobody killed, and so has the
last line, which stands for all rows and losses.
"""

from __future__ import annotations

import json
import os
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

import penstock as ps

ROWS, FEATURES, BATCH, EPOCHS, SAVE_EVERY = 2_000, 8, 32, 2, 20


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    batches = iter(dataset(folder))
    step, weights, seen = restore(folder / "checkpoint.npz", batches)
    for batch in batches:
        weights, loss = train(weights, batch)
        step, seen = step + 1, digest(seen, batch, loss)
        if step % SAVE_EVERY == 0:
            save(folder / "checkpoint.npz", step, weights, seen, batches.get_state())
        print(f"step {step} loss {loss:.9f} rows {digest('', batch)}", flush=True)
    print(f"done after {step} steps, all rows and losses: {seen}")


def dataset(folder: Path) -> ps.Dataset:
    """Rows of a saved dataset, of which some are left out, shuffled anew in each epoch."""
    path = folder / "train"
    if not path.exists():
        x = np.random.default_rng(7).normal(size=(ROWS, FEATURES)).astype(np.float32)
        rows = ps.Dataset.from_tensor_slices({"x": x, "y": x @ np.arange(FEATURES, dtype=np.float32)})
        rows.save(path, format="arrow", shards=3, progress=False)
    kept = ps.load(path).filter(lambda row: row["y"] < 20)
    return kept.shuffle(500, seed=1).repeat(EPOCHS).batch(BATCH, drop_remainder=True)


def restore(path: Path, batches: Any) -> tuple[int, np.ndarray, str]:
    """The step, the model and the digest so far; `batches` goes on where they were saved."""
    if not path.exists():
        return 0, np.zeros(FEATURES + 1), ""
    with np.load(path) as found:
        batches.set_state(json.loads(str(found["position"])))
        return int(found["step"]), found["weights"], str(found["seen"])


def save(path: Path, step: int, weights: np.ndarray, seen: str, position: ps.State) -> None:
    """All in one file, which a kill leaves as it was before or as it is to be."""
    new = path.with_suffix(".new.npz")
    np.savez(new, step=step, weights=weights, seen=seen, position=json.dumps(position))
    os.replace(new, path)


def train(weights: np.ndarray, batch: dict) -> tuple[np.ndarray, float]:
    x = np.column_stack([batch["x"], np.ones(len(batch["x"]))])
    miss = x @ weights - batch["y"]
    return weights - 0.02 * 2 / len(x) * (x.T @ miss), float((miss**2).mean())


def digest(before: str, batch: dict, *more: float) -> str:
    made = blake2b(before.encode(), digest_size=8)
    for array in (batch["x"], batch["y"], *more):
        made.update(np.asarray(array).tobytes())
    return made.hexdigest()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
