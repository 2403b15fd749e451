"""Every registered node keeps the laws."""

import pytest

import penstock.nodes  # noqa: F401  (registers them)
from penstock.graph.node import Node, registered
from penstock.graph.plan import Plan
from penstock.testing import Samples, check_laws

EXAMPLES = [node for made in registered().values() for node in made.examples()]


def test_every_transformation_has_examples_for_the_laws():
    assert all(made.examples() for made in registered().values())


@pytest.mark.parametrize("n", [0, 1, 11, 12])
@pytest.mark.parametrize("node", EXAMPLES, ids=repr)
def test_a_node_keeps_the_laws(node: Node, n: int):
    check_laws(lambda sizes: Plan(node, (Plan(Samples(n, sizes)),)))


def test_the_sample_source_keeps_the_laws():
    check_laws(lambda sizes: Plan(Samples(13, sizes)))
