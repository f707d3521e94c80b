"""A cluster of three nodes on this machine, each with a home of its own."""

from __future__ import annotations

import socket
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from harness.farm.cluster import Cluster
from harness.farm.engine import Alike
from tests.paths import ROOT


@pytest.fixture(scope="session")
def client_port() -> int:
    """A port that nobody has, for clients of the cluster."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory, client_port: int) -> Iterator[Any]:
    """Three nodes, two processors each; the first one is the head, to which whoever asks is connected."""
    from ray.cluster_utils import Cluster as Nodes

    made = Nodes()
    for number in range(3):
        home = tmp_path_factory.mktemp(f"home-{number}")
        of_head = {} if number else {"ray_client_server_port": client_port}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # Ray leaves the logs of its client's server open
            made.add_node(
                num_cpus=2,
                env_vars={"LOCKSTEP_HOME": str(home), "PYTHONPATH": str(ROOT)},
                include_dashboard=False,
                **of_head,
            )
    yield made
    made.shutdown()


@pytest.fixture
def cluster(nodes: Any) -> Iterator[Cluster]:
    """The engine over these nodes."""
    with Cluster(nodes.address, Alike("tests.farm.hands:home")) as engine:
        yield engine
