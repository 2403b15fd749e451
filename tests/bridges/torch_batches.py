"""Batches by `StatefulDataLoader` over datasets whose rows are numbers."""

import json

from torchdata.stateful_dataloader import StatefulDataLoader

import penstock as ps

N = 53
SOURCE = ps.Dataset.range(N)
SHUFFLED = ps.Dataset.range(N).shuffle(N, seed=7)
BUFFERED = ps.Dataset.range(N).shuffle(10, seed=7).filter(lambda n: n % 5 != 0)
KINDS = {"plain": SOURCE, "shuffled": SHUFFLED, "buffered": BUFFERED}


def of(ds, workers, every=1, batch_size=4, **options):
    rows = ps.torch.IterableDataset(ds)
    return StatefulDataLoader(
        rows, batch_size=batch_size, num_workers=workers, snapshot_every_n_steps=every, **options
    )


def lists(batches):
    return [batch.tolist() for batch in batches]


def flat(batches):
    return [row for batch in batches for row in batch]


def first(loader, n):
    """n batches of a loader, and its state after them."""
    batches = iter(loader)
    given = [next(batches).tolist() for _ in range(n)]
    return given, json.loads(json.dumps(loader.state_dict()))
