"""On which device candidates in JAX compute: the CPU, or a GPU where a person asks for it.

It is no matter of taste: a GPU rounds floats in its own way, so the device is a condition of every verdict. What JAX would
choose by itself (JAX_PLATFORMS) therefore decides nothing in a sandbox.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from harness.errors import SetupError
from sandboxes import gpus

VARIABLE = "LOCKSTEP_DEVICE"
"""Names the device for a process and what it starts, as `--device` does."""

CPU, GPU = "cpu", "gpu"
DEVICES = (CPU, GPU)
NVIDIA = Path("/proc/driver/nvidia")
_PLATFORMS = {CPU: "cpu", GPU: "cuda"}


def chosen() -> str:
    """`cpu` or `gpu`.

    Raises:
        SetupError: the variable names something else.
    """
    name = os.environ.get(VARIABLE) or CPU
    if name not in DEVICES:
        raise SetupError(
            f"{VARIABLE} is {name!r}", expected=f"one of {', '.join(DEVICES)}", next_step="correct it, or unset it"
        )
    return name


def choose(name: str | None) -> None:
    """Have this process and all that it starts use a device; None leaves it as it was."""
    if name is not None:
        os.environ[VARIABLE] = name


def gpus_asked(devices: int = 1) -> int:
    """How many GPUs a sandbox is to have, in which JAX shall see so many devices."""
    return devices if chosen() == GPU else 0


def variables(device: str | None = None) -> Mapping[str, str]:
    """What a process with JAX in it is told of the device, by default of the chosen one: its platform, and which GPUs."""
    device = device or chosen()
    told = {"JAX_PLATFORMS": _PLATFORMS[device]}
    if device == GPU and gpus.CHOICE in os.environ:
        told[gpus.CHOICE] = os.environ[gpus.CHOICE]
    return told


def described(nvidia: Path = NVIDIA) -> str:
    """The GPUs that candidates compute on, with the driver's version; an empty string where they compute on the CPU."""
    if chosen() == CPU:
        return ""
    models = sorted(
        found[1].strip()
        for file in nvidia.glob("gpus/*/information")
        if (found := re.search(r"^Model:(.*)$", file.read_text(), re.MULTILINE))
    )
    version = nvidia / "version"
    driver = re.search(r"\b\d+\.\d+(\.\d+)?\b", version.read_text()) if version.is_file() else None
    return f"{', '.join(models) or 'unknown'}; driver {driver[0] if driver else 'unknown'}"
