"""PyBoy's default ROM comes out of a wheel, and is taken only where it is the one that was verified."""

from __future__ import annotations

import hashlib
import importlib.util
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from tests.environments.gameboy.game import DIRECTORY


@pytest.fixture
def build() -> ModuleType:
    """The build script, as a module."""
    spec = importlib.util.spec_from_file_location("gameboy_build", DIRECTORY / "reference" / "build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def with_wheel(build: ModuleType, monkeypatch: pytest.MonkeyPatch, rom: bytes) -> None:
    """Have pip `fetch` a wheel with this ROM."""

    def fetched(command: list[str]) -> str:
        folder = Path(command[command.index("--dest") + 1])
        with zipfile.ZipFile(folder / "pyboy-2.7.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(build.ROM_IN_WHEEL, rom)
        return ""

    monkeypatch.setattr(build, "run", fetched)


def test_the_rom_is_the_file_in_the_wheel(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    with_wheel(build, monkeypatch, b"a ROM")
    monkeypatch.setattr(build, "ROM_SHA256", hashlib.sha256(b"a ROM").hexdigest())
    assert build.default_rom() == b"a ROM"


def test_another_rom_is_refused(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    with_wheel(build, monkeypatch, b"another ROM")
    with pytest.raises(build.BuildError, match=r"pyboy/default_rom\.gb of pyboy==2\.7\.0 has the SHA-256 "):
        build.default_rom()
