"""Addresses of Ray clusters: each is joined, or told to be none, in a time that is bounded."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import SetupError
from harness.farm import joining


@pytest.fixture(autouse=True)
def by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """No address is named, and nothing is known of one."""
    monkeypatch.delenv(joining.ADDRESS, raising=False)
    monkeypatch.delenv(joining.AUTH_MODE, raising=False)
    joining._mode_of.cache_clear()


@pytest.fixture
def silent() -> Iterator[str]:
    """Where somebody listens who is no cluster, and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize("client", ["", "ray://"])
def test_what_listens_and_is_no_cluster_is_given_up(client: str, silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joining, "JOIN_S", 0.5)
    with pytest.raises(SetupError, match=r"(?s)--on .*let nobody in.*RAY_AUTH_MODE=token"):
        joining.demand_there(client + silent)


def test_an_address_from_the_environment_is_named_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(joining.ADDRESS, "garbage")
    with pytest.raises(SetupError, match=r"(?s)RAY_ADDRESS=garbage: .*it is no address.*without RAY_ADDRESS"):
        joining.demand_there("")


def test_the_address_that_a_dead_head_left_is_not_waited_for(
    silent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    assert joining.left_behind() == "" and not joining.is_there("")
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "ray_current_cluster").write_text(f"{silent}\n")
    assert joining.left_behind() == silent and joining.is_there(silent)
    assert not joining.is_there("127.0.0.1:1")


@pytest.mark.slow
def test_a_head_that_demands_a_token_is_joined_by_who_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ray start` demands one where its user has one, and Ray does not send it to an address by itself."""
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("a-token-of-this-test-alone-" + 8 * "0123")
    monkeypatch.setenv("HOME", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ray = [sys.executable, "-m", "ray.scripts.scripts"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    temporary = Path("/tmp") / f"ray-{port}"  # the paths of its sockets are long
    options = [
        "--num-cpus=1",
        "--include-dashboard=false",
        "--disable-usage-stats",
        f"--temp-dir={temporary}",
        "--block",
    ]
    head = subprocess.Popen([*ray, "start", "--head", f"--port={port}", *options], **quiet)
    try:
        while head.poll() is None and not joining.is_there(f"127.0.0.1:{port}"):
            pass
        address = f"127.0.0.1:{port}"
        assert joining.demand_there(address) == address
        assert os.environ[joining.AUTH_MODE] == joining.TOKEN
        monkeypatch.delenv(joining.AUTH_MODE)
        (tmp_path / ".ray" / "auth_token").unlink()
        joining._mode_of.cache_clear()
        with pytest.raises(SetupError, match="let nobody in"):
            joining.demand_there(address)
    finally:
        head.terminate()
        head.wait()
        shutil.rmtree(temporary, ignore_errors=True)
