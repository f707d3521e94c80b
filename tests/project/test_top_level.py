"""The rooms of the tree's top level: what a command leaves in the working directory is never committed as one."""

from __future__ import annotations

import re
import subprocess
import tomllib

from tests.project.workflows import ROOT

ROOMS = {
    "benchmarks",
    "docs",
    "environments",
    "examples",
    "harness",
    "lockstep",
    "mcp_server",
    "prompts",
    "rust",
    "sandboxes",
    "tests",
}


def test_the_top_level_holds_the_rooms_of_the_design_and_no_other() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folders = {path.split("/")[0] for path in listed.split("\0") if "/" in path}
    assert {folder for folder in folders if not folder.startswith(".")} == ROOMS


def test_the_rooms_of_the_harness_stand_in_the_order_of_their_layers() -> None:
    """ARCHITECTURE.md says of its table that a room imports only rooms above it."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each.get("containers") == ["harness"])
    rows = re.findall(r"^\| (`.*?`) \|", (ROOT / "ARCHITECTURE.md").read_text(), re.MULTILINE)
    told = [name for row in rows for name in re.findall(r"`(?:harness/)?(\w+)(?:/|\.py)`", row) if name in layers]
    assert sorted(told) == sorted(layers)
    assert told == layers[::-1]
