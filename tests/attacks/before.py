"""Run attacks on the code as it was before they were mended, where they must succeed.

    python -m tests.attacks.before [FAMILY]... [--commit COMMIT] [--keep]

A family is a file `test_FAMILY.py` here; without one, all are run. For each, the commit before the one that added the file
is unpacked into a temporary directory (`--keep` leaves it), today's attacks are put into it with the helpers that it lacks,
and run by this interpreter. For each test there is a line:

- `fails`: the attack succeeds on the old code;
- `cannot run`: the test asks for something that the old code does not have, such as a new function;
- `control`: it passes, and is listed below with the reason why it must;
- `PASSES`: it passes, and nobody said why. Then the exit status is 1, as it is where no test of a family fails.

What is newly imported by a test file is replaced by a stand-in that ends a test when it is used, so that others can run.
A family needs a row in `ROWS` only where something is out of the ordinary.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.paths import ROOT, TESTS

HERE = Path(__file__).parent
FAILS, CANNOT_RUN, CONTROL, PASSES = "fails", "cannot run", "control", "PASSES"
SECONDS = 200
"""After so long a test that hangs on the old code counts as failing."""


@dataclass(frozen=True)
class Row:
    """What is out of the ordinary about a family.

    Attributes:
        before: the commit to run it on; by default the one before its file was added.
        brings: files of today that the old tree gets as well where it has none: constants, and what is only looked at.
        moved: modules that the old tree lacks, by path, with lines that import what they offer from where it was.
        controls: tests that pass before, by name, with or without their parameters; and why.
    """

    before: str = ""
    brings: tuple[str, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)
    controls: Mapping[str, str] = field(default_factory=dict)


ROWS: Mapping[str, Row] = {
    "bombs": Row(
        brings=("harness/record/bounds.py",),
        controls={"test_an_audit_of_a_bomb_ends_with_the_name_of_a_limit[a deep tree]": "depth had a limit before"},
    ),
    "channels": Row(
        brings=("sandboxes/seccomp/__init__.py", "sandboxes/seccomp/calls.py", "sandboxes/seccomp/program.py"),
        controls={
            "test_every_call_is_listed_once": "the list of calls itself, which is brought along",
            "test_a_refused_call_is_refused": "the kernel refuses some calls to whoever has no capability",
            "test_a_key_of_one_sandbox_is_not_found_in_the_next[USER-bubblewrap]": "each user namespace has such a keyring",
        },
    ),
    "budgets": Row(before="ac7fd60^"),
    "certificates": Row(
        controls={
            "test_the_figures_that_a_reader_sees_are_those_of_the_summary[figures0]": "a certificate that nobody touched"
        }
    ),
    "collisions": Row(
        controls={"test_what_is_there_already_is_taken_again": "what is kept already hides no other content"}
    ),
    "crates": Row(
        controls={
            "test_what_was_compiled_of_one_tree_is_not_taken_for_another[a hidden file]": "a file more was another key",
            "test_what_an_export_leaves_out_no_compiler_sees[__pycache__]": "such a directory was left out",
        }
    ),
    "disk": Row(brings=("harness/policy/quota.py", "harness/record/bounds.py")),
    "exports": Row(
        controls={
            "test_what_a_candidate_holds_is_neither_run_nor_obeyed_when_it_is_built": "it never ran; that is kept so"
        }
    ),
    "frames": Row(
        controls={
            "test_what_is_nested_in_the_sizes_of_an_array_is_refused": "such sizes were refused too, but read first"
        }
    ),
    "hostile_package": Row(
        controls={
            "test_what_it_leaves_in_the_place_of_an_answer_is_none[fifo]": "a pipe was never read",
            "test_what_it_leaves_in_the_place_of_an_answer_is_none[nothing]": "that nothing is no answer was known",
        }
    ),
    "hostile_reference": Row(
        moved={"harness/reference/sandbox.py": "from harness.reference.install import Installed"},
        controls={
            "test_what_it_may_see_it_sees": "the same attempts at what is the reference's own must succeed",
            "test_a_fault_in_its_memory_stays_inside": "it had a process of its own; what that reached, the others show",
        },
    ),
    "isolation": Row(
        brings=("harness/policy/__init__.py", "harness/policy/floor.py"),
        controls={
            "test_a_record_picks_no_weaker_sandbox_for_its_reader": "a driver without a known name was never taken",
            "test_only_a_person_lowers_the_floor": "the floor itself, which is brought along",
        },
    ),
    "kept_trainings": Row(
        controls={"test_a_training_belongs_to_one_program[hidden]": "a file more was another key before"}
    ),
    "kernel_files": Row(
        controls={
            "test_what_speaks_of_the_machine_tells_nothing": "this kernel lacks it, or it was hidden before",
            "test_what_programs_need_is_there": "what stays, which is to be kept so",
            "test_the_groups_of_the_machine_are_not_told": "a namespace hid them already",
        }
    ),
    "local_users": Row(brings=("harness/occurrences.py",)),
    "made_up_states": Row(
        controls={"test_whoever_plays_known_cases_the_evidence_is_the_same": "it was so with one reference"}
    ),
    "merge_gate": Row(
        controls={
            "test_what_the_record_lacks_is_refused_by_name[a compiled file without a source]": "it lay outside any cache",
            "test_a_compiled_file_of_this_kind_runs_in_the_place_of_its_source": "it shows that Python runs such a file",
        }
    ),
    "names": Row(before="7006dc6^"),
    "owners": Row(before="ac7fd60^"),
    "places": Row(
        controls={"test_a_case_with_a_fine_name_is_written": "an honest name must be taken, before and after"}
    ),
    "repositories": Row(
        controls={"test_what_its_settings_name_is_not_run": "none of git's commands that an audit uses obeyed these"}
    ),
    "shared_environments": Row(
        controls={
            "test_what_lies_beside_the_reference_builds_nothing[json.py]": "nothing imported it there",
            "test_what_lies_beside_the_reference_builds_nothing[reference/../venv/__main__.py]": "it was not run",
        }
    ),
    "task_code": Row(
        before="d6e65e3^",
        controls={
            "test_the_same_attempts_reach_all_of_it_here": "it shows what there is to reach",
            "test_a_file_that_is_imported_here_is_heard": "it shows that the listener hears",
        },
    ),
    "text": Row(
        before="b019e58^", controls={"test_every_command_is_in_the_table": "it keeps the table of these tests complete"}
    ),
}


@dataclass(frozen=True)
class Said:
    """What became of one test on the old code."""

    test: str
    what: str
    why: str


def family_on(family: str, row: Row, commit: str, place: Path) -> list[Said]:
    """Run a family on a commit that is unpacked into an empty directory.

    Raises:
        RuntimeError: nothing could be run.
    """
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall(place, filter="tar")
    _bring(place, row)
    said = run(family, place)
    if not said:  # a helper of today is asked for what the old one has not: then all of today's are taken
        shutil.rmtree(place / "tests")
        shutil.copytree(TESTS, place / "tests", ignore=shutil.ignore_patterns("__pycache__"))
        said = run(family, place)
    if not said:
        raise RuntimeError(f"no test of {family} could be collected on {commit}")
    return [judged(each, row) for each in said]


def _bring(place: Path, row: Row) -> None:
    shutil.rmtree(place / "tests" / "attacks", ignore_errors=True)
    tracked = subprocess.run(["git", "ls-files", "tests"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in (*tracked.splitlines(), *row.brings):
        if (ROOT / name).is_file() and not (place / name).exists():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place / name)
    for name, text in row.moved.items():
        (place / name).write_text(f"{text}\n")


def run(family: str, place: Path) -> list[dict[str, str]]:
    """What a run of pytest says of each test; nothing where the file cannot be collected."""
    told = place / "told.jsonl"
    told.unlink(missing_ok=True)
    shutil.copy(HERE / "stand_in.py", place / "stand_in.py")
    test = f"tests/attacks/test_{family}.py"
    environment = os.environ | {"PYTHONPATH": str(place), "LOCKSTEP_BEFORE": f"{place / test}:{told}"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "stand_in", "-m", "not docker and not nightly", test]
    ended = subprocess.run(
        [*command, "-o", f"timeout={SECONDS}", "-p", "no:cacheprovider"],
        cwd=place, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if not told.exists():
        print(ended.stdout[-3_000:], ended.stderr[-1_000:], file=sys.stderr)
        return []
    return [json.loads(line) for line in told.read_text().splitlines()]


def judged(told: Mapping[str, str], row: Row) -> Said:
    test, what, why = told["test"], told["what"], told["why"]
    reason = row.controls.get(test, row.controls.get(test.split("[", 1)[0]))
    if what == PASSES and reason is not None:
        what, why = CONTROL, reason
    return Said(test, what, why)


def commit_before(family: str) -> str:
    """The commit before the one that added a family's file.

    Raises:
        RuntimeError: it is in no commit.
    """
    asked = ["git", "log", "--diff-filter=A", "--follow", "--format=%h", "--", f"tests/attacks/test_{family}.py"]
    added = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    if not added:
        raise RuntimeError(f"test_{family}.py is in no commit yet: commit it, or name a commit with --commit")
    return f"{added[-1]}^"


def main(given: Sequence[str] | None = None) -> int:
    """The command."""
    families = sorted(path.stem.removeprefix("test_") for path in HERE.glob("test_*.py"))
    parser = argparse.ArgumentParser(
        prog="python -m tests.attacks.before", description=(__doc__ or "").split("\n", 1)[0]
    )
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"default: all ({', '.join(families)})")
    parser.add_argument("--commit", help="run on this commit")
    parser.add_argument("--keep", action="store_true", help="leave the old trees where they are")
    asked = parser.parse_args(given)
    wrong = 0
    for family in asked.families or families:
        row = ROWS.get(family, Row())
        commit = asked.commit or row.before or commit_before(family)
        place = Path(tempfile.mkdtemp(prefix=f"lockstep-before-{family}-"))
        try:
            said = family_on(family, row, commit, place)
        except RuntimeError as error:
            print(f"\n{error}", flush=True)
            wrong += 1
            continue
        finally:
            if not asked.keep:
                shutil.rmtree(place, ignore_errors=True)
        counts = {what: sum(each.what == what for each in said) for what in (FAILS, CANNOT_RUN, CONTROL, PASSES)}
        print(f"\n{family} on {commit}: " + ", ".join(f"{count} {what}" for what, count in counts.items() if count))
        for each in said:
            print(f"  {each.what:<10}  {each.test}  {each.why}", flush=True)
        wrong += bool(counts[PASSES]) or not counts[FAILS]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
