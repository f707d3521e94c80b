"""A session: one agent, one workspace, one record.

`Session` holds the lock and writes; `SessionView` reads the same record without it. Everything that either tells is
folded from the event log, so a session that was killed goes on where its log ends.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from harness import recipe
from harness.errors import RecordError, SessionError, TrustedFileChanged
from harness.home import lockstep_home
from harness.levels.known import case_file
from harness.model import Outcome, Verdict
from harness.recipe import Plan, Step
from harness.record import directory as directories
from harness.record import keys
from harness.record.attest import SUMMARY_FILE, Subject, attestations
from harness.record.begin import create_session
from harness.record.directory import SessionDirectory
from harness.record.export import check_out, discard, exported
from harness.record.files import clear_temporaries, remove_below, storing, write_below, write_durably
from harness.record.lock import Lock
from harness.record.log import START, VERDICT_FILE, Event, EventLog, cases_added, now, seconds, snapshot_of
from harness.record.message import AGENT, commit_message
from harness.record.objects import EXECUTABLE, Commit, Entry, identity
from harness.record.snapshot import (
    Snapshot,
    is_blank,
    refuse_changes,
    snapshot,
    trusted_changes,
    trusted_part,
)
from harness.record.store import Store
from harness.record.view import SessionView
from harness.task import CASES_DIRECTORY, PROPOSED_DIRECTORY
from harness.taskfile import load_task

__all__ = ["Progress", "Session", "SessionView", "Verification", "Verifier", "VerifierFactory", "levels_verifier"]

REFUSED = "refused"
USAGE = "usage"
RESERVED = frozenset({START, REFUSED, USAGE, recipe.ATTEMPT, recipe.VERDICT, recipe.INTERRUPTED, recipe.RESUMED})
TRAINING_LEVEL = 4
MAX_NEW_CASES = 8
"""As many counterexamples of one attempt are kept: they run first from then on, and must stay quick."""

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and how much there is."""


class Verifier(Protocol):
    """What judges trees: `harness.verify.Verifier`, or a stand-in."""

    def verify(self, tree: Path, *, levels: Sequence[int], module: str | None, seed: int) -> Verdict:
        """Verify an exported tree at these levels, lowest first."""
        ...

    def close(self) -> None:
        """End whatever it keeps running."""
        ...


VerifierFactory = Callable[[Path, Progress], Verifier]
"""Makes the verifier of a session from its trusted task directory and a progress callback."""


@dataclass(frozen=True)
class Verification:
    """What one call of `Session.verify` came to.

    Attributes:
        verdict: what the verifier found.
        step: what was asked for.
        seq: the event that holds it.
        commit: the commit that was made, or None.
        cases: files added to `cases/`.
        next: the recipe's next step, None when nothing is left.
    """

    verdict: Verdict
    step: Step
    seq: int
    commit: str | None
    cases: tuple[str, ...]
    next: Step | None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "step": self.step.to_json(),
            "event": self.seq,
            "commit": self.commit,
            "new_cases": list(self.cases),
            "next": None if self.next is None else self.next.to_json(),
            "verdict": self.verdict.to_json(),
        }


class Session(SessionView):
    """A session that this process works on. Made by `start` and `open`; use it as a context manager."""

    def __init__(self, found: SessionDirectory, home: Path, verifier: VerifierFactory | None) -> None:
        self._factory = verifier or self._levels_verifier
        self._verifier: Verifier | None = None
        self._progress: Progress | None = None
        self._writing = threading.RLock()
        self._verifying = threading.Lock()
        self._owed: set[str] = set()
        self._lock = Lock(found.lock, f"the session {found.id}")
        try:
            store = Store(found.repository, self._lock.descriptor)
        except BaseException:
            self._lock.release()
            raise
        try:
            store.clear_leftovers()
            self._log = EventLog(store, keys.load_or_create(home))
            self._attach(found, store, self._log.events)
            self._folded = len(self._events)
            self._trusted = trusted_part(store.files(snapshot_of(self._events[:1])))
            for event in self._events:
                self._trusted |= cases_added(store, event)
            self._recover()
        except BaseException:
            store.close()
            self._lock.release()
            raise

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

        Raises:
            TaskError: the task is wrong.
            SessionError: the workspace cannot be used, or has a session already.
            RecordError: the record cannot be written.
        """
        home = (home or lockstep_home()).resolve()
        task = load_task(task_directory)
        created = create_session(
            home,
            task=task.name,
            task_directory=task_directory,
            workspace=(workspace or Path.cwd() / f"{task.name}-session").expanduser().resolve(),
            plan=Plan(tuple(module.name for module in task.modules), levels or task.levels, task.limits),
            author=author,
            sandbox=sandbox,
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
        return cls(directories.find(home, which), home, verifier)

    def verify(
        self,
        level: int | None = None,
        module: str | None = None,
        message: str = "",
        seed: int | None = None,
        progress: Progress | None = None,
        *,
        client: str = "",
    ) -> Verification:
        """Verify the workspace as it is now, from level 1 up to `level`, and commit it if that is progress.

        Args:
            level: the highest level; by default the recipe's next step (or the highest, when nothing is left).
            module: limits level 1 to one module.
            message: the agent's words for the commit.
            seed: repeats a run. A pass then never counts, because the candidate could have been written for that seed;
                without it the seed is drawn after the snapshot.
            progress: called on the way.
            client: who asked, for the record.

        Raises:
            SessionError: the arguments make no sense, the workspace cannot be recorded, the limits are reached, or a
                verification is running.
            TrustedFileChanged: the workspace changes files that belong to the verifier.
            RecordError: the record cannot be written.
        """
        step = self._step(level, module)
        if seed is not None and not 0 <= seed < 1 << 63:
            raise SessionError(f"the seed {seed} is out of range", expected="0 <= seed < 2**63")
        if not self._verifying.acquire(blocking=False):
            raise SessionError("a verification is running in this session", next_step="wait for it, or interrupt it")
        self._progress = progress
        try:
            return self._verify(step, message, seed, {"client": client} if client else {})
        finally:
            self._progress = None
            self._verifying.release()

    def record(
        self,
        kind: str,
        *,
        arguments: Mapping[str, Any] | None = None,
        outcome: str = "",
        detail: Mapping[str, Any] | None = None,
        duration_s: float = 0.0,
        usage: Mapping[str, float] | None = None,
        with_tree: bool = False,
        taken: Snapshot | None = None,
    ) -> Event:
        """Record anything else that happened (a tool call); values must be JSON.

        `with_tree` keeps the workspace as it is now with it, where it can be recorded and changes nothing trusted; `taken`
        keeps a snapshot that `exported_workspace` took.

        Raises:
            SessionError: `kind` is one that the session itself records, or a value is not JSON.
            RecordError: it cannot be written.
        """
        if kind in RESERVED:
            raise SessionError(f"events of kind {kind!r} are the session's own", expected="the name of a tool")
        try:
            return self._append(
                kind,
                arguments=arguments,
                outcome=outcome,
                detail=detail,
                duration_s=duration_s,
                usage=usage,
                workspace=taken or (self._tree_if_sound() if with_tree else None),
            )
        except (TypeError, ValueError) as error:
            raise SessionError(f"an event of kind {kind!r} cannot be recorded: {error}", expected="JSON") from error

    @contextmanager
    def exported_workspace(self, arguments: Mapping[str, Any]) -> Iterator[tuple[Snapshot, Path]]:
        """The workspace as it is now, recorded, and a read-only export of it for as long as the context lasts.

        Args:
            arguments: of the call that asks for it, for the record of a refusal.

        Raises:
            SessionError: the workspace cannot be recorded, or changes files that belong to the verifier.
            RecordError: it cannot be written.
        """
        taken = self._take_snapshot(arguments)
        with exported(self.store, taken.tree, self.directory.exports / f"run-{secrets.token_hex(8)}") as tree:
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
            arguments, detail: what else is worth keeping: who reported, what was counted.

        Raises:
            SessionError: a number is negative or none.
        """
        for name, value in usage.items():
            if not value >= 0 or value == float("inf"):
                raise SessionError(f"usage `{name}` is {value}", expected="a number that is not negative")
        self._append(USAGE, arguments=arguments, detail=detail, usage=usage)

    def resume(self, reason: str) -> None:
        """A person lets the agent go on: iterations, seconds and money are counted from here."""
        self._append(recipe.RESUMED, arguments={"reason": reason})

    def restore_trusted(self) -> tuple[str, ...]:
        """Put every trusted file of the workspace back, and move what was added or changed to `proposed/set-aside/`.

        Returns the paths concerned.

        Raises:
            SessionError: the workspace holds links or devices, which a person has to remove.
            RecordError: a file cannot be written.
        """
        workspace, trusted = self.workspace, self._trusted
        found = snapshot(workspace, self.store).files
        changes = trusted_changes(found, trusted)
        for path in (*changes.changed, *changes.added):
            aside = f"{PROPOSED_DIRECTORY}/set-aside/{path}"
            write_below(workspace, aside, self.store.blob(found[path].id))
        for path in changes.added:
            remove_below(workspace, path)
        for path in (*changes.changed, *changes.deleted):
            self._write(workspace, path, trusted[path])
        return (*changes.changed, *changes.deleted, *changes.added)

    def close(self) -> None:
        """End the verifier, pack the record if it has grown, and let others in; further calls do nothing."""
        try:
            verifier, self._verifier = self._verifier, None
            if verifier is not None:
                verifier.close()
            if self._lock.descriptor >= 0:
                self.store.pack()
        finally:
            self.store.close()
            self._lock.release()

    # One verification

    def _step(self, level: int | None, module: str | None) -> Step:
        plan, following = self._plan, recipe.next_step(self._state)
        if module is not None and module not in plan.modules:
            raise SessionError(f"there is no module {module!r}", expected=f"one of {', '.join(plan.modules)}")
        if level is None:
            return Step(1, module) if module else following or plan.steps[-1]
        if level not in plan.levels:
            raise SessionError(
                f"this session has no level {level}",
                expected=f"one of {', '.join(map(str, plan.levels))}",
                next_step="a session has level 4 if its task.toml said, when it began, how long to train (transfer.steps)"
                if level == TRAINING_LEVEL
                else "",
            )
        if module is not None and level != 1:
            raise SessionError(
                f"level {level} is about all modules together", expected="level 1 where a module is named"
            )
        return Step(level, module)

    def _verify(self, step: Step, message: str, given: int | None, asked: Mapping[str, str]) -> Verification:
        self._settle("the attempt ended without a verdict")
        self._write_cases()
        if reached := recipe.limits_reached(self._state):
            raise SessionError(
                f"this session needs a person: {'; '.join(reached)}",
                where=self.id,
                next_step="look at what was tried (status), then let it go on (resume) or change the task",
            )
        levels = [level for level in self._plan.levels if level <= step.level]
        arguments = {"level": step.level, "levels": levels, "module": step.module, "message": message}
        began = time.monotonic()
        taken = self._take_snapshot(arguments)
        # Drawn only now: no candidate can have been written for it.
        seed = self._interrupted_seed(arguments, taken) if given is None else given
        seed = secrets.randbits(63) if seed is None else seed
        detail = {**asked, "drawn": given is None}
        attempt = self._append(recipe.ATTEMPT, arguments=arguments, detail=detail, seeds={"run": seed}, workspace=taken)
        try:
            with exported(self.store, taken.tree, self.directory.exports / str(attempt.seq)) as tree:
                verdict = self._judge().verify(tree, levels=levels, module=step.module, seed=seed)
            verdict = self._believe(verdict, levels, seed)
            return self._conclude(step, arguments, taken, verdict, given is None, time.monotonic() - began)
        except BaseException as error:
            with suppress(RecordError):  # then the next verification, or the next opening, settles it
                self._settle(f"{type(error).__name__}: {error}"[: recipe.FINDING_AT_MOST])
            raise

    def _take_snapshot(self, arguments: Mapping[str, Any]) -> Snapshot:
        try:
            taken = snapshot(self.workspace, self.store)
            refuse_changes(trusted_changes(taken.files, self._trusted), self.workspace)
        except SessionError as refusal:
            kind = "trusted files" if isinstance(refusal, TrustedFileChanged) else "workspace"
            self._append(REFUSED, arguments=arguments, outcome=kind, detail={"finding": refusal.what})
            raise
        return taken

    def _interrupted_seed(self, arguments: Mapping[str, Any], taken: Snapshot) -> int | None:
        """The seed with which the last attempt at this went on until it was interrupted, if it judged this very tree.

        It was drawn after that tree was fixed, so it is as good as a fresh one; with it, level 4 finds what it had trained,
        and nobody can interrupt what goes badly in the hope of a better seed.
        """
        last = next((event for event in reversed(self._events) if event.kind == recipe.ATTEMPT), None)
        if last is None or not last.detail.get("drawn") or TRAINING_LEVEL not in arguments["levels"]:
            return None
        interrupted = self._state.attempts[-1].outcome == recipe.INTERRUPTED
        same = last.workspace is not None and last.workspace["gitTree"] == taken.tree
        asked = ("level", "levels", "module")
        same = same and all(last.arguments[name] == arguments[name] for name in asked)
        return last.seeds["run"] if interrupted and same else None

    def _tree_if_sound(self) -> Snapshot | None:
        with suppress(SessionError):
            taken = snapshot(self.workspace, self.store)
            return None if trusted_changes(taken.files, self._trusted) else taken
        return None

    def _judge(self) -> Verifier:
        if self._verifier is None:
            self._verifier = self._factory(self.task_directory, self._tell)
        return self._verifier

    def _levels_verifier(self, task_directory: Path, progress: Progress) -> Verifier:
        return levels_verifier(task_directory, progress, self.sandbox)

    def _tell(self, what: str, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(what, done, total)

    def _believe(self, verdict: Verdict, levels: Sequence[int], seed: int) -> Verdict:
        """A verdict that is not about what was asked is an error, whatever it says."""
        missing = set(levels) - {report.level for report in verdict.reports if report.outcome is Outcome.PASS}
        expected = self._events[0].detail["task_digest"]
        if verdict.seed != seed:
            return replace(verdict, error=f"the verifier used the seed {verdict.seed} instead of {seed}")
        if verdict.task_digest != expected:
            return replace(verdict, error=f"the verifier read another task ({verdict.task_digest}) than the session's")
        if verdict.outcome is Outcome.PASS and missing:
            return replace(verdict, error=f"level {min(missing)} was asked for and did not pass")
        return verdict

    def _conclude(
        self,
        step: Step,
        arguments: Mapping[str, Any],
        taken: Snapshot,
        verdict: Verdict,
        counts: bool,
        duration_s: float,
    ) -> Verification:
        moment = now()
        described = verdict.to_json()
        attached = {VERDICT_FILE: json.dumps(described, indent=1, sort_keys=True).encode() + b"\n"}
        cases = self._new_cases(verdict) if verdict.outcome is Outcome.FAIL else {}
        attached |= cases
        commit = None
        if verdict.outcome is Outcome.PASS and counts and self._is_progress(step, arguments, taken):
            commit = self._commit(step, str(arguments["message"]), taken, described, moment)
            attached |= attestations(
                verdict,
                Subject(commit, taken.tree, taken.digest),
                session=self.id,
                task=self.directory.task,
                time=moment,
                parent=self.head.attached[SUMMARY_FILE] if self.head else None,
                key=self._log.key,
            )
        event = self._append(
            recipe.VERDICT,
            time=moment,
            arguments=arguments,
            outcome=str(verdict.outcome),
            detail=recipe.verdict_detail(described, counts=counts),
            duration_s=duration_s,
            workspace=taken,
            commit=commit,
            attached=attached,
        )
        self._write_cases()
        return Verification(verdict, step, event.seq, commit, tuple(cases), recipe.next_step(self._state))

    def _is_progress(self, step: Step, arguments: Mapping[str, Any], taken: Snapshot) -> bool:
        covered = self._plan.covered(arguments["levels"], step.module)
        before = self.head.workspace if self.head else None
        return recipe.progress_made(
            self._state, covered, same_tree=before is not None and before["gitTree"] == taken.tree
        )

    def _commit(self, step: Step, message: str, taken: Snapshot, verdict: Mapping[str, Any], moment: str) -> str:
        who = identity(self._events[0].detail["author"], seconds(moment))
        parents = (self.head.commit,) if self.head and self.head.commit else ()
        words = commit_message(message, f"Pass {step}", verdict)
        return self.store.put_commit(Commit(taken.tree, parents, who, who, words))

    def _new_cases(self, verdict: Verdict) -> dict[str, bytes]:
        files = [case_file(divergence) for divergence in verdict.divergences]
        fresh = {f"{CASES_DIRECTORY}/{name}": text.encode() for name, text in filter(None, files)}
        return dict([item for item in fresh.items() if item[0] not in self._trusted][:MAX_NEW_CASES])

    # Keeping record, trusted copy and workspace together

    def _append(self, kind: str, **fields: Any) -> Event:
        with self._writing:
            try:
                return self._log.append(kind, **fields)
            finally:
                # Also where an error followed the append: what the log has is what happened.
                for event in self._events[self._folded :]:
                    self._state = recipe.advance(self._state, event)
                    added = cases_added(self.store, event)
                    self._trusted |= added
                    self._owed |= added.keys()
                    self._folded += 1

    def _settle(self, why: str) -> None:
        """Record that an attempt without a verdict will never have one."""
        if self._state.pending is not None:
            arguments = {"attempt": self._state.pending.seq}
            self._append(recipe.INTERRUPTED, arguments=arguments, detail={"finding": why})

    def _recover(self) -> None:
        """Put right whatever a killed process, or a person, left behind."""
        for stale in self.directory.exports.glob("*"):
            discard(stale)
        for root in (self.directory.path, self.task_directory, self.workspace):
            clear_temporaries(root)
        if not _holds(self.task_directory, self._trusted, self.store):
            check_out(self.store, self._trusted, self.task_directory)
        if self.directory.restoring.exists() or is_blank(self.workspace):
            self._restore_workspace()
        self._owed = {path for path in self._trusted if path.startswith(f"{CASES_DIRECTORY}/")}
        self._write_cases()
        self._settle("the process ended before there was a verdict")

    def _restore_workspace(self) -> None:
        """Fill the workspace from the last snapshot; a mark says until the end that this has to be finished."""
        mark = self.directory.restoring
        write_durably(mark, b"")
        with storing(self.workspace):
            self.workspace.mkdir(parents=True, exist_ok=True)
        for path, entry in self.store.files(snapshot_of(self._events)).items():
            if not (self.workspace / path).exists():
                self._write(self.workspace, path, entry)
        with storing(mark):
            mark.unlink()

    def _write_cases(self) -> None:
        """Put cases that the log has gained into the trusted copy and the workspace."""
        for path in sorted(self._owed):
            for root in (self.task_directory, self.workspace):
                if not (root / path).exists():
                    self._write(root, path, self._trusted[path])
            self._owed.remove(path)

    def _write(self, root: Path, path: str, entry: Entry) -> None:
        write_below(root, path, self.store.blob(entry.id), 0o755 if entry.mode == EXECUTABLE else 0o644)


def levels_verifier(
    task_directory: Path, progress: Progress, driver: str | None = None, *, prepare: bool = False
) -> Verifier:
    """The verifier of real sessions: Lockstep's levels, in a sandbox driver (by default the best that works here).

    `prepare` starts the next candidate's worker ahead, for a process that stays.
    """
    from harness import verify  # imports the levels and their test generator: a status needs neither
    from sandboxes import choose

    task, kept = load_task(task_directory), task_directory.parent / directories.POLICIES
    return verify.Verifier(task, choose(driver), progress=progress, prepare=prepare, policies=kept)


def _holds(directory: Path, files: Mapping[str, Entry], store: Store) -> bool:
    """Whether a directory holds exactly these recorded files."""
    try:
        return directory.is_dir() and snapshot(directory, store).files == files
    except SessionError:
        return False
