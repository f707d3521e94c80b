"""An exported package is installed and used where no Lockstep is."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from harness.candidate.export import export
from harness.errors import LockstepError, TaskError
from harness.task.contract import Task
from harness.task.load import load_task
from tests.paths import ENVIRONMENTS

ATTESTATION = b'{"payloadType": "application/vnd.in-toto+json", "payload": "", "signatures": []}'


@pytest.fixture(scope="module")
def cartpole() -> Task:
    return load_task(ENVIRONMENTS / "cartpole")


@pytest.fixture(scope="module")
def package(cartpole: Task, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(cartpole, tmp_path_factory.mktemp("exported") / "package", ATTESTATION)


@pytest.fixture(scope="module")
def installed(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--target", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(package)], check=True)
    return target


def run(installed: Path, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program that sees the installed package, JAX, numpy and Gymnasium, and no Lockstep."""
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(installed)!r})\n{program}"],
        cwd=installed,
        env={"PATH": os.defpath, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )


EXTRA = {name: {"gymnasium"} for name in ("jax_vector.py", "leaf_spaces.py", "vector_env.py")}
EXTRA["zoo_env.py"] = {"gymnasium", "pettingzoo"}
"""What a face needs beside JAX and numpy."""
PROGRAM = """
import jax
jax.config.update("jax_enable_x64", True)
import cartpole, numpy as np

env = cartpole.make()
keys = jax.random.split(jax.random.key(0), 8)
states, outputs = jax.jit(jax.vmap(env.reset))(keys)
assert outputs["observation"].shape == (8, 4) and (abs(outputs["observation"]) < 0.05).all()
step = jax.jit(jax.vmap(env.step_autoreset))
for _ in range(12):
    states, outputs = step(keys, states, np.ones(8, np.int64))
    if outputs["terminated"].any():
        break
ended = np.asarray(outputs["terminated"])
assert ended.any()
assert (abs(outputs["final_observation"][ended, 2]) > 0.2).all()
assert (abs(outputs["observation"][ended]) < 0.05).all()

observation, state = cartpole.make_gymnax().reset(jax.random.key(1))
assert observation.dtype == np.float32 and cartpole.make_gymnax().num_actions == 2

assert "gymnasium" not in sys.modules
envs = cartpole.make_vector(3, "SameStep")
observation, _ = envs.reset(seed=0)
assert observation in envs.observation_space
assert envs.single_observation_space.high[0] == np.float32(4.8) and envs.single_observation_space.high[1] == np.inf
envs.step(envs.action_space.sample())

assert cartpole.attestation()["payloadType"] == "application/vnd.in-toto+json"
assert not any(name.split(".")[0] in ("harness", "sandboxes", "msgpack") for name in sys.modules)
print("used")
"""


@pytest.mark.slow
def test_an_installed_package_runs_without_lockstep(installed: Path) -> None:
    finished = run(installed, "sys.path = [p for p in sys.path if p]\n" + PROGRAM)
    assert (finished.stdout, finished.returncode) == ("used\n", 0), finished.stderr


@pytest.mark.slow
def test_the_readme_s_example_runs(package: Path, installed: Path) -> None:
    example = (package / "README.md").read_text().split("```python\n")[1].split("```")[0]
    finished = run(
        installed,
        example + "states, outputs = step(keys, states, jax.numpy.ones(1024, int))\nprint(outputs['reward'].sum())",
    )
    assert (finished.stdout, finished.returncode) == ("1024.0\n", 0), finished.stderr


def test_without_64_bit_types_it_says_how_to_switch_them_on(installed: Path) -> None:
    finished = run(installed, "import cartpole\ncartpole.make()")
    assert finished.returncode == 1
    assert 'jax.config.update("jax_enable_x64", True)' in finished.stderr.splitlines()[-1]


def test_the_candidate_and_its_attestation_are_carried_unchanged(
    package: Path, installed: Path, cartpole: Task
) -> None:
    for root in (package / "src/cartpole", installed / "cartpole"):
        assert (root / "candidate/env.py").read_bytes() == (cartpole.directory / "candidate/env.py").read_bytes()
        assert (root / "attestation.json").read_bytes() == ATTESTATION
        assert (root / "py.typed").exists()


def test_the_faces_need_nothing_but_jax_and_numpy(package: Path) -> None:
    allowed = {"jax", "numpy"} | sys.stdlib_module_names
    for file in (package / "src/cartpole").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            extra = EXTRA.get(file.name, set())
            assert {name.split(".")[0] for name in names} <= allowed | extra, file.name


def test_its_metadata_and_contract_are_strict_and_complete(package: Path, cartpole: Task) -> None:
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    assert project["name"] == "cartpole" and project["description"] == cartpole.summary
    assert [requirement.split(">")[0] for requirement in project["dependencies"]] == ["jax", "numpy"]

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    contract = json.loads((package / "src/cartpole/contract.json").read_text(), parse_constant=refuse)
    assert contract["x64"] is True and contract["xla_flags"] == list(cartpole.candidate.xla_flags)
    assert set(contract["leaves"]) == set(cartpole.leaves)


def test_the_readme_says_what_was_verified_and_under_which_flags(package: Path, cartpole: Task, tmp_path: Path) -> None:
    readme = (package / "README.md").read_text()
    assert " ".join(cartpole.candidate.xla_flags) in readme and "JAX_ENABLE_X64" in readme and "signed record" in readme
    unvouched = export(cartpole, tmp_path, None)
    assert "Nothing vouches for this package" in (unvouched / "README.md").read_text()
    assert not (unvouched / "src/cartpole/attestation.json").exists()


def test_what_is_at_the_destination_already_is_left_alone(cartpole: Task, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(LockstepError, match="something at the destination already"):
        export(cartpole, tmp_path, None)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_task_without_its_candidate_is_refused(cartpole: Task, tmp_path: Path) -> None:
    empty = replace(cartpole, directory=tmp_path)
    with pytest.raises(TaskError, match=r"there is no candidate at candidate/env\.py"):
        export(empty, tmp_path / "package", None)
