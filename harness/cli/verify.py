"""`lockstep verify`: is the candidate the reference, where is it not, and what is to be done about it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.calls import ShellCalls
from harness.cli import completion
from harness.cli.frame import EXIT_NEEDS_HUMAN, Output, command, exit_code
from harness.farm import VARIABLE
from harness.policy import device
from harness.session.request import VerificationRequest

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.farm.engine import Engine
    from harness.session.session import Verification, Verifier
    from harness.support.progress import Progress
    from harness.task.contract import Task
    from harness.verdict import Divergence

sandbox_option = click.option(
    "--sandbox", metavar="DRIVER", help="docker, bubblewrap or process; default: the best that works."
)
device_option = click.option(
    "--device",
    type=click.Choice(device.DEVICES),
    expose_value=False,
    callback=lambda context, parameter, value: device.choose(value),
    help="What a candidate in JAX computes on; default: cpu.",
)
seed_option = click.option("--seed", type=click.IntRange(0, (1 << 63) - 1), help="Repeat a run; default: a fresh seed.")


message_option = click.option("--message", default="", help="Words for the commit, if this makes progress.")
candidate_option = click.option(
    "--candidate",
    metavar="NAME",
    shell_complete=completion.candidates,
    help="Which one, where a task has several: `jax`, `rust`, or its name.",
)


def chosen_candidate(task: Task, name: str | None) -> Task:
    """A task directory's task for the candidate that `--candidate` names, or for its first."""
    return task if name is None else task.with_candidate(name)


def demand_no_choice(name: str | None) -> None:
    """Raise a usage error for `--candidate` with a session, which has one candidate."""
    if name is not None:
        raise click.UsageError("a session has one candidate: --candidate is for task directories, and `lockstep start`")


on_option = click.option(
    "--on",
    metavar="ENGINE",
    envvar=VARIABLE,
    help="Where work is spread: here (default), ray, or the address of a Ray cluster.",
)
session_option = click.option(
    "--session",
    "session_id",
    metavar="ID",
    shell_complete=completion.sessions,
    help="The session to verify in; default: the one that works here.",
)


@command(
    "verify",
    "verify a candidate, and commit it if that is progress",
    "lockstep verify    # in a workspace: the next step",
    "lockstep verify cartpole --level 2",
    "lockstep verify --module dynamics",
)
@click.argument("directory", required=False, shell_complete=completion.tasks_and_sessions)
@session_option
@click.option(
    "--level",
    type=click.IntRange(1),
    shell_complete=completion.levels,
    help="Verify up to this level; default: the recipe's next step.",
)
@click.option("--module", shell_complete=completion.modules, help="Verify level 1 of this module only.")
@message_option
@seed_option
@candidate_option
@sandbox_option
@device_option
@on_option
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Every task in DIRECTORY, or all that come with Lockstep, with every candidate.",
)
def verify(
    output: Output,
    directory: str | None,
    session_id: str | None,
    level: int | None,
    module: str | None,
    message: str,
    seed: int | None,
    candidate: str | None,
    sandbox: str | None,
    on: str | None,
    every: bool,
) -> int:
    """Verify a candidate against its reference.

    In the workspace of a session the attempt is recorded and, if it is progress, committed. In any other task directory
    all levels are run and nothing is recorded; with --all in many of them.
    """
    request = VerificationRequest(level, module, message, seed)
    if every:
        from harness.cli import verify_all
        from harness.operations.spreading import engine_on

        if session_id:
            raise click.UsageError("--all is for task directories: it takes no --session")
        with engine_on(on) as engine:
            return verify_all.run(output, directory, request, candidate, sandbox, engine)
    return run(output, directory, session_id, request, candidate, sandbox, on)


def run(
    output: Output,
    directory: str | None,
    session_id: str | None,
    request: VerificationRequest,
    candidate: str | None,
    sandbox: str | None,
    on: str | None = None,
) -> int:
    """What `lockstep verify` does; `lockstep transfer` is the same for level 4."""
    from harness.cli.locate import session_at, session_named
    from harness.operations.spreading import engine_on

    if directory and session_id:
        raise click.UsageError("give a directory or --session, not both")
    again = ShellCalls(session_id).verify(
        request.level, request.module, directory=directory or None, candidate=candidate, sandbox=sandbox
    )
    if session_id:
        found = session_named(session_id)
    else:
        location = Path(directory or ".")
        found = session_at(location) if location.is_dir() else None
    if found is not None:
        demand_no_choice(candidate)
        with engine_on(on) as engine:
            return _verify_session(output, found.id, request, sandbox, again, engine)
    with engine_on(on) as engine:
        return _verify_directory(output, directory or ".", request, candidate, sandbox, again, engine)


def _verify_session(
    output: Output,
    identifier: str,
    request: VerificationRequest,
    sandbox: str | None,
    again: str,
    engine: Engine | None,
) -> int:
    from harness.cli import show
    from harness.cli.locate import opened
    from harness.operations.next_calls import shell_calls
    from harness.operations.verification import verify as verify_session
    from harness.session.session import levels_verifier
    from harness.task.load import load_task

    def chosen(task_directory: Path, progress: Progress) -> Verifier:
        return levels_verifier(task_directory, progress, session.driver(sandbox).name, engine=engine)

    with opened(identifier, verifier=chosen if sandbox or engine else None) as session:
        if sandbox is not None:
            session.driver(sandbox)  # says at once where the session cannot have it
        output.kept = "the attempt stands in the log as interrupted, every commit is kept; go on with `lockstep verify`"
        with output.progress() as progress:
            judged = verify_session(
                session,
                request,
                shell_calls(again, session.workspace),
                progress=progress,
            )
        output.kept = "the attempt is recorded and every commit is kept"
        task = load_task(session.task_directory)
    document, done = judged.document, judged.done
    if done is None:
        output.emit(document, show.status(document), _how_to_resume(identifier))
        return EXIT_NEEDS_HUMAN
    prompt: list[RenderableType] = []
    output_lines = _tell_recorded(identifier, done, request.seed)
    if judged.found is not None:
        prompt = _repair_prompt(task, judged.found, document, again)
        output_lines += show.reproduced(show.divergence(judged.found), document["reproduce"])
    asks = done.verdict.outcome != "PASS" and document["state"] == "needs_human"
    output.emit(
        document,
        *prompt,
        *show.verdict(done.verdict),
        *show.coverage(document["coverage"]),
        "",
        *output_lines,
        *([_how_to_resume(identifier)] if asks else []),
    )
    return EXIT_NEEDS_HUMAN if asks else exit_code(done.verdict.outcome)


def _tell_recorded(session: str, done: Verification, seed: int | None) -> list[Any]:
    from harness.cli import show

    output_lines: list[Any] = []
    if done.commit:
        output_lines.append(show.said("committed", "green", f" {done.commit[:12]} ({done.step})"))
    elif done.verdict.outcome == "PASS":
        nothing_new = "every step of this had passed before"
        chosen = "a seed that was given shows nothing about other inputs"
        output_lines.append(f"not committed: {nothing_new if seed is None else chosen}")
    if done.cases:
        output_lines.append(f"kept as a known case, which runs first from now on: {', '.join(done.cases)}")
    finished = show.said("everything has passed", "green", f"; see `{ShellCalls(session).audit()}`")
    return [*output_lines, f"next: {done.next}" if done.next else finished]


def _verify_directory(
    output: Output,
    directory: str,
    request: VerificationRequest,
    candidate: str | None,
    sandbox: str | None,
    again: str,
    engine: Engine | None,
) -> int:
    from harness.cli import show
    from harness.operations.explanation import first_of
    from harness.operations.next_calls import shell_calls
    from harness.policy.floor import permitted
    from harness.support.embedded import find_task
    from harness.task.load import load_task
    from harness.verify.directory import verify_directory
    from harness.verify.explain import first
    from harness.verify.request import LevelsRequest

    task = chosen_candidate(load_task(find_task(directory)), candidate)
    level, module = request.level, request.module
    if module is not None and module not in [m.name for m in task.modules]:
        raise click.UsageError(f"{task.name} has no module {module!r}: {', '.join(m.name for m in task.modules)}")
    if level is not None and level not in task.levels:
        raise click.UsageError(f"{task.name} has no level {level}: {', '.join(map(str, task.levels))}")
    if module is not None and level not in (None, 1):
        raise click.UsageError(f"level {level} is about all modules together; --module goes with level 1")
    levels = [n for n in task.levels if n <= (level or (1 if module else max(task.levels)))]
    output.kept = "nothing is recorded outside a session"
    with output.progress() as progress:
        seed = secrets.randbits(63) if request.seed is None else request.seed
        judged = verify_directory(task, permitted(sandbox), LevelsRequest(levels, seed, module), progress, engine)
    extra: dict[str, Any] = {"recorded": False, "verdict": judged.to_json()}
    prompt: list[RenderableType] = []
    output_lines: list[Any] = ["nothing was recorded: this is no session's workspace (`lockstep start` begins one)"]
    found = first(judged.divergences)
    if found is not None:
        calls = shell_calls(again, task.directory, candidate)
        extra |= first_of(task, found, _keep_case(task, found), calls, task.directory)
        prompt = _repair_prompt(task, found, extra, again)
        output_lines += show.reproduced(show.divergence(found), extra["reproduce"])
    output.emit({"outcome": str(judged.outcome), **extra}, *prompt, *show.verdict(judged), "", *output_lines)
    return exit_code(judged.outcome)


def _repair_prompt(task: Task, found: Divergence, document: Mapping[str, Any], again: str) -> list[RenderableType]:
    """The prompt for the divergence that the document tells."""
    from harness.cli import show
    from harness.session.prompts import repair_prompt

    prompt = repair_prompt(
        found, task, reproduce=document["reproduce"], verify=again, shown="(shown below, under DIVERGENCE)"
    )
    return show.repair(prompt)


def _keep_case(task: Task, found: Divergence) -> Path | None:
    """Outside a session a counterexample is kept in the home directory, so that it can be played again."""
    from harness.support.home import lockstep_home

    kept = found.counterexample
    if kept is None:
        return None
    path = lockstep_home() / "counterexamples" / task.name / kept[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(kept[1], encoding="utf-8")
    return path


def _how_to_resume(identifier: str) -> str:
    return f"look at what was tried, then let it go on with `{ShellCalls(identifier).resume()}`, or change the task"
