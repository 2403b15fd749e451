"""Measures of stopping and going on: the raw images in batches of 64, shuffled, a state taken after 150 batches."""

from __future__ import annotations

import json
import pickle
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import data
import numpy as np
from measures import ANSWERS, MEASURES, START, tensorflow, tf_raw_features

BATCH, BUFFER = 64, 10_000
STOPS = (50, 150)


class Ours:
    """penstock: positions, as JSON."""

    def __init__(self, buffer: int | None) -> None:
        import penstock as ps

        self.batches = ps.open(data.path("raw.tfrecord")).shuffle(buffer, seed=1).batch(BATCH)

    def start(self) -> Any:
        return iter(self.batches)

    def save(self, rows: Any) -> bytes:
        return json.dumps(rows.get_state()).encode()

    def restore(self, state: bytes) -> Any:
        rows = iter(self.batches)
        rows.set_state(json.loads(state))
        return rows

    def label(self, batch: Any) -> Any:
        return batch["label"]


class TensorFlow:
    """tf.data's iterator in a `tf.train.Checkpoint`, with the rows of its buffer, in files."""

    def __init__(self) -> None:
        self.tf = tf = tensorflow()
        features = tf_raw_features(tf)

        def parse(record):
            parsed = tf.io.parse_single_example(record, features)
            return tf.reshape(tf.io.decode_raw(parsed["image"], tf.uint8), [64, 64, 3]), parsed["label"]

        rows = tf.data.TFRecordDataset(str(data.path("raw.tfrecord"))).map(parse)
        self.batches = rows.shuffle(BUFFER, seed=1, reshuffle_each_iteration=False).batch(BATCH)
        self.folder = tempfile.TemporaryDirectory(prefix="penstock-bench-")

    def start(self) -> Any:
        return iter(self.batches)

    def save(self, rows: Any) -> bytes:
        return self.tf.train.Checkpoint(rows=rows).write(f"{self.folder.name}/state").encode()

    def size(self, _state: bytes) -> int:
        return sum(file.stat().st_size for file in Path(self.folder.name).iterdir())

    def restore(self, state: bytes) -> Any:
        rows = iter(self.batches)
        self.tf.train.Checkpoint(rows=rows).read(state.decode())
        return rows

    def label(self, batch: Any) -> Any:
        return batch[1].numpy()


class Grain:
    """Grain over the images as an array: its own state, as JSON."""

    def __init__(self, buffer: int | None) -> None:
        import grain

        images = np.load(data.path("raw.npy"), mmap_mode="r")
        rows = grain.MapDataset.source(range(len(images)))
        rows = rows.shuffle(seed=1) if buffer is None else rows
        rows = rows.map(lambda i: (np.asarray(images[i]), i)).to_iter_dataset()
        if buffer is not None:
            rows = grain.experimental.WindowShuffleIterDataset(rows, window_size=buffer, seed=1)
        self.batches = rows.batch(BATCH)

    def start(self) -> Any:
        return iter(self.batches)

    def save(self, rows: Any) -> bytes:
        return json.dumps(rows.get_state()).encode()

    def restore(self, state: bytes) -> Any:
        rows = iter(self.batches)
        rows.set_state(json.loads(state))
        return rows

    def label(self, batch: Any) -> Any:
        return batch[1]


class Torch:
    """torchdata's StatefulDataLoader over the images as an array, without workers: its state, pickled."""

    def __init__(self) -> None:
        import torch
        from torchdata.stateful_dataloader import StatefulDataLoader

        images = np.load(data.path("raw.npy"), mmap_mode="r")

        class Images(torch.utils.data.Dataset):
            def __len__(self):
                return len(images)

            def __getitem__(self, i):
                return torch.from_numpy(np.array(images[i])), i

        def loader():
            generator = torch.Generator().manual_seed(1)
            return StatefulDataLoader(Images(), batch_size=BATCH, shuffle=True, generator=generator)

        self.loader = loader

    def start(self) -> Any:
        self.running = self.loader()
        return iter(self.running)

    def save(self, _rows: Any) -> bytes:
        return pickle.dumps(self.running.state_dict())

    def restore(self, state: bytes) -> Any:
        self.running = self.loader()
        self.running.load_state_dict(pickle.loads(state))
        return iter(self.running)

    def label(self, batch: Any) -> Any:
        return batch[1].numpy()


def stopped(peer: Any, n: int) -> Any:
    rows = peer.start()
    for _ in range(n):
        next(rows)
    return rows


def size(make: Callable[[], Any]) -> Iterator[float]:
    peer = make()
    state = peer.save(stopped(peer, STOPS[-1]))
    yield START
    yield peer.size(state) if hasattr(peer, "size") else len(state)


def save(make: Callable[[], Any]) -> Iterator[float]:
    """The median over states after 20 batches one after the other."""
    peer = make()
    rows = stopped(peer, STOPS[-1])
    peer.save(rows)
    yield START
    took = []
    for _ in range(20):
        next(rows)
        start = time.perf_counter()
        peer.save(rows)
        took.append(time.perf_counter() - start)
    yield float(np.median(took)) * 1000


def restore(make: Callable[[], Any]) -> Iterator[float]:
    """To the next batch, by the objects that a new process makes; the median of up to seven."""
    peer = make()
    state = peer.save(stopped(peer, STOPS[-1]))
    yield START
    took = []
    while len(took) < 7 and sum(took) < 10:
        fresh = make()
        if hasattr(peer, "folder"):
            fresh.folder = peer.folder
        start = time.perf_counter()
        next(fresh.restore(state))
        took.append(time.perf_counter() - start)
    yield float(np.median(took)) * 1000


def exact(make: Callable[[], Any]) -> Iterator[float]:
    """Of the states taken after 50 and after 150 batches, those that give the same ten batches again."""
    good = 0
    peer = make()
    yield START
    for stop in STOPS:
        rows = stopped(peer, stop)
        state = peer.save(rows)
        want = [peer.label(next(rows)) for _ in range(10)]
        restored = peer.restore(state)
        good += all(np.array_equal(peer.label(next(restored)), labels) for labels in want)
    yield good / len(STOPS)


PEERS: dict[str, dict[str, Callable[[], Any]]] = {
    "": {"penstock": partial(Ours, BUFFER), "tf.data": TensorFlow, "Grain": partial(Grain, BUFFER)},
    " all": {
        "penstock": partial(Ours, None),
        "Grain": partial(Grain, None),
        "StatefulDataLoader": Torch,
    },
}
for kind, peers in PEERS.items():
    for question in (size, save, restore, exact):
        name = f"resume{kind} {question.__name__}"
        MEASURES[name] = {peer: partial(question, make) for peer, make in peers.items()}
        ANSWERS.add(name)
