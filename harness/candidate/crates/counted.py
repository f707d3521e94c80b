"""How far cargo is, told while it runs in its sandbox: it writes a mark into the target directory for each crate that it has
compiled.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

LOOKS_S = 0.5
_MARK = re.compile(r"(?:lib|bin)-\w+")
"""Cargo writes it when a library or a program is compiled; builds of scripts and their runs leave other ones."""


def compiled_crates(target: Path) -> int:
    """How many crates are compiled in a target directory."""
    places = target.glob("release/.fingerprint/*")
    return sum(any(_MARK.fullmatch(mark.name) for mark in place.iterdir()) for place in places)


@contextmanager
def counting_crates(target: Path, total: int, telling: str, progress: Callable[[str], None]) -> Iterator[None]:
    """Tell how many of `total` crates are compiled whenever that changes, while the context lasts."""
    ended = threading.Event()

    def look() -> None:
        told = -1
        while not ended.wait(LOOKS_S):
            if (done := compiled_crates(target)) != told:
                told = done
                progress(f"{telling} ({min(done, total)} of {total} crates)")

    watching = threading.Thread(target=look, name="lockstep-crates", daemon=True)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()
