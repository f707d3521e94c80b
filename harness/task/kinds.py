"""The kinds of values that only a task file has: leaves, laws of chance, requirements, files of the task."""

from __future__ import annotations

import math
import re
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from harness.model import Leaf
from harness.task.contract import REFERENCE_DIRECTORY, Law, TaskDraw, Tolerance
from harness.task.schema import (
    INVALID,
    Kind,
    Location,
    Required,
    anything,
    array_of,
    describe,
    number,
    one_of,
    table,
    text,
    whole,
)
from harness.task.training import DEFAULTS, mistakes_in

PINNED = "one exact version, as in `numpy==2.4.6`"
_WIDTHS = (8, 16, 32, 64)
_HASHED = re.compile(r"#sha256=[0-9a-f]{64}$")
"""How pip is told the one content that an address may have; of an empty or a shorter hash it takes no notice."""
DTYPES = (
    "bool",
    *(f"int{width}" for width in _WIDTHS),
    *(f"uint{width}" for width in _WIDTHS),
    *(f"float{width}" for width in _WIDTHS[1:]),
)
MOMENTS = ("reset", "step", "both")
_INFINITIES = {"inf": math.inf, "+inf": math.inf, "-inf": -math.inf}
_PROBABILITY_SLACK = 1e-9

name = text("a name of at most 64 lower-case letters, digits, `_` and `-`", r"[a-z][a-z0-9_-]{0,63}")
identifier = text("a name of letters, digits and `_`", r"[A-Za-z_][A-Za-z0-9_]*")
positive = number("a number above 0", lambda value: value > 0)
not_negative = number("a number of at least 0", lambda value: value >= 0)
source = text("`path`, `path:line` or `path:first-last`", r"[^:\s]+(:\d+(-\d+)?)?")
distribution = text("the name of a distribution", r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")

_dtype = one_of(*DTYPES)
_shape = array_of(whole(1))


# --- leaves -----------------------------------------------------------------------------------------------------------


def leaf(value: Any, location: Location) -> Any:
    """A leaf: dtype, shape, and closed bounds: one number for all elements, or nested arrays of the leaf's shape."""
    read = _leaf_table(value, location)
    if read is INVALID or "dtype" not in read or INVALID in read.get("shape", ()):
        return INVALID
    kind, shape = np.dtype(read["dtype"]), read.get("shape", ())
    bounds = {end: _bound(read[end], kind, shape, location.at(end)) for end in ("low", "high") if end in read}
    if INVALID in bounds.values():
        return INVALID
    if len(bounds) == 2 and np.any(np.asarray(bounds["low"]) > np.asarray(bounds["high"])):
        return location.at("low").wrong("it is above `high`", "low <= high, element by element")
    return Leaf(str(location.path[-1]), read["dtype"], shape, bounds.get("low"), bounds.get("high"))


_leaf_table = table({"dtype": Required(_dtype), "shape": _shape, "low": anything, "high": anything})


def _bound(
    value: Any, dtype: np.dtype[Any], shape: tuple[int, ...], location: Location, *, nested: bool = False
) -> Any:
    if isinstance(value, list):
        if not shape or len(value) != shape[0]:
            expected = f"an array of {shape[0]}, or one number for all" if shape else "one number"
            return location.wrong(f"it is {describe(value)}", expected)
        read = [_bound(item, dtype, shape[1:], location.at(i), nested=True) for i, item in enumerate(value)]
        return INVALID if INVALID in read else read
    if nested and shape:
        return location.wrong(f"it is {describe(value)}", f"an array of {shape[0]}")
    if dtype.kind == "b":
        return location.wrong("a boolean has no bounds", "dtype and shape alone")
    return _float_bound(value, dtype, location) if dtype.kind == "f" else _integer_bound(value, dtype, location)


def _float_bound(value: Any, dtype: np.dtype[Any], location: Location) -> Any:
    if isinstance(value, str) and value in _INFINITIES:
        return _INFINITIES[value]
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not abs(value) <= math.inf:
        return location.wrong(f"it is {describe(value)}", 'a number, "inf" or "-inf"')
    # Compared, not asked for `math.isfinite`: an integer may be beyond any float.
    if abs(value) != math.inf and abs(value) > float(np.finfo(dtype).max):
        return location.wrong(f"{value!r} is beyond {dtype.name}", 'a number that it can hold, "inf" or "-inf"')
    return float(value)


def _integer_bound(value: Any, dtype: np.dtype[Any], location: Location) -> Any:
    limits = np.iinfo(dtype)
    if not isinstance(value, int) or isinstance(value, bool) or not limits.min <= value <= limits.max:
        return location.wrong(f"it is {describe(value)}", f"an integer that fits {dtype.name}")
    return value


def tolerance(value: Any, location: Location) -> Any:
    """A tolerance: `rtol`, `atol`, `ulp` and `scale`, one of them at least."""
    read = table({"rtol": not_negative, "atol": not_negative, "ulp": whole(0), "scale": not_negative})(value, location)
    if read is INVALID:
        return INVALID
    if value == {}:
        return location.wrong(
            "it says nothing", "`rtol`, `atol`, `ulp` or `scale`; without a tolerance a leaf is exact"
        )
    return Tolerance(**read)


# --- chance -----------------------------------------------------------------------------------------------------------


def draw(value: Any, location: Location) -> Any:
    """A named chance event, with the law that it follows."""
    read = _draw_table(value, location)
    if read is INVALID or "dtype" not in read:
        return INVALID
    return TaskDraw(name=str(location.path[-1]), **(read | _law_for(read, location.at("law"))))


_draw_table = table(
    {"dtype": Required(_dtype), "shape": _shape, "at": one_of(*MOMENTS), "capacity": whole(1), "law": anything}
)


def _integer(value: Any, location: Location) -> Any:
    whole_number = isinstance(value, int) and not isinstance(value, bool)
    return value if whole_number else location.wrong(f"it is {describe(value)}", "an integer")


def drawn_number(value: Any, location: Location) -> Any:
    """A value of a draw: whole where it is written so, which decides whether an integer can hold it."""
    return INVALID if number()(value, location) is INVALID else value


_probability = number("a probability from 0 to 1", lambda value: 0 <= value <= 1)
_LAWS: dict[str, tuple[str, Kind]] = {
    "uniform": ("f", table({"kind": anything, "low": Required(number()), "high": Required(number())})),
    "normal": ("f", table({"kind": anything, "mean": Required(number()), "std": Required(positive)})),
    "integers": ("iu", table({"kind": anything, "low": Required(_integer), "high": Required(_integer)})),
    "categorical": (
        "iub",
        table({"kind": anything, "probabilities": Required(array_of(_probability, at_least=1))}),
    ),
}
_KIND_NAMES = {"f": "a float", "iu": "an integer", "iub": "an integer or a boolean"}


def _law_for(draw: dict[str, Any], location: Location) -> dict[str, Any]:
    """The `law` entry of a draw, or nothing where there is none or a wrong one."""
    described = draw.get("law")
    if described is None:
        return {}
    missing = {"law": None}
    if not isinstance(described, dict) or "kind" not in described:
        location.wrong(f"it is {describe(described)}", f"a table with `kind`, one of {', '.join(_LAWS)}")
        return missing
    if one_of(*_LAWS)(described["kind"], location.at("kind")) is INVALID:
        return missing
    dtype_kinds, kind = _LAWS[described["kind"]]
    read = kind(described, location)
    if np.dtype(draw["dtype"]).kind not in dtype_kinds:
        location.wrong(
            f"the law `{described['kind']}` does not fit dtype {draw['dtype']}", f"{_KIND_NAMES[dtype_kinds]} dtype"
        )
    elif _law_holds(read, np.dtype(draw["dtype"]), location):
        return {"law": Law(**read)}
    return missing


def _law_holds(read: dict[str, Any], dtype: np.dtype[Any], location: Location) -> bool:
    """Whether the numbers of a law make a distribution over its dtype."""
    if "low" in read and "high" in read:
        if read["low"] > read["high"] or (read["low"] == read["high"] and read["kind"] == "uniform"):
            location.at("low").wrong("it is not below `high`", "low < high")
            return False
        if read["kind"] == "integers":
            lowest, highest = np.iinfo(dtype).min, np.iinfo(dtype).max
        else:
            lowest, highest = float(np.finfo(dtype).min), float(np.finfo(dtype).max)
        if read["low"] < lowest or read["high"] > highest:
            location.wrong(f"it reaches beyond {dtype.name}", f"{lowest} to {highest}")
            return False
    if "probabilities" in read:
        total = math.fsum(read["probabilities"])
        if abs(total - 1) > _PROBABILITY_SLACK:
            location.at("probabilities").wrong(f"they sum to {total:.12g}", "a sum of 1")
            return False
        largest = 1 if dtype.kind == "b" else np.iinfo(dtype).max
        if len(read["probabilities"]) > largest + 1:
            location.at("probabilities").wrong(f"{dtype.name} cannot name {len(read['probabilities'])} outcomes")
            return False
    return True


# --- software and files -----------------------------------------------------------------------------------------------


def requirement(value: Any, location: Location) -> Any:
    """A requirement that means one version for ever: `name==version`, or an address with its `#sha256=`."""
    if not isinstance(value, str):
        return location.wrong(f"it is {describe(value)}", PINNED)
    problem = problem_with_requirement(value)
    return value if problem is None else location.wrong(problem, PINNED)


def problem_with_requirement(requirement: str) -> str | None:
    """Why a requirement does not mean one version for ever, or None if it does."""
    try:
        parsed = Requirement(requirement)
    except InvalidRequirement as error:
        return f"{requirement!r} is not a requirement ({str(error).splitlines()[0]})"
    if parsed.url is not None:
        fixed = _HASHED.search(parsed.url)
        return None if fixed else f"{requirement!r} is an address whose content may change, without `#sha256=...`"
    pinned = [s for s in parsed.specifier if s.operator in ("==", "===") and not s.version.endswith(".*")]
    return None if pinned else f"{requirement!r} is not pinned"


def interpreter(value: Any, location: Location) -> Any:
    """A version specifier for Python, as `>=3.8,<3.12`."""
    try:
        SpecifierSet(value)
    except (InvalidSpecifier, TypeError, AttributeError):
        return location.wrong(f"it is {describe(value)}", "a version specifier, as in `>=3.8,<3.12`")
    return value


def file_in(directory: Path, *, below: str = "", suffix: str = "", exists: bool = True) -> Kind:
    """A file of the task: relative to `directory`, never outside of it, and below one of its folders if so asked."""
    wanted = f"a file{f' `*{suffix}`' if suffix else ''} {f'in `{below}/`' if below else 'in the task directory'}"

    def read(value: Any, location: Location) -> Any:
        if not isinstance(value, str) or not value:
            return location.wrong(f"it is {describe(value)}", wanted)
        path = PurePosixPath(value)
        if path.is_absolute() or ".." in path.parts:
            return location.wrong(f"{value!r} leaves the task directory", wanted)
        if (below and path.parts[0] != below) or not value.endswith(suffix):
            return location.wrong(f"it is {value!r}", wanted)
        if exists and not (directory / path).is_file():
            return location.wrong(f"there is no file {value!r}", wanted)
        return value

    return read


def opponent_in(directory: Path) -> Kind:
    """The name of a policy, or a file of the reference's that holds one."""
    name = text("`random`, a scripted policy of the adapter's, or a file `reference/*.npz`", r"\w{1,64}")
    file = file_in(directory, below=REFERENCE_DIRECTORY, suffix=".npz")
    return lambda value, location: (file if str(value).endswith(".npz") else name)(value, location)


def adapter_in(directory: Path) -> Kind:
    """`path/to/file.py:Class`, with the file in the task directory."""
    file = file_in(directory, suffix=".py")

    def read(value: Any, location: Location) -> Any:
        path, _, attribute = value.rpartition(":") if isinstance(value, str) else ("", "", "")
        if not path.endswith(".py") or not attribute.isidentifier():
            return location.wrong(f"it is {describe(value)}", "`path/to/file.py:Class`")
        return INVALID if file(path, location) is INVALID else value

    return read


# --- training ---------------------------------------------------------------------------------------------------------


def looks(value: Any, location: Location) -> Any:
    """How many trainings there are at each look of level 4: whole numbers, ascending."""
    read = array_of(whole(2), at_least=1)(value, location)
    if read is INVALID or INVALID in read:
        return INVALID
    if list(read) != sorted(set(read)):
        return location.wrong(f"it is {list(read)}", "numbers that rise: each look adds trainings to the one before")
    return read


def hyper_parameters(value: Any, location: Location) -> Any:
    """The trainer's hyper-parameters, as far as they differ from its own."""
    known = _hyper_parameters(value, location)
    if known is INVALID:
        return INVALID
    mistakes = mistakes_in(known)
    for mistake in mistakes:
        if mistake.name in known:
            given, here = known[mistake.name], location.at(mistake.name)
            what = f"it is {given if isinstance(given, list) else describe(given)}"
            here.wrong(what, mistake.expected, given=str(given), choices=mistake.choices)
        else:  # it has its default, which something else that was written rules out
            beside = next(name for name in mistake.beside if name in known)
            location.at(beside).wrong(f"`{mistake.name}` is {mistake.value}", mistake.expected)
    return INVALID if mistakes or len(known) < len(value) else known


_hyper_parameters = table(dict.fromkeys(DEFAULTS, anything))
