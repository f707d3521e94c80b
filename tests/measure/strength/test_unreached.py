"""A fault counts as unreached only where all that it changes lies in one function that was counted and never ran."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.errors import SetupError
from harness.measure.coverage.result import Coverage, File, Level
from harness.measure.strength.faults import Edit
from harness.measure.strength.mutants import Mutant
from harness.measure.strength.unreached import RunLines, demand_countable

SOURCE = b"""// one\rcomment
const TABLE: i32 = 1;
fn ran() -> i32 {
    if rare {
        2
    } else {
        3
    }
}
impl Never {
    fn called(&self) -> i32 {
        let inner = || 4;
        fn deeper() -> i32 {
            5
        }
        inner() + 6
    }
    fn nor(&self) -> i32 { 7 }
    const
    fn known() -> i32 {
        8
    }
    fn holds() -> i32 {
        const fn inside() -> i32 { 9 }
        10
    }
    fn half() -> i32 {
        let inner = || 11;
        12
    }
    fn not_counted() -> i32 {
        13
    }
}
"""
RAN = (3, 4, 7, 28)
COUNTED = (*RAN, 5, 11, 12, 13, 14, 16, 18, 20, 21, 23, 24, 25, 27, 29)
LINES = RunLines({"lib.rs": {line: line in RAN for line in COUNTED}})


def mutant(*edits: Edit, file: str = "lib.rs") -> Mutant:
    return Mutant("id", file, 1, 0, "ran", "constant", "", "", 1, edits)


def at(number: int) -> Edit:
    """An edit of the number that stands once in the text."""
    [found] = re.finditer(rb"(?<!\w)%d(?!\w)" % number, SOURCE)
    return *found.span(), b"0"


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([at(1)], False),  # in no function: the compiler may use it anywhere
        ([at(2)], False),  # a branch that is never taken may still give another one its type
        ([at(3)], False),
        ([at(4)], True),  # what lies in a function counts with it
        ([at(5)], True),
        ([at(6)], True),
        ([at(7)], True),
        ([at(4), at(6)], True),
        ([at(6), at(7)], False),  # of two functions
        ([at(8)], False),  # the compiler may run it
        ([at(9)], False),
        ([at(10)], False),
        ([at(11)], False),  # something of it ran
        ([at(12)], False),
        ([at(13)], False),  # nobody counted it
    ],
)
def test_where_a_whole_function_never_ran(edits: list[Edit], expected: bool) -> None:
    assert LINES.leave_out(mutant(*edits), SOURCE) is expected
    assert RunLines.from_json(LINES.to_json()).leave_out(mutant(*edits), SOURCE) is expected
    assert not LINES.leave_out(mutant(*edits, file="other.rs"), SOURCE)


MANIFEST = '[package]\nname = "game"\nversion = "0.1.0"\n'
PLAIN = "fn ran() {\n    1;\n}\n"


def crate(directory: Path, manifest: str = MANIFEST, text: str = PLAIN, build: str = "") -> Path:
    (directory / "candidate" / "src").mkdir(parents=True)
    (directory / "candidate" / "Cargo.toml").write_text(manifest)
    (directory / "candidate" / "src" / "lib.rs").write_text(text)
    if build:
        (directory / "candidate" / build).write_text("fn main() {}\n")
    return directory


def coverage(*levels: Level, not_measured: tuple[str, ...] = ()) -> Coverage:
    files = {"candidate/src/lib.rs": File(lines=frozenset({1, 2}), branches=frozenset({"1:1-3:2"}))}
    return Coverage(files, {}, dict(enumerate(levels, 1)), not_measured)


def test_what_any_level_ran_was_run() -> None:
    by_line = Level(lines={"candidate/src/lib.rs": frozenset({2})})
    by_region = Level(branches={"candidate/src/lib.rs": frozenset({"1:1-3:2"})})
    assert RunLines.of(coverage(Level(), Level())).by_file == {"src/lib.rs": {1: False, 2: False}}
    assert RunLines.of(coverage(Level(), by_line)).by_file == {"src/lib.rs": {1: False, 2: True}}
    assert RunLines.of(coverage(by_region, Level())).by_file == {"src/lib.rs": {1: True, 2: False}}


@pytest.mark.parametrize(
    ("counted", "said"),
    [
        (coverage(Level(error="it ended")), "level 1: it ended"),
        (coverage(Level(), Level(asked=3, repeated=2)), "level 2: 2 of 3 questions asked again"),
        (coverage(Level(), not_measured=("no llvm-cov",)), "no llvm-cov"),
        (coverage(), "no level was measured"),
    ],
)
def test_half_a_count_says_nothing(counted: Coverage, said: str) -> None:
    with pytest.raises(SetupError, match=said) as refused:
        RunLines.of(counted)
    assert "leave --by-coverage out" in str(refused.value)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"build": "build.rs"}, "a build script or procedural macros"),
        ({"build": "made.rs", "manifest": MANIFEST + 'build = "made.rs"\n'}, "a build script or procedural macros"),
        ({"manifest": MANIFEST + "[lib]\nproc-macro = true\n"}, "a build script or procedural macros"),
        ({"text": PLAIN.replace("1", "std::panic::catch_unwind(half)")}, "has `catch_unwind`"),
        ({"text": PLAIN.replace("1", "std::thread::spawn(half)")}, "has `thread::`"),
    ],
)
def test_a_crate_whose_counts_say_too_little_is_refused(changed: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=said):
        demand_countable(crate(tmp_path, **changed) / "candidate")
