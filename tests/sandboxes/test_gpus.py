"""What CUDA takes to start, in the drivers that can give a GPU; asked without one, so that it is asked everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from bench import Bench, python, said

from sandboxes import DockerDriver, Driver, Finished, ProcessDriver, local

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


def names_a_thread(driver: Driver, place: Path) -> None:
    with Bench(driver, "", place).open() as sandbox:
        assert said(python(sandbox, NAME_A_THREAD)).strip() == "named"


@pytest.mark.parametrize("driver", [ProcessDriver, pytest.param(DockerDriver, marks=pytest.mark.docker)])
def test_a_command_names_its_threads(driver: type[Driver], tmp_path: Path) -> None:
    names_a_thread(driver(), tmp_path)


def test_a_command_that_may_write_nothing_of_itself_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is allowed is the shell's here, and not that of the process that it starts."""

    def run(sandbox: local.LocalSandbox, command: Sequence[str], **how: Any) -> Finished:
        return honest(sandbox, ["sh", "-c", '"$@"; exit $?', "sh", *command], **how)

    honest = local.LocalSandbox.run
    monkeypatch.setattr(local.LocalSandbox, "run", run)
    with pytest.raises(AssertionError, match="Permission denied"):
        names_a_thread(ProcessDriver(), tmp_path)
