"""Which mutants there are of a text."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from harness.errors import SetupError
from harness.measure.strength.mutants import Mutant, enumerate_mutants, sampled
from harness.measure.strength.python_faults import same_bytecode


def mutants_of(tmp_path: Path, source: str) -> list[Mutant]:
    (tmp_path / "env.py").write_text(source)
    return enumerate_mutants(tmp_path)


def changes(tmp_path: Path, source: str, operator: str) -> list[str]:
    found = mutants_of(tmp_path, source)
    return [f"{mutant.before} -> {mutant.after}" for mutant in found if mutant.operator == operator]


@pytest.mark.parametrize(
    ("operator", "source", "expected"),
    [
        ("constant", "A = 3", ["3 -> 2", "3 -> 4"]),
        ("constant", "A = 0", ["0 -> (-1)", "0 -> 1"]),
        ("constant", "A = 2.0", ["2.0 -> (-2.0)", "2.0 -> 1.999998", "2.0 -> 2.002"]),
        ("constant", "A = 0.0", ["0.0 -> 1.0"]),
        ("constant", "A = True", ["True -> False"]),
        ("comparison", "a = x < y", ["x < y -> x <= y", "x < y -> x > y"]),
        ("comparison", "a = x == y", ["x == y -> x != y", "x == y -> x >= y"]),
        ("arithmetic", "a = x + y", ["x + y -> x - y"]),
        ("arithmetic", "a = x // y", ["x // y -> x / y"]),
        ("arithmetic", "a = -x", ["-x -> (x)"]),
        ("arithmetic", "a += x", ["a += x -> a -= x"]),
        ("dropped operand", "a = x + y", ["x + y -> (x)"]),
        ("logic", "a = x & y", ["x & y -> x | y"]),
        ("logic", "a = ~x", ["~x -> (x)"]),
        ("logic", "a = x and not y", ["x and not y -> x or not y", "not y -> (y)"]),
        ("index", "a = x[:4]", ["4 -> 3", "4 -> 5"]),
        ("branches", "a = jnp.where(c, x, y)", ["x, y -> y, x"]),
        ("branches", "a = x if c else y", ["x if c else y -> y if c else x"]),
        ("arguments", "a = f(x, y, z)", ["x, y -> y, x", "y, z -> z, y"]),
        ("order", "a = f(p=x, q=y)", ["p=x, q=y -> p=y, q=x"]),
        ("order", "a = {'p': x, 'q': y}", ["'p': x, 'q': y -> 'p': y, 'q': x"]),
        ("order", "a = (x, y)", ["x, y -> y, x"]),
        ("function", "a = jnp.sin(x)", ["jnp.sin(x) -> jnp.cos(x)"]),
        ("function", "a = jnp.clip(x, p, q)", ["jnp.clip(x, p, q) -> (x)"]),
        ("function", "a = x.at[i].set(y)", ["x.at[i].set(y) -> x.at[i].add(y)"]),
        ("dtype", "a = jnp.zeros(n, jnp.float32)", ["float32 -> float64"]),
        ("dtype", "a = x.astype(kind)", ["x.astype(kind) -> x"]),
        ("key reuse", "a, b = jax.random.split(key)", ["jax.random.split(key) -> ((key,) * 2)"]),
        ("key reuse", "a = jax.random.split(key, n)", ["jax.random.split(key, n) -> ((key,) * n)"]),
        ("key reuse", "a = jax.random.fold_in(key, n)", ["jax.random.fold_in(key, n) -> (key)"]),
        ("dropped update", "a = s._replace(p=x, q=s.q)", ["x -> s.p"]),
    ],
)
def test_an_operator_makes_these_changes(tmp_path: Path, operator: str, source: str, expected: list[str]) -> None:
    assert sorted(changes(tmp_path, source, operator)) == sorted(expected)


@pytest.mark.parametrize(
    "source",
    [
        '"""A text of 3 words."""',
        "def f(x: 'int' = 3): pass",
        "@cut(3)\ndef f(): pass",
        "import a.b as c",
        "# 3 < 4",
        "a = jnp.minimum(x, y)\n".replace("minimum", "equal"),
        "a = x | {'p': y}",
    ],
)
def test_what_is_no_rule_is_left_alone(tmp_path: Path, source: str) -> None:
    assert mutants_of(tmp_path, source) == []


def test_an_assignment_is_dropped_only_where_its_name_has_a_value_already(tmp_path: Path) -> None:
    source = "def f(state):\n    state = g(state)\n    fresh = h(state)\n    return fresh\n"
    assert changes(tmp_path, source, "dropped update") == ["state = g(state) -> pass"]


def test_assignments_that_depend_on_each_other_are_exchanged_where_both_can_run(tmp_path: Path) -> None:
    source = "def f(x, y):\n    x = x + y\n    y = x\n    z = y\n    return z\n"
    # `z = y` before `y = x` reads the parameter; nothing is exchanged with `return`.
    assert changes(tmp_path, source, "order") == ["x = x + y y = x -> y = x x = x + y", "y = x z = y -> z = y y = x"]


def test_assignments_are_not_exchanged_where_a_name_would_have_no_value(tmp_path: Path) -> None:
    assert changes(tmp_path, "def f(x):\n    y = x\n    z = y\n    return z\n", "order") == []


def test_a_mutant_says_where_it_is_and_gives_its_text(tmp_path: Path) -> None:
    source = "class A:\n    def f(self, x):\n        return x < 3\n"
    [mutant] = [each for each in mutants_of(tmp_path, source) if each.after == "x <= 3"]
    assert (mutant.file, mutant.line, mutant.column, mutant.function) == ("env.py", 3, 15, "A.f")
    assert mutant.apply(source.encode()).decode() == source.replace("x < 3", "x <= 3")


def test_bytes_beyond_ascii_do_not_move_a_change(tmp_path: Path) -> None:
    source = "A = 'ä→', x < y\n"
    [mutant] = [each for each in mutants_of(tmp_path, source) if each.after == "x <= y"]
    assert mutant.column == 10
    assert mutant.apply(source.encode()).decode() == "A = 'ä→', x <= y\n"


def test_ids_are_stable_and_tell_every_mutant_apart(tmp_path: Path) -> None:
    source = "A = 3\nB = 3\n"
    first, again = mutants_of(tmp_path, source), mutants_of(tmp_path, source)
    assert [each.id for each in first] == [each.id for each in again]
    assert len({each.id for each in first}) == 4
    assert [each.occurrence for each in first if each.after == "4"] == [1, 2]
    assert not {each.id for each in first} & {each.id for each in mutants_of(tmp_path, source + "\n")}


def test_two_operators_that_make_the_same_text_count_once(tmp_path: Path) -> None:
    found = mutants_of(tmp_path, "a = x[2 - 1]\n")
    assert len({each.apply(b"a = x[2 - 1]\n") for each in found}) == len(found)


def test_every_mutant_is_a_program(tmp_path: Path) -> None:
    source = Path(__file__).read_bytes()
    (tmp_path / "env.py").write_bytes(source)
    for mutant in enumerate_mutants(tmp_path):
        compile(mutant.apply(source), "env.py", "exec")


def test_a_file_that_cannot_be_parsed_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"env\.py: it cannot be parsed"):
        mutants_of(tmp_path, "def f(:\n")


def test_bytecode_tells_a_folded_constant_from_a_changed_one() -> None:
    assert same_bytecode(b"A = 2 - 0\n", b"A = 2\n")
    assert not same_bytecode(b"A = 2\n", b"A = 3\n")
    assert not same_bytecode(b"A = 0.0\n", b"A = -0.0\n")
    assert not same_bytecode(b"A = 1\n", b"A = True\n")


def test_a_sample_is_repeatable_and_takes_of_every_operator_its_share(tmp_path: Path) -> None:
    source = "".join(f"A{n} = {n + 2}\n" for n in range(40)) + "".join(f"b{n} = x < y\n" for n in range(10))
    mutants = mutants_of(tmp_path, source)
    drawn = sampled(mutants, 20, seed=5)
    assert [each.id for each in drawn] == [each.id for each in sampled(mutants, 20, seed=5)]
    assert [each.id for each in drawn] != [each.id for each in sampled(mutants, 20, seed=6)]
    assert Counter(each.operator for each in drawn) == {"constant": 16, "comparison": 4}
    assert [each for each in mutants if each in drawn] == drawn
    assert sampled(mutants, None, seed=5) == sampled(mutants, 1000, seed=5) == mutants
