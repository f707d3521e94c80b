"""Faults in Rust: each operator proposes what it should and nothing where it must not."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import SetupError
from harness.measure.strength.explanations import load_explanations
from harness.measure.strength.mutants import Mutant, enumerate_mutants


def mutants(tmp_path: Path, source: str) -> list[Mutant]:
    (tmp_path / "src").mkdir(exist_ok=True)
    (tmp_path / "src" / "lib.rs").write_text(source)
    return enumerate_mutants(tmp_path, "rust")


def faults(tmp_path: Path, body: str) -> list[tuple[str, str]]:
    """Operator and new text of each fault of a function's body."""
    return [(each.operator, each.after) for each in mutants(tmp_path, f"fn f() {{\n    {body}\n}}\n")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = 7_u8;", [("dropped update", ""), ("constant", "8_u8"), ("constant", "6_u8")]),
        ("0x1F", [("constant", "32"), ("constant", "30")]),
        ("0", [("constant", "1"), ("constant", "(-1)")]),
        ("t[3]", [("index", "4"), ("index", "2")]),
        ("2.0_f32", [("constant", "2.002_f32"), ("constant", "1.999998_f32"), ("constant", "(-2.0_f32)")]),
        ("true", [("constant", "false")]),
        ("a < b", [("comparison", "a <= b"), ("comparison", "a > b")]),
        ("a + b", [("dropped operand", "(a)"), ("arithmetic", "a - b")]),
        ("a << b", [("arithmetic", "a >> b")]),
        ("a && b", [("dropped operand", "(a)"), ("logic", "a || b")]),
        ("a += b;", [("dropped update", ""), ("arithmetic", "a -= b")]),
        ("-a", [("arithmetic", "(a)")]),
        ("!a", [("logic", "(a)")]),
        ("if a { b }", [("branches", "!(a)")]),
        ("if let Some(a) = b { c }", []),
        ("for i in 0..n {}", [("constant", "1"), ("constant", "(-1)"), ("comparison", "0..=n")]),
        ("g();", [("dropped call", "")]),
        ("g(a, b)", [("arguments", "b, a")]),
        ("a.min(b)", [("function", "(a)"), ("function", "a.max(b)")]),
        ("a.wrapping_add(b)", [("function", "a.wrapping_sub(b)")]),
        ("[a, b]", [("order", "b, a")]),
        ("S { p: a, q: b }", [("order", "b, q: a")]),
        ("match a { 1 => b, _ => c }", [("constant", "2"), ("constant", "0"), ("branches", "c, _ => b")]),
        ("a = b; c = d;", [("dropped update", ""), ("dropped update", "")]),
        ("a = b; c = a;", [("dropped update", ""), ("order", "c = a; a = b;"), ("dropped update", "")]),
        ("s.a = b; c = s;", [("dropped update", ""), ("order", "c = s; s.a = b;"), ("dropped update", "")]),
        ("s.a = s.b; s.ab = s.c;", [("dropped update", ""), ("dropped update", "")]),
        ("t[a] = b; a = c;", [("dropped update", ""), ("order", "a = c; t[a] = b;"), ("dropped update", "")]),
        ("a = g(); c = d;", [("dropped update", ""), ("order", "c = d; a = g();"), ("dropped update", "")]),
    ],
)
def test_an_operator_proposes_what_it_should(tmp_path: Path, body: str, expected: list[tuple[str, str]]) -> None:
    assert sorted(faults(tmp_path, body)) == sorted(expected)


@pytest.mark.parametrize(
    "source",
    [
        "// 1 + 1\n/// 2\nuse a::b;\n",
        "#[derive(Clone)]\nstruct S { a: [u8; 4] }\n",
        "#[cfg(test)]\nmod tests {\n    fn f() -> u8 { 1 }\n}\n",
        "#[test]\nfn f() { assert_eq!(1, 2); g(1); }\n",
        "#[cfg(all(test, unix))]\nfn f() -> u8 { 1 }\n",
        'fn f() { println!("{}", 1 + 1) }\n',
        "fn f(a: [u8; 4]) {}\n",
    ],
)
def test_what_is_no_rule_stays_as_it_is(tmp_path: Path, source: str) -> None:
    assert mutants(tmp_path, source) == []


@pytest.mark.parametrize("attribute", ["#[cfg(not(test))]", '#[cfg(feature = "latest")]', "#[inline]"])
def test_what_is_compiled_for_use_counts_whatever_stands_before_it(attribute: str, tmp_path: Path) -> None:
    assert mutants(tmp_path, f"{attribute}\nfn f() -> u8 {{ 1 }}\n")


def test_files_that_are_compiled_for_tests_alone_are_left_out(tmp_path: Path) -> None:
    one = "const A: u8 = 1;\n"
    left_out = ("core/tests/whole.rs", "core/examples/play.rs", "core/src/part/checks.rs", "src/rules/tests/more.rs")
    kept = ("core/src/part.rs", "core/src/tests.rs", "src/rules/mod.rs")
    for name in (*left_out, *kept, "core/Cargo.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(one)
    (tmp_path / "core/src/part.rs").write_text(f"{one}#[cfg(test)]\nmod checks;\n")
    (tmp_path / "src/rules/mod.rs").write_text(f"{one}/// Fast ones.\n#[cfg(test)]\npub(crate) mod tests;\n")
    assert {each.file for each in mutants(tmp_path, one)} == {*kept, "src/lib.rs"}


def test_a_mutant_says_where_it_is_and_can_be_applied(tmp_path: Path) -> None:
    source = "struct S;\n\nimpl S {\n    fn rule(&self) -> i32 {\n        self.a - 3\n    }\n}\n"
    [first, *_] = found = mutants(tmp_path, source)
    assert {(each.file, each.line, each.function) for each in found} == {("src/lib.rs", 5, "S.rule")}
    assert b"self.a - 3" not in first.apply(source.encode())
    assert len({each.id for each in found}) == len(found)


def test_a_file_that_is_no_rust_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"src/lib\.rs: it cannot be parsed"):
        mutants(tmp_path, "fn f( {\n")


def test_python_and_rust_beside_each_other_are_distinguished(tmp_path: Path) -> None:
    (tmp_path / "env.py").write_text("x = 1\n")
    assert {each.file for each in mutants(tmp_path, "const A: u8 = 1;\n")} == {"src/lib.rs"}
    assert {each.file for each in enumerate_mutants(tmp_path)} == {"env.py"}
    entries = "".join(
        f'[[survivor]]\nfile = "{file}"\nfunction = "f"\noperator = "constant"\nbefore = "1"\nafter = "2"\n'
        'verdict = "missed"\nbecause = "so"\n'
        for file in ("env.py", "src/lib.rs")
    )
    (tmp_path / "survivors.toml").write_text(entries)
    assert [entry.file for entry in load_explanations(tmp_path)] == ["env.py"]
    assert [entry.file for entry in load_explanations(tmp_path, "rust")] == ["src/lib.rs"]


def test_a_mutant_that_leaves_something_out_can_be_explained(tmp_path: Path) -> None:
    [dropped] = [each for each in mutants(tmp_path, "fn f() { g(); }\n") if each.operator == "dropped call"]
    entry = (
        '[[survivor]]\nfile = "src/lib.rs"\nfunction = "f"\noperator = "dropped call"\nbefore = "g();"\nafter = ""\n'
    )
    (tmp_path / "survivors.toml").write_text(f'{entry}verdict = "equivalent"\nbecause = "so"\n')
    [found] = load_explanations(tmp_path, "rust")
    assert found.fits(dropped)
