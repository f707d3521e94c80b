"""A changed task for a session that goes on: what becomes of the trusted files, of the cases found so far, and of stubs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from harness.candidate.skeleton import write_skeleton
from harness.errors import SessionError
from harness.record.event import Event
from harness.record.export import check_out
from harness.record.log import cases_added
from harness.record.objects import Entry
from harness.record.snapshot import Changes, Snapshot, directory_hash, snapshot, task_digest, trusted_part
from harness.record.snapshot import trusted_changes as between
from harness.record.store import Store
from harness.record.task_update import stating_task, task_in_force, trusted_files
from harness.session.recipe import Plan
from harness.task.contract import TASK_FILE, Task
from harness.task.load import load_task, with_candidate
from sandboxes.removal import scratch_directory


@dataclass(frozen=True)
class TaskUpdate:
    """A changed task, and the workspace as it is with it.

    Attributes:
        before, after: the digests of the task in force and of the changed one.
        plan: what the session has to go through from then on.
        changes: the trusted files that differ, cases apart.
        dropped: cases found so far that the changed task cannot play, because its leaves or draws are others.
        stubs: files of the candidate that nobody has written yet and that are made anew, each with the SHA-256 of what it
            holds now (empty for one that is new).
        present, workspace: all files as they are, and with the changed task.
    """

    before: str
    after: str
    plan: Plan
    changes: Changes
    dropped: tuple[str, ...]
    stubs: Mapping[str, str]
    present: Snapshot
    workspace: Snapshot

    @property
    def detail(self) -> dict[str, Any]:
        """What the event keeps of it."""
        changes = {kind: list(getattr(self.changes, kind)) for kind in ("changed", "deleted", "added")}
        return {
            "task_digest": self.after,
            "plan": self.plan.to_json(),
            "changes": changes,
            "dropped": list(self.dropped),
            "stubs": dict(self.stubs),
        }


def updated(store: Store, events: Sequence[Event], plan: Plan, present: Snapshot, directory: Path) -> TaskUpdate:
    """What the task in `directory` makes of a session whose log these events are and whose workspace is `present`.

    Raises:
        TaskError: the task is wrong.
        SessionError: it is another task, or the very one that is in force.
        RecordError: the record is damaged, or cannot be written.
    """
    trusted, before = trusted_files(store, events), task_in_force(events)
    with ExitStack() as stack:
        scratch = stack.enter_context(scratch_directory("lockstep-task-"))
        old_directory = scratch / "before"
        check_out(store, trusted, old_directory)
        old = load_task(old_directory)
        load_task(directory)  # for its mistakes, by their place
        # Read once more, and never again: what judges is what was looked at, whoever writes in that directory meanwhile.
        brought = trusted_part(snapshot(directory, store, may_be_checkout=True).files)
        check_out(store, brought, scratch / "after")
        new = _in_the_same_language(load_task(scratch / "after"), old)
        if new.name != old.name:
            raise SessionError(
                f"this is the task {new.name!r}, and the session is on {old.name!r}",
                where=str(directory),
                next_step="name the changed task of this session, or begin another session on this one",
            )
        brought = trusted_part(snapshot(new.directory, store).files)
        after = task_digest(store, brought)
        if after == before:
            raise SessionError(
                "the task is the one that the session has",
                where=str(directory),
                expected="a task that differs in something besides its cases",
                next_step="change what is wrong in this directory, then repeat the command",
            )
        found = {path: entry for event in _since(events) for path, entry in cases_added(store, event).items()}
        kept = found if _played_alike(old, new) else {}
        own = {path: entry for path, entry in present.files.items() if path not in trusted}
        stubs = _stubs(store, old, new, own, scratch)
    files = own | brought | kept
    for path, (_, entry) in stubs.items():
        if entry is None:
            del files[path]
        else:
            files[path] = entry
    without = {path: entry for path, entry in trusted.items() if path not in found}
    return TaskUpdate(
        before=before,
        after=after,
        plan=_plan(plan, old, new),
        changes=between(brought, without),
        dropped=tuple(sorted(found.keys() - files.keys())),
        stubs={path: digest for path, (digest, _) in stubs.items()},
        present=present,
        workspace=Snapshot(store.put_tree(files), files, directory_hash(store, files)),
    )


def _since(events: Sequence[Event]) -> Sequence[Event]:
    """The events after the one that brought the task in force; what that one holds came with its task."""
    return events[stating_task(events).seq + 1 :]


def _in_the_same_language(new: Task, old: Task) -> Task:
    """The changed task, in a directory of ours, for the candidate that was chosen at the start, if one was."""
    if not new.others or old.others:
        return new
    chosen, file = new.with_candidate(old.candidate.name), new.directory / TASK_FILE
    text = with_candidate(file.read_text(encoding="utf-8"), chosen.candidate.name)
    file.write_text(text, encoding="utf-8")
    return load_task(new.directory)


def _played_alike(old: Task, new: Task) -> bool:
    """Whether a case of one task can be played in the other: a case names leaves of the state, actions and draws."""

    def named(task: Task) -> object:
        leaves = {path: (leaf.dtype, leaf.shape) for path, leaf in task.leaves.items()}
        draws = {name: (draw.dtype, draw.shape, draw.at) for name, draw in task.draws.items()}
        return leaves, draws, task.mode

    return named(old) == named(new)


def _stubs(
    store: Store, old: Task, new: Task, own: Mapping[str, Entry], scratch: Path
) -> dict[str, tuple[str, Entry | None]]:
    """By path, files of the candidate that are still what a session begins with where nothing is written, or that only the
    changed task's beginning has: the SHA-256 of what each holds, and what is to take its place (None: nothing)."""
    begun: list[dict[str, Entry]] = []
    for name, task in (("old-stubs", old), ("new-stubs", new)):
        (scratch / name).mkdir()
        write_skeleton(task, scratch / name)
        begun.append(dict(snapshot(scratch / name, store).files))
    first, again = begun
    untouched = {path for path, entry in first.items() if own.get(path) == entry}
    if not untouched:
        return {}
    changed = {path for path in untouched if again.get(path) != first[path]}
    missing = {path for path in again.keys() - first.keys() if path not in own}
    return {
        path: (store.sha256(own[path].id) if path in own else "", again.get(path)) for path in sorted(changed | missing)
    }


def _plan(plan: Plan, old: Task, new: Task) -> Plan:
    """All levels that the changed task has, where the session went through all that the old one had."""
    levels = new.levels if plan.levels == old.levels else tuple(level for level in new.levels if level in plan.levels)
    return Plan(tuple(module.name for module in new.modules), levels, new.limits)


def content_digest(path: Path) -> str:
    """The SHA-256 of a file, empty where there is none."""
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
