"""Code that rounds otherwise than it does: rewritten, it does the same, until it is told to round."""

from __future__ import annotations

import ast
import builtins
import fractions
import math
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from harness.verify.rounding.disturbed_worker import NAME, Rewritten, Rounding, are_exact, rewrites


@pytest.fixture
def rounding(monkeypatch: pytest.MonkeyPatch) -> Iterator[Rounding]:
    made = Rounding(seed=1, narrowest=8)
    monkeypatch.setattr(builtins, NAME, made, raising=False)
    yield made


def rewritten(code: str, **names: Any) -> dict[str, Any]:
    """What a module holds whose source was rewritten."""
    module = dict(names, math=math, np=np)
    exec(compile(Rewritten().visit(ast.parse(textwrap.dedent(code))), "rules.py", "exec"), module)
    return module


def values(rounding: Rounding, function: Any, count: int = 200) -> set[Any]:
    """What a function returns while it is disturbed."""
    rounding.active = True
    try:
        return {function() for _ in range(count)}
    finally:
        rounding.active = False


RULES = """
    "The rules of a game."
    from __future__ import annotations

    class Ball:
        speed: float | None = 1.5

        def __init__(self, at):
            self.at, self.__hidden = at, 3
            self.trail = np.zeros(3)

        def move(self, by):
            trail = self.trail
            self.at += by * self.speed
            self.trail[1:] += self.at
            trail *= 2.0
            self.places()[0] += 1
            count = 0
            for number in range(5):
                count += number % 3
            match count:
                case -1 | 4 if self.at - 1 < 9:
                    said = "%d steps, " % count + str(count ** 2)
                case _:
                    said = "none"
            return self.at, said, [1] + [2] * 2, self.trail.sum(), math.sin(self.at), self.__hidden // 2

        def places(self):
            self.list = getattr(self, "list", [0])
            return self.list
"""


def test_rewritten_code_does_what_it_did(rounding: Rounding) -> None:
    plain: dict[str, Any] = {"math": math, "np": np}
    exec(textwrap.dedent(RULES), plain)
    one, other = plain["Ball"](2.0), rewritten(RULES)["Ball"](2.0)
    for by in (0.1, 0.7, -3.3):
        assert one.move(by) == other.move(by)
        assert one.trail.tolist() == other.trail.tolist() and one.list == other.list


def test_functions_and_powers_move_by_two_units_at_most(rounding: Rounding) -> None:
    module = rewritten(
        "def sine(x): return np.sin(x)\ndef root(x): return x ** 0.5\ndef plain(x): return np.clip(x, 0, 9)"
    )
    for name, value, exact in (("sine", 0.7, math.sin(0.7)), ("root", 3.0, 3.0**0.5)):
        seen = values(rounding, lambda name=name, value=value: float(module[name](value)))
        assert len(seen) == 5
        assert max(abs(one - exact) for one in seen) == 2 * np.spacing(exact)
        assert module[name](value) == exact, "nothing moves where nothing is disturbed"
    assert values(rounding, lambda: module["plain"](0.3)) == {0.3}


def test_only_what_is_rounded_moves(rounding: Rounding) -> None:
    module = rewritten("def add(a, b): return a + b\ndef double(a): return a * 2.0\ndef third(a): return a / 3.0")
    assert len(values(rounding, lambda: module["add"](0.1, 0.2))) == 3
    assert values(rounding, lambda: module["add"](1.5, 0.25)) == {1.75}
    assert values(rounding, lambda: module["double"](0.1)) == {0.2}
    assert values(rounding, lambda: module["third"](3.0)) == {1.0}
    assert len(values(rounding, lambda: module["third"](1.0))) == 3
    assert values(rounding, lambda: module["add"](3, 4)) == {7}


def test_narrower_sums_are_rules_and_stay_and_narrower_powers_move(rounding: Rounding) -> None:
    module = rewritten("def add(a, b): return a + b\ndef square(a): return a ** 2")
    third = np.float32(1) / np.float32(3)
    assert values(rounding, lambda: module["add"](third, np.float32(0.1))) == {third + np.float32(0.1)}
    moved = values(rounding, lambda: module["square"](third))
    assert len(moved) == 5 and {type(one) for one in moved} == {np.float32}


def test_an_array_moves_element_by_element_and_in_its_place(rounding: Rounding) -> None:
    module = rewritten("def push(a, b):\n    a += b\n    return a")
    shared = np.array([[0.1, 0.0], [np.inf, -7.0]])
    rounding.active = True
    answers = [module["push"](array := shared.copy(), np.full((2, 2), 0.2)) is array for _ in range(3)]
    seen = [module["push"](shared.copy(), np.full((2, 2), 0.2)) for _ in range(100)]
    rounding.active = False
    assert all(answers)
    assert {tuple(one.ravel()[1:3]) for one in seen} == {(0.2, np.inf)}, "what is exact or infinite stays"
    assert len({one[0, 0] for one in seen}) == 3 and seen[0].dtype == np.float64


@pytest.mark.parametrize(
    ("name", "left", "right", "exact"),
    [
        ("+", 0.5, 0.25, True), ("+", 0.1, 0.2, False), ("-", 1e15, 1.0, True), ("-", 1e17, 1.0, False),
        ("*", 0.1, 4.0, True), ("*", 0.1, 3.0, False), ("/", 0.3, 2.0, True), ("/", 1.0, 10.0, False),
        ("+", np.array([0.5, 0.1]), 0.2, False), ("*", np.array([0.5, 0.1]), 2.0, True),
    ],
)  # fmt: skip
def test_what_are_exact_is_known(name: str, left: Any, right: Any, exact: bool) -> None:
    result = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[name](left, right)
    assert bool(np.all(are_exact(name, left, right, result))) is exact


def test_libraries_are_left_as_they_are() -> None:
    assert rewrites("rules", "/somewhere/rules.py")
    assert rewrites(
        "gymnasium.envs.classic_control.pendulum", "/e/lib/python3.11/site-packages/gymnasium/envs/pendulum.py"
    )
    assert not rewrites("numpy.linalg", "/e/lib/python3.11/site-packages/numpy/linalg/__init__.py")
    assert not rewrites("fractions", str(fractions.__file__))
