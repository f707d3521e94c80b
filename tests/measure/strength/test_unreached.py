"""A fault counts as unreached only where all that it changes lies in code that was counted and never ran."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import SetupError
from harness.measure.coverage.result import Coverage, File, Level
from harness.measure.strength.faults import Edit
from harness.measure.strength.mutants import Mutant
from harness.measure.strength.unreached import Regions

SOURCE = b"""fn ran() {
    a(1);
    if rare {
        b(2);
        if never { c(3); }
    }
    d("\xc3\xa9", 4);
}
const TABLE: i32 = 5;
"""
REGIONS = Regions({
    "lib.rs": (
        ((1, 1), (8, 2), True),
        ((3, 13), (6, 6), False),
        ((5, 12), (5, 17), False),
        ((5, 18), (5, 27), True),
        ((7, 5), (7, 16), False),
    )
})  # fmt: skip


def mutant(*edits: Edit, file: str = "lib.rs") -> Mutant:
    return Mutant("id", file, 1, 0, "ran", "constant", "", "", 1, edits)


def at(text: bytes, until: bytes | None = None) -> Edit:
    """An edit of all from one text to the end of another."""
    end = text if until is None else until
    return SOURCE.index(text), SOURCE.index(end) + len(end), b"0"


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([at(b"1")], False),  # in what ran
        ([at(b"2")], True),
        ([at(b"never")], True),  # in what lies in what never ran
        ([at(b"3")], False),  # the innermost region holds: a loop may be entered in another way than its line says
        ([at(b"b(2)", b"c(3)")], False),  # begins in what never ran, and holds what did
        ([at(b"1"), at(b"2")], False),  # one of two
        ([at(b"2"), at(b"never")], True),
        ([at(b"4")], False),  # columns of such a line are counted in more than one way
        ([at(b"5")], False),  # no code: nobody counts it
    ],
)
def test_where_all_of_it_never_ran(edits: list[Edit], expected: bool) -> None:
    assert REGIONS.leave_out(mutant(*edits), SOURCE) is expected
    assert Regions.from_json(REGIONS.to_json()).leave_out(mutant(*edits), SOURCE) is expected
    assert not REGIONS.leave_out(mutant(*edits, file="other.rs"), SOURCE)


def coverage(*levels: Level, not_measured: tuple[str, ...] = ()) -> Coverage:
    files = {"candidate/lib.rs": File(branches=frozenset({"1:1-3:2", "5:1-7:2"}))}
    modules = {"lib.rs:1 ran": (("candidate/lib.rs", 1, 3),), "lib.rs:5 known": (("candidate/lib.rs", 5, 7),)}
    return Coverage(files, modules, dict(enumerate(levels, 1)), not_measured)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "candidate").mkdir()
    text = "fn ran() {\n    1;\n}\n\npub const fn known() -> i32 {\n    2\n}\n"
    (tmp_path / "candidate" / "lib.rs").write_text(text)
    return tmp_path


def test_what_any_level_ran_was_run_and_what_the_compiler_may_run_is_not_spoken_of(tree: Path) -> None:
    none = {"candidate/lib.rs": frozenset[str]()}
    ran = {"candidate/lib.rs": frozenset({"1:1-3:2"})}
    never = Regions.of(coverage(Level(branches=none), Level(branches=none)), tree)
    once = Regions.of(coverage(Level(branches=none), Level(branches=ran)), tree)
    assert never.by_file == {"lib.rs": (((1, 1), (3, 2), False),)}
    assert once.by_file == {"lib.rs": (((1, 1), (3, 2), True),)}


@pytest.mark.parametrize(
    ("counted", "said"),
    [
        (coverage(Level(error="it ended")), "level 1: it ended"),
        (coverage(Level(), Level(asked=3, repeated=2)), "level 2: 2 of 3 questions asked again"),
        (coverage(Level(), not_measured=("no llvm-cov",)), "no llvm-cov"),
        (coverage(), "no level was measured"),
    ],
)
def test_half_a_count_says_nothing(counted: Coverage, said: str, tree: Path) -> None:
    with pytest.raises(SetupError, match=said) as refused:
        Regions.of(counted, tree)
    assert "leave --by-coverage out" in str(refused.value)
