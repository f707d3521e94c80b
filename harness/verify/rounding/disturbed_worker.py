"""Runs a worker whose steps round otherwise than they do, in the reference's environment. It needs Python 3.8+ and numpy.

    python disturbed_worker.py SEED BYTES WORKER.py ADAPTER.py:CLASS

What the reference's own Python files compute in a step is moved at random by a few units in the last place: what a function
such as `sin` or a power returns, and each sum, product and quotient that is not exact. So another mathematical library,
fused multiply-adds or another order of sums could have it (Monte Carlo arithmetic: D. S. Parker, 1997). Sums and products of
floats narrower than BYTES are left as they are: their rounding is part of the rules. Resets and restored states are too.
"""

# ruff: noqa: SIM905

from __future__ import annotations  # Python 3.8 does not know `list[str]`

import ast
import builtins
import copy
import importlib.machinery
import operator
import os
import random
import runpy
import sys
import sysconfig
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

FUNCTIONS = frozenset(
    "sin cos tan asin acos atan atan2 arcsin arccos arctan arctan2 sinh cosh tanh asinh acosh atanh arcsinh arccosh arctanh "
    "exp exp2 expm1 log log2 log10 log1p pow power float_power cbrt hypot erf erfc gamma lgamma".split()
)
"""What mathematical libraries compute each in their own way."""
SUMS = frozenset(
    "sum mean dot vdot inner outer matmul einsum norm prod cumsum average var std trapz interp convolve cross".split()
)
"""What adds up many numbers in an order that is not said."""
NAME = "__lockstep_rounding__"
"""Under which rewritten code finds `Rounding`."""
FUNCTION_ULPS, SUM_ULPS, ARITHMETIC_ULPS = 2, 2, 1
OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.Mod: "%", ast.FloorDiv: "//",
    ast.MatMult: "@",
}  # fmt: skip
APPLY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow, "%": operator.mod,
    "//": operator.floordiv, "@": operator.matmul,
}  # fmt: skip
IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv, "**": operator.ipow,
    "%": operator.imod, "//": operator.ifloordiv, "@": operator.imatmul,
}  # fmt: skip
ULPS = {"**": FUNCTION_ULPS, "@": SUM_ULPS}
LIBRARIES = ("numpy", "scipy", "numba", "jax", "jaxlib", "torch", "tensorflow", "msgpack", "matplotlib", "pygame")
"""They round as they do: what a reference computes with them is disturbed where it calls them."""
SPLIT = 134217729.0
"""2**27 + 1: halves the digits of a float64 (Dekker, 1971)."""


class Rounding:
    """What rewritten code calls. Only while it is `active` anything is moved.

    Args:
        seed: of the moves.
        narrowest: bytes of the narrowest floats whose sums and products are moved.
    """

    def __init__(self, seed: int, narrowest: int) -> None:
        self._chance = random.Random(seed)
        self._narrowest = narrowest
        self.active = False

    def applied(self, name: str, left: Any, right: Any) -> Any:
        """What an operator makes of two values, moved where that is rounded."""
        result = APPLY[name](left, right)
        if not self.active or not is_float(result):
            return result
        if name in ULPS:
            return self._moved(result, ULPS[name])
        if name in ("%", "//") or width(result) < self._narrowest:
            return result
        exact = are_exact(name, left, right, result)
        if not isinstance(result, np.ndarray):
            return result if exact else self._moved(result, ARITHMETIC_ULPS)
        return np.where(exact, result, self._moved(result, ARITHMETIC_ULPS))

    def augmented(self, name: str, left: Any, right: Any) -> Any:
        """What `+=` and the like leave; an array is changed in its place, so that whoever shares it sees it."""
        if not self.active:
            return IN_PLACE[name](left, right)
        if not isinstance(left, np.ndarray):
            return self.applied(name, left, right)
        left[...] = self.applied(name, left.copy(), right)
        return left

    def returned(self, ulps: int, result: Any) -> Any:
        """What a function returned, moved."""
        return self._moved(result, ulps) if self.active and is_float(result) else result

    def _moved(self, value: Any, ulps: int) -> Any:
        """The value or the array, each number moved by at most so many units in its last place."""
        if isinstance(value, np.ndarray):
            steps = np.array([self._chance.randint(-ulps, ulps) for _ in range(value.size)]).reshape(value.shape)
            with np.errstate(all="ignore"):
                there = value + (steps * np.spacing(np.abs(value))).astype(value.dtype)
            return np.where(np.isfinite(value) & (value != 0), there, value).astype(value.dtype)
        if value == 0 or not np.isfinite(value):
            return value
        return type(value)(value + self._chance.randint(-ulps, ulps) * np.spacing(abs(value)))


def is_float(value: Any) -> bool:
    """Whether this is a float, or an array of floats."""
    return isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")


def width(value: Any) -> int:
    """Bytes of one number."""
    return int(np.asarray(value).dtype.itemsize)


def are_exact(name: str, left: Any, right: Any, result: Any) -> Any:
    """Whether nothing was rounded, element by element; what is not finite counts as exact."""
    try:
        one, other, made = (np.asarray(value, np.float64) for value in (left, right, result))
    except (TypeError, ValueError):
        return False
    with np.errstate(all="ignore"):
        if width(result) < 8:  # float64 holds what two narrower ones make, or nearly
            exact = APPLY[name](one, other) == made
        elif name in "+-":
            added = other if name == "+" else -other
            back = made - one
            exact = (one - (made - back)) + (added - back) == 0
        elif name == "*":
            exact = _product_error(one, other, made) == 0
        else:
            exact = (made * other == one) & (_product_error(made, other, one) == 0)
    return exact | ~np.isfinite(made)


def _product_error(one: Any, other: Any, product: Any) -> Any:
    high, above = one * SPLIT - (one * SPLIT - one), other * SPLIT - (other * SPLIT - other)
    low, below = one - high, other - above
    return low * below - (((product - high * above) - low * above) - high * below)


class Rewritten(ast.NodeTransformer):
    """Every operator and every call of a mathematical function goes through the functions above."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """`a + b`."""
        self.generic_visit(node)
        name = OPERATORS.get(type(node.op))
        if name is None:
            return node
        return self._call(node, "applied", ast.Constant(name, kind=None), node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """`a += b`, where reading `a` twice does nothing twice."""
        self.generic_visit(node)
        name = OPERATORS.get(type(node.op))
        if name is None or any(isinstance(part, (ast.Call, ast.NamedExpr)) for part in ast.walk(node.target)):
            return node
        read = copy.deepcopy(node.target)
        read.ctx = ast.Load()
        made = self._call(node, "augmented", ast.Constant(name, kind=None), read, node.value)
        return ast.fix_missing_locations(ast.copy_location(ast.Assign([node.target], made), node))

    def visit_match_case(self, node: Any) -> Any:
        """A pattern is no expression, though it may look like one."""
        node.guard = node.guard and self.visit(node.guard)
        node.body = [self.visit(each) for each in node.body]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`np.sin(a)`, `sin(a)`, `a.sum()`."""
        self.generic_visit(node)
        named = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        ulps = FUNCTION_ULPS if named in FUNCTIONS else SUM_ULPS if named in SUMS else 0
        return self._call(node, "returned", ast.Constant(ulps, kind=None), node) if ulps else node

    def _call(self, node: ast.AST, name: str, *arguments: Any) -> Any:
        function = ast.Attribute(ast.Name(NAME, ast.Load()), name, ast.Load())
        return ast.fix_missing_locations(ast.copy_location(ast.Call(function, list(arguments), []), node))


def rewrite_what_is_imported() -> None:
    """From now on every module is rewritten as it is loaded, unless it is the standard library's or another library's."""
    loader = importlib.machinery.SourceFileLoader
    usual = loader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        path = self.get_filename(fullname)
        if not rewrites(fullname, path):
            return usual(self, fullname)  # type: ignore[arg-type]
        # Not what was compiled before, which lies beside the file.
        return compile(Rewritten().visit(ast.parse(self.get_data(path), path)), path, "exec", dont_inherit=True)

    loader.get_code = get_code  # type: ignore[method-assign]


def rewrites(name: str, path: str) -> bool:
    """Whether a module may hold rules of the reference."""
    standard = [sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib")]
    in_standard = any(path.startswith(place + os.sep) for place in standard if place) and "site-packages" not in path
    return not in_standard and name.partition(".")[0] not in LIBRARIES


def main(arguments: list[str]) -> None:
    """Serve the adapter as the worker does, its steps disturbed."""
    seed, narrowest, worker, adapter = arguments
    rounding = Rounding(int(seed), int(narrowest))
    setattr(builtins, NAME, rounding)
    rewrite_what_is_imported()
    sys.argv = [worker, adapter]
    served = runpy.run_path(worker, run_name="__lockstep_worker__")["main"].__globals__
    served["load"] = partial(_disturbing, served["load"], rounding)
    served["main"]([adapter])


def _disturbing(load: Callable[[str], Any], rounding: Rounding, target: str) -> Callable[..., Any]:
    """What makes the adapter that is named, with disturbed steps."""
    made = load(target)

    def make(**options: Any) -> Any:
        adapter = made(**options)
        step = adapter.step

        def disturbed(*given: Any, **named: Any) -> Any:
            rounding.active = True
            try:
                return step(*given, **named)
            finally:
                rounding.active = False

        adapter.step = disturbed
        return adapter

    return make


if __name__ == "__main__":
    main(sys.argv[1:])
