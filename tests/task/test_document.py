"""What docs/task.md says of task.toml is what is read."""

from __future__ import annotations

import dataclasses
import math
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from harness.task.contract import Budgets, Candidate, Limits, Module, Reference, Task, TaskDraw, Tolerance, Transfer
from harness.task.require import Requirement
from harness.task.training import PpoConfig
from tests.paths import ROOT
from tests.task.document import RIGHT, mistakes, read

DOCUMENT = (ROOT / "docs" / "task.md").read_text()

# Of each section: the line of a right file after which a key of it can be written, and what holds its defaults.
SECTIONS: dict[str, tuple[str, Any]] = {
    "At the top": ('workflow = "translate"', None),
    "`[reference]`": ("[reference]", Reference),
    "`[candidate]`": ("[candidate]", Candidate),
    "`[[modules]]`": ('name = "ends"', Module),
    "`[probes.NAME]`": ("[probes.move]", None),
    "`[randomness]`": ("[randomness]", None),
    "`[randomness.draws.NAME]`": ("[randomness.draws.wind]", TaskDraw),
    "`[budgets]`": ("[budgets]", Budgets),
    "`[transfer]`": ("[transfer]", Transfer),
    "`[transfer.ppo]`": ("[transfer.ppo]", PpoConfig),
    "`[profile]`": ("[profile]", Task),
    "`[[peers]]`": ('name = "quick walk"', None),
    "`[limits]`": ("[limits]", Limits),
    "`[[require]]`": ('end = "terminated"', Requirement),
    "`[leaves]`": ('"state/n" = { dtype = "int32"', None),
    "`[tolerance]`": ('"state/x" = { rtol = 1e-9', Tolerance),
}
UNSAID = (None, (), "", -math.inf)
"""Defaults that the document tells in words."""


def documented(section: str) -> dict[str, str]:
    """The keys of a section's table, each with what stands there as its default."""
    body = DOCUMENT.split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (.*?) \| .+ \|$", body, re.MULTILINE)
    return {name: default for names, default in rows for name in re.findall(r"\w+", names)}


@pytest.mark.parametrize("section", SECTIONS)
def test_the_document_lists_every_key_and_no_other(tmp_path: Path, section: str) -> None:
    line = SECTIONS[section][0]
    unknown = ", nonsense = 1" if "{" in line else "\nnonsense = 1"
    [reported] = [each for each in mistakes(tmp_path, RIGHT.replace(line, line + unknown, 1)) if "nonsense" in each]
    known = re.search(r"unknown key; expected one of ([\w, ]+)", reported)
    assert known
    tables = set(re.findall(r"^## `\[+(\w+)", DOCUMENT, re.MULTILINE)) if section == "At the top" else set()
    assert set(documented(section)) | tables == set(known.group(1).split(", "))


@pytest.mark.parametrize("section", [name for name, (_, what) in SECTIONS.items() if what is not None])
def test_the_document_states_the_defaults(section: str) -> None:
    keys = {field.name: field for field in dataclasses.fields(SECTIONS[section][1])}
    [keys["also"]] = [field for field in dataclasses.fields(Task) if field.name == "others"]
    for name, stated in documented(section).items():
        key = keys[name]
        default = key.default if key.default_factory is dataclasses.MISSING else key.default_factory()
        if value := re.fullmatch(r"`(.*)`", stated):
            expected = list(default) if isinstance(default, tuple) else default
            assert tomllib.loads(f"value = {value.group(1)}")["value"] == expected, name
        else:
            assert default is dataclasses.MISSING or default in UNSAID, name


def test_the_example_of_a_training_is_right(tmp_path: Path) -> None:
    [example] = re.findall(r"```toml\n(\[transfer\]\n.*?)```", DOCUMENT, re.DOTALL)
    begin, end = RIGHT.index("[transfer]"), RIGHT.index("[profile]")
    task = read(tmp_path, f"{RIGHT[:begin]}{example}\n{RIGHT[end:]}")
    assert task.levels == (1, 2, 3, 4)
