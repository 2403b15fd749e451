"""Ranks of a real process group: they share one order, and go on as another number of ranks."""

import json
import pickle

import pytest
import torch
import torch.distributed
import torch.multiprocessing
from torchdata.stateful_dataloader import StatefulDataLoader

import penstock as ps
from penstock.errors import ArgumentError

pytestmark = pytest.mark.filterwarnings("ignore:.*set_vital.*", "ignore:.*more than one thread.*")

N = 61
DS = ps.Dataset.range(N).shuffle(10, seed=3).filter(lambda n: n % 7 != 0)
ROWS = sorted(map(int, DS))


def in_ranks(world, folder, work):
    """What `work(rank)` gives in each rank of a process group."""
    context = torch.multiprocessing.get_context("fork")
    started = [context.Process(target=_rank, args=(rank, world, folder, work)) for rank in range(world)]
    for process in started:
        process.start()
    for process in started:
        process.join(600)
        assert process.exitcode == 0
    return [json.loads((folder / f"{rank} of {world}").read_text()) for rank in range(world)]


def _rank(rank, world, folder, work):
    meeting = f"file://{folder}/meeting of {world}"
    torch.distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=world)
    (folder / f"{rank} of {world}").write_text(json.dumps(work(rank)))
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def rows_of(loader):
    return [row for batch in loader for row in batch.tolist()]


def all_states(loader):
    states = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(states, loader.state_dict())
    return states


LOADERS = {
    "processes": lambda: StatefulDataLoader(
        ps.torch.IterableDataset(DS), batch_size=4, num_workers=2, snapshot_every_n_steps=2
    ),
    "threads": lambda: ps.torch.DataLoader(DS, 4),
}


def load(loader, states):
    if isinstance(loader, ps.torch.DataLoader):
        loader.load_state_dict(states)
    else:
        ps.torch.resume(loader, states)


@pytest.mark.parametrize("kind", LOADERS)
def test_all_ranks_together_have_every_row_once(kind, tmp_path):
    ranks = in_ranks(2, tmp_path, lambda _: rows_of(LOADERS[kind]()))
    assert sorted(ranks[0] + ranks[1]) == ROWS
    assert min(map(len, ranks)) > 20


@pytest.mark.parametrize("kind", LOADERS)
@pytest.mark.parametrize("world", [1, 3])
def test_what_two_ranks_have_saved_another_number_goes_on_with(kind, world, tmp_path):
    def some(rank):
        loader = LOADERS[kind]()
        batches = iter(loader)
        given = [row for _ in range(2 + rank) for row in next(batches).tolist()]
        return {"rows": given, "states": all_states(loader)}

    before = in_ranks(2, tmp_path, some)

    def rest(rank):
        loader = LOADERS[kind]()
        load(loader, before[rank % 2]["states"])
        return rows_of(loader)

    after = in_ranks(world, tmp_path, rest)
    given = [row for part in before for row in part["rows"]]
    assert len(given) == 20
    assert sorted(given + [row for part in after for row in part]) == ROWS


def test_a_dataset_that_was_pickled_before_there_was_a_group_asks_the_one_it_comes_into(tmp_path):
    pickled = pickle.dumps(ps.torch.IterableDataset(ps.Dataset.range(N).shuffle(10, seed=3)))

    def given(_):
        dataset = pickle.loads(pickled)
        return rows_of(StatefulDataLoader(dataset, batch_size=4)), pickle.loads(pickle.dumps(dataset))._given

    (first, group), (second, _) = in_ranks(2, tmp_path, given)
    assert sorted(first + second) == list(range(N))
    assert group == [0, 2]


def test_ranks_that_would_each_draw_an_order_are_told_so(tmp_path):
    def refused(_):
        with pytest.raises(ArgumentError, match="Pass seed= to it"):
            iter(ps.torch.DataLoader(ps.Dataset.range(9).shuffle(3), 2))
        return "refused"

    assert in_ranks(2, tmp_path, refused) == ["refused"] * 2
