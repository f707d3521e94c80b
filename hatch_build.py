"""Put the Python packages that lie beside crates at the top of a wheel.

`sources` in pyproject.toml cannot do it: the first prefix that fits wins, and all of `rust` goes into Lockstep's data.
An editable install finds them by `dev-mode-dirs`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TOOLS = "rust/gameboy/tools/lockstep_gameboy_tools"


class BesideCrates(BuildHookInterface):
    """Adds the packages to a wheel that is no editable install."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            build_data["force_include"][str(Path(self.root, TOOLS))] = Path(TOOLS).name
