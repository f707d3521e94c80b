"""An exported candidate in Rust is built by maturin and used where no Lockstep is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from harness.adapters.rust_batch import RustBatch
from harness.export import export
from harness.task import Task

pytestmark = [pytest.mark.slow, pytest.mark.rust]
ATTESTATION = b'{"payloadType": "application/vnd.in-toto+json", "payload": "", "signatures": []}'
LANES, STEPS = 37, 200
PROGRAM = f"""
import json, sys
import numpy as np
import pong

batch = pong.make_batch({LANES}, pong.NEXT_STEP)
batch.reset(range({LANES}))
total = np.zeros(8)
for step in range({STEPS}):
    batch.step({{"action": (np.arange({LANES}) + step) % 3}})
    total += batch.seen["observation"].sum(0) + batch.reward.sum()
assert pong.attestation()["signatures"] == []
assert not [name for name in sys.modules if name.split(".")[0] in ("harness", "jax", "sandboxes")]
print(json.dumps(total.tolist()))
"""


@pytest.fixture(scope="module")
def project(task: Task, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(task, tmp_path_factory.mktemp("exported") / "project", ATTESTATION)


def test_the_files_of_the_candidate_are_unchanged(project: Path, task: Task) -> None:
    for path in (task.directory / "candidate").rglob("*.rs"):
        assert (project / path.relative_to(task.directory)).read_bytes() == path.read_bytes()
    assert not list(project.rglob("target"))


def test_a_wheel_is_built_and_gives_what_was_verified(project: Path, pong: ModuleType, tmp_path: Path) -> None:
    maturin = str(Path(sys.executable).with_name("maturin"))
    subprocess.run([maturin, "build", "--quiet", "--out", str(tmp_path / "wheels")], cwd=project, check=True)
    [wheel] = (tmp_path / "wheels").iterdir()
    assert wheel.name.startswith("pong-0.1.0-cp311-abi3-")
    options = ["--no-deps", "--no-index", "--quiet", "--target", str(tmp_path / "site")]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(wheel)], check=True)
    told = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r})\n{PROGRAM}"],
        cwd=tmp_path,
        env={"PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    batch, total = RustBatch(pong, LANES, "next_step"), np.zeros(8)
    batch.reset(range(LANES))
    for step in range(STEPS):
        batch.step({"action": (np.arange(LANES) + step) % 3})
        total += batch.seen["observation"].sum(0) + batch.reward.sum()
    assert json.loads(told.stdout) == total.tolist() and len(set(total)) > 1
