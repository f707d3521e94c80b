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


def add_node(nodes: Any, **options: Any) -> Any:
    """One more node of a cluster of Ray's, with two processors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # Ray leaves the logs of its client's server open
        # It forks to begin its processes, which JAX warns of where another test has loaded it; they are others at once.
        warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
        return nodes.add_node(num_cpus=2, include_dashboard=False, **options)


def begun(tmp_path_factory: pytest.TempPathFactory, **of_head: Any) -> Any:
    """Three nodes; the first one is the head, to which whoever asks is connected."""
    from ray.cluster_utils import Cluster as Nodes

    made = Nodes()
    for number in range(3):
        home = tmp_path_factory.mktemp(f"home-{number}")
        variables = {"LOCKSTEP_HOME": str(home), "PYTHONPATH": str(ROOT)}
        add_node(made, env_vars=variables, **({} if number else of_head))
    return made


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Three nodes."""
    made = begun(tmp_path_factory)
    yield made
    made.shutdown()


@pytest.fixture
def client_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port for clients of a cluster of three nodes. Servers of two such clusters on one machine want the same ports."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    made = begun(tmp_path_factory, ray_client_server_port=port)
    yield port
    made.shutdown()


@pytest.fixture
def cluster(nodes: Any) -> Iterator[Cluster]:
    """The engine over these nodes."""
    with Cluster(nodes.address, Alike("tests.farm.hands:home")) as engine:
        yield engine
