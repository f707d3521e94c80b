"""The calls of a host: what can be asked of a session. Each takes and gives JSON.

Whatever takes longer than a moment is a job: the call answers with it at once, and its file tells the rest.
Verifications, comparisons and profiles run one after another in the main thread, commands each in a thread of its own.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from harness import agent_sandbox, operations, usage
from harness.agent_sandbox import AgentSandbox, Cancel, commands, files
from harness.errors import LockstepError, RecordError, SessionError
from harness.host import jobs as job_files
from harness.host.arguments import checked
from harness.host.interrupts import Interrupts
from harness.host.jobs import CANCELLED, DONE, FAILED, Job, Jobs
from harness.host.protocol import described
from harness.operations import verification
from harness.operations.words import tool_words
from harness.session import Session
from harness.taskfile import load_task
from sandboxes import SandboxError, choose

if TYPE_CHECKING:
    from harness.levels.known import ProbeCase
    from harness.model import Case
    from harness.sidebyside import Episode

VERIFY, COMPARE, RUN_COMMAND = "verify", "compare", "run_command"
PROFILE = "profile"
PRESENT_S = 600.0
"""Who has called within this time still works here."""
MOST_COMMANDS = 8
TIMEOUT_S, LONGEST_S = 120.0, 3600.0
PROFILE_SECONDS = 0.5
MAX_ARGUMENT = 2000
"""Longer texts are cut in events, with the digest of the whole."""
MAX_MESSAGE = 10_000


class Calls:
    """The calls on one open session.

    Args:
        session: open, with its lock; `home` is where it lies.
        place: the agent's sandbox.
        jobs: where jobs are kept.
        interrupts: cut short what the main thread does.
        submit: hands work to the main thread.
        broken: told when a job's end could not be written; the host then ends, and the job counts as lost.
    """

    def __init__(
        self,
        session: Session,
        home: Path,
        place: AgentSandbox,
        jobs: Jobs,
        interrupts: Interrupts,
        submit: Callable[[Callable[[], None]], None],
        broken: Callable[[], None],
    ) -> None:
        self._session = session
        self._home = home
        self._place = place
        self._jobs = jobs
        self._interrupts = interrupts
        self._submit = submit
        self._broken = broken
        self._beginning = threading.Lock()
        self._changing = threading.Lock()
        self._cancels: dict[str, Cancel] = {}
        self._seen: dict[str, float] = {}

    def answer(self, call: str, arguments: Mapping[str, Any], client: str) -> dict[str, Any]:
        """The answer to a call.

        Raises:
            LockstepError, SandboxError: why it cannot be done.
        """
        function = self._CALLS.get(call)
        if function is None:
            raise SessionError(f"there is no call {call!r}", expected=f"one of {', '.join(self._CALLS)}")
        if client:
            self._seen[client] = time.monotonic()
        answer = function(self, client, **checked(call, function, arguments))
        if call in self._TELL_OF_OTHERS:
            answer["also_working"] = self._others(client)
        return answer

    # Jobs of the main thread

    def verify(
        self,
        client: str,
        *,
        level: int | None = None,
        module: str | None = None,
        message: str = "",
        seed: int | None = None,
    ) -> dict[str, Any]:
        """Begin a verification: of the recipe's next step, or up to a level."""
        if len(message) > MAX_MESSAGE:
            raise SessionError(f"the message has {len(message)} characters", expected=f"at most {MAX_MESSAGE}")
        arguments = {"level": level, "module": module, "message": message, "seed": seed}
        with self._beginning:
            for other in self._jobs.running:
                if other.operation == VERIFY:
                    raise SessionError(
                        f"a verification is running in this session: {other.id}"
                        + (f", which {other.client} asked for" if other.client else ""),
                        where=self._session.id,
                        next_step=f"wait for {other.id}, or cancel it",
                    )
            job = self._jobs.begin(VERIFY, arguments, client)
        words = tool_words(self._session.id, level, module, self._session.workspace)

        def work() -> dict[str, Any]:
            verified = verification.verify(
                self._session,
                words,
                level=level,
                module=module,
                message=message,
                seed=seed,
                client=client,
                progress=lambda what, done, total: self._jobs.progress(job, what, done, total),
            )
            return verified.document

        self._submit(lambda: self._run(job, work))
        return {"job": job.to_json()}

    def compare(
        self,
        client: str,
        *,
        case: str | dict | None = None,
        policy: str = "random",
        seed: int | None = None,
        steps: int | None = None,
    ) -> dict[str, Any]:
        """Begin to play one case, or one episode under a policy, on both sides."""
        # With it comes all that judges, which a host that runs commands never needs.
        from harness.operations import comparison
        from harness.sidebyside import Episode

        task = load_task(self._session.task_directory)
        what: Case | ProbeCase | Episode
        if case is not None:
            what = self._case(case)
        else:
            what = Episode(policy, secrets.randbits(31) if seed is None else seed, steps or task.budgets.horizon)
            if what.seed < 0 or what.steps < 1:
                raise SessionError("the episode makes no sense", expected="a seed of 0 or more, and 1 step or more")
        arguments = {"case": case, "policy": policy, "seed": seed, "steps": steps}
        if isinstance(what, Episode):
            arguments["seed"] = what.seed
        job = self._jobs.begin(COMPARE, _short(arguments), client)
        self._jobs.progress(job, "waiting for its turn", 0, 1)

        def work() -> dict[str, Any]:
            began, outcome = time.monotonic(), FAILED
            try:
                with self._interrupts.allowed():
                    compared = comparison.compare(
                        task,
                        self._session.workspace,
                        choose(self._session.sandbox),
                        what,
                        lambda text, done, total: self._jobs.progress(job, text, done, total),
                    )
                outcome = "no difference" if compared.document["difference"] is None else "difference"
                return compared.document
            except KeyboardInterrupt:
                outcome = CANCELLED
                raise
            finally:
                self._record(COMPARE, arguments, outcome, client, began, job=job.id)

        self._submit(lambda: self._run(job, work))
        return {"job": job.to_json()}

    def profile(
        self, client: str, *, batch_sizes: list | None = None, seconds_per: float = PROFILE_SECONDS, peers: bool = True
    ) -> dict[str, Any]:
        """Begin to measure the candidate's speed beside the reference and, with `peers`, the task's peers."""
        from harness.operations import profiling
        from harness.profile.run import Settings

        batches = None if batch_sizes is None else tuple(dict.fromkeys(batch_sizes))
        whole = all(isinstance(size, int) and not isinstance(size, bool) and size >= 1 for size in batches or ())
        if batches == () or not whole or not 0 < seconds_per <= LONGEST_S:
            raise SessionError(
                "the profile makes no sense",
                expected=f"batch sizes from 1 on, and seconds_per over 0 and at most {LONGEST_S:.0f}",
            )
        arguments = {"batch_sizes": batch_sizes, "seconds_per": seconds_per, "peers": peers}
        job = self._jobs.begin(PROFILE, _short(arguments), client)
        self._jobs.progress(job, "waiting for its turn", 0, 1)

        def work() -> dict[str, Any]:
            began = time.monotonic()
            try:
                with self._interrupts.allowed():
                    return profiling.profile_session(
                        self._session,
                        Settings(batches, seconds_per=seconds_per, peers=None if peers else ()),
                        client=client,
                        job=job.id,
                        progress=lambda text, done, total: self._jobs.progress(job, text, done, total),
                    )
            except BaseException as error:
                outcome = CANCELLED if isinstance(error, KeyboardInterrupt) else FAILED
                self._record(PROFILE, arguments, outcome, client, began, job=job.id)
                raise

        self._submit(lambda: self._run(job, work))
        return {"job": job.to_json()}

    def _run(self, job: Job, work: Callable[[], dict[str, Any]]) -> None:
        """One job of the main thread, from its turn to its end."""
        if self._jobs.get(job.id) is None:
            return  # cancelled before its turn
        try:
            with self._interrupts.job(job.id):
                result = work()
        except KeyboardInterrupt:
            self._end(job, CANCELLED, error=_cancelled(job))
        except Exception as error:
            self._end(job, FAILED, error=_failure(error))
        else:
            self._end(job, DONE, result=result)

    def _end(self, job: Job, state: str, **how: Any) -> None:
        try:
            self._jobs.end(job, state, **how)
        except RecordError:
            traceback.print_exc()
            self._broken()

    def _case(self, given: str | dict) -> Case | ProbeCase:
        from harness.sidebyside import parse_case

        if isinstance(given, dict):
            return parse_case(json.dumps(given), "case")
        target = self._place.target(given)
        read = agent_sandbox.read_file(self._place, target, max_lines=1 << 30, max_characters=1 << 30)
        return parse_case(read["text"], read["path"])

    # Commands

    def run_command(
        self, client: str, *, command: str | list, timeout_s: float = TIMEOUT_S, stdin: str = ""
    ) -> dict[str, Any]:
        """Begin a command in the agent's sandbox: a line for a shell, or a program with its arguments."""
        words = [command] if isinstance(command, str) else command
        if not words or not all(isinstance(word, str) and "\0" not in word for word in words) or not words[0].strip():
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
            job = self._jobs.begin(RUN_COMMAND, _short(arguments), client)
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
                self._place,
                command,
                timeout_s=timeout_s,
                stdin=stdin,
                cancel=cancel,
                progress=lambda line: self._jobs.progress(job, line[:200], 0, 0),
            )
            how = {"result": result.to_json()}
            outcome = f"killed by {result.killed_by}" if result.killed_by else f"exit code {result.exit_code}"
            if result.killed_by == commands.CANCELLED:
                how["error"] = _cancelled(job)
        except Exception as error:
            how = {"error": _failure(error)}
        self._record(RUN_COMMAND, job.arguments, outcome, job.client, began, job=job.id, tree=True)
        state = DONE if "error" not in how else CANCELLED if "result" in how else FAILED
        self._end(job, state, **how)
        del self._cancels[job.id]
        cancel.close()

    def cancel(self, client: str, *, job: str) -> dict[str, Any]:
        """End a job. One that has ended stays as it is; a verdict that is being recorded is not stopped any more."""
        if not job.startswith(f"{self._session.id}."):
            raise SessionError(f"{job!r} is no job of {self._session.id}")
        running = self._jobs.get(job)
        if running is None:
            return {"job": job_files.read(job, self._home).to_json()}
        cancel = self._cancels.get(job)
        if cancel is not None:
            cancel.ask()
        elif running.operation != RUN_COMMAND and not self._interrupts.ask(job):
            self._end(running, CANCELLED, error=_cancelled(running))
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
            self._place, path, offset_line=offset_line, max_lines=max_lines, max_characters=max_characters
        )

    def write_file(self, client: str, *, path: str, text: str, expected_sha256: str | None = None) -> dict[str, Any]:
        """Replace or create a file."""
        began = time.monotonic()
        with self._changing:
            written = agent_sandbox.write_file(self._place, path, text, expected_sha256=expected_sha256)
        arguments = {"path": path, "text": text}
        self._record("write_file", arguments, "created" if written["created"] else "replaced", client, began, tree=True)
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
            edited = agent_sandbox.edit_file(self._place, path, old, new, expected_sha256=expected_sha256, all=all)
        arguments = {"path": path, "old": old, "new": new, "all": all}
        self._record("edit_file", arguments, f"{edited['replacements']} replaced", client, began, tree=True)
        return edited

    def list_files(self, client: str, *, path: str = ".", pattern: str = "") -> dict[str, Any]:
        """What lies in the workspace."""
        return agent_sandbox.list_files(self._place, path, pattern=pattern)

    # The session

    def status(self, client: str) -> dict[str, Any]:
        """Where the session stands, and which jobs run."""
        names = ("id", "operation", "client", "what", "done", "total")
        running = [{name: getattr(job, name) for name in names} for job in self._jobs.running]
        return {**self._session.status(), "running": running}

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

    def _record(
        self,
        kind: str,
        arguments: Mapping[str, Any],
        outcome: str,
        client: str,
        began: float,
        *,
        job: str | None = None,
        tree: bool = False,
    ) -> None:
        """An event of what was done. It is done: that it cannot be recorded is said in the log, and undoes nothing."""
        detail = {"client": client} | ({} if job is None else {"job": job})
        duration_s = time.monotonic() - began
        try:
            self._session.record(
                kind,
                arguments=_short(arguments),
                outcome=outcome,
                detail=detail,
                duration_s=duration_s,
                with_tree=tree,
            )
        except LockstepError:
            traceback.print_exc()

    _TELL_OF_OTHERS: ClassVar = frozenset({"status", "verify", "write_file", "edit_file"})
    _CALLS: ClassVar[dict[str, Callable[..., dict[str, Any]]]] = {
        function.__name__: function
        for function in (
            verify,
            compare,
            profile,
            run_command,
            cancel,
            read_file,
            write_file,
            edit_file,
            list_files,
            status,
            history,
            explain,
            resume,
            report_usage,
        )
    }


def _short(value: Any) -> Any:
    """Arguments for a job or an event: long texts are cut, with the digest of the whole."""
    if isinstance(value, str):
        if len(value) <= MAX_ARGUMENT:
            return value
        digest = sha256(value.encode(errors="replace")).hexdigest()
        return f"{value[:MAX_ARGUMENT]}[cut: {len(value)} characters, SHA-256 {digest}]"
    if isinstance(value, Mapping):
        whole = json.dumps(value)
        return value if len(whole) <= MAX_ARGUMENT else {name: _short(each) for name, each in value.items()}
    if isinstance(value, list):
        whole = json.dumps(value)
        return value if len(whole) <= MAX_ARGUMENT else _short(whole)
    return value


def _cancelled(job: Job) -> dict[str, str]:
    told = (
        "the attempt stands in the log as interrupted"
        if job.operation == VERIFY
        else "it was ended with all its processes"
    )
    return SessionError(f"this {job.operation} was cancelled: {told}", where=job.id).as_json()


def _failure(error: Exception) -> dict[str, str]:
    if not isinstance(error, LockstepError | SandboxError):
        traceback.print_exc()
    return described(error)
