"""The calls that texts tell a reader to make: each once as a command of a shell, and once as a tool of the server.

A text that names a call with arguments takes it from here, so that an option is renamed in one place. A fixed phrase without
arguments ("run `lockstep setup`") may stand in its text. tests/project/test_calls_in_texts.py holds both against the real
commands and tools.
"""

from __future__ import annotations

import json
import shlex
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote


class Calls(ABC):
    """The calls about one session that both kinds of reader can make. What has no value is left out of a call."""

    @abstractmethod
    def verify(self, level: int | None = None, module: str | None = None) -> str:
        """Verify up to a level, or one module at level 1; without a level, the next step of the recipe."""

    @abstractmethod
    def compare(self, case: Path) -> str:
        """Play the case in a file on both sides. A path that is not absolute starts at the workspace."""

    @abstractmethod
    def status(self) -> str:
        """Say where the session stands."""

    @abstractmethod
    def history(self) -> str:
        """Tell what happened in the session."""

    @abstractmethod
    def audit(self) -> str:
        """Check the session's record."""


@dataclass(frozen=True)
class ShellCalls(Calls):
    """Commands, for a person or an agent with a shell.

    Attributes:
        session: the id that commands name; None for the session of the directory where the reader stands.
        workspace: the session's workspace, or a task's directory; None where the reader stands in it. Files are given
            relative to the current directory where they lie below it.
        candidate: which one is compared, where a task's directory has several; None for its first.
    """

    session: str | None = None
    workspace: Path | None = None
    candidate: str | None = None

    def verify(
        self,
        level: int | None = None,
        module: str | None = None,
        *,
        directory: str | None = None,
        candidate: str | None = None,
        sandbox: str | None = None,
        seed: int | None = None,
    ) -> str:
        """See `Calls.verify`. `directory` is a task's, instead of a session; `seed` repeats a run."""
        return _command(
            "verify",
            directory,
            session=self.session,
            level=level,
            module=module,
            candidate=candidate,
            sandbox=sandbox,
            seed=seed,
        )

    def compare(self, case: Path) -> str:
        if self.workspace is None:
            return _command("compare", case=case, candidate=self.candidate)
        here = Path.cwd().resolve()
        directory = None if here == self.workspace.resolve() else self.workspace
        case = case.relative_to(here) if case.is_relative_to(here) else case
        return _command("compare", directory, case=case, candidate=self.candidate)

    def status(self) -> str:
        return _command("status", self.session)

    def history(self) -> str:
        return _command("history", self.session)

    def audit(self) -> str:
        return _command("audit", self.session)

    def explain(self, event: int, index: int) -> str:
        """Tell one of the divergences of a verdict, counted from 0."""
        return _command("explain", self.session, event=event, index=index)

    def resume(self) -> str:
        """Let a session that waits for a person go on; WHY stands for the reason."""
        return _command("resume", self.session, reason="WHY")

    @staticmethod
    def replay(record: str | Path) -> str:
        """List what happened in a recorded session."""
        return _command("replay", record)

    @staticmethod
    def start(task: str | Path) -> str:
        """Begin a session on a task."""
        return _command("start", task)

    @staticmethod
    def check_reference(task: str | Path) -> str:
        """Check the reference of a task."""
        return _command("check-reference", task)

    @staticmethod
    def check_specification(task: str | Path) -> str:
        """Say where a specification stands."""
        return _command("spec", "check", task)

    @staticmethod
    def play_scenarios(task: str | Path, which: str) -> str:
        """Play the scenarios of a specification against one of its readings."""
        return _command("spec", "play", task, which)

    @staticmethod
    def build_image(package: str) -> str:
        """Build the image of the sandbox `docker` with one more package in it."""
        return _command("images", "build", package=package)


@dataclass(frozen=True)
class ToolCalls(Calls):
    """Calls of the server's tools, for an agent; arguments are JSON.

    Attributes:
        session: the session's id; None where a text is about a task alone.
        workspace: where the session works; a case below it is given relative to it.
    """

    session: str | None
    workspace: Path | None = None

    def verify(self, level: int | None = None, module: str | None = None) -> str:
        return _tool("run_level_tests", session=self.session, level=level, module=module)

    def compare(self, case: Path) -> str:
        below = case if self.workspace is None or not case.is_absolute() else case.relative_to(self.workspace)
        return _tool("compare_rollouts", session=self.session, case=below.as_posix())

    def status(self) -> str:
        return _tool("session_status", session=self.session)

    def history(self, after: int | None = None, limit: int | None = None) -> str:
        """See `Calls.history`: only events after a number, and at most so many."""
        return _tool("history", session=self.session, after=after, limit=limit)

    def audit(self) -> str:
        return _tool("audit", session=self.session)

    def read_file(self, path: str, first_line: int | None = None, most_lines: int | None = None) -> str:
        """Read lines of a file of the workspace or the reference, from `first_line`, counted from 1."""
        return _tool("read_file", session=self.session, path=path, offset_line=first_line, max_lines=most_lines)

    def list_files(self, path: str) -> str:
        """Name the files of a directory of the workspace or the reference."""
        return _tool("list_files", session=self.session, path=path)

    def spec(self, step: str, which: str | None = None) -> str:
        """One step of the specification's workflow; some are of one reading."""
        return _tool("spec", session=self.session, step=step, which=which)

    @staticmethod
    def get_job(job: str, wait_s: float) -> str:
        """Wait for a job, so many seconds at most."""
        return _tool("get_job", job_id=job, wait_s=wait_s)


def session_uri(session: str) -> str:
    """The resources of a session begin with this; `/contract`, `/quirks` and `/reference` are its own copy of the task."""
    return f"lockstep://sessions/{quote(session, safe='')}"


def task_uri(task: str) -> str:
    """The contract of a task that a server offers; `/quirks` and `/reference` follow it."""
    return f"lockstep://tasks/{quote(task, safe='')}"


def reference_uri(holder: str, name: str = "") -> str:
    """The resource of a file or a directory of a reference; without a name, of the list of its files.

    Args:
        holder: what `session_uri` or `task_uri` gives.
        name: below the task's `reference/`, which may stand before it, or as task.toml's `source` writes it, without lines.
    """
    below = name.partition(":")[0].removeprefix("reference/")
    return "/".join(filter(None, (holder, "reference", quote(below))))


def _command(*words: str | Path | None, **options: str | Path | int | None) -> str:
    """A command line that a shell splits into these words and options; those that are None are left out."""
    line = ["lockstep", *(str(word) for word in words if word is not None)]
    for name, value in options.items():
        line += [] if value is None else [f"--{name}", str(value)]
    return shlex.join(line)


def _tool(name: str, **arguments: str | float | None) -> str:
    """A tool's call; arguments that are None or empty are left out."""
    given = (f"{argument}={json.dumps(value)}" for argument, value in arguments.items() if value not in (None, ""))
    return f"{name}({', '.join(given)})"
