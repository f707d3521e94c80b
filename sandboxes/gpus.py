"""The files by which commands use this machine's NVIDIA GPUs."""

from __future__ import annotations

import re
from pathlib import Path

from .errors import SandboxUnavailable

DEVICES = Path("/dev")
CHOICE = "CUDA_VISIBLE_DEVICES"
"""The variable of a command by which CUDA chooses among the GPUs that it sees: numbers or names, with commas between."""

_NODE = re.compile(r"nvidia(\d+|ctl|-uvm|-uvm-tools|-modeset|-caps)")
_GPU = re.compile(r"nvidia\d+")


def nodes(devices: Path = DEVICES) -> list[Path]:
    """The device files of all GPUs, and those that all of them share.

    Raises:
        SandboxUnavailable: there is no GPU.
    """
    found = sorted(path for path in devices.glob("nvidia*") if _NODE.fullmatch(path.name))
    if not any(_GPU.fullmatch(path.name) for path in found):
        raise SandboxUnavailable(
            f"gpus: this machine has no NVIDIA GPU, {devices}/nvidia0 is not there; install its driver, or ask for none"
        )
    return found
