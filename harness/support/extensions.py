"""What other packages add to Lockstep, by entry points: listed from their metadata, imported when it is used.

An entry point's name is the name of what is added, and for a list `NAME: SUMMARY`. docs/extending.md has the groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from typing import TypeVar

from harness.errors import LockstepError

COMMANDS = "lockstep.commands"
DRIVE = "lockstep.drive"
T = TypeVar("T")


@dataclass(frozen=True)
class Extension:
    """One thing that a package adds.

    Attributes:
        name: what it is called by.
        summary: a line for a list; where the entry point has none, the package's own.
        group: what kind of thing it is.
        entry: where it lies.
    """

    name: str
    summary: str
    group: str
    entry: metadata.EntryPoint

    def load(self, kind: type[T]) -> T:
        """Import it.

        Raises:
            LockstepError: it cannot be imported, or it is not of this kind; the message names entry point and package.
        """
        package = self.entry.dist.name if self.entry.dist else "an unknown package"
        where = f"entry point {self.name!r} of {self.group}, from {package}"
        repair = f"repair {package}, install it again, or uninstall it; the other commands work without it"
        try:
            found = self.entry.load()
        except (Exception, SystemExit) as error:  # Whatever a stranger's module raises: other commands must go on.
            raise LockstepError(
                f"{self.entry.value} cannot be loaded: {type(error).__name__}: {error}", where=where, next_step=repair
            ) from error
        if not isinstance(found, kind):
            raise LockstepError(
                f"{self.entry.value} is of type {type(found).__name__}",
                where=where,
                expected=f"{kind.__module__}.{kind.__qualname__}",
                next_step=repair,
            )
        return found


def extensions(group: str) -> dict[str, Extension]:
    """What installed packages add to a group, by name. Nothing is imported. Of two with one name the first found counts."""
    found: dict[str, Extension] = {}
    for entry in metadata.entry_points(group=group):
        name, _, summary = (part.strip() for part in entry.name.partition(":"))
        if not summary and entry.dist is not None and "Summary" in entry.dist.metadata:
            summary = entry.dist.metadata["Summary"]
        found.setdefault(name, Extension(name, summary, group, entry))
    return found
