"""A client's settings: shown first, written at once, undone exactly, refused where they are malformed."""

from __future__ import annotations

import json
import os
import stat
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.connect import CLIENTS, Client, http_server, local_server, plan_connection, plan_removal
from harness.connect.jsonc import parse
from harness.errors import LockstepError
from tests.cli.conftest import Result

SERVER = http_server("http://127.0.0.1:8765/mcp", "MY_TOKEN")
JSON = '{\n    "theme": "dark", // mine\n    "mcpServers": {"other": {"command": "x"}}\n}\n'
TOML = (
    '# mine\nmodel = "m"   # the good one\n\n[mcp_servers.other]\ncommand = "x"\n\n[profiles.fast]\nmodel = "n"\n# end'
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    place = tmp_path / "home"
    place.mkdir(mode=0o700)
    return place


@pytest.fixture(params=CLIENTS.values(), ids=CLIENTS)
def client(request: pytest.FixtureRequest) -> Client:
    chosen: Client = request.param
    return chosen


@pytest.fixture
def file(client: Client, tmp_path: Path) -> Path:
    return tmp_path / "project" / client.project


def content(client: Client) -> str:
    return TOML if client.toml else JSON


def settings_of(path: Path, client: Client) -> dict[str, Any]:
    text = path.read_text()
    return tomllib.loads(text) if client.toml else parse(text).value


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def connect(client: Client, file: Path, home: Path, server: Any = SERVER) -> None:
    plan_connection(client, server, file, home).apply()


def remove(client: Client, file: Path, home: Path) -> None:
    plan_removal(client, file, home).apply()


# --- writing ----------------------------------------------------------------------------------------------------------


def test_the_entry_has_the_form_of_each_client() -> None:
    token = "MY_TOKEN"
    entries = {name: client.entry(SERVER) for name, client in CLIENTS.items()}
    assert entries["claude"] == {
        "type": "http", "url": SERVER.url, "headers": {"Authorization": f"Bearer ${{{token}}}"},
    }  # fmt: skip
    assert entries["codex"]["bearer_token_env_var"] == token
    assert entries["codex"]["tool_timeout_sec"] > 45 and entries["codex"]["startup_timeout_sec"] > 10
    assert entries["cursor"]["headers"]["Authorization"] == f"Bearer ${{env:{token}}}"
    assert entries["gemini"]["httpUrl"] == SERVER.url and entries["gemini"]["timeout"] > 45_000


def test_the_command_is_this_installations_and_the_home_goes_with_it(
    client: Client, file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(home))
    connect(client, file, home, local_server())
    entry = settings_of(file, client)[client.section]["lockstep"]
    assert Path(entry["command"]) == Path(sys.executable).parent / "lockstep"
    assert os.access(entry["command"], os.X_OK)
    assert entry["args"] == ["serve"]
    assert entry["env"] == {"LOCKSTEP_HOME": str(home)}
    monkeypatch.delenv("LOCKSTEP_HOME")
    assert not local_server().environment


def test_everything_else_in_the_file_stays(client: Client, file: Path, home: Path) -> None:
    write(file, content(client))
    connect(client, file, home)
    text = file.read_text()
    for line in content(client).splitlines():
        assert line.rstrip("}") in text
    found = settings_of(file, client)
    assert found[client.section]["other"] == {"command": "x"}
    assert found[client.section]["lockstep"] == client.entry(SERVER)


def test_the_change_is_planned_and_shown_before_anything_is_written(client: Client, file: Path, home: Path) -> None:
    write(file, content(client))
    change = plan_connection(client, SERVER, file, home)
    assert change.needed
    added = [line for line in change.diff.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert any(SERVER.url in line for line in added)
    assert file.read_text() == content(client)
    assert not (home / "connections").exists()


def test_connecting_twice_changes_nothing_the_second_time(client: Client, file: Path, home: Path) -> None:
    connect(client, file, home)
    text = file.read_bytes()
    change = plan_connection(client, SERVER, file, home)
    assert not change.needed and change.diff == ""
    change.apply()
    assert file.read_bytes() == text


def test_the_mode_of_a_file_is_kept_and_a_link_stays_a_link(
    client: Client, file: Path, home: Path, tmp_path: Path
) -> None:
    real = tmp_path / "dotfiles" / "settings"
    write(real, content(client))
    real.chmod(0o600)
    file.parent.mkdir(parents=True)
    file.symlink_to(real)
    connect(client, file, home)
    assert file.is_symlink() and "lockstep" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert [path.name for path in real.parent.iterdir()] == ["settings"]


def test_what_a_file_was_is_kept_where_only_its_owner_reads_it(client: Client, file: Path, home: Path) -> None:
    write(file, content(client))
    connect(client, file, home)
    [note] = (home / "connections").iterdir()
    assert stat.S_IMODE(note.stat().st_mode) == 0o600


# --- undoing ----------------------------------------------------------------------------------------------------------

ODD = {
    "json": [
        "{}",
        "{ }\n",
        "",
        '{"mcpServers":{}}',
        JSON,
        JSON.replace("\n", "\r\n"),
        "\ufeff{}",
        '{"mcpServers": {"z": {}}}',
    ],
    "toml": [
        "",
        "\n\n",
        TOML,
        TOML.replace("\n", "\r\n"),
        "[mcp_servers]\n",
        "\ufeff" + TOML,
        "mcp_servers.z.command = 'x'\n",
    ],
}


def test_removing_brings_back_every_byte(client: Client, file: Path, home: Path) -> None:
    for text in ODD["toml" if client.toml else "json"]:
        write(file, text)
        connect(client, file, home)
        assert file.read_bytes() != text.encode()
        remove(client, file, home)
        assert file.read_bytes() == text.encode()
        assert not list((home / "connections").iterdir())


def test_a_file_and_directories_that_were_made_are_removed_again(client: Client, file: Path, home: Path) -> None:
    connect(client, file, home)
    assert file.is_file()
    remove(client, file, home)
    assert not file.parents[file.parts[::-1].index("project") - 1].exists()


def test_a_changed_address_is_still_undone_to_what_was_there_first(client: Client, file: Path, home: Path) -> None:
    write(file, content(client))
    connect(client, file, home)
    connect(client, file, home, local_server(home))
    assert "serve" in file.read_text()
    remove(client, file, home)
    assert file.read_text() == content(client)


def test_what_somebody_else_changed_in_between_is_kept(client: Client, file: Path, home: Path) -> None:
    connect(client, file, home)
    write(file, file.read_text().replace("MY_TOKEN", "OTHER") + ("" if not client.toml else '\n[tui]\ntheme = "x"\n'))
    if not client.toml:
        write(file, file.read_text().replace("{", '{\n  "theme": "x",', 1))
    remove(client, file, home)
    found = settings_of(file, client)
    assert "lockstep" not in file.read_text()
    assert found == ({"tui": {"theme": "x"}} if client.toml else {"theme": "x"})


def test_without_a_note_only_the_entry_is_taken_out(client: Client, file: Path, home: Path, tmp_path: Path) -> None:
    write(file, content(client))
    connect(client, file, home)
    remove(client, file, tmp_path / "another-home")
    assert settings_of(file, client)[client.section] == {"other": {"command": "x"}}


@pytest.mark.parametrize("note", ["", "{", "[]", '{"original": 1, "written": "x", "made": []}'])
def test_a_damaged_note_is_as_none(client: Client, file: Path, home: Path, note: str) -> None:
    write(file, content(client))
    connect(client, file, home)
    [place] = (home / "connections").iterdir()
    place.write_text(note)
    remove(client, file, home)
    assert settings_of(file, client)[client.section] == {"other": {"command": "x"}}


def test_removing_what_is_not_there_changes_nothing(client: Client, file: Path, home: Path) -> None:
    remove(client, file, home)
    assert not file.exists()
    write(file, content(client))
    assert not plan_removal(client, file, home).needed


# --- refusing ---------------------------------------------------------------------------------------------------------


def test_a_malformed_file_is_refused_with_its_line_and_untouched(client: Client, file: Path, home: Path) -> None:
    text = "[mcp_servers\n" if client.toml else '{\n  "a": 1\n  "b": 2\n}'
    text = "a = 1\n\nb = = 2\n" if client.toml else text
    write(file, text)
    for plan in (lambda: plan_connection(client, SERVER, file, home), lambda: plan_removal(client, file, home)):
        with pytest.raises(LockstepError, match="malformed") as raised:
            plan()
        assert raised.value.where == f"{file.resolve()}:3"
    assert file.read_text() == text


def test_a_section_that_is_something_else_is_refused_with_its_line(client: Client, file: Path, home: Path) -> None:
    write(file, "a = 1\nmcp_servers = 3\n" if client.toml else '{\n  "mcpServers": 3\n}')
    with pytest.raises(LockstepError, match="is no") as raised:
        plan_connection(client, SERVER, file, home)
    assert raised.value.where.endswith(":2")


def test_a_file_that_is_no_text_is_refused(client: Client, file: Path, home: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\xff\xfe{}")
    with pytest.raises(LockstepError, match="cannot be read"):
        plan_connection(client, SERVER, file, home)


def test_a_file_that_changed_after_it_was_planned_is_not_overwritten(client: Client, file: Path, home: Path) -> None:
    write(file, content(client))
    change = plan_connection(client, SERVER, file, home)
    write(file, content(client) + "\n")
    with pytest.raises(LockstepError, match="in the meantime"):
        change.apply()
    assert file.read_text() == content(client) + "\n"


def test_an_edit_that_would_change_something_else_is_never_written(
    client: Client, file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.connect import settings

    write(file, content(client))
    ruined = "model = 'other'\n" if client.toml else '{"theme": "light"}'
    monkeypatch.setattr(settings.jsonc, "put", lambda *_: ruined)
    monkeypatch.setattr(settings, "_toml_put", lambda *_: ruined)
    with pytest.raises(LockstepError, match="without changing something else"):
        plan_connection(client, SERVER, file, home)


@pytest.mark.parametrize("url", ["localhost:8765", "ftp://x/mcp", "http://", "http://name:secret@host/mcp"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(LockstepError, match="not an address"):
        http_server(url, "TOKEN")


def test_a_token_given_in_place_of_a_variables_name_is_refused() -> None:
    with pytest.raises(LockstepError, match="not a name of an environment variable"):
        http_server("http://localhost:1/mcp", "lk-123.abc")


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def lockstep(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Result]:
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("LOCKSTEP_HOME", str(home))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.chdir(tmp_path / "project")

    def run(*arguments: str) -> Result:
        capfd.readouterr()
        code = main(arguments)
        return Result(code, *capfd.readouterr())

    return run


def test_the_command_shows_the_change_and_writes_nothing_without_a_yes(
    lockstep: Callable[..., Result], tmp_path: Path
) -> None:
    shown = lockstep("connect", "claude")
    assert shown.code == 2
    assert '+    "lockstep": {' in shown.out and "give --yes" in shown.err
    assert not list((tmp_path / "project").iterdir())


def test_the_command_connects_says_so_and_removes(lockstep: Callable[..., Result], tmp_path: Path) -> None:
    done = lockstep("connect", "gemini", "--yes", "--json").document
    assert done["changed"] and done["action"] == "connect"
    assert json.loads(Path(done["file"]).read_text())["mcpServers"]["lockstep"]["args"] == ["serve"]
    again = lockstep("connect", "gemini", "--yes")
    assert again.code == 0 and "connected already" in again.out
    assert lockstep("connect", "gemini", "--remove", "--yes").code == 0
    assert not list((tmp_path / "project").iterdir())
    assert "is not connected" in lockstep("connect", "gemini", "--remove").out


def test_the_command_reaches_the_settings_of_all_projects_where_a_client_has_such_a_file(
    lockstep: Callable[..., Result], tmp_path: Path
) -> None:
    assert lockstep("connect", "codex", "--user", "--yes", "--http", "http://localhost:1/mcp").code == 0
    written = tomllib.loads((tmp_path / "codex" / "config.toml").read_text())["mcp_servers"]["lockstep"]
    assert written["bearer_token_env_var"] == "LOCKSTEP_TOKEN"
    refused = lockstep("connect", "claude", "--user", "--yes")
    assert refused.code == 2 and "mcp add" in refused.err


def test_a_token_variable_without_an_address_is_a_mistake(lockstep: Callable[..., Result]) -> None:
    assert lockstep("connect", "claude", "--token-env", "X", "--yes").code == 2
