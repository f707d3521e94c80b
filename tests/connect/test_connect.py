"""A client's settings: shown first, written at once, undone exactly, refused where they are malformed."""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cli.connect import NAMES
from harness.connect import CLIENTS, Client, Server, http_server, local_server, plan_connection, plan_removal
from harness.connect.jsonc import parse
from harness.errors import LockstepError
from tests.cli.conftest import Result, runner
from tests.paths import ROOT

SERVER = http_server("http://127.0.0.1:8765/mcp", "MY_TOKEN")
LOCAL = local_server()
"""For the client that reads no variables, and so takes no address."""
JSON = '{\n    "theme": "dark", // mine\n    "mcpServers": {"other": {"command": "x"}}\n}\n'
YAML = '# mine\nmodel: "m"  # the good one\nextensions:\n  other:\n    command: x\n# end\nlast: [1, 2]\n'
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
    return tmp_path / "project" / (client.project or f"settings.{client.form}")


def content(client: Client) -> str:
    return {"toml": TOML, "yaml": YAML}.get(client.form, in_json(JSON, client))


def in_json(text: str, client: Client) -> str:
    return text.replace("mcpServers", client.section)


def server_for(client: Client) -> Server:
    return LOCAL if client.name == "zed" else SERVER


def settings_of(path: Path, client: Client) -> dict[str, Any]:
    text = path.read_text()
    return {"toml": tomllib.loads, "yaml": yaml.safe_load}.get(client.form, lambda text: parse(text).value)(text)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def connect(client: Client, file: Path, home: Path, server: Server | None = None) -> None:
    plan_connection(client, server or server_for(client), file, home).apply()


def remove(client: Client, file: Path, home: Path) -> None:
    plan_removal(client, file, home).apply()


# --- writing ----------------------------------------------------------------------------------------------------------


def test_the_entry_has_the_form_of_each_client() -> None:
    token = "MY_TOKEN"
    entries = {name: client.entry(server_for(client)) for name, client in CLIENTS.items()}
    assert entries["claude"] == {
        "type": "http", "url": SERVER.url, "headers": {"Authorization": f"Bearer ${{{token}}}"},
    }  # fmt: skip
    assert entries["codex"]["bearer_token_env_var"] == token
    assert entries["codex"]["tool_timeout_sec"] > 45 and entries["codex"]["startup_timeout_sec"] > 10
    assert entries["cursor"]["headers"]["Authorization"] == f"Bearer ${{env:{token}}}"
    assert entries["gemini"]["httpUrl"] == SERVER.url and entries["gemini"]["timeout"] > 45_000
    assert entries["qwen"] == entries["gemini"]
    assert entries["vscode"] == {"type": "http", "url": SERVER.url, "headers": entries["cursor"]["headers"]}
    assert entries["opencode"]["type"] == "remote" and entries["opencode"]["timeout"] > 45_000
    assert entries["opencode"]["headers"]["Authorization"] == f"Bearer {{env:{token}}}"
    assert entries["copilot"]["tools"] == ["*"] and entries["copilot"]["headers"] == entries["claude"]["headers"]
    assert entries["windsurf"] == {"serverUrl": SERVER.url, "headers": entries["cursor"]["headers"]}
    assert entries["cline"]["type"] == "streamableHttp" and entries["cline"]["timeout"] > 45
    assert (entries["goose"]["type"], entries["goose"]["uri"]) == ("streamable_http", SERVER.url)
    assert entries["goose"]["env_keys"] == [token] and entries["goose"]["headers"] == entries["claude"]["headers"]
    assert all("MY_TOKEN" in json.dumps(entry) for name, entry in entries.items() if name != "zed")


def test_a_started_server_has_the_form_of_each_client() -> None:
    server = Server("/bin/lockstep", ("serve",), {"LOCKSTEP_HOME": "/h"})
    entries = {name: client.entry(server) for name, client in CLIENTS.items()}
    for name in ("claude", "cursor", "gemini", "qwen", "vscode", "copilot", "zed", "windsurf", "cline", "codex"):
        assert (entries[name]["command"], entries[name]["args"]) == ("/bin/lockstep", ["serve"]), name
        assert entries[name]["env"] == {"LOCKSTEP_HOME": "/h"}, name
    assert entries["opencode"]["command"] == ["/bin/lockstep", "serve"]
    assert entries["opencode"]["environment"] == entries["goose"]["envs"] == {"LOCKSTEP_HOME": "/h"}
    assert (entries["goose"]["cmd"], entries["goose"]["args"]) == ("/bin/lockstep", ["serve"])
    kinds = {name: entries[name]["type"] for name in ("vscode", "opencode", "copilot", "cline", "goose")}
    assert kinds == {"vscode": "stdio", "opencode": "local", "copilot": "local", "cline": "stdio", "goose": "stdio"}


def test_a_client_that_reads_no_variables_gets_no_address() -> None:
    with pytest.raises(LockstepError, match="no environment variables"):
        CLIENTS["zed"].entry(SERVER)


def test_the_command_is_this_installations_and_the_home_goes_with_it(
    client: Client, file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(home))
    connect(client, file, home, local_server())
    entry = settings_of(file, client)[client.section]["lockstep"]
    words = [*([] if isinstance(entry.get("command"), list) else [entry.get("command") or entry["cmd"]])]
    program, *arguments = [*words, *(entry["args"] if words else entry["command"])]
    assert Path(program) == Path(sys.executable).parent / "lockstep"
    assert os.access(program, os.X_OK)
    assert arguments == ["serve"]
    assert {"LOCKSTEP_HOME": str(home)} in (entry.get("env"), entry.get("environment"), entry.get("envs"))
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
    assert found[client.section]["lockstep"] == client.entry(server_for(client))


def test_the_change_is_planned_and_shown_before_anything_is_written(client: Client, file: Path, home: Path) -> None:
    write(file, content(client))
    change = plan_connection(client, server_for(client), file, home)
    assert change.needed
    added = [line for line in change.diff.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert any((server_for(client).url or LOCAL.command) in line for line in added)
    assert file.read_text() == content(client)
    assert not (home / "connections").exists()


def test_connecting_twice_changes_nothing_the_second_time(client: Client, file: Path, home: Path) -> None:
    connect(client, file, home)
    text = file.read_bytes()
    change = plan_connection(client, server_for(client), file, home)
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
    "yaml": [
        "",
        "\n\n",
        "# only this",
        "---\na: 1\n",
        YAML,
        YAML.replace("\n", "\r\n"),
        YAML.replace("  ", "      "),
        "\ufeff" + YAML,
        "extensions:",
        "extensions: {}  # none\n",
        "extensions: null\nb: 1\n",
        "b: 1\nextensions:\n# first\n  z: {type: stdio}\n  'quoted': {}\n\n  # last\nc: |\n  text: more\n",
    ],
}


def test_removing_brings_back_every_byte(client: Client, file: Path, home: Path) -> None:
    for text in (in_json(text, client) if client.form == "json" else text for text in ODD[client.form]):
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
    text, mine = file.read_text().replace('"serve"', '"other"').replace("MY_TOKEN", "OTHER"), {"tui": {"theme": "x"}}
    added = {"toml": f'{text}\n[tui]\ntheme = "x"\n', "yaml": f"{text}tui:\n  theme: x\n"}
    write(file, added.get(client.form, text.replace("{", '{\n  "tui": {"theme": "x"},', 1)))
    remove(client, file, home)
    assert "lockstep" not in file.read_text()
    assert settings_of(file, client) == mine


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
    text = "a: 1\n\nextensions: [1]\n" if client.form == "yaml" else text
    write(file, text)
    for plan in (
        lambda: plan_connection(client, server_for(client), file, home),
        lambda: plan_removal(client, file, home),
    ):
        with pytest.raises(LockstepError, match=r"malformed|line by line") as raised:
            plan()
        assert raised.value.where == f"{file.resolve()}:3"
    assert file.read_text() == text


def test_a_section_that_is_something_else_is_refused_with_its_line(client: Client, file: Path, home: Path) -> None:
    other = {"toml": "a = 1\nmcp_servers = 3\n", "yaml": "a: 1\nextensions: 3\n"}
    write(file, other.get(client.form, in_json('{\n  "mcpServers": 3\n}', client)))
    with pytest.raises(LockstepError, match="is no") as raised:
        plan_connection(client, server_for(client), file, home)
    assert raised.value.where.endswith(":2")


def test_a_file_that_is_no_text_is_refused(client: Client, file: Path, home: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\xff\xfe{}")
    with pytest.raises(LockstepError, match="cannot be read"):
        plan_connection(client, server_for(client), file, home)


def test_a_file_that_changed_after_it_was_planned_is_not_overwritten(client: Client, file: Path, home: Path) -> None:
    write(file, content(client))
    change = plan_connection(client, server_for(client), file, home)
    write(file, content(client) + "\n")
    with pytest.raises(LockstepError, match="in the meantime"):
        change.apply()
    assert file.read_text() == content(client) + "\n"


def test_an_edit_that_would_change_something_else_is_never_written(
    client: Client, file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.connect import settings

    if client.form == "yaml":
        pytest.skip("its lines are edited, and no other line is touched")

    write(file, content(client))
    ruined = "model = 'other'\n" if client.toml else '{"theme": "light"}'
    monkeypatch.setattr(settings.jsonc, "put", lambda *_: ruined)
    monkeypatch.setattr(settings, "_toml_put", lambda *_: ruined)
    with pytest.raises(LockstepError, match="without changing something else"):
        plan_connection(client, server_for(client), file, home)


@pytest.mark.parametrize(
    "text",
    [
        "extensions: {a: {}}\n",
        "{extensions: {}}\n",
        "extensions:\n- a\n- b: 1\n",
        "extensions:\n  - a\n",
        "extensions:\n  a: 1\nextensions:\n  b: 1\n",
        "a: 1\n---\nextensions:\n",
        "extensions:\n\ta: 1\n",
        "extensions: &anchor\n  a: 1\n",
        "extensions:\n    a: 1\n  b: 1\n",
    ],
)
def test_yaml_that_is_written_in_another_way_is_refused_and_not_touched(text: str, tmp_path: Path, home: Path) -> None:
    write(tmp_path / "config.yaml", text)
    with pytest.raises(LockstepError, match="line by line") as raised:
        plan_connection(CLIENTS["goose"], SERVER, tmp_path / "config.yaml", home)
    assert "--print" in str(raised.value)
    assert (tmp_path / "config.yaml").read_text() == text


@pytest.mark.parametrize("text", ODD["yaml"])
def test_everything_else_in_yaml_stays_what_it_was(text: str, tmp_path: Path, home: Path) -> None:
    file = tmp_path / "config.yaml"
    write(file, text)
    before = yaml.safe_load(text) or {}
    connect(CLIENTS["goose"], file, home)
    now = yaml.safe_load(file.read_text())
    assert now["extensions"].pop("lockstep") == CLIENTS["goose"].entry(SERVER)
    assert now == before | {"extensions": before.get("extensions") or {}}


def test_an_entry_in_yaml_that_was_written_by_hand_is_replaced_whole(tmp_path: Path, home: Path) -> None:
    file = tmp_path / "config.yaml"
    write(file, "extensions:\n  lockstep:\n    cmd: old\n    args:\n      - serve\n  other:\n    cmd: x\n")
    connect(CLIENTS["goose"], file, home)
    assert yaml.safe_load(file.read_text())["extensions"] == {
        "lockstep": CLIENTS["goose"].entry(SERVER),
        "other": {"cmd": "x"},
    }


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
    return runner(capfd)


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


def test_a_client_without_such_a_file_gets_its_own_command_printed(lockstep: Callable[..., Result], home: Path) -> None:
    added = lockstep("connect", "claude", "--user")
    script = str(Path(sys.executable).parent / "lockstep")
    assert added.code == 0
    assert shlex.split(added.out) == [
        *(
            "claude",
            "mcp",
            "add",
            "--scope",
            "user",
            "lockstep",
            "--env",
            f"LOCKSTEP_HOME={home}",
            "--",
            script,
            "serve",
        )
    ]
    removed = lockstep("connect", "claude", "--user", "--remove", "--json").document
    assert removed["command"] == "claude mcp remove --scope user lockstep" and not removed["changed"]
    over_http = lockstep("connect", "claude", "--user", "--http", "http://localhost:1/mcp", "--token-env", "T").out
    assert shlex.split(over_http)[-2:] == ["--header", "Authorization: Bearer ${T}"]


def test_the_command_knows_every_client_and_each_has_a_row_in_the_docs() -> None:
    assert tuple(CLIENTS) == NAMES
    rows = (ROOT / "docs/connecting.md").read_text()
    assert all(f"| `{name}` | " in rows for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_is_printed_and_nothing_is_written(lockstep: Callable[..., Result], name: str, tmp_path: Path) -> None:
    done = lockstep("connect", name, "--print")
    assert done.code == 0
    found = {"toml": tomllib.loads, "yaml": yaml.safe_load}.get(CLIENTS[name].form, json.loads)(done.out)
    assert found == {CLIENTS[name].section: {"lockstep": CLIENTS[name].entry(local_server())}}
    assert str(CLIENTS[name].file(tmp_path / "project")) in done.err
    assert not list((tmp_path / "project").iterdir())


def test_any_other_client_gets_the_form_that_most_read(lockstep: Callable[..., Result]) -> None:
    done = lockstep("connect", "--print", "--json").document
    assert done["file"] is None and json.loads(done["text"]) == {"mcpServers": {"lockstep": done["entry"]}}
    assert done["entry"]["args"] == ["serve"]
    assert lockstep("connect", "aider", "--print", "--json").document == done
    for wrong in ((), ("aider",), ("aider", "--remove")):
        refused = lockstep("connect", *wrong)
        assert refused.code == 2 and "--print" in refused.err and all(name in refused.err for name in NAMES)


def test_a_token_variable_without_an_address_is_a_mistake(lockstep: Callable[..., Result]) -> None:
    assert lockstep("connect", "claude", "--token-env", "X", "--yes").code == 2
