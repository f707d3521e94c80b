"""What the package's metadata promises: addresses that are true, and bounds for everything that it needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.project.workflows import ROOT

REPOSITORY = "https://example.org/somebody/lockstep"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DEPENDENCIES = [Requirement(line) for line in PROJECT["project"]["dependencies"]]


def _metadata(repository: str | None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "LOCKSTEP_REPOSITORY"}
    if repository is not None:
        environment["LOCKSTEP_REPOSITORY"] = repository
    command = [sys.executable, "-m", "hatchling", "metadata"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_a_build_without_a_repository_has_no_addresses() -> None:
    done = _metadata(None)
    assert done.returncode == 0, done.stderr
    assert "urls" not in json.loads(done.stdout)


@pytest.mark.parametrize("given", [REPOSITORY, f"{REPOSITORY}/"])
def test_a_release_names_the_repository_that_it_was_built_in(given: str) -> None:
    metadata = json.loads(_metadata(given).stdout)
    assert metadata["urls"]["Repository"] == REPOSITORY
    assert metadata["urls"]["Changelog"] == f"{REPOSITORY}/blob/v{metadata['version']}/CHANGELOG.md"
    assert all(address.startswith(REPOSITORY) for address in metadata["urls"].values())


def test_an_address_that_is_none_is_refused() -> None:
    done = _metadata("somebody/lockstep")
    assert done.returncode != 0
    assert "LOCKSTEP_REPOSITORY is 'somebody/lockstep'" in done.stderr


@pytest.mark.parametrize("needed", DEPENDENCIES, ids=lambda needed: needed.name)
def test_a_dependency_has_a_lower_bound_alone_and_a_pin_above_it(needed: Requirement) -> None:
    (bound,) = needed.specifier
    assert bound.operator == ">="
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pins = {canonicalize_name(pinned.name): pinned.specifier for pinned in map(Requirement, lines)}
    (pin,) = pins[canonicalize_name(needed.name)]
    assert Version(pin.version) >= Version(bound.version)


def test_development_builds_with_the_tool_that_releases_are_built_with() -> None:
    (backend,) = [line for line in PROJECT["build-system"]["requires"] if line.startswith("hatchling")]
    assert backend in (ROOT / "constraints.txt").read_text().splitlines()
