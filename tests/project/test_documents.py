"""What the pages for contributors name is there: files, targets of make, and the forms that the hosting site reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.project.workflows import ROOT, tree

PAGES = ("CONTRIBUTING.md", "SECURITY.md", ".github/pull_request_template.md")


def missing(text: str, root: Path = ROOT) -> Iterator[str]:
    """Links to files and names of files that lead nowhere, and targets that the Makefile does not have."""
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    names = re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", text)
    yield from (path for path in links + names if not path.startswith(".venv") and not _is_there(root, path))
    yield from (f"make {name}" for name in re.findall(r"`make ([a-z-]+)", text) if name not in tree().targets)


def _is_there(root: Path, path: str) -> bool:
    # A task's own folders are named as they are in its directory.
    return (root / path).exists() or any(root.glob(f"environments/*/{path}"))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_what_is_there(page: str) -> None:
    assert list(missing((ROOT / page).read_text())) == []


def test_what_is_not_there_is_named() -> None:
    text = "[a](docs/nothing.md#part) and `tests/nothing/` and `make nothing`, but [b](docs/task.md#leaves) and `make check`"
    assert list(missing(text)) == ["docs/nothing.md", "tests/nothing/", "make nothing"]


def test_the_readme_begins_with_targets_that_the_makefile_has() -> None:
    first = (ROOT / "README.md").read_text().split("```")[1]
    named = re.findall(r"^make ([a-z-]+)", first, re.MULTILINE)
    assert named[:3] == ["demo", "setup", "test"] and set(named) <= set(tree().targets)


@pytest.mark.parametrize("form", ["verdict", "bug", "idea"])
def test_a_form_has_what_the_hosting_site_requires(form: str) -> None:
    content = yaml.safe_load((ROOT / f".github/ISSUE_TEMPLATE/{form}.yml").read_text())
    assert content["name"] and content["description"]
    asked = [part for part in content["body"] if part["type"] != "markdown"]
    assert all(part["attributes"]["label"] for part in asked)
    names = [part["id"] for part in asked]
    assert len(set(names)) == len(names) > 0
