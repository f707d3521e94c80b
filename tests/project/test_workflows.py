"""The hosting site's workflows call what is there, on the Pythons that the project promises."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.project.workflows import ROOT, mistakes, tree

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
GOOD = """\
on: push
permissions:
  contents: read
jobs:
  test:
    timeout-minutes: 1
    strategy:
      matrix:
        python: [PYTHONS]
        group: [1, 2]
    steps:
      - uses: actions/setup-python@0123456789012345678901234567890123456789 # v1.2.3
        with:
          python-version: ${{ matrix.python }}
      - run: |
          .ci/run
          .venv/bin/lockstep doctor
          make test-slow SPLITS=2 GROUP=${{ matrix.group }}
""".replace("PYTHONS", ", ".join(f'"{version}"' for version in tree().pythons))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_no_mistake(path) -> None:
    assert mistakes(path.read_text(), tree()) == []


def test_there_is_one_for_changes_one_for_the_night_and_one_for_releases() -> None:
    assert [path.stem for path in WORKFLOWS] == ["check", "nightly", "release"]


def test_the_night_runs_every_test_and_ci_all_but_the_nightly_ones_within_their_budgets() -> None:
    recipes = dict(re.findall(r"^([a-z-]+):.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert " -m " not in recipes["nightly"] and "LOCKSTEP_TEST_BUDGETS=hold" in recipes["nightly"]
    assert all("not nightly" in recipes[target] for target in ("test", "test-slow", "test-all"))
    assert (ROOT / ".ci/run").read_text().endswith("\nLOCKSTEP_TEST_BUDGETS=hold make test-all\n")
    jobs = yaml.safe_load((ROOT / ".github/workflows/nightly.yml").read_text())["jobs"]
    assert any(step.get("run", "").startswith("make nightly SPLITS=") for step in jobs["all"]["steps"])


@pytest.mark.parametrize(
    ("right", "wrong", "named"),
    [
        ("make test-slow", "make test-slowly", "no target 'test-slowly'"),
        ("SPLITS=2", "PARTS=2", "no variable PARTS"),
        ("SPLITS=2", "SPLITS=3", "runs the groups [1, 2]"),
        (".venv/bin/lockstep", ".venv/bin/lockstop", "no command 'lockstop'"),
        (".ci/run", ".ci/walk", "no file .ci/walk"),
        ('"3.11", ', "", "requires-python begins at 3.11"),
        ("${{ matrix.python }}", '"3.12"', "the matrix names Pythons"),
        ("python: [", "pythons: [", "not among the classifiers"),
        ("@0123456789012345678901234567890123456789 # v1.2.3", "@main", "not pinned to a commit"),
        (" # v1.2.3", "", "not pinned to a commit"),
        ("    timeout-minutes: 1\n", "", "no timeout-minutes"),
        ("contents: read", "contents: write", "permissions"),
        ("on: push\n", "", "when it runs"),
    ],
)
def test_each_planted_mistake_is_named(right: str, wrong: str, named: str) -> None:
    assert mistakes(GOOD, tree()) == []
    assert right in GOOD
    found = mistakes(GOOD.replace(right, wrong), tree())
    assert any(named in mistake for mistake in found), found


def test_only_the_publishing_job_has_an_identity_and_it_runs_none_of_our_code() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
    assert {name for name, job in jobs.items() if "permissions" in job} == {"publish"}
    publish = jobs["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert publish["environment"] == "pypi"
    assert all("run" not in step for step in publish["steps"])
