"""What an agent changed from one recorded tree to the next, as diffs; and the files that a replay puts into a workspace."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.record.event import Event
from harness.record.objects import Entry
from harness.record.snapshot import trusted_part
from harness.record.store import Store

MAX_LINES = 400
"""Of the diff of one file; what is cut is said."""
CONTEXT = 3


@dataclass(frozen=True)
class Change:
    """One file that differs: `added`, `deleted` or `changed`, and its unified diff (empty for what is not text)."""

    path: str
    kind: str
    diff: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"path": self.path, "kind": self.kind, "diff": list(self.diff)}


def tree_before(events: Sequence[Event], event: Event) -> str | None:
    """The newest recorded tree before an event; None for the first."""
    earlier = (each.workspace["gitTree"] for each in reversed(events[: event.seq]) if each.workspace)
    return next(earlier, None)


def changes(store: Store, before: str | None, after: str) -> Iterator[Change]:
    """The files in which two trees differ, by path; nothing for the first tree, which is the task itself.

    Raises:
        RecordError: an object is missing or damaged.
    """
    if before is None or before == after:
        return
    old, new = store.files(before), store.files(after)
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) != new.get(path):
            kind = "changed" if path in old and path in new else "added" if path in new else "deleted"
            yield Change(path, kind, _diff(store, path, old.get(path), new.get(path)))


def agents_files(store: Store, tree: str) -> dict[str, Entry]:
    """The files of a tree that belong to its agent, by path.

    Raises:
        RecordError: an object is missing or damaged.
    """
    files = store.files(tree)
    trusted: Mapping[str, Entry] = trusted_part(files)
    return {path: entry for path, entry in files.items() if path not in trusted}


def _diff(store: Store, path: str, old: Entry | None, new: Entry | None) -> tuple[str, ...]:
    try:
        one, other = ([] if each is None else store.blob(each.id).decode().splitlines() for each in (old, new))
    except UnicodeDecodeError:
        return ()
    lines = list(difflib.unified_diff(one, other, f"a/{path}", f"b/{path}", n=CONTEXT, lineterm=""))
    if len(lines) > MAX_LINES:
        lines = [*lines[:MAX_LINES], f"... {len(lines) - MAX_LINES} more lines"]
    return tuple(lines)
