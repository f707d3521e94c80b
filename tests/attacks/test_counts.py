"""The attack: a reference leaves in the place of its counts what harms who reads them: a link, a pipe, a bomb, no counts."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.measure.coverage import measure, reading
from harness.measure.coverage.sources import Location
from harness.reference.sandbox import Installed
from harness.task.contract import Task
from harness.task.load import load_task
from tests.session.standin import make_task
from tests.tools import needs


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return load_task(make_task(tmp_path / "task"))


HERE = Installed(Path(sys.prefix), Path(sys.executable))
SCRIPT = {"url": "file:///code.mjs", "functions": []}


def v8(place: Path, document: Any) -> Path:
    place.mkdir(exist_ok=True)
    (place / "coverage-1.json").write_text(json.dumps(document))
    return place


def test_a_link_in_the_place_of_counts_leads_nowhere(tmp_path: Path) -> None:
    elsewhere = v8(tmp_path / "elsewhere", {"result": [SCRIPT]})
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "coverage-1.json").symlink_to(elsewhere / "coverage-1.json")
    (tmp_path / "whole").symlink_to(elsewhere)
    (tmp_path / "python.json").symlink_to(elsewhere / "coverage-1.json")
    for place in (linked, tmp_path / "whole"):
        found, missing = reading.node(place, [Path("/code.mjs")])
        assert not found and missing
    with pytest.raises(OSError):
        reading.python(tmp_path / "python.json", [])


def test_a_pipe_in_the_place_of_counts_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "python.json")
    with pytest.raises(ValueError, match="not a regular file"):
        reading.python(tmp_path / "python.json", [])
    os.mkfifo(tmp_path / "coverage-1.json")
    with pytest.raises(ValueError, match="not a regular file"):
        reading.node(tmp_path, [])


def test_counts_that_are_too_large_are_refused(tmp_path: Path) -> None:
    for name in ("python.json", "coverage-1.json"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(reading.MOST_BYTES + 1)
    with pytest.raises(ValueError, match="larger than 64 MiB"):
        reading.python(tmp_path / "python.json", [])
    with pytest.raises(ValueError, match="larger than 64 MiB"):
        reading.node(tmp_path, [])
    script = tmp_path / "code.mjs"
    script.write_text("f()\n")
    ranges = [{"startOffset": 0, "endOffset": 1, "count": 1}] * (reading.MOST_BLOCKS + 1)
    many = {"result": [{"url": f"file://{script}", "functions": [{"ranges": ranges}]}]}
    with pytest.raises(ValueError, match="more than 100000 blocks"):
        reading.node(v8(tmp_path / "many", many), [script])


@pytest.mark.parametrize("document", [[], {"result": 1}, {"result": [{"url": 1}]}, {"result": [{"functions": []}]}])
def test_counts_of_another_form_are_one_kind_of_error(tmp_path: Path, task: Task, document: Any) -> None:
    v8(tmp_path / "node", document)
    found = [Location("m", "code.mjs", tmp_path / "code.mjs", 1, 2)]
    with pytest.raises(ValueError, match="what was counted cannot be read"):
        measure._read(task, HERE, found, tmp_path)


GCOV = """#!/bin/sh
echo '{"files": []}'
ls /home /root "$HOLD" >&2
touch "$HOLD/reached"
"""


@needs("gcov", package="gcc")
def test_gcov_runs_where_it_reaches_nothing(tmp_path: Path, task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of counts that takes gcov over is played by a gcov that is taken over from the beginning."""
    tools, held = tmp_path / "tools" / "bin", tmp_path / "held"
    tools.mkdir(parents=True)
    held.mkdir()
    (tools / "gcov").write_text(GCOV.replace("$HOLD", str(held)))
    (tools / "gcov").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    notes = task.directory / "reference" / "code.gcno"
    notes.write_text("")
    counts = tmp_path / "out" / "c" / notes.relative_to("/").with_suffix(".gcda")
    counts.parent.mkdir(parents=True)
    counts.write_text("")
    found, said = reading.native(task, HERE, tmp_path / "out" / "c", {"reference/code.c": notes.with_suffix(".c")})
    assert not found and said
    assert not (held / "reached").exists()


@needs("gcov", package="gcc")
def test_counts_that_are_no_counts_are_reported(tmp_path: Path, task: Task) -> None:
    notes = task.directory / "reference" / "code.gcno"
    notes.write_bytes(os.urandom(4096))
    counts = tmp_path / "out" / "c" / notes.relative_to("/").with_suffix(".gcda")
    counts.parent.mkdir(parents=True)
    counts.write_bytes(os.urandom(4096))
    found, [said] = reading.native(task, HERE, tmp_path / "out" / "c", {"reference/code.c": notes.with_suffix(".c")})
    assert not found
    assert "no lines of it were counted" in said
