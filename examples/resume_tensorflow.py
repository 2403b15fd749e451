"""A training loop of TensorFlow that is killed and goes on: `python examples/resume_tensorflow.py FOLDER`.

Run it again after a kill, however often: at the end it prints a digest of all losses and one of all rows that were
trained on, which are those of a run that was never killed. `--kill-at 37` kills it at step 37, between two checkpoints.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
from pathlib import Path

import numpy as np
import tensorflow as tf

import penstock as ps

EPOCHS, EVERY = 3, 10


def pipeline() -> ps.Dataset:
    """Three epochs of 1,000 points, shuffled anew in each, in batches of 64."""
    x = np.random.default_rng(7).standard_normal((1000, 3)).astype(np.float32)
    rows = {"number": np.arange(1000), "x": x, "y": x @ np.array([1, -2, 3], np.float32)}
    return ps.Dataset.from_tensor_slices(rows).shuffle(500, seed=7).batch(64).repeat(EPOCHS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kill-at", type=int, default=0)
    given = parser.parse_args()

    weights, step = tf.Variable(tf.zeros((3,))), tf.Variable(0)
    iterator = ps.tensorflow.Iterator(pipeline())
    checkpoint = tf.train.Checkpoint(step=step, weights=weights, iterator=iterator)
    manager = tf.train.CheckpointManager(checkpoint, str(given.folder), max_to_keep=2)
    checkpoint.restore(manager.latest_checkpoint)
    print(f"restored at step {int(step)}" if manager.latest_checkpoint else "from the start")

    log = Log(given.folder / "log.jsonl", int(step))
    for batch in iterator:
        if int(step) == given.kill_at != 0:
            print(f"killed at step {int(step)}", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        loss = train(weights, batch["x"], batch["y"])
        log.write(float(loss), batch["number"].numpy())
        step.assign_add(1)
        if int(step) % EVERY == 0:
            manager.save()
    log.show()


@tf.function
def train(weights: tf.Variable, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """One step of gradient descent; the loss before it."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.linalg.matvec(x, weights) - y) ** 2)
    weights.assign_sub(0.05 * tape.gradient(loss, weights))
    return loss


class Log:
    """The loss and the rows of each step, a line each; what came after the checkpoint is done again."""

    def __init__(self, path: Path, steps: int) -> None:
        lines = path.read_text().splitlines()[:steps] if path.exists() else []
        path.parent.mkdir(exist_ok=True)
        self._path = path
        path.write_text("".join(f"{line}\n" for line in lines))

    def write(self, loss: float, rows: np.ndarray) -> None:
        with self._path.open("a") as file:
            file.write(json.dumps({"loss": loss, "rows": rows.tolist()}) + "\n")

    def show(self) -> None:
        steps = [json.loads(line) for line in self._path.read_text().splitlines()]
        for name, values in (("losses", "loss"), ("rows", "rows")):
            text = json.dumps([step[values] for step in steps])
            print(name, hashlib.sha256(text.encode()).hexdigest())


if __name__ == "__main__":
    main()
