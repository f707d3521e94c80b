"""The device of candidates in JAX: the operator's, stated, and never what JAX or its variables would choose."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.candidate.jax_process import jax_environment
from harness.errors import SetupError
from harness.policy import device

INFORMATION = "Model: \t\t NVIDIA H200\nIRQ:   \t\t 77\nGPU UUID: \t GPU-0\n"
VERSION = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Thu Jan 23\nGCC version: gcc 12\n"


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (device.VARIABLE, "CUDA_VISIBLE_DEVICES"):
        monkeypatch.setenv(name, "")  # put back at the end, whatever the test sets
        monkeypatch.delenv(name)


def test_the_cpu_is_the_default_whatever_jax_would_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert device.chosen() == "cpu"
    assert device.variables() == {"JAX_PLATFORMS": "cpu"}
    assert (device.gpus_asked(2), device.described()) == (0, "")


def test_a_gpu_is_used_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    device.choose("gpu")
    assert device.variables() == {"JAX_PLATFORMS": "cuda"}
    assert (device.gpus_asked(), device.gpus_asked(2)) == (1, 2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,3")
    assert device.variables()["CUDA_VISIBLE_DEVICES"] == "1,3"
    assert device.variables(device.CPU) == {"JAX_PLATFORMS": "cpu"}
    assert jax_environment()["JAX_PLATFORMS"] == "cuda"
    device.choose(None)
    assert device.chosen() == "gpu"


def test_another_device_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(device.VARIABLE, "tpu")
    with pytest.raises(SetupError, match=r"(?s)LOCKSTEP_DEVICE is .tpu..*cpu, gpu.*correct it"):
        jax_environment()


def test_the_gpus_and_their_driver_are_told(tmp_path: Path) -> None:
    device.choose("gpu")
    for bus in ("0000:01:00.0", "0000:02:00.0"):
        (tmp_path / "gpus" / bus).mkdir(parents=True)
        (tmp_path / "gpus" / bus / "information").write_text(INFORMATION)
    (tmp_path / "version").write_text(VERSION)
    assert device.described(tmp_path) == "NVIDIA H200, NVIDIA H200; driver 570.86.15"
    assert device.described(tmp_path / "nowhere") == "unknown; driver unknown"
