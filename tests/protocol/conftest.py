"""Real worker processes, started through a real sandbox, for every test of the protocol."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import harness.protocol.worker
from harness.errors import Side
from harness.protocol.channel import Channel
from harness.protocol.environment import Environment
from harness.protocol.link import Pipes
from sandboxes import Mount, Sandbox, SandboxSpec, choose
from tests.paths import ROOT

HERE = Path(__file__).parent
TIMEOUT = 20.0
Start = Callable[..., Channel]


def open_sandbox(*shown: str | Path) -> Sandbox:
    """A sandbox that has the tests' adapters in `/protocol`, and shows the worker, this interpreter and more."""
    places = {Path(place).resolve() for place in (ROOT, sys.prefix, sys.base_prefix, tempfile.gettempdir(), *shown)}
    seen = (Mount(place, f"/shown/{number}") for number, place in enumerate(sorted(places)))  # where they lie
    return choose("process").open(SandboxSpec(mounts=(Mount(HERE, "/protocol"), *seen), workdir="/protocol"))


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with open_sandbox() as opened:
        yield opened


@pytest.fixture
def run(sandbox: Sandbox) -> Iterator[Start]:
    """Starts any command as a worker; it is killed when the test ends."""
    channels: list[Channel] = []

    def start(*command: str, timeout: float = TIMEOUT) -> Channel:
        channel = Channel(Pipes(sandbox.spawn(list(command))), Side.REFERENCE, timeout)
        channels.append(channel)
        return channel

    yield start
    for channel in channels:
        channel.kill()


@pytest.fixture
def serve(run: Start) -> Start:
    """Starts a worker for an adapter, named `Walker` or `faulty:Raises`."""

    def start(adapter: str = "Walker", timeout: float = TIMEOUT, python: str = sys.executable) -> Channel:
        module, _, name = adapter.rpartition(":")
        place = HERE / f"{module or 'walker'}.py"
        return run(python, "-I", harness.protocol.worker.__file__, f"{place}:{name}", timeout=timeout)

    return start


@pytest.fixture
def open_walker(serve: Start) -> Callable[..., Environment]:
    """Opens an environment for an adapter."""

    def opened(adapter: str = "Walker", timeout: float = TIMEOUT, python: str = sys.executable) -> Environment:
        return Environment(serve(adapter, timeout, python))

    return opened


@pytest.fixture(scope="module")
def opened_walker(sandbox: Sandbox) -> Iterator[Environment]:
    """One environment for all tests of a module that leave it as they found it."""
    command = [sys.executable, "-I", harness.protocol.worker.__file__, f"{HERE / 'walker.py'}:Walker"]
    environment = Environment(Channel(Pipes(sandbox.spawn(command)), Side.REFERENCE, TIMEOUT))
    yield environment
    environment.close()


@pytest.fixture
def open_rogue(run: Start) -> Callable[..., Environment]:
    """Opens the server that breaks the protocol in one named way."""

    def opened(fault: str, timeout: float = TIMEOUT) -> Environment:
        return Environment(run(sys.executable, "-I", str(HERE / "rogue.py"), fault, timeout=timeout))

    return opened
