"""The rooms of the tree's top level: what a command leaves in the working directory is never committed as one."""

from __future__ import annotations

import subprocess

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
