"""A cluster of three nodes on this machine, each with a home of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.farm.cluster import Cluster
from harness.farm.engine import Alike


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Three nodes, two processors each; the first one is the head, to which whoever asks is connected."""
    from ray.cluster_utils import Cluster as Nodes

    made = Nodes()
    for number in range(3):
        home = tmp_path_factory.mktemp(f"home-{number}")
        made.add_node(num_cpus=2, env_vars={"LOCKSTEP_HOME": str(home)}, include_dashboard=False)
    yield made
    made.shutdown()


@pytest.fixture
def cluster(nodes: Any) -> Iterator[Cluster]:
    """The engine over these nodes."""
    with Cluster(nodes.address, Alike("tests.farm.hands:home")) as engine:
        yield engine
