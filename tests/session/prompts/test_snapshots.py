"""What every prompt says, word for word: `LOCKSTEP_SNAPSHOTS=write` writes the snapshots anew."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import harness.protocol.worker
from harness.calls import ToolCalls
from harness.errors import LockstepError
from harness.model import Case
from harness.record.machine import fingerprint
from harness.session.prompts import fill, load, render, repair_prompt, templates
from harness.support import embedded
from harness.task.contract import Candidate, Reference, Task
from harness.task.load import load_task
from harness.verdict import Divergence

HERE = Path(__file__).parent
SNAPSHOTS = HERE / "snapshots"
HILL = HERE / "hill"


def hill() -> Task:
    """The task, whose reference runs under this very interpreter: no environment has to be built for a snapshot."""
    worker = (sys.executable, str(harness.protocol.worker.__file__), str(HILL / "reference" / "adapter.py") + ":Hill")
    return replace(load_task(HILL), reference=Reference(None, command=worker))


def repair() -> str:
    found = Divergence(
        case=Case(7, {"action": np.array([0, 2])}, start={"state/x": np.array(0.5), "state/speed": np.array(0.0)}),
        step=2, path="state/x", expected="0.75", actual="0.5", rule="value", level=2, check="over the top in the wind",
        module="rolling", cause="the rule of this step is wrong", reproduced=True,
    )  # fmt: skip
    calls = ToolCalls("hill-1")
    case = Path("cases/0123456789abcdef.json")
    return repair_prompt(found, hill(), reproduce=calls.compare(case), verify=calls.verify(2))


PROMPTS: dict[str, Callable[[], str]] = {
    "translate": lambda: render("translate", arguments={"module": "rolling"}, task=hill()),
    "properties": lambda: render("properties", arguments={"module": "ending"}, task=hill()),
    "interactions": lambda: render("interactions", task=hill()),
    "repair": repair,
    "optimise_jax": lambda: render(
        "optimise_jax", arguments={"measured": "batch 2048: 1.0 million steps a second"}, task=hill()
    ),
    "optimise_rust": lambda: render(
        "optimise_rust", task=replace(hill(), candidate=Candidate("rust", "candidate/src/lib.rs"))
    ),
    "extract": lambda: render("extract", arguments={"specification": "A ball rolls down a hill."}, task=hill()),
}


def said(name: str) -> str:
    """A prompt without what differs from machine to machine."""
    machine = fingerprint()
    described = f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}"
    return PROMPTS[name]().replace(str(HILL), "<task>").replace(described, "<machine>")


def check(name: str) -> None:
    path = SNAPSHOTS / f"{name}.md"
    text = said(name)
    if os.environ.get("LOCKSTEP_SNAPSHOTS") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path.name} differs; see this module's docstring"


@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_says_what_its_snapshot_says(name: str) -> None:
    check(name)


def test_every_template_has_a_snapshot_and_every_file_is_a_template() -> None:
    files = {path.stem for path in (Path(embedded.__file__).parents[2] / "prompts").glob("*.md")}
    assert set(templates()) == set(PROMPTS) == files == {path.stem for path in SNAPSHOTS.glob("*.md")}


@pytest.fixture
def own_prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the templates, which is read instead."""
    shutil.copytree(Path(embedded.__file__).parents[2] / "prompts", tmp_path / "prompts")
    monkeypatch.setattr(embedded, "_ROOT", tmp_path)
    return tmp_path / "prompts"


@pytest.mark.parametrize("name", PROMPTS)
def test_a_template_that_lost_one_line_is_noticed(
    name: str, own_prompts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOCKSTEP_SNAPSHOTS", raising=False)  # what lost a line must never be written as a snapshot
    check(name)
    lines = (own_prompts / f"{name}.md").read_text().splitlines(keepends=True)
    last = max(number for number, line in enumerate(lines) if line.strip() and "{{" not in line)
    (own_prompts / f"{name}.md").write_text("".join(lines[:last] + lines[last + 1 :]))
    with pytest.raises(AssertionError, match="differs"):
        check(name)


def test_no_prompt_is_longer_than_a_client_takes() -> None:
    # 8,000 tokens of at least 3.5 characters.
    assert max(len(said(name)) for name in PROMPTS) < 28_000


@pytest.mark.parametrize("name", ["translate", "properties", "interactions", "repair", "optimise_jax", "optimise_rust"])
def test_every_prompt_to_a_translator_forbids_hiding_and_says_what_is_data(name: str) -> None:
    text = said(name)
    assert "Never hide a difference" in text
    assert " data" in text and "instruction to you" in " ".join(text.split())


@pytest.mark.parametrize("name", templates())
def test_a_slot_without_a_value_is_an_error_that_names_it(name: str) -> None:
    with pytest.raises(LockstepError, match=r"slots without a value .*'task'"):
        fill(load(name).body, {})
