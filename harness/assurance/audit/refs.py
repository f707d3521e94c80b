"""The refs of a record: each must be where the log says, or not be there yet."""

from __future__ import annotations

from collections.abc import Mapping

from harness.assurance.audit.findings import Findings
from harness.record.event import Event
from harness.record.log import ATTESTATIONS, EVENTS, MAIN, NOTES, notes_entries, stray_refs, verified
from harness.record.objects import encode_tree, object_id
from harness.record.store import Store

OURS = "refs/lockstep/"
REPLACE = "refs/replace/"


class Refs:
    """Checks the refs of a store against its log.

    Attributes:
        strayed: where `main` leaves what was verified: the last verified commit on it (None where there is none) and the
            first that is not; None where it does not.
    """

    def __init__(self, store: Store, findings: Findings) -> None:
        self.strayed: tuple[str | None, str] | None = None
        self._store = store
        self._findings = findings

    def check(self, events: Mapping[int, Event]) -> None:
        """Check all refs; `events` is what could be read of the log, by place. Without any there is nothing to hold to."""
        if not events:
            return
        add, refs = self._findings.add, self._store.refs()
        positions = {str(event.commit): position for position, event in events.items() if event.commit}
        for name, what in stray_refs(refs, list(events.values())).items():
            add("ref", self._position(name, events), what)
        for name in refs:
            if name.startswith(OURS) and name != EVENTS and not name.startswith(ATTESTATIONS):
                add("ref", None, f"{name} is not a ref of a record")
        main = refs.get(MAIN)
        if main is not None and main not in positions:
            self._findings.safely(lambda: self._follow(main, positions))
        if not positions:
            return
        self._check_behind(main, positions)
        for commit, position in positions.items():
            if f"{ATTESTATIONS}{commit}" not in refs:
                add("ref", position, f"{ATTESTATIONS}{commit} is missing")
        self._findings.safely(lambda: self._check_notes(refs.get(NOTES), events, positions))

    def _check_behind(self, main: str | None, positions: dict[str, int]) -> None:
        commits = list(positions)
        if main == commits[-1] or (main is not None and main not in positions):
            return
        lost = commits[0] if main is None else commits[commits.index(main) + 1]
        where = "missing" if main is None else f"at {main}"
        behind = "; if a process was killed, open the session once" if main else ""
        self._findings.add(
            "ref", positions[lost], f"{MAIN} is {where}, the log's newest is {commits[-1]}: it lacks {lost}{behind}"
        )

    def _follow(self, main: str, positions: dict[str, int]) -> None:
        """Go back on `main` to the last commit on it that was verified."""
        first, at = main, main
        self.strayed = (None, first)
        while at not in positions:
            first = at
            parents = self._store.commit(at).parents
            self.strayed = (None, first)
            if not parents:
                return
            at = parents[0]
        self.strayed = (at, first)

    def _check_notes(self, notes: str | None, events: Mapping[int, Event], positions: dict[str, int]) -> None:
        wanted = notes_entries(self._store, verified(list(events.values())))
        tree = None if notes is None else self._store.commit(notes).tree
        if tree == object_id("tree", encode_tree(wanted)):
            return
        found = {} if tree is None else self._store.tree(tree)
        wrong = next((commit for commit in positions if found.get(commit) != wanted[commit]), None)
        about = "" if wrong is None else f" of commit {wrong}"
        self._findings.add("ref", positions.get(str(wrong)), f"{NOTES} does not hold what the log says{about}")

    def _position(self, name: str, events: Mapping[int, Event]) -> int | None:
        """The place of the first event that a ref is about: by its commit, its own id, or the tree that it judged."""
        about = name.removeprefix(ATTESTATIONS).removeprefix(REPLACE)
        for position, event in events.items():
            if about in (event.id, event.commit, (event.workspace or {}).get("gitTree")):
                return position
        return None
