"""The native environments, built from source once."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

WORKSPACE = Path(__file__).parents[2] / "rust"


@pytest.fixture(scope="session")
def native() -> ModuleType:
    """The extension module `lockstep_native`."""
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("builds the Rust workspace, and there is no cargo here: install Rust 1.85 or newer")
    command = [cargo, "build", "--locked", "-p", "lockstep-native"]
    built = subprocess.run(
        command,
        cwd=WORKSPACE,
        env=os.environ | {"PYO3_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    library = WORKSPACE / "target" / "debug" / "liblockstep_native.so"
    loader = importlib.machinery.ExtensionFileLoader("lockstep_native", str(library))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("lockstep_native", loader))
    loader.exec_module(module)
    return module
