"""The attack: another user of the machine reads the page that `lockstep view` serves on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.report.server import Server
from harness.session.session import Session
from tests.report.test_server import request, serving
from tests.session.standin import factory


@pytest.fixture
def server(task: Path, workspace: Path, home: Path) -> Iterator[Server]:
    with Session.start(task, workspace, home, verifier=factory([])) as session, serving(session.store.path) as running:
        yield running


def test_whoever_knows_the_port_alone_reads_nothing(server: Server) -> None:
    root = server.root
    guesses = ("/", "/stamp", "//", root[:-1], root[:-2] + "/", root[1:], f"/{'A' * (len(root) - 2)}/")
    assert [request(server, path)[0] for path in guesses] == [404] * len(guesses)
    assert not any(root.strip("/") in request(server, path)[2] for path in guesses)
    assert request(server, root)[0] == 200
    assert request(server, f"{root}stamp")[0] == 200


def test_the_address_cannot_be_guessed_and_is_told_to_no_other_page(server: Server) -> None:
    with Server(server.page) as another:
        assert len({server.root, another.root}) == 2
        assert len(another.root.strip("/")) * 6 >= 128
        assert another.address.endswith(f":{another.server_port}{another.root}")
    _, headers, html = request(server, server.root)
    assert headers["Referrer-Policy"] == "no-referrer"
    assert server.root.strip("/") not in html
