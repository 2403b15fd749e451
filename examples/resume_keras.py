"""Keras on any backend, killed and going on: `KERAS_BACKEND=torch python examples/resume_keras.py FOLDER`.

Run it again after a kill, however often: at the end it prints a digest of the losses of all epochs and one of all rows
that were trained on, which are those of a run that was never killed. `--kill-at 45` kills it after step 45, in the
middle of the third epoch; `--kill-at-end-of 1` as the epoch 1 ends, when its losses are written and its backup is not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
from pathlib import Path

import keras
import numpy as np

import penstock as ps

EPOCHS, EVERY = 3, 10


def pipeline() -> ps.Dataset:
    """1,000 points, shuffled anew in each epoch, in batches of 64: of the point, its number is the first value."""
    x = np.random.default_rng(7).standard_normal((1000, 4)).astype(np.float32)
    x[:, 0] = np.arange(1000)
    rows = (x, x[:, 1:] @ np.array([1, -2, 3], np.float32))
    return ps.Dataset.from_tensor_slices(rows).shuffle(500, seed=7).batch(64)


class Model(keras.Model):
    """A line through the points, and the sum of a hash of all rows that it was trained on."""

    def __init__(self) -> None:
        super().__init__()
        self.line = keras.layers.Dense(1, kernel_initializer="zeros")
        self.seen = self.add_weight(shape=(1000,), initializer="zeros", trainable=False, name="seen")
        self.steps = self.add_weight(shape=(), initializer="zeros", trainable=False, name="steps")

    def call(self, x, training=False):
        if training:
            # Each row adds the number of the step, so that another order gives other sums.
            rows = keras.ops.one_hot(keras.ops.cast(x[:, 0], "int32"), 1000)
            self.seen.assign(self.seen + (self.steps + 1) * keras.ops.sum(rows, axis=0))
            self.steps.assign(self.steps + 1)
        return self.line(x[:, 1:])


class KillAt(keras.callbacks.Callback):
    """kill -9 after a step of this run, or at the end of an epoch."""

    def __init__(self, step: int, epoch: int | None) -> None:
        super().__init__()
        self._step, self._steps, self._epoch = step, 0, epoch

    def on_epoch_end(self, epoch, logs=None):
        if epoch == self._epoch:
            print(f"killed at the end of epoch {epoch}", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    def on_train_batch_end(self, batch, logs=None):
        self._steps += 1
        if self._steps == self._step:
            print(f"killed after step {self._steps}", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kill-at", type=int, default=0)
    parser.add_argument("--kill-at-end-of", type=int)
    given = parser.parse_args()

    model = Model()
    model.compile(optimizer=keras.optimizers.Adam(0.05), loss="mse", metrics=["mae"])
    model(np.zeros((1, 4), np.float32))
    batches = ps.keras.adapter(pipeline())
    callbacks = [
        # Before the backup: after a kill between the two the epoch ends again, with the same losses. They would be lost
        # if the backup came first.
        keras.callbacks.CSVLogger(given.folder / "epochs.csv", append=True),
        KillAt(given.kill_at, given.kill_at_end_of),
        ps.keras.BackupDataState(batches, given.folder / "backup", every=EVERY),
    ]
    given.folder.mkdir(parents=True, exist_ok=True)
    history = model.fit(batches, epochs=EPOCHS, callbacks=callbacks, verbose=0)
    print("epochs", history.epoch)
    weights = [np.asarray(keras.ops.convert_to_numpy(part)).tolist() for part in model.line.weights]
    show("losses", [losses(given.folder / "epochs.csv"), weights])
    show("rows", keras.ops.convert_to_numpy(model.seen).tolist())


def losses(path: Path) -> list[str]:
    """The line of each epoch; of one that ended twice the last."""
    return list({line.split(",")[0]: line for line in path.read_text().splitlines()}.values())


def show(name: str, values: object) -> None:
    print(name, hashlib.sha256(json.dumps(values).encode()).hexdigest())


if __name__ == "__main__":
    main()
