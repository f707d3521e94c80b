"""The calls of the host of a specification: the steps of the workflow, and the files of whoever takes part.

A call may speak of one reading (`part`): its client sees that reading alone, and plays the scenarios against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.agent_sandbox.specification import SpecificationFiles
from harness.calls import ToolCalls
from harness.errors import SessionError
from harness.host.answering import Answering
from harness.host.arguments import checked
from harness.host.closing import Closing
from harness.host.file_calls import FileCalls
from harness.host.interrupts import Interrupts
from harness.host.jobs import SPEC, Job, Jobs
from harness.host.jobs import read as read_job
from harness.host.turns import Turns
from harness.operations import specification
from harness.record.specification import PART, PARTS, handle
from harness.specification.record import SpecificationRecord

CALLS_OF_A_PART = frozenset({"spec", "read_file", "write_file", "edit_file", "list_files", "report_usage", "cancel"})
"""What whoever writes a reading may call: of the steps, to play it."""
OF_A_CANDIDATE = frozenset({"verify", "compare", "profile", "replay", "explain", "resume", "run_command"})
LONG = ("play", "compare", "strength", "freeze")
STEPS = ("check", "number", "rule", *LONG)
"""The steps, by the names of their commands."""


class SpecificationCalls(Answering):
    """The calls on one open record of a specification.

    Args:
        record: open, with its lock; `home` is where it lies.
        jobs, interrupts, submit, broken: as of `harness.host.calls.Calls`.
    """

    def __init__(
        self,
        record: SpecificationRecord,
        home: Path,
        jobs: Jobs,
        interrupts: Interrupts,
        submit: Callable[[Callable[[], None]], None],
        broken: Callable[[], None],
    ) -> None:
        super().__init__(record, home, jobs)
        self._record, self._home, self._jobs, self._interrupts = record, home, jobs, interrupts
        closing = Closing(record, jobs, broken)
        self._turns = Turns(jobs, closing, interrupts, submit)
        self._files = {
            part: FileCalls(
                SpecificationFiles(record.place, record.id, part), closing, {"reading": part} if part else None
            )
            for part in ("", *PARTS)
        }
        self._offer((self.spec, self.cancel, self.status, self.history, self.report_usage))

    def answer(self, call: str, arguments: Mapping[str, Any], client: str) -> dict[str, Any]:
        given = dict(arguments)
        part = str(given.pop(PART, ""))
        if part not in self._files:
            raise SessionError(f"there is no reading {part!r}", expected=f"one of {', '.join(PARTS)}")
        if part and call not in CALLS_OF_A_PART:
            raise self._not_theirs(call, part)
        if part and call == "cancel":
            self._demand_own(str(given.get("job")), part)
        if call in OF_A_CANDIDATE:
            raise SessionError(
                f"{call} works on a candidate, and this session is on a specification",
                where=self._record.id,
                next_step=f"make its steps: {ToolCalls(self._record.id).spec('check')}",
            )
        files = self._files[part]
        own = {each.__name__: each for each in (files.read_file, files.write_file, files.edit_file, files.list_files)}
        function = own.get(call) or self._function(call, client)
        answer = function(client, **self._asked(call, function, given, part))
        if call in ("spec", "status", "write_file", "edit_file"):
            answer["also_working"] = self._others(client)
        return answer

    def _asked(self, call: str, function: Callable[..., Any], given: dict[str, Any], part: str) -> dict[str, Any]:
        """The arguments of a call. Whoever writes a reading plays that one, whatever they name."""
        if call == "spec" and part:
            if given.get("step") != "play" or given.get("which") not in (None, "", part):
                raise self._not_theirs(f"spec with step {given.get('step')!r}", part)
            given["which"] = part
        return checked(call, function, given)

    def _demand_own(self, job: str, part: str) -> None:
        """Refuse whoever writes a reading a job that does not play it."""
        found = self._kept.get(job) or read_job(job, self._where)
        if not {"step": "play", "which": part}.items() <= found.arguments.items():
            raise self._not_theirs(f"cancel of {job}", part)

    def _not_theirs(self, call: str, part: str) -> SessionError:
        return SessionError(
            f"{call} is not for whoever writes the {part} reading",
            where=handle(self._record.id, part),
            expected="its files, and to play the scenarios against it",
            next_step="leave the rest to whoever has the whole session",
        )

    def end(self, job: Job) -> None:
        self._turns.cancel(job)

    def spec(
        self,
        client: str,
        *,
        step: str,
        which: str = "",
        ruling: str = "",
        on: list | None = None,
        sample: int | None = None,
        seed: int | None = None,
        candidate: str = "jax",
    ) -> dict[str, Any]:
        """One step of the workflow. What plays or judges is a job; all else is done when this returns, as `document`."""
        record = self._record
        if step not in STEPS:
            raise SessionError(f"there is no step {step!r}", expected=f"one of {', '.join(STEPS)}")
        if step in ("play", "strength", "freeze") and which not in PARTS:
            raise SessionError(f"`{step}` is of one reading", expected="`which`: first or second")
        if step == "check":
            return {"document": specification.checked(record, client=client)}
        if step == "number":
            return {"document": specification.number(record, client=client)}
        if step == "rule":
            return {"document": specification.rule(record, ruling, on or [], client=client)}
        works: dict[str, Callable[..., dict[str, Any]]] = {
            "play": lambda **how: specification.play(record, which, **how),
            "compare": lambda **how: specification.compare(record, seed=seed, **how),
            "strength": lambda **how: specification.strength(record, which, sample=sample, seed=seed or 0, **how),
            "freeze": lambda **how: specification.frozen(record, which, candidate=candidate, **how),
        }
        record.demand_budget()
        asked = {"step": step, "which": which, "sample": sample, "seed": seed, "candidate": candidate}
        job = self._jobs.begin(SPEC, {name: value for name, value in asked.items() if value not in (None, "")}, client)
        self._jobs.progress(job, "waiting for its turn", 0, 1)

        def work() -> dict[str, Any]:
            return works[step](
                client=client,
                interruptible=self._interrupts.allowed(),
                progress=lambda text, done, total: self._jobs.progress(job, text, done, total),
            )

        self._turns.submit(job, work)
        return {"job": job.to_json()}

    def status(self, client: str) -> dict[str, Any]:
        """Where the specification stands, and which jobs run."""
        return {**specification.status(self._record), "running": self.running()}
