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

from harness.candidate.export import export
from harness.candidate.faces.rust_batch import RustBatch
from harness.task.contract import Task

pytestmark = [pytest.mark.slow, pytest.mark.rust]
ATTESTATION = b'{"payloadType": "application/vnd.in-toto+json", "payload": "", "signatures": []}'
NUM_ENVS, STEPS = 37, 200
PROGRAM = f"""
import json, sys
import numpy as np
import pong

batch = pong.make_batch({NUM_ENVS}, pong.NEXT_STEP)
batch.reset(range({NUM_ENVS}))
total = np.zeros(8)
for step in range({STEPS}):
    batch.step({{"action": (np.arange({NUM_ENVS}) + step) % 3}})
    total += batch.seen["observation"].sum(0) + batch.reward.sum()
pool = pong.make_pool({NUM_ENVS}, seed=0)
seen, _ = pool.reset()
pooled = np.zeros(8)
for step in range({STEPS}):
    seen, reward, *_ = pool.step((np.arange({NUM_ENVS}) + step) % 3)
    pooled += seen.sum(0) + reward.sum()
assert pooled.tolist() == total.tolist()
assert pong.attestation()["signatures"] == [] and "observation" in pong.contract()["leaves"]
assert not [name for name in sys.modules if name.split(".")[0] in ("gymnasium", "harness", "jax", "sandboxes")]
envs = pong.make_vector({NUM_ENVS}, "NextStep")
seen, _ = envs.reset(seed=0)
faced = np.zeros(8)
for step in range({STEPS}):
    seen, reward, *_ = envs.step((np.arange({NUM_ENVS}) + step) % 3)
    faced += seen.sum(0) + reward.sum()
assert faced.tolist() == total.tolist() and seen in envs.observation_space
print(json.dumps(total.tolist()))
"""


LIMITS = """
import os, warnings
import numpy as np
import pong

def refused(error, made):
    try:
        made()
    except error as told:
        return str(told)
    raise SystemExit("nothing was refused")

assert "1000000000 environments would take" in refused(MemoryError, lambda: pong.make_batch(10**9))
assert "num_envs is 2.5" in refused(TypeError, lambda: pong.make_vector(2.5))
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    assert pong.make_batch(4, threads=10**5).vector.threads < 10**5
assert "100000 threads were asked for" in str(told[0].message)
envs = pong.make_vector(64, threads=2)
envs.reset(seed=1)
for wrong, error in (([3] * 64, ValueError), ([0.5] * 64, TypeError), ([-1] * 64, ValueError), ([0] * 63, ValueError)):
    refused(error, lambda: envs.step(wrong))
refused(ValueError, lambda: envs.reset(seed=-1))
if not (child := os.fork()):
    envs.step(np.ones(64, int))
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
"""What a user of the wheel can give without ending or hanging the interpreter (tests/rust/test_limits.py has more)."""


@pytest.fixture(scope="module")
def project(task: Task, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(task, tmp_path_factory.mktemp("exported") / "project", ATTESTATION)


def test_the_files_of_the_candidate_are_unchanged(project: Path, task: Task) -> None:
    for path in (task.directory / "candidate").rglob("*.rs"):
        assert (project / path.relative_to(task.directory)).read_bytes() == path.read_bytes()
    assert not list(project.rglob("target"))


@pytest.fixture(scope="module")
def installed(project: Path, wheel_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the project's wheel is installed."""
    place = tmp_path_factory.mktemp("installed")
    maturin = str(Path(sys.executable).with_name("maturin"))
    options = ["--release", "--quiet", "--out", str(place / "wheels")]
    subprocess.run([maturin, "build", *options], cwd=project, env={**os.environ, **wheel_environment}, check=True)
    [wheel] = (place / "wheels").iterdir()
    assert wheel.name.startswith("pong-0.1.0-cp311-abi3-")
    options = ["--no-deps", "--no-index", "--quiet", "--target", str(place / "site")]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(wheel)], check=True)
    return place / "site"


def run(installed: Path, program: str) -> str:
    """What a program prints that sees the installed package, numpy and Gymnasium, and no Lockstep."""
    report = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(installed)!r})\n{program}"],
        cwd=installed,
        env={"PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )
    assert report.returncode == 0, report.stderr
    return report.stdout


def test_a_wheel_is_built_and_every_face_gives_what_was_verified(installed: Path, pong: ModuleType) -> None:
    report = run(installed, PROGRAM)
    batch, total = RustBatch(pong, NUM_ENVS, "next_step"), np.zeros(8)
    batch.reset(range(NUM_ENVS))
    for step in range(STEPS):
        batch.step({"action": (np.arange(NUM_ENVS) + step) % 3})
        total += batch.seen["observation"].sum(0) + batch.reward.sum()
    assert json.loads(report) == total.tolist() and len(set(total)) > 1


def test_nothing_that_a_user_gives_ends_or_hangs_the_interpreter(installed: Path) -> None:
    assert run(installed, LIMITS) == ""


def test_the_readmes_example_runs(project: Path, installed: Path) -> None:
    example = (project / "README.md").read_text().split("```python\n")[1].split("```")[0]
    given = "import numpy as np\nactions = np.ones(1024, int)\n"
    assert run(installed, f"{given}{example}print(batch.seen['observation'].shape, envs.num_envs, pool.num_envs)") == (
        "(1024, 8) 64 64\n"
    )
