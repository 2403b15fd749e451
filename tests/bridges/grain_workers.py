"""What test_grain_bridge.py runs as a program: Grain starts its worker processes from the main module."""

from __future__ import annotations

import json

import grain
from absl import app

import penstock as ps


def filtered():
    return ps.Dataset.range(60).filter(lambda x: x % 3 != 1).shuffle(10, seed=2)


def integers(rows):
    return [int(row) for row in rows]


def doubled(x):
    return 2 * x


def prefetch():
    want = [2 * x for x in integers(filtered())]
    ahead = (
        ps.grain.IterDataset(filtered()).map(doubled).mp_prefetch(grain.MultiprocessingOptions(num_workers=2))
    )
    for given in (1, 7):
        rows = iter(ahead)
        assert [int(next(rows)) for _ in range(given)] == want[:given]
        state = json.loads(json.dumps(rows.get_state()))
        rows.close()
        rows = iter(ahead)
        rows.set_state(state)
        assert integers(rows) == want[given:]
        rows.close()


def loader():
    source = ps.grain.DataSource(ps.Dataset.range(24).map(doubled))
    sampler = grain.samplers.IndexSampler(
        24, shuffle=True, seed=1, num_epochs=1, shard_options=grain.sharding.NoSharding()
    )
    rows = grain.DataLoader(data_source=source, sampler=sampler, worker_count=1)
    assert sorted(integers(rows)) == list(range(0, 48, 2))


def main(_):
    prefetch()
    loader()


if __name__ == "__main__":
    app.run(main)
