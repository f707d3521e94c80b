"""A TOML file of a task, read by a schema: what it holds, or every mistake in it at once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.errors import TaskError
from harness.support.foreign import toml_of
from harness.support.toml_lines import key_lines
from harness.task.schema import Kind, Location, Mistakes

Agreement = Callable[[Mapping[str, Any], Mapping[str, Any], Location], None]
"""Notes what no table can know alone, of the document as it is written and of what of it is valid."""


def read_toml(path: Path, called: str, kind: Kind, agreement: Agreement, *, next_step: str) -> Any:
    """What a TOML file holds, as its kind reads it.

    Args:
        called: what messages call such a file, with its article: `the task file`.
        next_step: what to do where there is no file.

    Raises:
        TaskError: the file is missing, is not TOML, or is wrong; `mistakes` then holds all of them as
            `NAME:LINE: key: what is wrong; expected ...; did you mean ...`, in the order of the file.
    """
    try:
        document = path.read_text(encoding="utf-8")
    except OSError as error:
        raise TaskError(
            f"there is no readable {path.name} ({error.strerror})", where=str(path.parent), next_step=next_step
        ) from error
    except UnicodeDecodeError as error:
        raise TaskError(f"{path.name} is not UTF-8 (byte {error.start})", where=str(path)) from error
    try:
        written = toml_of(document)
    except tomllib.TOMLDecodeError as error:
        location = re.search(r"\(at (?:line (\d+).*|end of document)\)$", str(error))
        line = location.group(1) if location and location.group(1) else str(document.count("\n") + 1)
        raise _refused(path, called, (f"{path.name}:{line}: not valid TOML: {error}",)) from error
    mistakes = Mistakes(path.name, key_lines(document))
    root = Location(mistakes)
    read = kind(written, root)
    agreement(written, read, root)
    if mistakes:
        raise _refused(path, called, mistakes.sorted())
    return read


def _refused(path: Path, called: str, mistakes: tuple[str, ...]) -> TaskError:
    count = "one mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
    return TaskError(f"{called} has {count}", mistakes=mistakes, where=str(path))
