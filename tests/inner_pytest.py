"""pytest on a directory of its own, for the tests of what the tests' own configuration does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run_pytest(place: Path, plugin: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a directory with `plugin` as its conftest.py, and with nothing of the run around it."""
    (place / "conftest.py").write_text(plugin)
    (place / "pytest.ini").write_text("[pytest]\nmarkers = nightly\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
