"""The worker under other interpreters than ours: references bring their own, down to Python 3.8."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

import harness.protocol.worker
from harness.model import Case
from harness.protocol.environment import Environment
from sandboxes import Sandbox
from tests.protocol.conftest import open_sandbox

NAMES = [os.environ.get("LOCKSTEP_TEST_PYTHON", ""), *(f"python3.{minor}" for minor in range(8, 16)), "python3"]


ASKED = "import json, sys, numpy, msgpack; print(json.dumps([sys.version, sys.prefix, sys.base_prefix]))"


@pytest.fixture(scope="module")
def others() -> dict[str, list[str]]:
    """Interpreters on the path, other than this one, that have what the worker needs, and where they are installed."""
    found: dict[str, tuple[str, list[str]]] = {}
    for python in filter(None, map(shutil.which, filter(None, NAMES))):
        answer = subprocess.run([python, "-I", "-c", ASKED], capture_output=True, text=True, timeout=60, check=False)
        if answer.returncode == 0:
            version, *places = json.loads(answer.stdout)
            if version != sys.version:
                found.setdefault(version, (python, places))
    return dict(found.values())


@pytest.fixture(scope="module")
def sandbox(others: dict[str, list[str]]) -> Iterator[Sandbox]:
    with open_sandbox(*chain.from_iterable(others.values())) as opened:
        yield opened


def test_the_worker_is_valid_python_3_8() -> None:
    ast.parse(Path(harness.protocol.worker.__file__).read_text(), feature_version=(3, 8))


def test_the_worker_imports_nothing_but_the_standard_library_numpy_and_msgpack() -> None:
    tree = ast.parse(Path(harness.protocol.worker.__file__).read_text())
    imported = {
        alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    imported |= {str(node.module).split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported - set(sys.stdlib_module_names) == {"numpy", "msgpack"}


def test_every_other_interpreter_gives_the_same_trajectories(
    others: dict[str, list[str]], open_walker: Callable[..., Environment], opened_walker: Environment
) -> None:
    if not others:
        pytest.skip("runs another Python: put one with numpy and msgpack on PATH, or name it in LOCKSTEP_TEST_PYTHON")
    cases = [Case(seed, {"action": np.array([2, 0, 1, 1, 2, 2])}) for seed in range(10)]
    for python in others:
        environment = open_walker(python=python)
        for ours, theirs in (
            (opened_walker.rollout(cases), environment.rollout(cases)),
            (opened_walker.drive("sticky", range(10), 12), environment.drive("sticky", range(10), 12)),
            (opened_walker.drive("outward", range(10), 12), environment.drive("outward", range(10), 12)),
        ):
            assert [t.digest for t in ours] == [t.digest for t in theirs]


def test_modules_beside_the_worker_do_not_hide_those_of_a_reference(tmp_path: Path, run: Callable) -> None:
    # Without -I a script's own directory comes first on the path, and ours holds an `errors.py` and a `task.py`.
    (tmp_path / "adapter.py").write_text("import errors\nEnv = errors.Env\n")
    (tmp_path / "errors.py").write_text(
        "class Env:\n    def spec(self):\n        raise RuntimeError('the errors of the reference')\n"
    )
    channel = run(sys.executable, harness.protocol.worker.__file__, f"{tmp_path / 'adapter.py'}:Env")
    with pytest.raises(Exception, match="the errors of the reference"):
        channel.ask("open", options={})
