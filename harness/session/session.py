"""A session: one agent, one workspace, one record.

`Session` holds the lock and writes; `SessionView` reads the same record without it. Everything that either tells is
folded from the event log, so a session that was killed goes on where its log ends.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.errors import RecordError, SessionError
from harness.farm.engine import Engine
from harness.record import directory as directories
from harness.record import ssh
from harness.record.directory import SessionDirectory
from harness.record.event import SSH_KEY, START, Event
from harness.record.keys import SigningKey
from harness.record.message import AGENT
from harness.record.rotation import ROTATED
from harness.record.snapshot import Snapshot
from harness.record.task_update import NAMESPACE, SSH_SIGNATURE, STATEMENT, TASK_UPDATED, check_signature, statement
from harness.session import recipe
from harness.session.attempt import Attempts, Verification, Verifier, VerifierFactory, asked_step
from harness.session.begin import create_session, demand_no_workspace
from harness.session.recipe import Plan
from harness.session.recorder import Recorder
from harness.session.request import VerificationRequest
from harness.session.task_update import TaskUpdate, updated
from harness.session.view import OpenSession, SessionView
from harness.support.home import lockstep_home
from harness.support.progress import Progress
from harness.task.load import load_task

__all__ = ["Session", "SessionView", "Verification", "Verifier", "VerifierFactory", "levels_verifier"]

USAGE = "usage"
RESERVED = frozenset(
    {
        START,
        recipe.REFUSED,
        ROTATED,
        TASK_UPDATED,
        USAGE,
        recipe.ATTEMPT,
        recipe.VERDICT,
        recipe.INTERRUPTED,
        recipe.RESUMED,
    }
)


class Session(OpenSession):
    """A session that this process works on. Made by `start` and `open`; use it as a context manager."""

    def __init__(self, found: SessionDirectory, home: Path, verifier: VerifierFactory | None) -> None:
        self._recorder = Recorder(found, home)
        self._attach(found, self._recorder.store, self._recorder.history)
        self._attempts = Attempts(self._recorder, verifier or self._levels_verifier)

    @classmethod
    def start(
        cls,
        task_directory: Path,
        workspace: Path | None = None,
        home: Path | None = None,
        *,
        verifier: VerifierFactory | None = None,
        author: str = AGENT,
        levels: tuple[int, ...] | None = None,
        sandbox: str | None = None,
        ssh_key: Path | None = None,
        owner: str | None = None,
    ) -> Session:
        """Begin a session on a task.

        Args:
            task_directory: the task; copied, and from then on read from the copy alone.
            workspace: where the agent will work; by default `<task>-session` in the current directory. A new or empty
                directory is filled; one with files must hold the task's trusted files unchanged.
            home: where sessions and keys are kept; by default `lockstep_home()`.
            verifier: makes what judges the trees; by default Lockstep's levels in the session's sandbox.
            author: `Name <mail>` for the verified commits.
            levels: the recipe's levels; by default all that the task has.
            sandbox: the driver in which candidates and the agent's commands run; by default the best that works.
            ssh_key: file of the SSH key that signs the verified commits besides, as git does: a private key, or a public
                one whose private half an SSH agent holds.
            owner: the client whose session it is; by default it is the operator's.

        Raises:
            TaskError: the task is wrong.
            SessionError: a budget is used up, the workspace or the SSH key cannot be used, or the workspace has a session
                already.
            RecordError: the record cannot be written.
            SandboxUnavailable: the driver does not work here, or is not allowed.
        """
        from harness.policy.floor import kind_of

        home = (home or lockstep_home()).resolve()
        task = load_task(task_directory)
        sandbox, isolated = kind_of(sandbox)
        created = create_session(
            home,
            task=task.name,
            task_directory=task_directory,
            workspace=(workspace or Path.cwd() / f"{task.name}-session").expanduser().resolve(),
            plan=Plan(tuple(module.name for module in task.modules), levels or task.levels, task.limits),
            author=author,
            sandbox=sandbox,
            isolated=isolated,
            ssh_key=None if ssh_key is None else ssh_key.expanduser().resolve(),
            owner=owner,
        )
        return cls(created, home, verifier)

    @classmethod
    def open(cls, which: str | Path, home: Path | None = None, *, verifier: VerifierFactory | None = None) -> Session:
        """Go on with a session, named by its id or its workspace.

        Whatever a killed process left is put right first: locks and half-written files are removed, refs follow the log,
        the trusted copy and a lost workspace are restored, and an attempt without a verdict is recorded as interrupted.

        Raises:
            SessionError: there is no such session.
            SessionLocked: another process works on it.
            RecordError: its record is damaged.
        """
        home = (home or lockstep_home()).resolve()
        found = directories.find(home, which)
        if found.specification:
            raise SessionError(
                f"{found.id} is a session on a specification, and has no candidate",
                where=str(found.workspace),
                next_step="`lockstep spec check` says what is due; a session on the task begins once it is frozen",
            )
        return cls(found, home, verifier)

    @property
    def key(self) -> SigningKey:
        """What signs the events of this session, and what is attested of it."""
        return self._recorder.key

    def verify(
        self,
        level: int | None = None,
        module: str | None = None,
        message: str = "",
        seed: int | None = None,
        progress: Progress | None = None,
    ) -> Verification:
        """Verify the workspace as it is now, from level 1 up to `level`, and commit it if that is progress.

        Args:
            level: the highest level; by default the recipe's next step (or the highest, when nothing is left).
            module: limits level 1 to one module.
            message: the agent's words for the commit.
            seed: repeats a run. A pass then never counts, because the candidate could have been written for that seed;
                without it the seed is drawn after the snapshot.
            progress: called on the way.

        Raises:
            SessionError: the arguments make no sense, the workspace cannot be recorded, the limits are reached, or a
                verification is running.
            TrustedFileChanged: the workspace changes files that belong to the verifier.
            RecordError: the record cannot be written.
        """
        return self.attempt(VerificationRequest(level, module, message, seed), progress)

    def attempt(
        self, request: VerificationRequest, progress: Progress | None = None, *, client: str = ""
    ) -> Verification:
        """`verify`, of a request that somebody else made.

        Args:
            client: who asked, for the record.

        Raises:
            SessionError, TrustedFileChanged, RecordError: as `verify`.
        """
        return self._attempts.verify(asked_step(self.state, request), request, client, progress)

    def record(
        self,
        kind: str,
        *,
        arguments: Mapping[str, Any] | None = None,
        outcome: str = "",
        detail: Mapping[str, Any] | None = None,
        duration_s: float = 0.0,
        usage: Mapping[str, float] | None = None,
        seeds: Mapping[str, int] | None = None,
        attached: Mapping[str, bytes] | None = None,
        with_tree: bool = False,
        taken: Snapshot | None = None,
    ) -> Event:
        """Record anything else that happened (a tool call); values must be JSON.

        `with_tree` keeps the workspace as it is now with it, where it can be recorded and changes nothing trusted; `taken`
        keeps a snapshot that `exported_workspace` took. `attached` are files to keep with it, by path.

        Raises:
            SessionError: `kind` is one that the session itself records, or a value is not JSON.
            RecordError: it cannot be written.
        """
        if kind in RESERVED:
            raise SessionError(f"events of kind {kind!r} are the session's own", expected="the name of a tool")
        try:
            return self._recorder.append(
                kind,
                arguments=arguments,
                outcome=outcome,
                detail=detail,
                duration_s=duration_s,
                usage=usage,
                seeds=seeds,
                attached=attached,
                workspace=taken or (self._recorder.snapshot_if_sound() if with_tree else None),
            )
        except (TypeError, ValueError) as error:
            raise SessionError(f"an event of kind {kind!r} cannot be recorded: {error}", expected="JSON") from error

    def demand_events(self) -> None:
        """Refuse a call that would be recorded where the record is full (`Recorder.demand_events`). Raises SessionError."""
        self._recorder.demand_events()

    @contextmanager
    def exported_workspace(self, arguments: Mapping[str, Any]) -> Iterator[tuple[Snapshot, Path]]:
        """The workspace as it is now, recorded, and a read-only export of it for as long as the context lasts.

        Args:
            arguments: of the call that asks for it, for the record of a refusal.

        Raises:
            SessionError: the workspace cannot be recorded, or changes files that belong to the verifier.
            RecordError: it cannot be written.
        """
        taken = self._recorder.take_snapshot(arguments)
        with self._recorder.exported(taken, f"run-{secrets.token_hex(8)}") as tree:
            yield taken, tree

    def report_usage(
        self,
        *,
        arguments: Mapping[str, Any] | None = None,
        detail: Mapping[str, Any] | None = None,
        **usage: float,
    ) -> None:
        """Record what the agent spent since the last report: `dollars`, and counts of tokens under names of their own.

        Args:
            arguments: who reported, and in which call.
            detail: what was counted, as far as it is worth keeping.

        Raises:
            SessionError: a number is negative or none.
        """
        for name, value in usage.items():
            if not value >= 0 or value == float("inf"):
                raise SessionError(f"usage `{name}` is {value}", expected="a number that is not negative")
        self._recorder.append(USAGE, arguments=arguments, detail=detail, usage=usage)

    def resume(self, reason: str) -> None:
        """A person lets the agent go on: iterations, seconds and money are counted from here."""
        self._recorder.append(recipe.RESUMED, arguments={"reason": reason})

    def task_update(self, directory: Path) -> TaskUpdate:
        """What `update_task` would bring in; nothing is recorded but a workspace that is refused.

        Raises:
            TaskError, SessionError, TrustedFileChanged, RecordError: as `update_task`.
        """
        demand_no_workspace(self.directory.home, directory)
        taken = self._recorder.take_snapshot({"task": str(directory)})
        return updated(self.store, self.events, self.state.plan, taken, directory)

    def update_task(self, directory: Path, reason: str, digest: str | None = None) -> Event:
        """A person brings a changed task into the session: nothing that passed counts until it passes again.

        Where the session has an SSH key, it signs a statement that names both tasks, and without it nothing is changed.

        Args:
            directory: the changed task.
            reason: why, for the record.
            digest: of the task whose changes the person saw; another one is refused.

        Raises:
            TaskError: the task is wrong.
            TrustedFileChanged: the workspace changes files that belong to the verifier.
            SessionError: it is another task, the same one, not the one that was seen, or lies where an agent works; the
                workspace cannot be recorded; or a verification is running.
            RecordError: the record cannot be written, or the SSH key cannot sign.
        """
        with self._attempts.none_running():
            self._recorder.settle("the task was changed before there was a verdict")
            self._recorder.write_cases()
            update = self.task_update(directory)
            if digest not in (None, update.after):
                raise SessionError(
                    "the task is not the one whose changes were shown: it was changed meanwhile",
                    where=str(directory),
                    next_step="repeat the command, and look at the changes again",
                )
            said = statement(self.events, update.after, reason)
            attached = {STATEMENT: said}
            if self.events[0].detail.get(SSH_KEY) is not None:
                attached[SSH_SIGNATURE] = self._signed(said)
            return self._recorder.update_task(update, reason, attached)

    def _signed(self, said: bytes) -> bytes:
        key = self.directory.ssh_key
        if key is None:
            raise RecordError("session.json names no file of the SSH key")
        made = ssh.sign(key, said, NAMESPACE)
        check_signature(said, self.events, made)
        return made.encode()

    def restore_trusted(self) -> tuple[str, ...]:
        """Put every trusted file of the workspace back, and move what was added or changed to `proposed/set-aside/`.

        Returns the paths concerned.

        Raises:
            SessionError: the workspace holds links or devices, which a person has to remove.
            RecordError: a file cannot be written.
        """
        return self._recorder.restore_trusted()

    def close(self) -> None:
        """End the verifier, pack the record if it has grown, and let others in; further calls do nothing."""
        try:
            self._attempts.close()
            self._recorder.pack()
        finally:
            self._recorder.release()

    def _levels_verifier(self, task_directory: Path, progress: Progress) -> Verifier:
        return levels_verifier(task_directory, progress, self.driver().name)


def levels_verifier(
    task_directory: Path,
    progress: Progress,
    driver: str | None = None,
    *,
    prepare: bool = False,
    engine: Engine | None = None,
) -> Verifier:
    """The verifier of real sessions: Lockstep's levels, in a sandbox driver (by default the best that works here).

    `prepare` starts the next candidate's worker ahead, for a process that stays; `engine` is where references are placed.
    """
    from harness.measure.coverage.verifier import (
        MeasuringVerifier,  # imports the levels and their test generator: a status needs neither
    )
    from harness.policy.floor import permitted

    task, kept = load_task(task_directory), task_directory.parent / directories.POLICIES
    return MeasuringVerifier(task, permitted(driver), progress=progress, prepare=prepare, policies=kept, engine=engine)
