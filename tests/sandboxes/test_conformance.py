"""Every driver of this machine against every behaviour, with and without control groups."""

from __future__ import annotations

from pathlib import Path

import behaviours_limits
import behaviours_workers
import pytest
from conformance import BEHAVIOURS, Behaviour, Bench, verify

import sandboxes
from sandboxes import BubblewrapDriver, DockerDriver, Driver, ProcessDriver

DRIVERS: dict[str, tuple[Driver, str]] = {
    "bubblewrap": (BubblewrapDriver(), "sandboxes.BubblewrapDriver()"),
    "docker": (DockerDriver(), "sandboxes.DockerDriver()"),
    "process": (ProcessDriver(), "sandboxes.ProcessDriver()"),
    "bubblewrap-watched": (BubblewrapDriver(cgroups=False), "sandboxes.BubblewrapDriver(cgroups=False)"),
    "process-watched": (ProcessDriver(cgroups=False), "sandboxes.ProcessDriver(cgroups=False)"),
}
WATCHED = {behaviours_limits.__name__, behaviours_workers.__name__}
"""The parts in which it makes a difference whether a control group or the watchdog keeps the limits."""

MARKS = {"docker": (pytest.mark.docker,)}

CASES = [
    pytest.param(driver, behaviour, id=f"{driver}-{behaviour.name}", marks=MARKS.get(driver, ()))
    for driver in DRIVERS
    for behaviour in BEHAVIOURS
    if not driver.endswith("-watched") or behaviour.check.__module__ in WATCHED
]


@pytest.mark.parametrize(("driver", "behaviour"), CASES)
def test_conforms(driver: str, behaviour: Behaviour, tmp_path: Path) -> None:
    subject, source = DRIVERS[driver]
    reason = subject.unavailable()
    if reason is not None:
        pytest.skip(reason)
    verify(behaviour, Bench(subject, source, tmp_path))


def test_the_suite_holds_at_least_forty_behaviours_of_different_names() -> None:
    names = {behaviour.name for behaviour in BEHAVIOURS}
    assert len(names) == len(BEHAVIOURS) >= 40


def test_the_isolated_driver_is_chosen_where_it_works() -> None:
    first = sandboxes.drivers()["bubblewrap"]
    expected = "bubblewrap" if first.unavailable() is None else "process"
    assert sandboxes.choose(None).name == expected


def test_a_driver_is_chosen_by_its_name_and_an_unknown_one_is_refused() -> None:
    assert sandboxes.choose("process").name == "process"
    with pytest.raises(sandboxes.SandboxUnavailable, match="choose one of bubblewrap, docker, process"):
        sandboxes.choose("chroot")
