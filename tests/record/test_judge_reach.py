"""What the digest of the judge leaves out, where it comes from, and what no reading of imports could see."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

from harness.record.judge import _digest, judge_digest, judge_files
from harness.record.machine import conditions
from tests.paths import ROOT

TELL = frozenset(
    {"agent_sandbox", "assurance", "cli", "connect", "host", "measure", "operations", "record", "report", "session"}
)
"""Rooms of `harness` that ask for verdicts, keep, tell and measure them."""
DYNAMIC = frozenset({"import_module", "__import__", "spec_from_file_location", "run_path", "run_module"})
KNOWN = {
    "harness/authoring/templates/gymnasium_adapter.py": "the environment that a task names",
    "harness/authoring/templates/gymnasium_kinds.py": "modules of the task's requirements, which register environments",
    "harness/authoring/templates/gymnasium_state.py": "the classes of the objects of a game",
    "harness/candidate/adapters/jax/candidate.py": "the trainer, which its constant names",
    "harness/candidate/faces/jax_env.py": "a candidate",
    "harness/candidate/faces/rust_batch.py": "a candidate's extension module",
    "harness/farm/place.py": "what a recipe names: a class of `harness`",
    "harness/protocol/worker.py": "the adapter that it is reported: the reference's, or one that `candidate/start.py` names",
    "harness/task/former.py": "the modules that its own table names",
    "lockstep/__init__.py": "the modules that its own table names",
    "harness/task/suite.py": "the properties and sequences of a task, which its digest covers",
}
"""Where a module is imported whose name is not text at that place, and what it can be."""


@pytest.mark.slow
def test_no_room_that_only_tells_of_verdicts_is_in_it() -> None:
    rooms = {Path(name).parts[1] for name in judge_files() if name.startswith("harness/")}
    assert not rooms & TELL
    assert {"candidate", "protocol", "reference", "task", "training", "verify", "errors.py"} <= rooms
    assert {Path(name).parts[0] for name in judge_files()} == {"harness", "lockstep", "sandboxes", "rust"}


def test_it_is_the_same_in_a_checkout_and_in_a_wheel(tmp_path: Path) -> None:
    """A wheel has the Rust runtime inside `harness`."""
    left_out = shutil.ignore_patterns("__pycache__", "target", ".*")
    for package in ("harness", "lockstep", "sandboxes"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=left_out)
    rust = tmp_path / "harness" / "_data" / "rust"
    shutil.copytree(ROOT / "rust", rust, ignore=left_out)
    assert _digest(judge_files(tmp_path, rust)) == judge_digest() == conditions()["judge"]


def hides(source: str) -> bool:
    """Whether a file imports something by a name that is not written where it does."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in DYNAMIC and not (node.args and isinstance(node.args[0], ast.Constant)):
                return True
    return False


def test_every_import_that_cannot_be_followed_is_known() -> None:
    """A module whose name is put together while the program runs would be missing from the digest."""
    texts = {name: path.read_text() for name, path in judge_files().items() if path.suffix == ".py"}
    assert {name for name, text in texts.items() if hides(text)} == KNOWN.keys()


@pytest.mark.parametrize(
    "line",
    [
        'import_module(f"harness.verify.levels.{name}")',
        "importlib.import_module(named)",
        "__import__('harness.' + part)",
        "runpy.run_path(str(place / 'level.py'))",
        "spec_from_file_location(name, path)",
    ],
)
def test_an_import_that_cannot_be_followed_is_found(line: str) -> None:
    assert hides(line)
    assert not hides('import_module("harness.verify.levels.rollout")')
