"""What the tests of `harness.farm` have made elsewhere."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from harness.errors import BrokenContract, SetupError


class Hand:
    """Answers, fails, or dies, as it is asked."""

    def __init__(self, *, greeting: str = "hello", files: Path | None = None) -> None:
        self._greeting, self._files = greeting, files

    def greet(self, name: str) -> str:
        return f"{self._greeting}, {name}"

    def greet_at(self, name: str, marker: str) -> str:
        """Greet, whatever the marker is for."""
        return self.greet(name)

    def strange(self) -> Any:
        """What cannot be sent."""
        return lambda: None

    def files(self) -> dict[str, str]:
        assert self._files is not None
        return {path.relative_to(self._files).as_posix(): path.read_text() for path in self._files.rglob("*.txt")}

    def process(self) -> int:
        return os.getpid()

    def die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def die_once(self, marker: str) -> str:
        """Die where the file is not there, and make it first."""
        if not Path(marker).exists():
            Path(marker).touch()
            self.die()
        return "done"

    def wait_for(self, marker: str) -> str:
        """Answer once the file is there."""
        while not Path(marker).exists():
            pass
        return "waited"

    def break_contract(self) -> None:
        raise BrokenContract("it has another form", where="there", mistakes=({"text": "reward"},))

    def fail_strangely(self) -> None:
        class Local(Exception):
            pass

        raise Local("cannot be sent")


class Unwilling:
    """Cannot be made."""

    def __init__(self) -> None:
        raise SetupError("there is no compiler", where="here", next_step="install one")


def facts() -> dict[str, Any]:
    """What a node tells of itself."""
    return {"lockstep": "1", "cpu": "fast"}


def home() -> dict[str, Any]:
    """The home of a node."""
    return {"home": os.environ["LOCKSTEP_HOME"]}


class NotIn(Hand):
    """Can be made in any home but one."""

    def __init__(self, *, home: str) -> None:
        super().__init__()
        if os.environ["LOCKSTEP_HOME"] == home:
            raise SetupError("this one cannot")


class OneMade(Hand):
    """Only the first one is ever made."""

    def __init__(self, *, marker: str, never: str) -> None:
        super().__init__()
        try:
            Path(marker).touch(exist_ok=False)
        except FileExistsError:
            self.wait_for(never)
