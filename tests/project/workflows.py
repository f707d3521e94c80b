"""What a workflow of the hosting site must keep to, as one function that names every mistake."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.paths import ROOT

PINNED = re.compile(r"uses: (?P<action>[\w./-]+)@(?P<commit>[0-9a-f]{40}) # v\d+\.\d+\.\d+$")
ON = True
"""YAML 1.1 reads the key `on` as a truth value."""


@dataclass(frozen=True)
class Tree:
    """What workflows call and must agree with.

    Attributes:
        targets: of the Makefile.
        variables: that the Makefile reads as `$(NAME)`.
        commands: that set-up puts into .venv/bin.
        pythons: the versions in the classifiers, oldest first.
        oldest: the version in requires-python.
    """

    targets: frozenset[str]
    variables: frozenset[str]
    commands: frozenset[str]
    pythons: tuple[str, ...]
    oldest: str


def tree(root: Path = ROOT) -> Tree:
    """As the Makefile and pyproject.toml say."""
    makefile = (root / "Makefile").read_text()
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    classified = re.findall(r"Programming Language :: Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    oldest = re.fullmatch(r">=(3\.\d+)", project["requires-python"])
    assert oldest is not None, "requires-python is a lower bound alone"
    return Tree(
        targets=frozenset(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)),
        variables=frozenset(re.findall(r"\$[({]([A-Z_]+)", makefile)),
        commands=frozenset(project["scripts"]),
        pythons=tuple(sorted(classified, key=_number)),
        oldest=oldest[1],
    )


def mistakes(text: str, known: Tree, root: Path = ROOT) -> list[str]:
    """Everything that is wrong with a workflow, one sentence each.

    Raises yaml.YAMLError if it is not YAML at all.
    """
    workflow = yaml.safe_load(text)
    found = [f"`{line}` is not pinned to a commit with its version beside it" for line in _unpinned(text)]
    if ON not in workflow:
        found.append("it says nothing of when it runs")
    if workflow.get("permissions") != {"contents": "read"}:
        found.append("its permissions are not `contents: read` alone; a job that needs more asks for it")
    for name, job in workflow["jobs"].items():
        if "timeout-minutes" not in job:
            found.append(f"the job {name} has no timeout-minutes")
        for step in job["steps"]:
            found += [f"{name}: {mistake}" for mistake in _of_commands(step.get("run", ""), known, root)]
            found += [f"{name}: {mistake}" for mistake in _of_python(step, job, known)]
        found += [f"{name}: {mistake}" for mistake in _of_parts(job)]
    return found


def _unpinned(text: str) -> Iterator[str]:
    for line in text.splitlines():
        used = line.strip().removeprefix("- ")
        if used.startswith("uses:") and PINNED.fullmatch(used) is None:
            yield used


def _of_commands(script: str, known: Tree, root: Path) -> Iterator[str]:
    for target, given in re.findall(r"\bmake ([a-z-]+)((?: [A-Z_]+=)?)", script):
        if target not in known.targets:
            yield f"the Makefile has no target {target!r}"
        if given and given.strip(" =") not in known.variables:
            yield f"the Makefile reads no variable {given.strip(' =')}"
    for command in re.findall(r"\.venv/bin/([\w-]+)", script):
        if command not in known.commands:
            yield f"pyproject.toml installs no command {command!r}"
    for path in re.findall(r"(?<![\w/.])((?:\.ci|tests|harness|benchmarks)/[\w./-]+)", script):
        if not (root / path).is_file():
            yield f"there is no file {path}"


def _of_python(step: dict[str, Any], job: dict[str, Any], known: Tree) -> Iterator[str]:
    if not step.get("uses", "").startswith("actions/setup-python@"):
        return
    asked = step["with"]["python-version"]
    matrix = job.get("strategy", {}).get("matrix", {}).get("python")
    if matrix is None:
        if asked not in known.pythons:
            yield f"Python {asked!r} is not among the classifiers {', '.join(known.pythons)}"
    elif asked != "${{ matrix.python }}":
        yield f"the matrix names Pythons, and {asked!r} is set up"
    elif tuple(matrix) != known.pythons or matrix[0] != known.oldest:
        yield f"it runs on Python {matrix}; the classifiers have {known.pythons}, requires-python begins at {known.oldest}"


def _of_parts(job: dict[str, Any]) -> Iterator[str]:
    script = "\n".join(step.get("run", "") for step in job["steps"])
    splits = re.search(r"SPLITS=(\d+)", script)
    groups = job.get("strategy", {}).get("matrix", {}).get("group")
    if splits and groups != list(range(1, int(splits[1]) + 1)):
        yield f"it splits tests into {splits[1]} groups and runs the groups {groups}"


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
