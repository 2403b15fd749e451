"""What test_jax_sharding.py runs as one or as two processes of a JAX job of two devices each.

Two processes have their parts of the first batches and save; any number of processes goes on.
"""

from __future__ import annotations

import sys

import jax
import numpy as np
import orbax.checkpoint as ocp
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import penstock as ps

LOCAL_BATCH = 4
STEPS = 3


def shuffled():
    return ps.Dataset.range(80).filter(lambda x: x % 5 != 0).shuffle(8, seed=5)


def loader():
    split = NamedSharding(Mesh(np.array(jax.devices()), ("rows",)), PartitionSpec("rows"))
    batches = ps.jax.distribute(shuffled(), ends="drop").batch(LOCAL_BATCH, drop_remainder=True)
    return ps.jax.DataLoader(batches, sharding=split)


def check(batch, want):
    """Every process has its part of the rows, and all together have the batch."""
    mine = np.concatenate([shard.data for shard in batch.addressable_shards]).tolist()
    assert batch.shape == (len(want),)
    assert mine == want[jax.process_index() :: jax.process_count()]
    assert int(jax.jit(lambda x: x.sum())(batch)) == sum(want)


def in_batches(rows):
    size = LOCAL_BATCH * jax.process_count()
    return [rows[first : first + size] for first in range(0, len(rows), size)]


def save(manager):
    """The first steps of two processes."""
    batches = iter(loader())
    for want in in_batches([int(row) for row in shuffled()])[:STEPS]:
        check(next(batches), want)
    assert manager.save(STEPS, args=ocp.args.Composite(data=ps.orbax.CheckpointSave(batches)))
    manager.wait_until_finished()


def go_on(manager):
    batches = iter(loader())
    manager.restore(STEPS, args=ocp.args.Composite(data=ps.orbax.CheckpointRestore(batches)))
    due = [int(row) for row in shuffled()][STEPS * LOCAL_BATCH * 2 :]
    for batch, want in zip(batches, in_batches(due), strict=True):
        check(batch, want)


def main(folder, rank=None, address=None):
    if address is not None:
        jax.distributed.initialize(address, num_processes=2, process_id=int(rank))
    with ocp.CheckpointManager(folder) as manager:
        if manager.latest_step() is None:
            save(manager)
        go_on(manager)


if __name__ == "__main__":
    main(*sys.argv[1:])
