"""The hooks for commits are the tools of `make check`, and they stop a commit."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.project.workflows import ROOT

CONFIGURATION = ROOT / ".pre-commit-config.yaml"


def _tool(command: str) -> str:
    """The program and its subcommand, as `ruff check`."""
    found = re.search(r"\.venv/bin/(\S+)((?: [a-z]+)?)", command)
    assert found is not None, f"{command!r} calls nothing in .venv"
    return found[1] + found[2]


def test_hooks_are_the_tools_of_make_check_and_download_nothing() -> None:
    (repository,) = yaml.safe_load(CONFIGURATION.read_text())["repos"]
    assert repository["repo"] == "local"
    assert {hook["language"] for hook in repository["hooks"]} == {"system"}
    (recipe,) = re.findall(r"^check:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    checked = [_tool(line.replace("$(BIN)", ".venv/bin")) for line in recipe.splitlines()]
    assert [_tool(hook["entry"]) for hook in repository["hooks"]] == checked


@pytest.mark.parametrize(
    ("hook", "good", "bad"),
    [("ruff-format", "x = 1\n", "x  =  1\n"), ("ruff-check", "x = 1\n", "import os\n")],
)
def test_a_hook_stops_what_its_tool_refuses(hook: str, good: str, bad: str, tmp_path: Path) -> None:
    def run(*command: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PRE_COMMIT_HOME": str(tmp_path / "home")}
        return subprocess.run(
            command, cwd=tmp_path / "tree", env=environment, capture_output=True, text=True, check=False
        )

    (tmp_path / "tree/.venv").mkdir(parents=True)
    (tmp_path / "tree/.venv/bin").symlink_to(Path(sys.executable).parent)
    (tmp_path / "tree/.pre-commit-config.yaml").write_text(CONFIGURATION.read_text())
    run("git", "init", "-q")
    outcomes = []
    for text in (good, bad):
        (tmp_path / "tree/some.py").write_text(text)
        run("git", "add", "some.py", ".pre-commit-config.yaml")
        outcomes.append(run(sys.executable, "-m", "pre_commit", "run", hook, "--files", "some.py"))
    assert [done.returncode for done in outcomes] == [0, 1], [done.stdout + done.stderr for done in outcomes]
