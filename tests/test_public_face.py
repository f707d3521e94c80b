"""The package `lockstep`: every name is there, typed and documented, and loads nothing before it is used."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import lockstep
from harness.errors import TaskError
from tests.paths import ROOT

ALIASES = frozenset({"Array", "Leaves", "__version__"})
"""Names of types and of a text: they have no docstring of their own."""
USER = """
from pathlib import Path

import lockstep
from lockstep import Array, Trajectory, feature, invariant


@invariant()
def nothing_ends(trajectory: Trajectory) -> Array:
    return ~trajectory.leaves["terminated"]


@feature
def it_paid(trajectory: Trajectory) -> Array:
    return trajectory.leaves["reward"] > 0


verdict: lockstep.Verdict = lockstep.verify("cartpole", levels=(1, 2, 3), progress=False)
passed: bool = verdict.passed
first: str = verdict.divergences[0].path
steps: int = lockstep.rollout(Path("cartpole"), policy="random").steps
"""
WRONG = 'import lockstep\n\nverdict: int = lockstep.verify("cartpole", levels="all")\nlockstep.prove("cartpole")\n'


def typed_names() -> set[str]:
    """What type checkers see: the imports below `if TYPE_CHECKING`."""
    tree = ast.parse(Path(str(lockstep.__file__)).read_text())
    seen = next(node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.asname or alias.name for node in seen.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }


def test_what_type_checkers_see_is_what_there_is() -> None:
    assert typed_names() == set(lockstep.__all__) == set(dir(lockstep))
    assert list(lockstep.__all__) == sorted(lockstep.__all__)


@pytest.mark.parametrize("name", lockstep.__all__)
def test_a_name_is_there_and_documented(name: str) -> None:
    found = getattr(lockstep, name)
    assert name in ALIASES or inspect.getdoc(found)
    assert name in ALIASES or found.__name__ == name


def test_a_name_that_is_not_there_is_named() -> None:
    with pytest.raises(AttributeError, match="module 'lockstep' has no attribute 'prove'"):
        lockstep.prove  # noqa: B018


def test_importing_it_loads_nothing_large() -> None:
    program = (
        "import sys, lockstep; print(*sorted({'numpy', 'jax', 'hypothesis', 'rich', 'harness.model'} & {*sys.modules}))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""


@pytest.mark.parametrize("package", ["lockstep", "harness", "mcp_server", "sandboxes"])
def test_a_package_says_that_it_is_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def checked(place: Path, program: str) -> subprocess.CompletedProcess[str]:
    (place / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    (place / "own.py").write_text(program)
    python = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    return subprocess.run([*python, "own.py"], cwd=place, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_users_project_is_type_checked(tmp_path: Path) -> None:
    assert "0 errors" in checked(tmp_path, USER).stdout
    wrong = checked(tmp_path, WRONG)
    assert wrong.returncode == 1
    assert '"Verdict" is not assignable to "int"' in wrong.stdout
    assert '"prove" is not a known attribute' in wrong.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"task": "cartpol"}, "there is no task 'cartpol'; did you mean 'cartpole'"),
        ({"task": "cartpole", "levels": (1, 7)}, "cartpole has no level 7"),
        ({"task": "cartpole", "module": "wings"}, "cartpole has no module 'wings'"),
        (
            {"task": "cartpole", "module": "dynamics", "levels": (2,)},
            "cartpole has no module 'dynamics' at level 1 alone",
        ),
    ],
)
def test_a_wrong_question_is_answered_before_anything_starts(arguments: dict[str, object], complaint: str) -> None:
    with pytest.raises(TaskError, match=complaint.replace("(", r"\(")):
        lockstep.verify(**arguments, progress=False)  # type: ignore[arg-type]


def test_a_verdict_prints_its_levels_and_what_differs() -> None:
    found = lockstep.Divergence(None, 3, "observation/x", "0.5", "0.25", "value", 1, "single steps", (2,))
    check = lockstep.CheckResult("single steps", lockstep.Outcome.FAIL, "dynamics", 64, divergences=(found,))
    report = lockstep.LevelReport(1, None, (check,), seed=7, duration_s=1.25)
    verdict = lockstep.Verdict((report,), 7, "ab" * 32, "process", isolated=False, duration_s=2.0)
    assert str(verdict).splitlines() == [
        "FAIL (seed 7, sandbox process, which does not isolate, 2.0 s)",
        "level 1 property: FAIL (64 examples, 1.2 s)",
        "  single steps: observation/x[2] at step 3: expected 0.5, got 0.25 (value)",
    ]
    assert not verdict.passed


@pytest.mark.slow
def test_an_environment_is_verified_and_played_in_a_few_lines() -> None:
    verdict = lockstep.verify("cartpole", levels=(1,), module="dynamics", progress=False)
    assert verdict.passed
    assert str(verdict).startswith("PASS")
    played = lockstep.rollout("cartpole", seed=3, progress=False)
    assert played.difference is None and played.steps > 0
    assert played.case is not None
    assert lockstep.compare("cartpole", played.case, progress=False).difference is None
    [policy] = lockstep.train("cartpole", steps=4096, progress=False)
    assert policy.seed == 0
