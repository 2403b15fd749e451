"""Train with JAX and Orbax; killed at any moment and started again, it goes on with the rows that were due.

    python examples/resume_jax.py FOLDER

Start it, kill it with kill -9, start it again: each step has the same rows and the same loss as in a run that nobody
killed, and so has the last line, which stands for all rows and losses.
"""

from __future__ import annotations

import sys
from hashlib import blake2b
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp

import penstock as ps

ROWS, FEATURES, BATCH, EPOCHS, SAVE_EVERY = 2_000, 8, 32, 2, 20


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    batches = iter(ps.jax.DataLoader(dataset(folder)))
    with ocp.CheckpointManager(
        folder / "checkpoints", options=ocp.CheckpointManagerOptions(max_to_keep=2)
    ) as manager:
        step, model, seen = restore(manager, batches)
        for batch in batches:
            model, loss = train(model, batch)
            step, seen = step + 1, digest(seen, batch, loss)
            if step % SAVE_EVERY == 0:
                save(manager, step, model, seen, batches)
            print(f"step {step} loss {float(loss):.9f} rows {digest('', batch)}", flush=True)
    print(f"done after {step} steps, all rows and losses: {seen}")


def dataset(folder: Path) -> ps.Dataset:
    """Rows of a file, of which some are left out, shuffled anew in each epoch."""
    path = folder / "train.tfrecord"
    if not path.exists():
        random = np.random.default_rng(7)
        x = random.normal(size=(ROWS, FEATURES)).astype(np.float32)
        ps.write(path, {"x": x, "y": x @ np.arange(FEATURES, dtype=np.float32)})
    rows = ps.open(path).filter(lambda row: row["y"] < 20)
    return rows.shuffle(500, seed=1).repeat(EPOCHS).batch(BATCH, drop_remainder=True)


def restore(manager: ocp.CheckpointManager, batches: ps.jax.ArrayIterator) -> tuple[int, dict, str]:
    """The step, the model and the digest so far; `batches` goes on where they were saved."""
    step, model = manager.latest_step(), {"w": jnp.zeros(FEATURES), "b": jnp.zeros(())}
    if step is None:
        return 0, model, ""
    found = manager.restore(
        step,
        args=ocp.args.Composite(
            model=ocp.args.StandardRestore(model),
            seen=ocp.args.JsonRestore(),
            batches=ps.orbax.CheckpointRestore(batches),
        ),
    )
    return step, found.model, found.seen["digest"]


def save(
    manager: ocp.CheckpointManager, step: int, model: dict, seen: str, batches: ps.jax.ArrayIterator
) -> None:
    """Begin to save in the background; a kill on the way leaves the step before."""
    manager.save(
        step,
        args=ocp.args.Composite(
            model=ocp.args.StandardSave(model),
            seen=ocp.args.JsonSave({"digest": seen}),
            batches=ps.orbax.CheckpointSave(batches),
        ),
    )


@jax.jit
def train(model: dict, batch: dict) -> tuple[dict, jax.Array]:
    def loss(model: dict) -> jax.Array:
        return jnp.mean((batch["x"] @ model["w"] + model["b"] - batch["y"]) ** 2)

    value, slope = jax.value_and_grad(loss)(model)
    return jax.tree.map(lambda weight, change: weight - 0.02 * change, model, slope), value


def digest(before: str, batch: dict, *more: jax.Array) -> str:
    made = blake2b(before.encode(), digest_size=8)
    for array in (batch["x"], batch["y"], *more):
        made.update(np.asarray(array).tobytes())
    return made.hexdigest()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
