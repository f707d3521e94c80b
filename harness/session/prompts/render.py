"""Filling a template: from the task, and from where its session stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.calls import Calls, ShellCalls, ToolCalls, reference_uri, session_uri, task_uri
from harness.errors import LockstepError, SessionError
from harness.record.machine import fingerprint
from harness.record.verdicts import verdict_of
from harness.session import recipe
from harness.session.prompts import contract
from harness.session.prompts.behaviour import behaviour, existing_properties, existing_sequences
from harness.session.prompts.repair import repair_prompt
from harness.session.prompts.source import counted, excerpts, quoted
from harness.session.prompts.template import fill, load
from harness.session.view import SessionView
from harness.support.embedded import prompt_text
from harness.support.home import lockstep_home
from harness.task.contract import CASES_DIRECTORY, Module, Task
from harness.task.load import load_task
from harness.verify.explain import as_data, first

MAX_ARGUMENT = 6_000


@dataclass(frozen=True)
class _Subject:
    """What a prompt is about."""

    task: Task
    view: SessionView | None
    module: Module | None
    given: Mapping[str, str]
    calls: Calls
    samples: bool

    @property
    def uri(self) -> Callable[[str], str] | None:
        """The resource of a place in the reference, where the reader calls tools."""
        if not isinstance(self.calls, ToolCalls):
            return None
        return partial(reference_uri, session_uri(self.view.id) if self.view else task_uri(self.task.name))


def render(
    name: str,
    session: str | Path | None = None,
    arguments: Mapping[str, str] | None = None,
    *,
    task: Task | None = None,
    home: Path | None = None,
    tools: bool = False,
    samples: bool = True,
) -> str:
    """A prompt, filled.

    Args:
        name: the template.
        session: the id or the workspace of the session that it is for.
        arguments: some of those that the template names; an empty one counts as left out.
        task: instead of a session, a task alone.
        tools: give calls as those of the server's tools, not as command lines.
        samples: ask the reference's own probes where its environment is built (about a second).

    Raises:
        LockstepError: there is no such template, an argument is unknown or wrong, or what the prompt is about is missing.
        SessionError: there is no such session, or it has no divergence to repair.
        TaskError: the task is wrong.
    """
    template = load(name)
    known = [argument.name for argument in template.arguments]
    given = {argument: value for argument, value in (arguments or {}).items() if value}
    if unknown := sorted(set(given) - set(known)):
        raise LockstepError(
            f"the prompt {name!r} takes no argument {', '.join(map(repr, unknown))}",
            expected=f"session{''.join(f', {argument}' for argument in known)}",
        )
    if session is None:
        if task is None:
            raise LockstepError(
                f"the prompt {name!r} needs a session", expected="the id of a session, or its workspace"
            )
        calls = ToolCalls(None) if tools else ShellCalls()
        subject = _Subject(task, None, None, given, calls, samples)
        return _render(name, template.body, subject)
    with SessionView(session, home or lockstep_home()) as view:
        calls = (ToolCalls if tools else ShellCalls)(view.id, view.workspace)
        subject = _Subject(load_task(view.task_directory), view, None, given, calls, samples)
        return _render(name, template.body, subject)


def _render(name: str, body: str, subject: _Subject) -> str:
    if name == "repair":
        return _repair(subject)
    if any(argument.name == "module" for argument in load(name).arguments):
        module = _module(subject, optional=name == "extract")
        subject = _Subject(subject.task, subject.view, module, subject.given, subject.calls, subject.samples)
    return fill(body, _VALUES[name](subject)).rstrip() + "\n"


def _module(subject: _Subject, *, optional: bool) -> Module | None:
    """The module that was asked for, else the one that the recipe has next, else the only one."""
    task, wanted = subject.task, subject.given.get("module")
    if wanted is None and not optional:
        step = recipe.next_step(subject.view.state) if subject.view else None
        wanted = step.module if step else None
        if wanted is None and len(task.modules) == 1:
            wanted = task.modules[0].name
    if wanted is None and optional:
        return None
    found = next((module for module in task.modules if module.name == wanted), None)
    if found is None:
        what = (
            "no module was named, and the recipe has none next" if wanted is None else f"there is no module {wanted!r}"
        )
        raise LockstepError(
            what, where=f"task {task.name}", expected=f"one of: {', '.join(m.name for m in task.modules) or 'none'}"
        )
    return found


def _translate(subject: _Subject) -> dict[str, str]:
    return _module_slots(subject) | {
        "target": contract.target(subject.task),
        "entry": subject.task.candidate.entry,
    }


def _properties(subject: _Subject) -> dict[str, str]:
    # What is proposed is judged with level 2, on whole trajectories of both sides.
    return _module_slots(subject) | {
        "contract": contract.declared(subject.task, subject.module),
        "existing": existing_properties(subject.task, subject.module),
        "verify": subject.calls.verify(2),
    }


def _module_slots(subject: _Subject) -> dict[str, str]:
    task, module = subject.task, subject.module
    assert module is not None, "_module finds one or raises"
    found = excerpts(task, module)
    return {
        "task": task.name,
        "module": module.name,
        "place": f"{task.modules.index(module) + 1} of {len(task.modules)}",
        "summary": _sentence(module.summary or "it has no summary in task.toml"),
        "lines": counted(found),
        "source": quoted(found, subject.uri),
        "contract": contract.contract(task, module),
        "behaviour": behaviour(task, module, samples=subject.samples),
        "verify": subject.calls.verify(1, module.name),
        "rules": _rules(),
    }


def _interactions(subject: _Subject) -> dict[str, str]:
    task = subject.task
    return {
        "task": task.name,
        "modules": contract.module_list(task),
        "contract": contract.declared(task, None),
        "starts": contract.starts(task),
        "existing": existing_sequences(task),
        "example": contract.example_case(task),
        "verify": subject.calls.verify(2),
        "rules": _rules(),
    }


def _optimise(kind: str) -> Callable[[_Subject], dict[str, str]]:
    def values(subject: _Subject) -> dict[str, str]:
        task = subject.task
        if task.candidate.kind != kind:
            raise LockstepError(
                f"the candidate of {task.name} is written for {task.candidate.kind}",
                where="candidate.kind in task.toml",
                next_step=f"ask for the prompt optimise_{task.candidate.kind}",
            )
        given_text = subject.given.get("measured") or _last_profile(subject.view)
        unknown = "Nothing was measured yet: begin with that. Without a figure no change can be called faster."
        machine = fingerprint()
        return {
            "task": task.name,
            "standing": _standing(subject.view),
            "measured": unknown if given_text is None else as_data(given_text[:MAX_ARGUMENT]),
            "batch_sizes": ", ".join(map(str, task.batch_sizes)),
            "machine": f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}",
            "fixed": contract.fixed(task),
            "target": contract.target(task),
            "verify": subject.calls.verify(max(subject.view.state.plan.levels if subject.view else task.levels)),
            "rules": _rules(),
        }

    return values


def _last_profile(view: SessionView | None) -> str | None:
    """What the session's newest profile that counts came to, in words; None where there is none."""
    events = [] if view is None else [event for event in view.events if event.kind == "profile"]
    newest = next((event for event in reversed(events) if event.outcome == "PASS"), None)
    return None if newest is None else f"The last profile (event {newest.seq}):\n{newest.detail.get('summary', '')}"


def _extract(subject: _Subject) -> dict[str, str]:
    task, module = subject.task, subject.module
    found = excerpts(task, module)
    given_text = subject.given.get("specification")
    chance = "Draws: state them by name in task.toml as you find them in the rules." if not task.draws else ""
    return {
        "task": task.name if module is None else f"{task.name}, module `{module.name}`,",
        "summary": _sentence((module.summary if module else task.summary) or "it has no summary in task.toml"),
        "lines": counted(found) if given_text is None else "as it was given",
        "source": quoted(found, subject.uri) if given_text is None else as_data(given_text[:MAX_ARGUMENT]),
        "contract": contract.reference_contract(task, module),
        "chance": chance or "The draws above must cover every chance event of the rules.",
        "verify": "lockstep check-reference .",
    }


def _repair(subject: _Subject) -> str:
    """The prompt for what a verdict of the session tells first."""
    view, wanted = subject.view, subject.given.get("event")
    if view is None:
        raise LockstepError(
            "a repair is about a verdict of a session", expected="the id of a session, or its workspace"
        )
    verdicts = [event for event in view.events if event.kind == recipe.VERDICT and event.outcome == "FAIL"]
    chosen = next((event for event in reversed(verdicts) if wanted in (None, str(event.seq))), None)
    if chosen is None:
        numbers = ", ".join(str(event.seq) for event in verdicts[-20:]) or "none"
        raise SessionError(
            "no verification of this session has failed"
            if wanted is None
            else f"event {wanted} is not a verdict that failed",
            where=view.id,
            expected=f"the number of a verdict that failed; there are: {numbers}",
        )
    found = first(verdict_of(view.store, chosen).divergences)
    if found is None:
        raise SessionError(f"the verdict of event {chosen.seq} holds no divergence", where=view.id)
    verify = subject.calls.verify(chosen.arguments.get("level"), chosen.arguments.get("module"))
    kept = found.counterexample
    case = None if kept is None else view.workspace / CASES_DIRECTORY / kept[0]
    reproduce = subject.calls.compare(case) if case is not None and case.is_file() else verify
    return repair_prompt(found, subject.task, reproduce=reproduce, verify=verify, uri=subject.uri)


def _standing(view: SessionView | None) -> str:
    if view is None:
        return "Begin from a candidate that has passed every level: an unverified one is not worth being fast."
    remaining = [str(step) for step in view.state.plan.steps if step not in view.state.passed]
    if remaining:
        return (
            f"**Not yet.** These steps have not passed: {', '.join(remaining)}. Finish them first: an unverified "
            "candidate is not worth being fast, and what is below is for afterwards."
        )
    commit = view.head.commit if view.head else None
    return f"Every level has passed{f' (commit {commit[:12]})' if commit else ''}. It must stay so after every change."


def _rules() -> str:
    return prompt_text("parts/rules").rstrip()


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


_VALUES: Mapping[str, Callable[[_Subject], dict[str, str]]] = {
    "translate": _translate,
    "properties": _properties,
    "interactions": _interactions,
    "optimise_jax": _optimise("jax"),
    "optimise_rust": _optimise("rust"),
    "extract": _extract,
}
