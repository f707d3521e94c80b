"""`lockstep serve --json`: one document, where standard output does not carry the protocol."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import httpx2
import pytest

from harness.cli import main
from tests.mcp_server.conftest import LOCKSTEP, Place
from tests.paths import ROOT

SHOWN = re.compile(r"^```console\n\$ lockstep serve --http\n(?P<said>.*?)^```$", re.MULTILINE | re.DOTALL)


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


@pytest.mark.slow
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


@pytest.mark.parametrize("again", [False, True])
def test_the_docs_show_what_a_server_says(again: bool, place: Place) -> None:
    page = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
    shown = SHOWN.search(page)
    assert shown is not None
    expected = shown["said"]
    if again:
        assert "the second line ends with `holds the tokens`" in page
        expected = expected.replace("was made", "holds the tokens")
        with place.http():
            pass
    with place.http() as server:
        assert server.process.stderr is not None
        said = f"lockstep: serving at {server.url}\n{server.process.stderr.readline()}"
        there = said.replace(str(place.home), "/home/ada/.local/share/lockstep")
        assert re.sub(r":\d+/", ":8765/", there) == expected
        server.process.terminate()
        assert server.process.stderr.read() == ""


@pytest.mark.slow
def test_a_token_that_is_added_as_the_docs_say_opens_a_server_that_runs(place: Place) -> None:
    page = (ROOT / "docs" / "connecting.md").read_text(encoding="utf-8")
    added = re.search(r"LOCKSTEP_TOKEN=\$\(lockstep (serve --add-client codex)\)", page)
    assert added is not None
    with place.http() as server:
        command = [*LOCKSTEP, *added[1].split()]
        token = subprocess.run(
            command, env=place.environment, capture_output=True, text=True, check=True
        ).stdout.strip()
        for given, is_refused in (("none of these", True), (token, False)):
            answer = httpx2.post(server.url, headers={"Authorization": f"Bearer {given}"})
            assert (answer.status_code == 401) is is_refused, answer.text
