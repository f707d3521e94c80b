"""The addresses in the package's metadata, told by whoever publishes it.

The sources name no host: a fork would carry another's address. The workflow that builds a release sets LOCKSTEP_REPOSITORY
to the repository that it runs in; a build without it has no addresses.
"""

from __future__ import annotations

import os
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "LOCKSTEP_REPOSITORY"


class Addresses(MetadataHookInterface):
    """Fills `[project.urls]`."""

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
