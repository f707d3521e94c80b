"""The examples do what their page says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.paths import RECORDED_SESSIONS, ROOT

EXAMPLES = ROOT / "examples"
BUNDLE = RECORDED_SESSIONS / "cartpole.bundle"


def run(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_somebody_elses_bundle_is_audited() -> None:
    done = run("audit_bundle.py", BUNDLE)
    assert done.returncode == 0, done.stderr
    assert "level 4  all modules" in done.stdout
    assert done.stdout.endswith("the record is sound; no key of yours was compared\n")


def test_a_file_that_is_no_bundle_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "broken.bundle"
    broken.write_bytes(BUNDLE.read_bytes()[:-2000])
    done = run("audit_bundle.py", broken)
    assert done.returncode != 0
    assert "sound" not in done.stdout
    assert "broken.bundle" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.slow
def test_an_environment_is_verified_exported_and_trained_on(tmp_path: Path) -> None:
    exported = tmp_path / "cartpole"
    made = run("verify_and_export.py", exported)
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("PASS")
    trained = run("train_gymnax.py", exported)
    assert trained.returncode == 0, trained.stderr
    found = re.search(r"at the end: ([0-9.]+) steps an episode, at the start ([0-9.]+)", trained.stdout)
    assert found is not None
    assert float(found[1]) > 4 * float(found[2]), "PPO learned too little"


@pytest.mark.slow
def test_the_notebook_verifies_an_environment(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "verify.ipynb", tmp_path)
    notebook = nbformat.read(tmp_path / "verify.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    reported = ["".join(part.get("text", "") for part in cell.outputs if part.get("name") == "stdout")
            for cell in notebook.cells if cell.cell_type == "code"]  # fmt: skip
    assert reported[0].startswith("PASS")
    assert "level 3 rollout: PASS" in reported[0]
    assert reported[1].endswith("first difference: None\n")
