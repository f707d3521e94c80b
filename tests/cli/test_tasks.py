"""Finding, checking and making tasks on the command line."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import harness
from harness.errors import LockstepError, TaskError
from harness.support.embedded import embedded_tasks, find_task, prompt_text
from tests.cli.conftest import Result
from tests.edits import edit

Run = Callable[..., Result]


def test_a_task_is_found_by_its_path(walk: Path) -> None:
    assert find_task(".") == walk
    assert find_task(str(walk)) == walk


def test_a_task_that_comes_with_lockstep_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_task("cartpole") == embedded_tasks()["cartpole"]


def test_a_directory_of_that_name_goes_before_an_embedded_task(walk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = walk.parent / "cartpole"
    walk.rename(own)
    monkeypatch.chdir(own.parent)
    assert find_task("cartpole") == own


def test_a_wheel_carries_its_tasks_and_prompts_inside(tmp_path: Path) -> None:
    # Laid out as the wheel is: the data directories inside the package, and none beside it.
    root = Path(harness.__file__).parents[1]
    (tmp_path / "harness" / "support").mkdir(parents=True)
    for file in ("__init__.py", "errors.py", "support/__init__.py", "support/embedded.py"):
        shutil.copy(root / "harness" / file, tmp_path / "harness" / file)
    for name in ("environments", "prompts"):
        shutil.copytree(root / name, tmp_path / "harness" / "_data" / name)
    ask = "from harness.support import embedded; print(embedded.find_task('cartpole')); embedded.prompt_text('repair')"
    done = subprocess.run([sys.executable, "-c", ask], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()) == tmp_path / "harness" / "_data" / "environments" / "cartpole"


def test_a_directory_that_is_no_task_says_so(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"has no task\.toml"):
        find_task(str(tmp_path))


def test_a_prompt_that_does_not_exist_names_those_that_do() -> None:
    with pytest.raises(LockstepError) as raised:
        prompt_text("repare")
    assert "repair" in raised.value.expected


def test_a_reference_is_set_up_once_and_found_again(walk: Path, lockstep: Run) -> None:
    first, second = lockstep("setup", "--json"), lockstep("setup", "--json")
    assert first.code == second.code == 0
    assert first.document == second.document
    assert Path(first.document["python"]).exists()


@pytest.mark.slow
def test_a_sound_reference_passes_its_check(walk: Path, lockstep: Run) -> None:
    result = lockstep("check-reference", "--json")
    assert result.code == 0, result.document
    assert result.document["outcome"] == "PASS"
    assert len(result.document["checks"]) > 10


@pytest.mark.slow
def test_a_reference_that_forgets_its_seed_fails_its_check(walk: Path, lockstep: Run) -> None:
    edit(walk / "reference" / "adapter.py", "np.random.RandomState(seed % (1 << 32))", "np.random.RandomState()")
    result = lockstep("check-reference")
    assert result.code == 1
    assert "mend the adapter first" in result.out
    assert "FAIL" in result.out and "determinism" in result.out


def test_a_new_task_is_made_from_one_thing(lockstep: Run) -> None:
    result = lockstep("new", "mine", "--gymnasium", "A-v0", "--factory", "module:make")
    assert result.code == 2
    assert "--gymnasium, --factory, --pettingzoo, --openspiel, --adapter, --command and --spec" in result.err


@pytest.mark.slow
def test_from_a_gymnasium_id_to_the_first_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lockstep: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    made = lockstep("new", "pole", "--gymnasium", "CartPole-v1", "--json")
    assert made.code == 0, made.out
    assert made.document["required"] == (tmp_path / "pole" / "task.toml").read_text().count("[[require]]") == 2
    assert made.document["tolerances"] == ["state/state", "observation"]
    assert lockstep("setup", "pole").code == 0
    checked = lockstep("check-reference", "pole", "--json")
    assert checked.code == 0, checked.document
    started = lockstep("start", "pole", "--workspace", "work", "--json")
    assert started.code == 0, started.out
    monkeypatch.chdir(tmp_path / "work")
    verdict = lockstep("verify", "--json")
    # What `new` writes as a candidate is a beginning, not a translation: it must not pass, and says why.
    assert verdict.code in (1, 3)
    assert verdict.document["outcome"] in ("FAIL", "ERROR")
    assert lockstep("status", "--json").document["attempts"] == 1
