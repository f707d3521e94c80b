"""One entry in a settings file, JSON or TOML, as an edit of its text that leaves everything else as it is."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from harness.connect import jsonc
from harness.connect.yaml_lines import YamlSettings
from harness.errors import LockstepError
from harness.support.foreign import toml_of
from harness.support.toml_lines import key_lines, line_of

_AT_LINE = re.compile(r"at line (\d+)")


class Settings:
    """The text of a settings file and the place of one entry in it.

    Args:
        path: the file, for messages; nothing is read or written.
        text: its content.
        toml: whether it is TOML, else JSON with comments.
        section, name: the entry is `section.name`.

    Raises:
        LockstepError: the text is malformed; the message names the line.
    """

    def __init__(self, path: Path, text: str, *, toml: bool, section: str, name: str) -> None:
        self._path, self._toml, self._location = path, toml, (section, name)
        self.text = text
        servers = self._values(text).get(section, {})
        if not isinstance(servers, dict):
            line = line_of(key_lines(text), (section,)) if toml else _json_line(text, section)
            raise self._malformed(f"`{section}` is not {'a table' if toml else 'an object'}", line)
        self.entry: Any = servers.get(name)
        """What the entry is now; None where there is none."""

    def put(self, entry: Mapping[str, Any]) -> str:
        """The text with the entry; the same text where it says that already."""
        if self.entry == entry:
            return self.text
        return self._edit(
            lambda: _toml_put(self.text, self._location, entry), lambda: jsonc.put(self.text, self._location, entry)
        )

    def without(self) -> str:
        """The text without the entry, and without the section where nothing else is left in it."""
        if self.entry is None:
            return self.text
        section = self._location[:1]
        location = section if len(self._values(self.text)[section[0]]) == 1 else self._location
        return self._edit(lambda: _toml_remove(self.text, location), lambda: jsonc.remove(self.text, location))

    @property
    def empty(self) -> bool:
        """Whether nothing is set."""
        return not self._values(self.text)

    def _edit(self, as_toml: Callable[[], str], as_json: Callable[[], str]) -> str:
        """An edit, proven to have changed nothing but the entry."""
        edited = as_toml() if self._toml else as_json()
        if self._others(self._values(edited)) != self._others(self._values(self.text)):
            raise LockstepError(
                "the entry could not be changed without changing something else",
                where=str(self._path),
                next_step="nothing was written; make the change by hand (the entry is shown in docs/connecting.md)",
            )
        return edited

    def _others(self, values: dict[str, Any]) -> dict[str, Any]:
        section, name = self._location
        rest = {key: value for key, value in values.items() if key != section}
        servers = {key: value for key, value in values.get(section, {}).items() if key != name}
        return rest | ({section: servers} if servers else {})

    def _values(self, text: str) -> dict[str, Any]:
        if not self._toml:
            try:
                value = jsonc.parse(text).value
            except jsonc.Malformed as error:
                raise self._malformed(error.what, error.line) from None
            if not isinstance(value, dict):
                raise self._malformed("the document is not an object", 1)
            return value
        try:
            return toml_of(text)
        except tomllib.TOMLDecodeError as error:
            at = _AT_LINE.search(str(error))
            raise self._malformed(str(error), int(at[1]) if at else text.count("\n") + 1) from None

    def _malformed(self, what: str, line: int) -> LockstepError:
        return LockstepError(
            f"the file is malformed: {what}",
            where=f"{self._path}:{line}",
            expected="TOML" if self._toml else "JSON, comments allowed",
            next_step="correct that line, then repeat the command; nothing was written",
        )


def _json_line(text: str, section: str) -> int:
    member = jsonc.parse(text).members[section]
    return jsonc.line_at(text, member.begin)


def _toml_put(text: str, location: tuple[str, ...], entry: Mapping[str, Any]) -> str:
    section, name = location
    document = _kit(text)
    table = tomlkit.table()
    for key, value in entry.items():
        table[key] = value
    if section not in document:
        # Written at the end by hand: where a file's last table has comments behind it, they stay where they are.
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        fresh = tomlkit.document()
        fresh[section] = tomlkit.table(is_super_table=True)
        fresh[section][name] = table  # pyright: ignore[reportIndexIssue]
        return text + gap + tomlkit.dumps(fresh)
    document[section][name] = table  # pyright: ignore[reportIndexIssue]
    return tomlkit.dumps(document)


def _toml_remove(text: str, location: tuple[str, ...]) -> str:
    document: Any = _kit(text)
    inner = document
    for key in location[:-1]:
        inner = inner[key]
    del inner[location[-1]]
    return tomlkit.dumps(document)


def _kit(text: str) -> Any:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:  # tomllib has accepted it, so the fault is not the file's
        raise LockstepError(f"the file cannot be edited: {error}", next_step="make the change by hand") from error


def as_text(entry: Mapping[str, Any], *, form: str, section: str, name: str) -> str:
    """The entry alone, as one would write it into an empty file of that form: `json`, `toml` or `yaml`."""
    if form == "toml":
        return _toml_put("", (section, name), entry)
    if form == "yaml":
        return YamlSettings(Path(), "", section=section, name=name).put(entry)
    return json.dumps({section: {name: dict(entry)}}, indent=2) + "\n"
