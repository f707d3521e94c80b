"""`lockstep verify` and `lockstep compare` on a small task, with faults put in."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.policy.floor import VARIABLE
from tests.cli.conftest import RIGHT, WRONG, Result
from tests.edits import edit

Run = Callable[..., Result]
ROWS_OF_A_TERMINAL = 24
CHARACTERS_IN_A_TOKEN = 3  # far fewer than the usual four, to be on the safe side


def test_a_task_directory_is_verified_and_nothing_is_recorded(walk: Path, home: Path, lockstep: Run) -> None:
    result = lockstep("verify", "--level", "1", "--module", "ending", "--json")
    assert result.code == 0, result.out
    assert result.document["outcome"] == "PASS"
    assert result.document["recorded"] is False
    assert not (home / "sessions").exists()


@pytest.mark.slow
def test_a_failure_shows_the_difference_the_call_that_repeats_it_and_the_prompt(walk: Path, lockstep: Run) -> None:
    edit(walk / "candidate" / "env.py", RIGHT, WRONG)
    failed = lockstep("verify", "--level", "1")
    assert failed.code == 1
    prompt, block = failed.out.split("\nDIVERGENCE\n")
    assert prompt.startswith("REPAIR PROMPT") and len(block.splitlines()) < ROWS_OF_A_TERMINAL
    assert len(block) / CHARACTERS_IN_A_TOKEN < 2000
    for name in ("level 1", "moving", "state/place", "expected", "actual", "cause", "actions"):
        assert name in block
    call = re.search(r"reproduce with\n +(lockstep compare .*)", block)
    assert call is not None
    compared = lockstep(*shlex.split(call.group(1))[1:], "--json")
    assert compared.code == 1
    assert compared.document["difference"]["path"] == "state/place"
    assert "Understand it before you edit" in prompt
    assert call.group(1) in prompt


@pytest.mark.slow
def test_what_is_to_be_repeated_names_the_candidate_that_was_verified(walk: Path, lockstep: Run) -> None:
    edit(walk / "candidate" / "env.py", RIGHT, WRONG)
    failed = lockstep("verify", "--level", "1", "--module", "moving", "--candidate", "jax", "--json")
    assert failed.document["reproduce"].endswith(" --candidate jax")
    assert lockstep(*shlex.split(failed.document["reproduce"])[1:]).code == 1


@pytest.mark.parametrize("command", ["compare", "rollout"])
def test_one_of_several_candidates_is_played_and_a_session_has_one(
    command: str, walk: Path, lockstep: Run, tmp_path: Path
) -> None:
    assert "has no candidate 'rust'" in lockstep(command, "--candidate", "rust").err
    workspace = tmp_path / "work"
    assert lockstep("start", str(walk), "--workspace", str(workspace)).code == 0
    refused = lockstep(command, str(workspace), "--candidate", "jax")
    assert refused.code == 2 and "a session has one candidate" in refused.err


@pytest.mark.slow
def test_what_a_seed_showed_it_shows_again(walk: Path, lockstep: Run) -> None:
    edit(walk / "candidate" / "env.py", RIGHT, WRONG)
    first, second = (
        lockstep("verify", "--level", "1", "--module", "moving", "--seed", "5", "--json").document for _ in range(2)
    )
    assert first["verdict"]["seed"] == second["verdict"]["seed"] == 5
    assert first["divergence"] == second["divergence"]


def test_everything_that_a_candidate_lacks_is_reported_at_once(walk: Path, lockstep: Run) -> None:
    (walk / "candidate" / "env.py").write_text("def step(state, action, draws):\n    return state, {}\n")
    result = lockstep("verify", "--json")
    assert result.code == 1
    assert "(1) " in result.document["divergence"]
    for name in ("reset", "encode", "decode"):
        assert f"`{name}`" in result.document["divergence"]
    assert "the form that the task demands" in " ".join(result.document["repair_prompt"].split())


def test_a_reference_that_cannot_start_is_an_error_and_no_failure(walk: Path, lockstep: Run) -> None:
    (walk / "reference" / "adapter.py").write_text("import nothing_of_this_name\n")
    result = lockstep("verify", "--json")
    assert result.code == 3
    assert result.document["outcome"] == "ERROR"
    assert "nothing_of_this_name" in json.dumps(result.document)


@pytest.mark.parametrize(
    "arguments",
    [("--module", "moved"), ("--level", "9"), ("--module", "moving", "--level", "2"), (".", "--session", "x")],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(
    walk: Path, lockstep: Run, arguments: tuple[str, ...]
) -> None:
    result = lockstep("verify", *arguments, "--json")
    assert result.code == 2
    assert result.document["error"] == "UsageError"


@pytest.mark.slow
def test_a_property_file_that_prints_does_not_spoil_the_document(walk: Path, lockstep: Run) -> None:
    with (walk / "properties.py").open("a") as file:
        file.write("\nprint('hello from the task')\n")
    result = lockstep("verify", "--level", "1", "--module", "ending", "--json")
    assert result.document["outcome"] == "PASS"
    assert "hello from the task" not in result.out + result.err  # it stays in the worker that imports the file


@pytest.mark.slow
def test_a_driver_without_isolation_is_named_in_the_verdict(
    walk: Path, lockstep: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    result = lockstep("verify", "--level", "1", "--module", "ending", "--sandbox", "process")
    assert result.code == 0
    assert "does not isolate" in result.out


def test_a_driver_that_does_not_exist_is_refused(walk: Path, lockstep: Run) -> None:
    result = lockstep("verify", "--sandbox", "paper", "--json")
    assert result.code == 3
    assert result.document["error"] == "SandboxUnavailable"


def test_sides_that_agree_show_no_difference(walk: Path, lockstep: Run) -> None:
    result = lockstep("compare", "--policy", "right", "--seed", "3")
    assert result.code == 0
    assert "no difference in 6 steps" in result.out


def test_the_first_difference_is_shown_with_the_row_before_it(walk: Path, lockstep: Run) -> None:
    edit(walk / "candidate" / "env.py", RIGHT, "jnp.where(action == 1, jnp.where(state['steps'] > 2, 1.5, 1.0), -1.0)")
    result = lockstep("compare", "--policy", "right", "--seed", "3", "--json")
    assert result.code == 1
    difference = result.document["difference"]
    assert (difference["step"], difference["path"]) == (4, "state/place")
    place = next(row for row in difference["table"] if row["address"] == "state/place")
    assert place == {"address": "state/place", "before": "3.0", "expected": "4.0", "actual": "4.5", "differs": True}
    shown = lockstep("compare", "--policy", "right", "--seed", "3").out
    assert "first difference at step 4" in shown
    assert re.search(r"state/place +3\.0 +4\.0 +4\.5 +differs", shown)


@pytest.mark.slow
def test_the_input_of_a_probe_is_compared_too(walk: Path, lockstep: Run) -> None:
    edit(walk / "candidate" / "env.py", 'jnp.abs(inputs["place"]) > 5.0', 'jnp.abs(inputs["place"]) > 4.0')
    failed = lockstep("verify", "--level", "1", "--module", "ending", "--json").document
    assert "probe ending" in failed["divergence"]
    compared = lockstep(*shlex.split(failed["reproduce"])[1:], "--json")
    assert compared.code == 1
    assert compared.document["difference"]["path"] == "probe/ending/over"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "this is not a case"),
        ("[1]", "this is not a case"),
        ("not json", "this is not a case"),
        ('{"seed": 1, "actions": {"jump": {"dtype": "int32", "shape": [0], "values": []}}}', "action leaves"),
        ('{"probe": "begin", "inputs": {}}', "no probe 'begin'"),
    ],
)
def test_a_file_that_is_no_case_of_this_task_is_refused(
    walk: Path, lockstep: Run, tmp_path: Path, content: str, said: str
) -> None:
    file = tmp_path / "case.json"
    file.write_text(content)
    result = lockstep("compare", "--case", str(file), "--json")
    assert result.code == 3
    assert said in result.document["what"]


def test_a_policy_that_the_reference_lacks_is_refused(walk: Path, lockstep: Run) -> None:
    result = lockstep("compare", "--policy", "left", "--json")
    assert result.code == 3
    assert "random, sticky, right" in result.document["what"]


@pytest.mark.slow
def test_ctrl_c_leaves_a_session_that_goes_on(
    walk: Path, lockstep: Run, in_process: Callable[..., subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lockstep("start", ".", "--workspace", "../work").code == 0
    monkeypatch.chdir(walk.parent / "work")
    with in_process("verify", "--level", "3") as started:
        assert started.stdout is not None and started.stderr is not None
        started.stderr.readline()  # the first line of progress: a level has begun
        started.send_signal(signal.SIGINT)
        said, shown = started.stderr.read(), started.stdout.read()
    assert started.returncode == 130, said
    assert shown == ""
    assert "go on with `lockstep verify`" in said and "Traceback" not in said
    assert lockstep("status", "--json").document["last_attempt"]["outcome"] == "interrupted"
    assert lockstep("verify", "--json").document["commit"] is not None
