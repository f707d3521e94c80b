"""Commands in the agent's sandbox: jobs of a host that run side by side, each in a thread of its own."""

from __future__ import annotations

import threading
import time
from typing import Any

from harness import agent_sandbox
from harness.agent_sandbox import AgentSandbox, Cancel, commands
from harness.errors import SessionError
from harness.host.closing import Closing, cancellation, failure, shortened
from harness.host.jobs import CANCELLED, DONE, FAILED, RUN_COMMAND, Job, Jobs

MOST_COMMANDS = 8
TIMEOUT_S, LONGEST_S = 120.0, 3600.0


class CommandJobs:
    """Begins commands and ends them.

    Args:
        agent_sandbox: the agent's sandbox.
        jobs, closing: where jobs are kept, and how they end.
    """

    def __init__(self, agent_sandbox: AgentSandbox, jobs: Jobs, closing: Closing) -> None:
        self._agent_sandbox = agent_sandbox
        self._jobs = jobs
        self._closing = closing
        self._beginning = threading.Lock()
        self._cancels: dict[str, Cancel] = {}

    def run_command(
        self, client: str, *, command: str | list, timeout_s: float = TIMEOUT_S, stdin: str = ""
    ) -> dict[str, Any]:
        """Begin a command in the agent's sandbox: a line for a shell, or a program with its arguments."""
        argv = [command] if isinstance(command, str) else command
        if (
            not argv
            or not all(isinstance(argument, str) and "\0" not in argument for argument in argv)
            or not argv[0].strip()
        ):
            raise SessionError("there is no command", expected="a line for the shell, or a program with its arguments")
        if not 0 < timeout_s <= LONGEST_S:
            raise SessionError(f"timeout_s is {timeout_s}", expected=f"more than 0 and at most {LONGEST_S:.0f} seconds")
        with self._beginning:
            others = [job.id for job in self._jobs.running if job.operation == RUN_COMMAND]
            if len(others) >= MOST_COMMANDS:
                raise SessionError(
                    f"{len(others)} commands are running: {', '.join(others)}",
                    expected=f"at most {MOST_COMMANDS} at a time",
                    next_step="wait for one, or cancel one",
                )
            arguments = {"command": command, "timeout_s": timeout_s, "stdin": stdin}
            job = self._jobs.begin(RUN_COMMAND, shortened(arguments), client)
            self._cancels[job.id] = Cancel()
        threading.Thread(
            target=self._run_command, args=(job, command, timeout_s, stdin), name=job.id, daemon=True
        ).start()
        return {"job": job.to_json()}

    def _run_command(self, job: Job, command: str | list[str], timeout_s: float, stdin: str) -> None:
        began, outcome, cancel = time.monotonic(), FAILED, self._cancels[job.id]
        how: dict[str, Any] = {}
        try:
            result = agent_sandbox.run(
                self._agent_sandbox,
                command,
                timeout_s=timeout_s,
                stdin=stdin,
                cancel=cancel,
                progress=lambda line: self._jobs.progress(job, line[:200], 0, 0),
            )
            how = {"result": result.to_json()}
            outcome = f"killed by {result.killed_by}" if result.killed_by else f"exit code {result.exit_code}"
            if result.killed_by == commands.CANCELLED:
                how["error"] = cancellation(job)
        except Exception as error:
            how = {"error": failure(error)}
        self._closing.record(RUN_COMMAND, job.arguments, outcome, job.client, began, job=job.id, tree=True)
        state = DONE if "error" not in how else CANCELLED if "result" in how else FAILED
        self._closing.end(job, state, **how)
        del self._cancels[job.id]
        cancel.close()

    def cancel(self, job: Job) -> None:
        """End a running command with everything that it started."""
        cancel = self._cancels.get(job.id)
        if cancel is not None:
            cancel.ask()
