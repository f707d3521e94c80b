"""`lockstep serve --json`: one document, where standard output does not carry the protocol."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import httpx2
import pytest

from harness.cli import main
from tests.mcp_server.conftest import Place


def test_on_stdio_there_is_no_document(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--json"]) == 2
    assert "standard output carries the protocol" in json.loads(capfd.readouterr().out)["what"]


def test_a_new_client_s_token_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "tokens.json"
    assert main(["serve", "--token-file", str(file), "--add-client", "second", "--operator", "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert document == {"client": "second", "operator": True, "token": document["token"]}
    assert main(["serve", "--token-file", str(file), "--add-client", "third"]) == 0
    assert document["token"] in file.read_text() and capfd.readouterr().out.strip() in file.read_text()


def test_a_server_tells_where_it_listens_as_soon_as_it_does(place: Place) -> None:
    command = [*place.command, "--http", "--port", "0", "--json"]
    with subprocess.Popen(
        command, env=place.environment, cwd=place.workspaces, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            said = [process.stdout.readline() for _ in range(4)]
            document = json.loads("".join(said))
            assert Path(document["token_file"]) == place.home / "mcp-tokens.json"
            assert httpx2.post(document["url"]).status_code == 401
        finally:
            process.terminate()
            rest = process.stdout.read()
    assert rest == ""
