"""`--on`, and `lockstep verify --all`, as a user gives them."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.measure.strength.result import strength_digest
from tests.paths import WALK

pytestmark = pytest.mark.slow


def lockstep(*arguments: str) -> tuple[int, dict[str, Any]]:
    command = [str(Path(sys.executable).with_name("lockstep")), *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A task whose candidate is right, one whose is wrong, and one that cannot be judged."""
    made = tmp_path_factory.mktemp("tasks")
    for name in ("right", "wrong", "without"):
        shutil.copytree(WALK, made / name, ignore=shutil.ignore_patterns("__pycache__"))
        file = made / name / "task.toml"
        file.write_text(file.read_text().replace('name = "walk"', f'name = "{name}"'))
    source = made / "wrong" / "candidate" / "env.py"
    source.write_text(source.read_text().replace("1.0, -1.0", "1.0, -2.0"))
    (made / "without" / "candidate" / "env.py").unlink()
    return made


def test_all_tasks_of_a_folder_are_verified_and_the_worst_of_them_decides(folder: Path) -> None:
    code, found = lockstep("verify", "--all", str(folder), "--level", "1", "--seed", "5")
    outcomes = {each["task"]: each["outcome"] for each in found["verdicts"]}
    assert outcomes == {"right": "PASS", "without": "ERROR", "wrong": "FAIL"}
    assert (code, found["outcome"], found["recorded"]) == (1, "FAIL", False)
    [wrong] = [each["verdict"] for each in found["verdicts"] if each["task"] == "wrong"]
    assert wrong["levels"][0]["checks"][0]["divergences"] or any(c["divergences"] for c in wrong["levels"][0]["checks"])


def test_a_cluster_is_joined_by_its_client_and_judges_the_same(client_port: int) -> None:
    command = ("verify", str(WALK), "--level", "1", "--seed", "5")
    (_, here), (code, there) = lockstep(*command), lockstep(*command, "--on", f"ray://127.0.0.1:{client_port}")
    assert code == 0, there
    assert len(there["verdict"]["nodes"]) == 1  # the task says: one worker
    evidence = [[level["evidence"] for level in each["verdict"]["levels"]] for each in (here, there)]
    assert evidence[0] == evidence[1]


@pytest.mark.nightly
def test_a_measurement_whose_head_was_killed_goes_on_and_finds_the_same(
    client_port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found is on the disk of the head; members of a head that is gone end."""
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    on = ("--on", f"ray://127.0.0.1:{client_port}")
    measured = ("strength", str(WALK), "--level", "1", "--sample", "6", "--seed", "5")
    program = str(Path(sys.executable).with_name("lockstep"))
    running = subprocess.Popen(
        [program, *measured, *on, "--json"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while running.poll() is None and b'"kind": "found"' not in _journals(tmp_path):
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(0.1)
    assert running.poll() is None, "it was done before it could be killed"
    running.send_signal(signal.SIGKILL)
    running.wait()
    code, again = lockstep(*measured, *on)
    assert code in (0, 1) and again["resumed"] > 0
    _, whole = lockstep(*measured, "--fresh")
    assert whole["resumed"] == 0 and strength_digest(again) == strength_digest(whole)


def _journals(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.glob("home/strength/*.jsonl"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--on", "slurm"), "there is no engine 'slurm'"),
        (("--on", "ray://127.0.0.1:1"), "no Ray cluster can be joined"),
        (("--all", "--module", "step"), "--all takes no --module"),
        (("--all", "--session", "x"), "--all is for task directories"),
    ],
)
def test_what_cannot_be_done_is_told(arguments: tuple[str, ...], said: str) -> None:
    code, found = lockstep("verify", str(WALK), *arguments)
    assert code in (2, 3) and said in json.dumps(found), found
