"""The calls of a host: what can be asked of a session. Each takes and gives JSON.

Whatever takes longer than a moment is a job (`main_jobs`, `command_jobs`): the call answers with it at once, and its file
tells the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness import operations
from harness.agent_sandbox import AgentSandbox
from harness.host.answering import Answering
from harness.host.arguments import checked
from harness.host.closing import Closing
from harness.host.command_jobs import CommandJobs
from harness.host.file_calls import FileCalls
from harness.host.interrupts import Interrupts
from harness.host.jobs import RUN_COMMAND, Job, Jobs
from harness.host.main_jobs import MainJobs
from harness.operations import verification
from harness.policy.budgets import demand_budget
from harness.session.coverage import known
from harness.session.session import Session
from harness.session.spending import client_of

TELL_OF_OTHERS = frozenset(
    {"status", "verify", "compare", "profile", "replay", "run_command", "write_file", "edit_file"}
)
"""Calls whose answer says who else works here: those that begin a job or change a file, and the one that asks."""
COSTS = frozenset({"compare", "profile", "replay", "run_command"})
"""Calls that take this machine's time and so need something left of the budgets; a verification asks for itself."""

RECORDED = COSTS | {"write_file", "edit_file"}
"""Calls that are events of the record once they are done; a verification asks for itself."""


class Calls(Answering):
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
        super().__init__(session, home, jobs)
        self._session = session
        self._home = home
        closing = Closing(session, jobs, broken)
        self._main = MainJobs(session, agent_sandbox, jobs, closing, interrupts, submit)
        self._commands = CommandJobs(agent_sandbox, jobs, closing)
        files = FileCalls(agent_sandbox, closing)
        functions: tuple[Callable[..., dict[str, Any]], ...] = (
            self._main.verify,
            self._main.compare,
            self._main.profile,
            self._main.replay,
            self._commands.run_command,
            self.cancel,
            files.read_file,
            files.write_file,
            files.edit_file,
            files.list_files,
            self.status,
            self.history,
            self.explain,
            self.resume,
            self.report_usage,
        )
        self._offer(functions)

    def answer(self, call: str, arguments: Mapping[str, Any], client: str) -> dict[str, Any]:
        function = self._function(call, client)
        given = checked(call, function, arguments)
        if call in RECORDED:
            self._session.demand_events()
        if call in COSTS:
            found = self._session.directory
            demand_budget(self._home, client_of(found), found.task)
        answer = function(client, **given)
        if call in TELL_OF_OTHERS:
            answer["also_working"] = self._others(client)
        return answer

    def end(self, job: Job) -> None:
        (self._commands if job.operation == RUN_COMMAND else self._main).cancel(job)

    # The session

    def status(self, client: str) -> dict[str, Any]:
        """Where the session stands, and which jobs run."""
        reached = known(self._session.events).to_json()
        return {**self._session.status(), "coverage": reached, "running": self.running()}

    def explain(self, client: str, *, event: int | None = None, index: int | None = None) -> dict[str, Any]:
        """What a verification found."""
        return operations.explain(self._session.id, home=self._home, event=event, index=index)

    def resume(self, client: str, *, reason: str) -> dict[str, Any]:
        """A person lets the session go on."""
        return verification.resume(self._session, reason)
