"""The calls of a host: what can be asked of a session. Each takes and gives JSON.

Whatever takes longer than a moment is a job (`main_jobs`, `command_jobs`): the call answers with it at once, and its file
tells the rest.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness import agent_sandbox, operations
from harness.agent_sandbox import AgentSandbox, files
from harness.errors import SessionError
from harness.host import jobs as job_files
from harness.host.arguments import checked
from harness.host.closing import Closing
from harness.host.command_jobs import CommandJobs
from harness.host.interrupts import Interrupts
from harness.host.jobs import RUN_COMMAND, Jobs
from harness.host.main_jobs import MainJobs
from harness.operations import verification
from harness.policy.budgets import demand_budget
from harness.session import usage
from harness.session.coverage import known
from harness.session.session import Session
from harness.session.spending import client_of

PRESENT_S = 600.0
"""Who has called within this time still works here."""
TELL_OF_OTHERS = frozenset(
    {"status", "verify", "compare", "profile", "replay", "run_command", "write_file", "edit_file"}
)
"""Calls whose answer says who else works here: those that begin a job or change a file, and the one that asks."""
COSTS = frozenset({"compare", "profile", "replay", "run_command"})
"""Calls that take this machine's time and so need something left of the budgets; a verification asks for itself."""


class Calls:
    """The calls on one open session.

    Args:
        session: open, with its lock; `home` is where it lies.
        agent_sandbox: the agent's sandbox.
        jobs: where jobs are kept.
        interrupts: cut short what the main thread does.
        submit: hands work to the main thread.
        broken: called when a job's end could not be written; the host then ends, and the job counts as lost.
    """

    def __init__(
        self,
        session: Session,
        home: Path,
        agent_sandbox: AgentSandbox,
        jobs: Jobs,
        interrupts: Interrupts,
        submit: Callable[[Callable[[], None]], None],
        broken: Callable[[], None],
    ) -> None:
        self._session = session
        self._home = home
        self._agent_sandbox = agent_sandbox
        self._jobs = jobs
        self._closing = Closing(session, jobs, broken)
        self._main = MainJobs(session, agent_sandbox, jobs, self._closing, interrupts, submit)
        self._commands = CommandJobs(agent_sandbox, jobs, self._closing)
        self._changing = threading.Lock()
        self._seen: dict[str, float] = {}
        functions: tuple[Callable[..., dict[str, Any]], ...] = (
            self._main.verify,
            self._main.compare,
            self._main.profile,
            self._main.replay,
            self._commands.run_command,
            self.cancel,
            self.read_file,
            self.write_file,
            self.edit_file,
            self.list_files,
            self.status,
            self.history,
            self.explain,
            self.resume,
            self.report_usage,
        )
        self._calls = {function.__name__: function for function in functions}

    def answer(self, call: str, arguments: Mapping[str, Any], client: str) -> dict[str, Any]:
        """The answer to a call.

        Raises:
            LockstepError, SandboxError: why it cannot be done.
        """
        function = self._calls.get(call)
        if function is None:
            raise SessionError(f"there is no call {call!r}", expected=f"one of {', '.join(self._calls)}")
        if client:
            self._seen[client] = time.monotonic()
        given = checked(call, function, arguments)
        if call in COSTS:
            found = self._session.directory
            demand_budget(self._home, client_of(found), found.task)
        answer = function(client, **given)
        if call in TELL_OF_OTHERS:
            answer["also_working"] = self._others(client)
        return answer

    def cancel(self, client: str, *, job: str) -> dict[str, Any]:
        """End a job. One that has ended stays as it is; a verdict that is being recorded is not stopped any more."""
        if not job.startswith(f"{self._session.id}."):
            raise SessionError(f"{job!r} is not a job of {self._session.id}")
        running = self._jobs.get(job)
        if running is not None:
            (self._commands if running.operation == RUN_COMMAND else self._main).cancel(running)
        current = self._jobs.get(job) or job_files.read(job, self._home)
        return {"job": current.to_json()}

    # Files

    def read_file(
        self,
        client: str,
        *,
        path: str,
        offset_line: int = 1,
        max_lines: int = files.MAX_LINES,
        max_characters: int = files.MAX_CHARACTERS,
    ) -> dict[str, Any]:
        """Lines of a file."""
        return agent_sandbox.read_file(
            self._agent_sandbox, path, offset_line=offset_line, max_lines=max_lines, max_characters=max_characters
        )

    def write_file(self, client: str, *, path: str, text: str, expected_sha256: str | None = None) -> dict[str, Any]:
        """Replace or create a file."""
        began = time.monotonic()
        with self._changing:
            written = agent_sandbox.write_file(self._agent_sandbox, path, text, expected_sha256=expected_sha256)
        arguments = {"path": path, "text": text}
        self._closing.record(
            "write_file", arguments, "created" if written["created"] else "replaced", client, began, tree=True
        )
        return written

    def edit_file(
        self,
        client: str,
        *,
        path: str,
        old: str,
        new: str,
        expected_sha256: str | None = None,
        all: bool = False,
    ) -> dict[str, Any]:
        """Replace a text in a file."""
        began = time.monotonic()
        with self._changing:
            edited = agent_sandbox.edit_file(
                self._agent_sandbox, path, old, new, expected_sha256=expected_sha256, all=all
            )
        arguments = {"path": path, "old": old, "new": new, "all": all}
        self._closing.record("edit_file", arguments, f"{edited['replacements']} replaced", client, began, tree=True)
        return edited

    def list_files(self, client: str, *, path: str = ".", pattern: str = "") -> dict[str, Any]:
        """What lies in the workspace."""
        return agent_sandbox.list_files(self._agent_sandbox, path, pattern=pattern)

    # The session

    def status(self, client: str) -> dict[str, Any]:
        """Where the session stands, and which jobs run."""
        names = ("id", "operation", "client", "what", "done", "total")
        running = [{name: getattr(job, name) for name in names} for job in self._jobs.running]
        reached = known(self._session.events).to_json()
        return {**self._session.status(), "coverage": reached, "running": running}

    def history(self, client: str, *, after: int = -1, limit: int | None = None) -> dict[str, Any]:
        """What happened."""
        return operations.history(self._session.id, home=self._home, after=after, limit=limit)

    def explain(self, client: str, *, event: int | None = None, index: int | None = None) -> dict[str, Any]:
        """What a verification found."""
        return operations.explain(self._session.id, home=self._home, event=event, index=index)

    def resume(self, client: str, *, reason: str) -> dict[str, Any]:
        """A person lets the session go on."""
        return verification.resume(self._session, reason)

    def report_usage(
        self,
        client: str,
        *,
        input_tokens: int = 0,
        output_tokens: int = 0,
        cache_read_tokens: int = 0,
        cache_write_tokens: int = 0,
        dollars: float | None = None,
        model: str = "",
    ) -> dict[str, Any]:
        """Record what the agent has spent since its last report."""
        return usage.report(
            self._session,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cache_read_tokens=cache_read_tokens,
            cache_write_tokens=cache_write_tokens,
            dollars=dollars,
            model=model,
            client=client,
        )

    def _others(self, client: str) -> list[str]:
        since = time.monotonic() - PRESENT_S
        return sorted(name for name, seen in self._seen.items() if name != client and seen >= since)
