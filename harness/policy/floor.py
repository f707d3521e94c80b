"""The floor under every sandbox: where code that others wrote may run on this machine.

By default only drivers that isolate. The person who starts a command or a server may lower the floor for it, and for what
it starts, by a variable of its environment. A call, a task or a record can choose above the floor and never below it.
"""

from __future__ import annotations

import os
from pathlib import Path

from harness.policy import rings
from harness.support.home import lockstep_home
from sandboxes import Driver, ProcessDriver, SandboxUnavailable, choose, drivers

VARIABLE = "LOCKSTEP_ALLOW_UNISOLATED"
WARNING = (
    f"{VARIABLE} is set: candidates may run without isolation, as you; what they see of this machine, and what is kept from "
    "them, is in docs/sandboxes.md"
)


def unisolated_allowed() -> bool:
    """Whether a person lowered the floor for this process."""
    return os.environ.get(VARIABLE) == "1"


def permitted(name: str | None = None) -> Driver:
    """The driver called `name`, or the best that works here, where the floor allows it.

    Raises:
        SandboxUnavailable: there is no such driver, it does not work here, or it lies below the floor.
    """
    driver = choose(name)
    if driver.isolated or unisolated_allowed():
        return _guarded(driver)
    why = f"the sandbox driver {driver.name!r} does not isolate, and only drivers that isolate are allowed here"
    if name is None:
        isolating = (each for each in drivers().values() if each.isolated)
        why = "no sandbox that isolates works here: " + "; ".join(
            f"{each.name}: {each.unavailable()}" for each in isolating
        )
    raise SandboxUnavailable(
        f"{why}; make bubblewrap or docker work (`lockstep doctor`), or let the person who starts this process set "
        f"{VARIABLE}=1 if the code that it runs is trusted"
    )


def permitted_here() -> Driver:
    """The best driver whose sandboxes run this machine's own programs, as references need; an image has others.

    Raises:
        SandboxUnavailable: none works here, or none that the floor allows.
    """
    found = [driver for driver in drivers().values() if driver.python is None and driver.unavailable() is None]
    for driver in found:
        if driver.isolated:
            return driver
    if found and unisolated_allowed():
        return _guarded(found[0])
    bubblewrap = drivers()["bubblewrap"].unavailable()
    raise SandboxUnavailable(
        f"a reference runs this machine's own programs in bubblewrap, which does not work here: {bubblewrap}; make it work "
        f"(`lockstep doctor`), or let the person who starts this process set {VARIABLE}=1 if the task is trusted"
    )


def kind_of(name: str | None) -> tuple[str | None, bool]:
    """What a session is begun with that asks for a driver: its name, or None for the best that works, and whether it
    isolates. One that does not is named: another day a better one may work here.

    Raises:
        SandboxUnavailable: there is no such driver, it does not work here, or it lies below the floor.
    """
    if name is None and not unisolated_allowed():
        return None, True
    driver = permitted(name)
    return (name if driver.isolated else driver.name), driver.isolated


def without_isolation() -> str:
    """The name of the driver that does not isolate."""
    return next(driver.name for driver in drivers().values() if not driver.isolated)


def _guarded(driver: Driver) -> Driver:
    """The driver, kept from the keys and from the user's own files.

    Raises:
        SandboxUnavailable: its commands could read a key that signs for sessions that isolate.
    """
    if not isinstance(driver, ProcessDriver):
        return driver
    home = lockstep_home()
    lacking = driver.exposes()
    if lacking is not None and not rings.expose(home):
        raise SandboxUnavailable(
            f"in {driver.name!r} a candidate could read the key in {home / rings.KEYS}, which signs for sessions that "
            f"isolate: {lacking}; run it as another user of this machine, with a home of its own (LOCKSTEP_HOME) that "
            "has no such key"
        )
    own = Path.home()
    holds_system = Path("/usr").is_relative_to(own)  # where the user has no home of its own
    return driver.hiding(home, *(() if holds_system else (own,)))


def recorded(name: object) -> str | None:
    """What a record may ask of its reader: an isolating driver by name, or else None, the best that works here."""
    driver = drivers().get(name) if isinstance(name, str) else None
    return driver.name if driver is not None and driver.isolated else None
