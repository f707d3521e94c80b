"""The demo: faults that fit the verified candidate, an agent that reads, and a whole session."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.errors import LockstepError
from harness.host import jobs
from harness.record.directory import all_sessions
from harness.support.embedded import find_task
from harness.support.home import lockstep_home
from harness.task.load import load_task
from mcp_server.demo import agent, faults
from mcp_server.demo import specification as specified
from mcp_server.demo.faults import KINDS, Fault, chosen, faulty
from mcp_server.demo.play import Attempt, Played, Repair, Started, play
from mcp_server.results import Finding

VERIFIED = (find_task("cartpole") / "candidate" / "env.py").read_text()
EVERY = [fault for variants in KINDS for fault in variants]


def test_without_faults_the_candidate_is_the_verified_one() -> None:
    assert faulty(VERIFIED, ()) == VERIFIED


@pytest.mark.parametrize("fault", EVERY, ids=lambda fault: fault.title)
def test_every_fault_fits_and_changes_the_candidate(fault: Fault) -> None:
    source = faulty(VERIFIED, [fault])
    assert source != VERIFIED
    compile(source, "env.py", "exec")


def test_faults_can_be_repaired_in_any_order() -> None:
    for count in range(len(KINDS) + 1):
        for left in itertools.combinations(chosen(0), count):
            compile(faulty(VERIFIED, left), "env.py", "exec")


def test_a_fault_that_no_longer_fits_is_named() -> None:
    with pytest.raises(LockstepError, match="does not fit"):
        faulty(VERIFIED.replace("HALF_LENGTH", "HALF"), chosen(0))


def test_a_seed_chooses_one_fault_of_each_kind_and_repeats_its_choice() -> None:
    assert [fault.kind for fault in chosen(3)] == [variants[0].kind for variants in KINDS]
    assert chosen(3) == chosen(3)
    assert len({chosen(seed) for seed in range(20)}) > 1


def finding(**changes: Any) -> Finding:
    found = Finding(
        level=1, check="single steps", rule="value", step=1, address="state/x", expected="1", actual="2",
        module="dynamics", reproduced=True,
    )  # fmt: skip
    return found.model_copy(update=changes)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, faults.CONSTANT),
        ({"probe": "dynamics", "address": "probe/dynamics/x"}, faults.CONSTANT),
        ({"module": "termination", "address": "terminated"}, faults.LIMIT),
        ({"rule": "law", "address": "draw/start", "module": "start", "reproduced": None}, faults.SAMPLER),
        ({"reproduced": False, "level": 2}, faults.ORDER),
        ({"reproduced": False, "level": 3, "address": "truncated", "module": "truncation"}, faults.COUNTDOWN),
    ],
)
def test_the_agent_tells_the_kind_of_mistake_from_the_report(changes: dict[str, Any], kind: str) -> None:
    diagnosis = agent.diagnose(finding(**changes))
    assert diagnosis is not None
    assert diagnosis.kind == kind


def test_what_the_agent_does_not_recognise_leads_to_no_repair() -> None:
    unknown = finding(rule="dtype", address="reward", module=None, reproduced=None)
    assert agent.diagnose(unknown) is None
    assert agent.remaining_after(agent.diagnose(unknown), chosen(0)) is None


def test_a_repair_that_was_made_before_is_not_made_again() -> None:
    diagnosis = agent.diagnose(finding())
    left = agent.remaining_after(diagnosis, chosen(0))
    assert left is not None
    assert faults.CONSTANT not in {fault.kind for fault in left}
    assert agent.remaining_after(diagnosis, left) is None


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shared = lockstep_home() / "envs"
    shared.mkdir(exist_ok=True)
    place = tmp_path / "home"
    place.mkdir()
    (place / "envs").symlink_to(shared)
    monkeypatch.setenv("LOCKSTEP_HOME", str(place))
    return place


def played(
    planted: tuple[Fault, ...], workspace: Path, sandbox: str | None = None
) -> tuple[Played, list[Started | Attempt | Repair]]:
    reported: list[Started | Attempt | Repair] = []
    progress = lambda what, done, total: None  # noqa: E731
    return play(planted, workspace=workspace, tell=reported.append, progress=progress, sandbox=sandbox), reported


@pytest.mark.nightly
@pytest.mark.docker
def test_the_whole_session_ends_verified_and_audited(home: Path, tmp_path: Path) -> None:
    """In containers: `make demo` plays it in the sandbox that needs no engine."""
    result, reported = played(chosen(0), tmp_path / "workspace", sandbox="docker")
    assert result.state == "done"
    assert {repair.fault for repair in result.repairs} == set(chosen(0))
    met = {event.found.level for event in reported if isinstance(event, Attempt) and event.found is not None}
    assert met == {1, 2, 3}
    # Each repair is followed by a commit. Seeds are fresh, so that now and then one step of the recipe meets two faults,
    # and one commit then holds both repairs; never are all of them put off to the last.
    for repair, later in ((event, reported[number + 1 :]) for number, event in enumerate(reported)):
        if isinstance(repair, Repair):
            assert any(isinstance(event, Attempt) and event.commit for event in later)
    assert len({event.commit for event in reported if isinstance(event, Attempt) and event.commit}) >= 4
    assert (result.workspace / "candidate" / "env.py").read_text() == VERIFIED
    assert result.audit.ok
    assert [row.commit for row in result.audit.rows] == [
        event.commit for event in reported if isinstance(event, Attempt) and event.commit
    ]
    assert result.audit.rows[-1].level == 3


@pytest.mark.slow
def test_an_interrupted_demo_says_what_is_kept_and_leaves_no_host(home: Path) -> None:
    command = [sys.executable, "-c", "from harness.cli import main; raise SystemExit(main())", "demo"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        said = next(line for line in process.stderr if "level 1" in line)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        said += process.stderr.read()
    assert process.returncode == 130 and "Traceback" not in said
    [session] = all_sessions(home)
    assert f"interrupted: the session {session.id} and its commits are kept" in said
    assert jobs.host_token(session) is None and all(job.finished for job in jobs.recent(session))


@pytest.mark.slow
def test_a_fault_that_the_agent_does_not_know_ends_with_a_person(home: Path, tmp_path: Path) -> None:
    unknown = Fault("reward", "a reward of two", (('"reward": jnp.float64(1)', '"reward": jnp.float64(2)'),), "")
    result, reported = played((unknown,), tmp_path / "workspace")
    assert result.state == "needs_human"
    assert not result.repairs
    last = reported[-1]
    assert isinstance(last, Attempt)
    assert last.outcome == "FAIL" and last.found is not None
    assert last.found.path == "reward"
    assert result.audit.ok


@pytest.mark.slow
def test_the_demo_of_a_specification_goes_from_rules_to_a_task_that_is_audited(home: Path, tmp_path: Path) -> None:
    told: list[specified.Step] = []
    progress = lambda what, done, total: None  # noqa: E731
    result = specified.play(directory=tmp_path / "kept", tell=told.append, progress=progress)
    assert result.whole and result.audit.ok, result.audit.problems
    assert list(result.steps) == told
    [compared] = [step for step in told if "compared" in step.what]
    assert (compared.outcome, compared.found["path"]) == ("FAIL", "state/score")
    assert {step.who for step in told} == {"person", "author", "first", "second"}
    assert load_task(result.directory).workflow == "create"
    assert "31. Ruling on 15" in (result.directory / "specification/RULES.md").read_text()
    assert all(jobs.host_token(session) is None for session in all_sessions(home)), "its host has ended"


def test_the_game_of_the_demo_has_the_rule_that_it_leaves_open() -> None:
    for name, (there, _) in (
        ("RULES.md", specified.OPEN),
        ("readings/second/adapter.py", specified.ANOTHER),
        ("scenarios/harbour.toml", specified.UNDECIDED),
    ):
        assert (specified.GAME / name).read_text().count(there) == 1
