"""`lockstep view` serves one page to this machine, and nothing else to anybody."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.record.store import Store
from harness.report.page import policy
from harness.report.server import Page, Server
from tests.report.script import Play


@contextmanager
def serving(record: Path) -> Iterator[Server]:
    """A server of a record, in a thread."""
    with Store(record) as store, Server(Page(store)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def server(record: Path) -> Iterator[Server]:
    with serving(record) as running:
        yield running


def ask(server: Server, path: str = "/", method: str = "GET", **headers: str) -> tuple[int, dict[str, str], str]:
    """What the server answers to a request for what lies below its own path."""
    return request(server, f"{server.root.rstrip('/')}{path}", method, **headers)


def request(server: Server, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()
    finally:
        connection.close()


def test_the_page_and_its_stamp_are_served(server: Server) -> None:
    status, headers, html = ask(server)
    assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
    stamp = ask(server, "/stamp")[2]
    assert f'data-stamp="{stamp}"' in html
    assert headers["Cache-Control"] == "no-store"
    assert headers["Content-Security-Policy"] == f"{policy(live=True)}; frame-ancestors 'none'"
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_new_event_is_a_new_stamp_and_a_new_page(play: Play) -> None:
    with serving(play.record) as server:
        before = ask(server, "/stamp")[2]
        assert ask(server)[2] == ask(server)[2]
        play.attempt(message="A later attempt")
        assert ask(server, "/stamp")[2] != before
        assert "A later attempt" in ask(server)[2]


def test_only_loopback_is_listened_on(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost:1", "", "127.0.0.1:{port}.x"]
)
def test_another_host_name_is_refused(server: Server, host: str) -> None:
    status, _, text = ask(server, Host=host.format(port=server.server_port))
    assert status == 421 and "Verified" not in text


def test_the_machines_own_names_are_answered(server: Server) -> None:
    for name in ("127.0.0.1", "localhost"):
        status, _, text = ask(server, Host=f"{name}:{server.server_port}")
        assert status == 200 and "Verified" in text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_nothing_but_reading_is_allowed(server: Server, method: str) -> None:
    status, headers, _ = ask(server, method=method)
    assert status == 405 and headers["Allow"] == "GET, HEAD"


def test_a_head_request_gets_the_head_only(server: Server) -> None:
    status, headers, text = ask(server, method="HEAD")
    assert (status, text) == (200, "") and int(headers["Content-Length"]) > 1000


@pytest.mark.parametrize("path", ["/../etc/passwd", "/stamp/", "//evil.example/", "/%2e%2e/", "/index.html", "/?x"])
def test_other_paths_are_not_there(server: Server, path: str) -> None:
    assert ask(server, path)[0] == 404


def test_a_record_that_is_gone_is_said(play: Play, tmp_path: Path) -> None:
    with serving(play.record) as server:
        play.session.close()
        play.record.rename(tmp_path / "elsewhere.git")
        status, _, text = ask(server, "/stamp")
        assert status == 503 and "the record is gone" in text
