"""The site is built from the pages of the tree, and what leads nowhere stops the build."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.project.workflows import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The files that git knows, without what only binaries and tests are made of."""
    assert importlib.util.find_spec("mkdocs"), "mkdocs is missing: run `make docs` once, which installs it"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        source, kept = ROOT / name, tmp_path / name
        if name and source.is_file():
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, kept)
    return tmp_path


def _built(root: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_the_site_has_every_page_and_a_fault_in_one_stops_it(copy: Path) -> None:
    code, said = _built(copy)
    assert code == 0, said
    built = {
        path.relative_to(copy / "build/site").with_suffix("").as_posix() for path in copy.glob("build/site/**/*.html")
    }
    excluded = yaml.safe_load((copy / "mkdocs.yml").read_text()).get("exclude_docs", "").split()
    written = [path for path in copy.glob("docs/**/*.md") if f"/{path.relative_to(copy / 'docs')}" not in excluded]
    pages = {path.relative_to(copy).with_suffix("").as_posix() for path in written}
    assert {page.replace("/README", "/index") for page in pages} <= built
    assert {"index", "ARCHITECTURE", "CONTRIBUTING", "environments/cartpole/index"} <= built

    page = copy / "docs/replay.md"
    good = page.read_text()
    for fault, named in {
        "[a](nothing.md)": "'nothing.md'",
        "[a](task.md#nothing)": "#nothing",
        "[a](../tests)": "'../tests'",
        "![a](nothing.png)": "'nothing.png'",
    }.items():
        page.write_text(f"{good}\n{fault}\n")
        code, said = _built(copy)
        assert code != 0 and named in said, f"{fault}: {said}"
    page.write_text(good)
    (copy / "docs/forgotten.md").write_text("# Forgotten\n")
    code, said = _built(copy)
    assert code != 0 and "docs/forgotten.md" in said
