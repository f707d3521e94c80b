"""What an agent sees of a specification: whoever writes a reading sees neither the other reading nor the scenarios.

=============  ==========================================  ===========================
session on     reads                                       writes
=============  ==========================================  ===========================
all of it      `RULES.md`, `data/`                         `sheet.toml`, `scenarios/`
one reading    `RULES.md`, `data/`, `sheet.toml`           `reading/`
=============  ==========================================  ===========================

No command of an agent runs there. Its files are read and written here, and no link below the specification is followed.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.agent_sandbox.files import MAX_TEXT_BYTES
from harness.agent_sandbox.view import WORKSPACE, FileView, Root
from harness.calls import session_uri
from harness.errors import RecordError, SessionError, TaskError
from harness.record.specification import handle
from harness.specification.place import Place, demand_plain
from harness.specification.prompts import OWN
from harness.support.files import read_below, write_below
from sandboxes import PathMissing, PathRefused


class SpecificationFiles(FileView):
    """The files of a specification, or of one reading of it.

    Args:
        place: the specification.
        session: its session's id.
        part: the reading; empty for whoever writes sheet and scenarios.
    """

    def __init__(self, place: Place, session: str, part: str) -> None:
        self.workspace = place.directory
        self.uri = session_uri(handle(session, part) if part else session)
        self._place, self._part = place, part

    def roots(self) -> dict[str, Root]:
        place, author = self._place, not self._part
        shown = {place.rules.name: Root(place.rules, False), place.sheet.name: Root(place.sheet, author)}
        if place.tables.is_dir():
            shown[place.tables.name] = Root(place.tables, False)
        if author:
            return shown | {place.scenarios.name: Root(place.scenarios, True)}
        return shown | {OWN: Root(place.reading(self._part), True)}

    def prepare(self) -> None:
        directory = self._place.reading(self._part) if self._part else self._place.scenarios
        try:
            demand_plain(self._place)
            directory.mkdir(parents=True, exist_ok=True)
        except (TaskError, OSError) as error:
            raise SessionError(
                f"the files of the specification cannot be shown: {error}",
                where=str(directory),
                next_step="put plain files and directories in the place of what is there",
            ) from error

    def refuse(self, names: Sequence[str], path: str) -> None:
        return  # what is no root is not shown, whatever it is

    def read(self, target: str) -> bytes:
        try:
            return read_below(self._place.directory, self._path(target), MAX_TEXT_BYTES)
        except FileNotFoundError:
            raise PathMissing(target) from None
        except (OSError, ValueError) as error:
            raise PathRefused(f"{target}: {error}") from error

    def write(self, target: str, data: bytes) -> None:
        try:
            write_below(self._place.directory, self._path(target), data)
        except RecordError as error:
            raise PathRefused(f"{target}: {error.what}") from error

    def _path(self, target: str) -> str:
        """The path below the specification of what is shown at `target`."""
        name, _, below = target.removeprefix(f"{WORKSPACE}/").partition("/")
        root = self.roots().get(name)
        if root is None or not target.startswith(f"{WORKSPACE}/"):
            raise PathRefused(f"{target}: it is not shown")
        source = root.source.relative_to(self._place.directory).as_posix()
        return f"{source}/{below}" if below else source
