"""Reading files, JSON and TOML that somebody else wrote: whatever is wrong with them is one kind of error, never another.

The parsers of the standard library raise RecursionError where values are nested deeply, and a plain error for numbers of
too many digits. And what a parser still accepts at the bottom of a shallow stack may be too deep for the code that walks or
writes it later. So the depth has a bound here.
"""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

MAX_DEPTH = 100
"""Lists in lists or tables in tables; what Lockstep writes itself has less than 20."""


def content_of(path: Path, most_bytes: int) -> bytes:
    """What a program left behind in a file.

    Raises:
        OSError: there is none, or it is a link.
        ValueError: it is no regular file, or larger than `most_bytes`.
    """
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError(f"{path.name} is not a regular file")
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise ValueError(f"{path.name} is larger than {most_bytes >> 20} MiB")
    return content


def json_of(content: str | bytes) -> Any:
    """The value of a JSON document.

    Raises:
        ValueError: it is not JSON, or is nested more than `MAX_DEPTH` deep.
    """
    try:
        value = json.loads(content)
    except RecursionError:
        raise _too_deep() from None
    _demand_shallow(value)
    return value


def toml_of(text: str) -> dict[str, Any]:
    """The tables of a TOML document.

    Raises:
        tomllib.TOMLDecodeError: it is not TOML, or is nested more than `MAX_DEPTH` deep.
    """
    try:
        tables = tomllib.loads(text)
        _demand_shallow(tables)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError(str(_too_deep())) from None
    except ValueError as error:
        raise tomllib.TOMLDecodeError(str(error)) from error
    return tables


def _demand_shallow(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level if isinstance(outer, dict | list) for inner in _inside(outer)]
        if not level:
            return
    raise _too_deep()


def _inside(outer: Any) -> Any:
    return outer.values() if isinstance(outer, dict) else outer


def _too_deep() -> ValueError:
    return ValueError(f"its values are nested more than {MAX_DEPTH} deep")
