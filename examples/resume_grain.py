"""Train from a Grain pipeline over a penstock dataset; killed at any moment, it goes on with the rows that were due.

    python examples/resume_grain.py FOLDER

penstock reads, filters and shuffles, Grain maps and batches, and Grain's own checkpoints keep the position of both in
Orbax, beside the model. Start it, kill it with kill -9, start it again: each step has the same rows and the same loss
as in a run that nobody killed, and so has the last line, which stands for all rows and losses.
"""

from __future__ import annotations

import sys
from hashlib import blake2b
from pathlib import Path

import grain
import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp

import penstock as ps

ROWS, CLASSES, BATCH, EPOCHS, SAVE_EVERY = 2_000, 4, 32, 2, 20


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    batches = iter(pipeline(folder))
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


def pipeline(folder: Path) -> grain.IterDataset:
    path = folder / "train.tfrecord"
    if not path.exists():
        random = np.random.default_rng(7)
        ps.write(
            path, {"x": random.normal(size=(ROWS, CLASSES)), "name": random.integers(0, 10, ROWS).astype("S")}
        )
    rows = ps.open(path).filter(lambda row: row["x"][0] < 2).shuffle(500, seed=1).repeat(EPOCHS)
    return ps.grain.IterDataset(rows).map(labelled).batch(BATCH, drop_remainder=True)


def labelled(row: dict) -> dict:
    return {
        "x": row["x"].astype(np.float32),
        "label": np.int32(row["x"].argmax()),
        "length": np.int32(len(row["name"])),
    }


def restore(manager: ocp.CheckpointManager, batches: grain.DatasetIterator) -> tuple[int, dict, str]:
    """The step, the model and the digest so far; `batches` goes on where they were saved."""
    step, model = manager.latest_step(), {"w": jnp.zeros((CLASSES, CLASSES)), "b": jnp.zeros(CLASSES)}
    if step is None:
        return 0, model, ""
    found = manager.restore(
        step,
        args=ocp.args.Composite(
            model=ocp.args.StandardRestore(model),
            seen=ocp.args.JsonRestore(),
            batches=grain.checkpoint.CheckpointRestore(batches),
        ),
    )
    return step, found.model, found.seen["digest"]


def save(
    manager: ocp.CheckpointManager, step: int, model: dict, seen: str, batches: grain.DatasetIterator
) -> None:
    """Begin to save in the background; a kill on the way leaves the step before."""
    manager.save(
        step,
        args=ocp.args.Composite(
            model=ocp.args.StandardSave(model),
            seen=ocp.args.JsonSave({"digest": seen}),
            batches=grain.checkpoint.CheckpointSave(batches),
        ),
    )


@jax.jit
def train(model: dict, batch: dict) -> tuple[dict, jax.Array]:
    def loss(model: dict) -> jax.Array:
        scores = jax.nn.log_softmax(batch["x"] @ model["w"] + model["b"])
        return -jnp.mean(jnp.take_along_axis(scores, batch["label"][:, None], axis=1))

    value, slope = jax.value_and_grad(loss)(model)
    return jax.tree.map(lambda weight, change: weight - 0.1 * change, model, slope), value


def digest(before: str, batch: dict, *more: jax.Array) -> str:
    made = blake2b(before.encode(), digest_size=8)
    for array in (*batch.values(), *more):
        made.update(np.asarray(array).tobytes())
    return made.hexdigest()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
