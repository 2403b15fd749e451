"""Train with PyTorch; killed at any moment and started again, it goes on with the rows that were due.

    python examples/resume_torch.py FOLDER

The rows lie in TFRecords; model, optimizer and the position of the data in one checkpoint. Start it, kill it with
kill -9, start it again: each step has the same rows and the same loss as in a run that nobody killed, and so has the
last line, which stands for all rows and losses.
"""

from __future__ import annotations

import os
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import torch

import penstock as ps

ROWS, FEATURES, BATCH, EPOCHS, SAVE_EVERY = 2_000, 8, 32, 2, 20


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    loader = ps.torch.DataLoader(dataset(folder), BATCH, drop_last=True)
    model = torch.nn.Sequential(torch.nn.Linear(FEATURES, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    run = {"model": model, "optimizer": torch.optim.Adam(model.parameters()), "loader": loader}
    first, step, seen = restore(folder / "checkpoint.pt", run)
    for epoch in range(first, EPOCHS):
        for batch in loader:
            loss = train(model, run["optimizer"], batch)
            step, seen = step + 1, digest(seen, batch, loss)
            if step % SAVE_EVERY == 0:
                save(folder / "checkpoint.pt", run, epoch, step, seen)
            print(f"step {step} loss {loss:.9f} rows {digest('', batch)}", flush=True)
    print(f"done after {step} steps, all rows and losses: {seen}")


def dataset(folder: Path) -> ps.Dataset:
    """Rows of TFRecords, of which some are left out, shuffled anew in each epoch."""
    path = folder / "train.tfrecord"
    if not path.exists():
        x = np.random.default_rng(7).normal(size=(ROWS, FEATURES)).astype(np.float32)
        ps.write(path, {"x": x, "y": x @ np.arange(FEATURES, dtype=np.float32)})
    return ps.open(path).filter(lambda row: row["y"] < 20).shuffle(500, seed=1)


def restore(path: Path, run: dict[str, Any]) -> tuple[int, int, str]:
    """The epoch, the step and the digest so far; model, optimizer and loader go on as they were saved."""
    if not path.exists():
        return 0, 0, ""
    found = torch.load(path)
    for name, part in run.items():
        part.load_state_dict(found[name])
    return found["epoch"], found["step"], found["seen"]


def save(path: Path, run: dict[str, Any], epoch: int, step: int, seen: str) -> None:
    """All in one file, which a kill leaves as it was before or as it is to be."""
    parts = {name: part.state_dict() for name, part in run.items()}
    new = path.with_suffix(".new")
    torch.save({**parts, "epoch": epoch, "step": step, "seen": seen}, new)
    os.replace(new, path)


def train(model: torch.nn.Module, optimizer: torch.optim.Optimizer, batch: dict) -> float:
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(batch["x"])[:, 0], batch["y"])
    loss.backward()
    optimizer.step()
    return loss.item()


def digest(before: str, batch: dict, *more: float) -> str:
    made = blake2b(before.encode(), digest_size=8)
    for values in (batch["x"], batch["y"], *more):
        made.update(np.asarray(values).tobytes())
    return made.hexdigest()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
