"""Files of other programs: the settings that `lockstep connect` edits, transcripts that `lockstep usage` reads, prices."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path

from harness.connect.settings import Settings
from harness.session.usage import prices as price_tables
from harness.session.usage.transcripts import responses
from tests.fuzz.mutate import of_bytes, of_json, of_json_lines, of_toml
from tests.fuzz.target import Target, Wrong, each

ENTRY = {"command": "lockstep", "args": ["serve"], "env": {"LOCKSTEP_HOME": "/tmp/é"}}
JSONC = b"""\xef\xbb\xbf{
  // what a person wrote
  "theme": "dark", /* and more */
  "mcpServers": {
    "other": {"command": "x", "args": [1, 2.5, null, true], "env": {"A": "\\u00e9"}}, // kept
    "lockstep": {"command": "old"},
  },
}
"""
TOML = b"""# settings
model = "m"
[mcp_servers.other]
command = "x"   # kept
args = ["a", 'b', \"\"\"c\"\"\", 1, 1.5, 1979-05-27]
[mcp_servers.lockstep]
command = "old"
[tui]
notifications = true
"""
CLAUDE = b"""{"type":"user","cwd":"/w","timestamp":"2026-01-02T03:04:05.678Z"}
{"type":"assistant","cwd":"/w","timestamp":"2026-01-02T03:04:06Z","message":{"id":"m1","model":"big","usage":{"input_tokens":5,\
"output_tokens":7,"cache_read_input_tokens":1,"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_1h_input_tokens":2}}}}
{"type":"assistant","cwd":"/w/sub","timestamp":"2026-01-02T03:04:07+02:00","message":{"id":"m2","model":"big","usage":{"input_tokens":1}}}
{"half"""
CODEX = b"""{"type":"session_meta","timestamp":"2026-01-02T03:04:05Z","payload":{"cwd":"/w","model":"other"}}
{"type":"event_msg","timestamp":"2026-01-02T03:04:06Z","payload":{"type":"token_count","info":{"total_token_usage":\
{"input_tokens":50,"cached_input_tokens":10,"output_tokens":7}}}}
{"type":"event_msg","timestamp":"2026-01-02T03:04:07Z","payload":{"type":"token_count","info":{"total_token_usage":\
{"input_tokens":90,"cached_input_tokens":10,"output_tokens":9}}}}
"""


def settings(directory: Path) -> Target:
    """The text of a client's settings: an edit is refused, or changes one entry and keeps the rest readable."""

    def run(data: bytes) -> None:
        try:
            text = data.decode().removeprefix("\ufeff")
        except UnicodeDecodeError:  # `connect` has refused such a file before
            return
        each(lambda: _edit(text, toml=False), lambda: _edit(text, toml=True))

    return Target("settings", [JSONC.removeprefix(b"\xef\xbb\xbf"), TOML, b"", b"{}"], run, _of_settings)


def _edit(text: str, *, toml: bool) -> None:
    def read(text: str) -> Settings:
        return Settings(
            Path("settings"), text, toml=toml, section="mcp_servers" if toml else "mcpServers", name="lockstep"
        )

    before = read(text)
    put = read(before.put(ENTRY))
    if put.entry != ENTRY or put.put(ENTRY) != put.text:
        raise Wrong("the entry is not what was put")
    if read(put.without()).entry is not None:
        raise Wrong("the entry is there after it was taken out")


def _of_settings(rng: random.Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    """TOML and JSON by their values where they have them; comments do not survive that, so bytes are changed as often."""
    return rng.choice((of_bytes, of_toml, of_json))(rng, data, donors)


def transcripts(directory: Path) -> Target:
    """Transcripts of agents, in the places where they would lie."""
    claude, codex = directory / "claude" / "projects" / "-w", directory / "codex" / "sessions"
    for place in (claude, codex):
        place.mkdir(parents=True)
    os.environ["CLAUDE_CONFIG_DIR"], os.environ["CODEX_HOME"] = str(directory / "claude"), str(directory / "codex")

    def run(data: bytes) -> None:
        for place in (claude, codex):
            (place / "one.jsonl").write_bytes(data)
        for found in responses([Path("/w")], "2026-01-01T00:00:00+00:00"):
            if min(found.tokens.parts) < 0 or not found.model:
                raise Wrong(f"counted {found}")

    return Target("transcripts", [CLAUDE, CODEX], run, of_json_lines, ())


def prices(directory: Path) -> Target:
    """A person's own table of prices."""
    file = directory / "prices.toml"

    def run(data: bytes) -> None:
        file.write_bytes(data)
        price_tables.read_prices(file)

    return Target("prices", [price_tables.SHIPPED.read_bytes()], run, of_toml)
