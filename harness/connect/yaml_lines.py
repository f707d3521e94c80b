"""One entry in a settings file in YAML, as an edit of its lines that leaves every other line as it is.

There is no parser of YAML here, and none is needed: the entry is one line, written as JSON, which is YAML as well. Only
files whose section is written as a block, one entry below the other, are edited; others are refused with words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.errors import LockstepError
from harness.support.foreign import json_of

INDENT = "  "
_EMPTY = re.compile(r"(\{\s*\}|null|~)?\s*(#.*)?")
_NOTHING = re.compile(r"^\s*(\{\s*\}|null|~)")
_ENTRY = re.compile(r"""(?P<indent> *)(?P<quote>["']?)(?P<key>[^\s"'#:][^"':]*)(?P=quote)\s*:(?P<rest>\s.*|)$""")


class YamlSettings:
    """The text of a settings file and the place of one entry in it; see `harness.connect.settings.Settings`.

    Raises:
        LockstepError: the section is not written as a block; the message names the line.
    """

    def __init__(self, path: Path, text: str, *, section: str, name: str) -> None:
        self._path, self._section, self._name = path, section, name
        self.text = text
        self._lines = text.splitlines(keepends=True)
        self._ending = "\r\n" if "\r\n" in text else "\n"
        self._head = self._find_head()
        self._indent, self._place = self._find_entry()
        self.entry: Any = None
        """What the entry is now, as its lines where they are not JSON; None where there is none."""
        if self._place is not None:
            written = "".join(self._lines[self._place])
            try:
                self.entry = json_of(written.partition(":")[2].strip())
            except ValueError:
                self.entry = written

    def put(self, entry: Mapping[str, Any]) -> str:
        """The text with the entry; the same text where it says that already."""
        if self.entry == entry:
            return self.text
        line = f"{self._indent}{self._name}: {json.dumps(dict(entry))}{self._ending}"
        lines = self._lines.copy()
        if self._place is not None:
            lines[self._place] = [line]
        elif self._head is not None:
            lines[self._head] = self._opened(lines[self._head].rstrip("\r\n")) + self._ending
            lines.insert(self._head + 1, line)
        else:
            gap = [self._ending] if lines and not lines[-1].endswith("\n") else []
            lines += [*gap, f"{self._section}:{self._ending}", line]
        return "".join(lines)

    def without(self) -> str:
        """The text without the entry, and without the section where nothing else is left in it."""
        if self._place is None or self._head is None:
            return self.text
        lines = self._lines.copy()
        del lines[self._place]
        left = YamlSettings(self._path, "".join(lines), section=self._section, name=self._name)
        if not any(True for _ in left._entries()):
            del lines[self._head]
        return "".join(lines)

    @property
    def empty(self) -> bool:
        """Whether nothing is set."""
        return all(not line.strip() or line.lstrip().startswith("#") or line.strip() == "---" for line in self._lines)

    def _find_head(self) -> int | None:
        """The line of the section, which must be empty or open a block."""
        found = None
        for number, line in enumerate(self._lines):
            match = _ENTRY.match(line.rstrip("\r\n"))
            if match is None or match["indent"] or match["key"].strip() != self._section:
                if line[0] in "{[" or "\t" in line[: len(line) - len(line.lstrip())]:
                    raise self._refused(number, "it is not written as a block of lines, indented by spaces")
                if line.rstrip() == "---" and any(
                    each.strip() and each[0] not in "#%" for each in self._lines[:number]
                ):
                    raise self._refused(number, "it holds several documents")
                continue
            if found is not None:
                raise self._refused(number, f"`{self._section}` stands in it twice")
            if not _EMPTY.fullmatch(match["rest"].strip()):
                raise self._refused(number, f"`{self._section}` is not written as a block, one entry below the other")
            found = number
        return found

    def _entries(self) -> list[tuple[int, str, str]]:
        """The entries of the section: line, indentation, key."""
        if self._head is None:
            return []
        found: list[tuple[int, str, str]] = []
        for number in range(self._head + 1, len(self._lines)):
            line = self._lines[number].rstrip("\r\n")
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            indent = line[: len(line) - len(line.lstrip(" "))]
            if not indent and line.startswith("-"):
                raise self._refused(number, f"`{self._section}` is a list")
            if not indent:
                break
            if found and len(indent) > len(found[0][1]):
                continue
            match = _ENTRY.match(line)
            if match is None or (found and indent != found[0][1]):
                raise self._refused(number, f"this line of `{self._section}` is no entry")
            found.append((number, indent, match["key"].strip()))
        return found

    def _find_entry(self) -> tuple[str, slice | None]:
        """How entries are indented, and the lines of this one."""
        entries = self._entries()
        indent = entries[0][1] if entries else INDENT
        begin = next((number for number, _, key in entries if key == self._name), None)
        if begin is None:
            return indent, None
        end = begin + 1
        while end < len(self._lines) and self._lines[end].startswith(indent + " "):
            end += 1
        return indent, slice(begin, end)

    def _opened(self, line: str) -> str:
        """The section's line so that entries may follow: `{}`, `null` and `~` mean none."""
        head, _, rest = line.partition(":")
        return f"{head}:{_NOTHING.sub('', rest)}"

    def _refused(self, number: int, why: str) -> LockstepError:
        return LockstepError(
            f"the file cannot be edited line by line: {why}",
            where=f"{self._path}:{number + 1}",
            expected=f"`{self._section}:` alone on its line, and below it one indented entry after the other",
            next_step="add the entry by hand: with --print it is shown; nothing was written",
        )
