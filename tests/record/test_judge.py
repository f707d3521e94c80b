"""The judge's digest: every file that decides a verdict changes it, and no other does."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.candidate.start import lay_trusted
from harness.record import judge
from tests.paths import ROOT, WALK

PACKAGES = ("harness", "lockstep", "sandboxes", "rust")
OTHERS = (
    "harness/report/page.py",
    "harness/report/templates/report.css",
    "harness/cli/verify.py",
    "harness/session/attempt.py",
)
"""What presents a verdict or keeps it, and decides none."""

VERIFY = """
import sys
from pathlib import Path
import sandboxes
from harness.task.load import load_task
from harness.verify.request import LevelsRequest
from harness.verify.directory import verify_directory

task = load_task(Path(sys.argv[1]))
verdict = verify_directory(task, sandboxes.choose("process"), LevelsRequest((1, 2, 3), 7))
print(verdict.outcome.value)
print(*sorted(str(getattr(module, "__file__", None)) for module in list(sys.modules.values())), sep="\\n")
"""


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of all that could decide."""
    place = tmp_path_factory.mktemp("copied")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__", "target"))
    return place


def digest(place: Path) -> str:
    return judge._digest(judge.judge_files(place, place / "rust"))


@pytest.mark.slow
def test_every_file_that_decides_changes_the_digest(copied: Path) -> None:
    files = judge.judge_files(copied, copied / "rust")
    before = judge._digest(files)
    assert before == digest(ROOT) == judge.judge_digest()
    same = []
    for name, path in files.items():
        text = path.read_bytes()
        path.write_bytes(text + b"\n")
        if judge._digest(files) == before:
            same.append(name)
        path.write_bytes(text)
    assert same == []
    assert digest(copied) == before


@pytest.mark.slow
def test_files_that_decide_nothing_leave_it(copied: Path) -> None:
    files, before = judge.judge_files(copied, copied / "rust"), digest(copied)
    others = [path for path in copied.rglob("*") if path.is_file() and path not in files.values()]
    assert {(copied / name) for name in OTHERS} <= set(others)
    texts = {path: path.read_bytes() for path in others}
    for path, text in texts.items():
        path.write_bytes(text + b"\n")
    after = digest(copied)
    for path, text in texts.items():
        path.write_bytes(text)
    assert after == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "from harness.cli import verify",
        "def later():\n    import harness.cli.verify",
        "if True:\n    from harness.cli.verify import verify",
        'NAMED = "harness.cli.verify:verify"',
    ],
    ids=["from a package", "in a function", "a name of it", "named by a string"],
)
def test_what_a_judging_file_comes_to_use_decides_too(line: str, copied: Path) -> None:
    level, used = copied / "harness/verify/levels/rollout.py", copied / "harness/cli/verify.py"
    assert used not in judge.judge_files(copied, copied / "rust").values()
    text = level.read_text()
    level.write_text(f"{text}\n{line}\n")
    found = judge.judge_files(copied, copied / "rust")
    level.write_text(text)
    assert used in found.values()


@pytest.mark.slow
def test_all_that_a_verification_loads_is_among_the_files() -> None:
    run = subprocess.run(
        [sys.executable, "-c", VERIFY, str(WALK)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    outcome, *loaded = run.stdout.split("\n")
    assert outcome == "PASS"
    ours = {Path(name) for name in loaded if name.startswith((f"{ROOT}/harness/", f"{ROOT}/sandboxes/"))}
    assert len(ours) > 50
    assert ours - set(judge.judge_files().values()) == set()


def test_all_that_is_laid_into_a_candidates_sandbox_is_among_the_files(tmp_path: Path) -> None:
    laid = [path.read_bytes() for path in lay_trusted(tmp_path / "trusted").rglob("*.py")]
    decide = {path.read_bytes() for path in judge.judge_files().values()}
    assert len(laid) > 20
    assert [text for text in laid if text not in decide] == []


@pytest.mark.slow
def test_a_digest_of_sources_holds_what_judges_and_what_measures(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "_home", lambda: copied)
    monkeypatch.setattr(judge, "rust_sources", lambda: copied / "rust")
    changed = []
    for name in ("harness/measure/strength/operators.py", "harness/verify/levels/rollout.py", "harness/cli/verify.py"):
        path = copied / name
        text, before = path.read_text(), judge.source_digest.__wrapped__("harness.measure.strength.run")
        path.write_text(text + "\n")
        changed.append(judge.source_digest.__wrapped__("harness.measure.strength.run") != before)
        path.write_text(text)
    assert changed == [True, True, False]
