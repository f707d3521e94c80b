"""What of a package is made while it is built: the addresses in its metadata, and the tools that lie beside crates."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "LOCKSTEP_REPOSITORY"
TOOLS = "rust/gameboy/tools/lockstep_gameboy_tools"


class Addresses(MetadataHookInterface):
    """Fills `[project.urls]` with the addresses that whoever publishes the package tells.

    The sources name no host: a fork would carry another's address. The workflow that builds a release sets
    LOCKSTEP_REPOSITORY to the repository that it runs in; a build without it has no addresses.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the addresses, if the repository's is known.

        Raises ValueError if it is no https address.
        """
        repository = os.environ.get(VARIABLE, "").rstrip("/")
        if repository and not repository.startswith("https://"):
            raise ValueError(
                f"{VARIABLE} is {repository!r}, expected the repository's address, as https://HOST/OWNER/NAME"
            )
        tag = f"v{metadata['version']}"
        metadata["urls"] = {} if not repository else {
            "Repository": repository,
            "Documentation": f"{repository}/tree/{tag}/docs",
            "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
            "Issues": f"{repository}/issues",
            "Security": f"{repository}/security",
        }  # fmt: skip


class BesideCrates(BuildHookInterface):
    """Puts the Python packages that lie beside crates at the top of a wheel.

    `sources` in pyproject.toml cannot do it: the first prefix that fits wins, and all of `rust` goes into Lockstep's data.
    An editable install finds them by `dev-mode-dirs`.
    """

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add them, but to an editable install."""
        if version != "editable":
            build_data["force_include"][str(Path(self.root, TOOLS))] = Path(TOOLS).name
