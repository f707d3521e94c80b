"""What CUDA takes to start, in every driver. A GPU is asked for with files in the place of its devices, so everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bench import Bench, python, said

from sandboxes import BubblewrapDriver, DockerDriver, Driver, Finished, ProcessDriver, SandboxUnavailable, gpus, local
from sandboxes.containers import driver as docker_driver

NAME_A_THREAD = """
import _thread, os
stop = _thread.allocate_lock()
stop.acquire()
_thread.start_new_thread(stop.acquire, ())
[thread] = {int(each) for each in os.listdir("/proc/self/task")} - {os.getpid()}
with open(f"/proc/self/task/{thread}/comm", "w") as file:
    file.write("named")
print(open(f"/proc/self/task/{thread}/comm").read(), end="", flush=True)
os._exit(0)
"""

SPOIL = """
import json, os
def spoiled(path):
    try:
        os.chmod(path, 0o777)
    except OSError as error:
        return error.strerror
print(json.dumps({path: spoiled(path) for path in ("/proc/cpuinfo", "/proc/devices", "/proc/sys", "/dev")}))
"""
"""Files of the machine, which the person who started the sandbox may own."""


@pytest.fixture
def devices(tmp_path: Path) -> Path:
    """A directory like /dev of a machine with two GPUs, of plain files."""
    place = tmp_path / "dev"
    (place / "nvidia-caps").mkdir(parents=True)
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia0.old", "sda", "nvidia-caps/nvidia-cap1"):
        (place / name).write_text(name)
    return place


def names_a_thread(driver: Driver, place: Path, count: int = 0) -> None:
    bench = Bench(driver, "", place)
    with driver.open(replace(bench.spec(), gpus=count)) as sandbox:
        assert said(python(sandbox, NAME_A_THREAD)).strip() == "named"


@pytest.mark.parametrize("driver", [ProcessDriver, pytest.param(DockerDriver, marks=pytest.mark.docker)])
def test_a_command_names_its_threads(driver: type[Driver], tmp_path: Path) -> None:
    names_a_thread(driver(), tmp_path)


def test_in_bubblewrap_it_does_where_it_has_a_gpu(tmp_path: Path, devices: Path) -> None:
    names_a_thread(BubblewrapDriver(devices=devices), tmp_path, 1)
    with pytest.raises(AssertionError, match="Read-only file system"):
        names_a_thread(BubblewrapDriver(devices=devices), tmp_path)


def test_a_command_that_may_write_nothing_of_itself_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is allowed is the shell's here, and not that of the process that it starts."""

    def run(sandbox: local.LocalSandbox, command: Sequence[str], **how: Any) -> Finished:
        return honest(sandbox, ["sh", "-c", '"$@"; exit $?', "sh", *command], **how)

    honest = local.LocalSandbox.run
    monkeypatch.setattr(local.LocalSandbox, "run", run)
    with pytest.raises(AssertionError, match="Permission denied"):
        names_a_thread(ProcessDriver(), tmp_path)


def _seen(driver: Driver, place: Path, count: int, code: str) -> Any:
    with driver.open(replace(Bench(driver, "", place).spec(), gpus=count)) as sandbox:
        return json.loads(said(python(sandbox, code)))


def test_bubblewrap_shows_the_devices_of_gpus_only_where_some_are_asked_for(tmp_path: Path, devices: Path) -> None:
    driver = BubblewrapDriver(devices=devices)
    told = "import glob, json; print(json.dumps(sorted(glob.glob('/dev/nvidia*') + glob.glob('/dev/nvidia-caps/*'))))"
    shown = ["nvidia-caps", "nvidia-caps/nvidia-cap1", "nvidia-uvm", "nvidia0", "nvidia1", "nvidiactl"]
    assert _seen(driver, tmp_path, 1, told) == [f"/dev/{name}" for name in shown]
    assert _seen(driver, tmp_path, 0, told) == []


@pytest.mark.parametrize("count", [0, 1])
def test_what_the_kernel_tells_of_the_machine_stays_as_it_is(tmp_path: Path, devices: Path, count: int) -> None:
    found = _seen(BubblewrapDriver(devices=devices), tmp_path, count, SPOIL)
    assert None not in found.values(), found


def test_of_the_kernel_s_files_only_a_process_s_own_may_be_written(tmp_path: Path, devices: Path) -> None:
    code = """
import json, os
named = [f"/proc/{name}" for name in os.listdir("/proc") if not name.isdecimal()]
print(json.dumps([path for path in named if not os.path.islink(path) and not os.statvfs(path).f_flag & os.ST_RDONLY]))
"""
    assert _seen(BubblewrapDriver(devices=devices), tmp_path, 1, code) == []


def test_a_machine_without_a_gpu_is_told(tmp_path: Path, devices: Path) -> None:
    for name in ("nvidia0", "nvidia1"):
        (devices / name).unlink()
    driver = BubblewrapDriver(devices=devices)
    with pytest.raises(SandboxUnavailable, match=r"no NVIDIA GPU, .*nvidia0 is not there"):
        driver.open(replace(Bench(driver, "", tmp_path).spec(), gpus=1))


@pytest.fixture
def spec(tmp_path: Path) -> Iterator[Any]:
    yield Bench(ProcessDriver(), "", tmp_path).spec(environment={gpus.CHOICE: "1, GPU-8f", "OTHER": "x"})


def test_docker_is_asked_for_the_gpus_that_are_named(spec: Any) -> None:
    [named] = docker_driver.gpu_request(replace(spec, gpus=1))["device_requests"]
    assert named["DeviceIDs"] == ["1", "GPU-8f"]
    [counted] = docker_driver.gpu_request(replace(spec, gpus=2, environment={}))["device_requests"]
    assert counted["Count"] == 2
    assert docker_driver.gpu_request(spec) == {}
