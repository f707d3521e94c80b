"""The attack: read in /proc or /sys what other sandboxes do, and so hear of them, or what machine this is."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path

import pytest

from sandboxes import BubblewrapDriver, DockerDriver, SandboxSpec, kernel_files

DRIVERS = {"bubblewrap": BubblewrapDriver, "docker": DockerDriver}
each_driver = pytest.mark.parametrize("driver", ["bubblewrap", pytest.param("docker", marks=pytest.mark.docker)])

REFUSED = (
    "acpi asound bootconfig buddyinfo bus cgroups cmdline config.gz consoles crypto devices diskstats dma "
    "driver execdomains fb filesystems fs interrupts iomem ioports irq kallsyms kcore key-users keys kmsg "
    "kpagecgroup kpagecount kpageflags latency_stats locks mdstat misc modules mtrr pagetypeinfo "
    "partitions pressure sched_debug schedstat scsi slabinfo softirqs swaps sys sysrq-trigger sysvipc "
    "timer_list timer_stats tty version version_signature vmallocinfo vmstat zoneinfo "
)
"""What kernels are known to have, whether this one has it or not."""

STAYS = {"cpuinfo", "mounts", "net", "self", "thread-self"}
MADE_UP = {"loadavg", "meminfo", "stat", "uptime"}

LOOK = """
import json, os
def told(path):
    try:
        return os.listdir(path) if os.path.isdir(path) else len(open(path, "rb").read(4096))
    except OSError:
        return None
print(json.dumps({name: bool(told("/proc/" + name)) for name in os.listdir("/proc") if not name.isdecimal()}
                 | {"/sys": bool(told("/sys"))}))
"""
"""Of each entry whether it tells anything."""

READ = "import sys; print([open(path).read() for path in sys.argv[1:]])"


def said(driver: str, code: str, *arguments: str) -> str:
    subject = DRIVERS[driver]()
    reason = subject.unavailable()
    assert reason is None, reason
    with subject.open(SandboxSpec(mounts=(), workdir="/tmp")) as sandbox:
        finished = sandbox.run(["python3", "-c", code, *arguments])
    assert finished.exit_code == 0, finished
    return finished.stdout.decode()


@functools.cache
def telling(driver: str) -> dict[str, bool]:
    """What lies in a sandbox's /proc beside processes, and whether it tells anything."""
    found: dict[str, bool] = json.loads(said(driver, LOOK))
    return found


@each_driver
@pytest.mark.parametrize("name", [*REFUSED.split(), "/sys"])
def test_what_speaks_of_the_machine_tells_nothing(driver: str, name: str) -> None:
    assert not telling(driver).get(name, False)


@each_driver
@pytest.mark.parametrize("name", sorted(STAYS | MADE_UP))
def test_what_programs_need_is_there(driver: str, name: str) -> None:
    assert telling(driver)[name]


@each_driver
def test_nothing_else_tells_anything(driver: str) -> None:
    """Entries of kernels that nobody here knows as well."""
    assert {name for name, tells in telling(driver).items() if tells} == STAYS | MADE_UP


@each_driver
def test_load_memory_and_time_of_the_machine_are_made_up(driver: str) -> None:
    texts = kernel_files.made_up(SandboxSpec().limits.memory_bytes)
    assert said(driver, READ, *(f"/proc/{name}" for name in texts)).strip() == str(list(texts.values()))
    assert int(said(driver, "import os; print(os.cpu_count())")) == os.cpu_count()


@each_driver
def test_the_groups_of_the_machine_are_not_told(driver: str) -> None:
    groups = said(driver, "print(open('/proc/self/cgroup').read())").split()
    assert {group.rpartition(":")[2] for group in groups} <= {"/"}


def test_an_entry_that_nobody_knows_is_hidden(tmp_path: Path) -> None:
    for name in ("1", "fs", "tomorrow"):
        (tmp_path / name).mkdir()
    for name in ("cpuinfo", "stat", "version", "new-in-linux-9", "modules"):
        (tmp_path / name).write_text("")
    (tmp_path / "self").symlink_to("1")
    found = dict(kernel_files.hidden(proc=str(tmp_path)))
    assert found == {"fs": True, "modules": False, "new-in-linux-9": False, "tomorrow": True, "version": False}
    assert "modules" not in dict(kernel_files.hidden(gpus=1, proc=str(tmp_path)))


@pytest.mark.parametrize("name", ["version", "sys"])
def test_an_entry_that_a_driver_forgets_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(kernel_files.hidden())
    monkeypatch.setattr(kernel_files, "hidden", lambda **_: [each for each in whole if each[0] != name])
    found: dict[str, bool] = json.loads(said("bubblewrap", LOOK))
    assert {name for name, tells in found.items() if tells} == STAYS | MADE_UP | {name}
