"""`lockstep report` and `lockstep view` on the command line."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from harness.cli import main
from harness.cli.report import _file_name
from tests.report.markup import Page, faults


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def test_a_report_is_one_file_named_after_the_session(
    record: Path, document: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(record)]) == 0
    written = tmp_path / f"{document['session']}-report.html"
    assert str(written.name) in capsys.readouterr().out
    html = written.read_text(encoding="utf-8")
    assert "Verified" in Page(html).text and faults(html) == []


def test_out_says_where(record: Path, tmp_path: Path) -> None:
    assert main(["report", str(record), "--out", "here.html"]) == 0
    assert (tmp_path / "here.html").is_file()
    assert main(["report", str(record), "--out", "nowhere/here.html"]) == 3


def test_json_is_the_data_and_writes_no_file(
    record: Path, document: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(record), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == document
    assert list(tmp_path.glob("*.html")) == []


def test_the_session_here_needs_no_name(record: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(record.parents[2]))
    monkeypatch.chdir(record.parents[3] / "workspace")
    assert main(["report", "--out", str(tmp_path / "x.html")]) == 0


def test_a_key_that_did_not_sign_is_said(record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from harness.record.keys import load_or_create

    load_or_create(tmp_path / "other")
    other = next((tmp_path / "other").rglob("*.pub.pem"))
    assert main(["report", str(record), "--key", str(other), "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert (reported["summary"]["state"], reported["audit"]["ok"]) == ("broken", False)


def test_what_is_no_record_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("report", "view"):
        assert main([command, str(tmp_path)]) == 3
        assert "not a git directory" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../../etc/cron.d/x", "", ".hidden", "a b", "x" * 300, "a/b", "\u202e"])
def test_a_session_with_a_deceitful_name_gets_another_file_name(name: str) -> None:
    assert _file_name(name) == "lockstep"
    assert _file_name("cartpole-20260101T000000-abcd") == "cartpole-20260101T000000-abcd"


@pytest.mark.slow
def test_view_says_where_it_serves_and_ends_with_control_c(record: Path) -> None:
    command = [
        sys.executable,
        "-c",
        "from harness.cli import main; raise SystemExit(main())",
        "view",
        str(record),
        "--json",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        assert process.stdout is not None
        lines = ""
        while not lines.endswith("}\n"):
            lines += process.stdout.readline()
        address = urlsplit(json.loads(lines)["address"])
        connection = http.client.HTTPConnection(address.netloc, timeout=30)
        connection.request("GET", address.path)
        assert connection.getresponse().status == 200
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0


def test_a_port_that_is_taken_is_said(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["view", str(record), "--port", str(port)]) == 3
    assert f"the port {port} cannot be used" in capsys.readouterr().err


def test_a_key_for_unisolated_sessions_is_known_from_its_file(
    record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from harness.record.keys import is_for_unisolated

    key = tmp_path / "key.pub.pem"
    written = record.parents[2] / "keys" / "ed25519.pub.pem"
    key.write_bytes(
        b"Lockstep signs with this key what ran without isolation, and nothing else.\n" + written.read_bytes()
    )
    assert is_for_unisolated(key)
    assert main(["report", str(record), "--key", str(key), "--json"]) == 0
    audited = json.loads(capsys.readouterr().out)["audit"]
    assert not audited["ok"] and any("isol" in each["what"] for each in audited["problems"])
