"""The files and lines in which the rules of an environment are: those that an episode runs through."""

# It runs under the reference's own Python, which may be as old as 3.8.

from __future__ import annotations

import inspect
import os
import sys
import sysconfig
from typing import Any

LIBRARIES = frozenset(
    [
        *(
            "numpy",
            "scipy",
            "jax",
            "jaxlib",
            "chex",
            "flax",
            "torch",
            "tensorflow",
            "pygame",
            "matplotlib",
            "mujoco",
            "Box2D",
        ),
        *(
            "cv2",
            "PIL",
            "glfw",
            "OpenGL",
            "msgpack",
            "gymnasium_chance",
            "gymnasium_state",
            "gymnasium_plays",
            "gymnasium_players",
            "adapter",
        ),
    ]
)
"""Modules that many environments use, and that hold the rules of none."""
WRAPPERS = (
    "gymnasium.core", "gymnasium.wrappers", "gymnasium.spaces", "gymnasium.utils", "gymnasium.logger",
    "pettingzoo.utils.env", "pettingzoo.utils.wrappers.base", "pettingzoo.utils.wrappers.order_enforcing",
    "pettingzoo.utils.wrappers.assert_out_of_bounds", "pettingzoo.utils.env_logger", "pettingzoo.utils.conversions",
)  # fmt: skip


class Trace:
    """Notes the functions that run. `with trace:` around an episode."""

    def __init__(self) -> None:
        self._codes = {}  # type: dict[Any, str]

    def __enter__(self) -> Trace:
        sys.setprofile(self._note)
        return self

    def __exit__(self, *raised: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: Any, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code not in self._codes:
            self._codes[frame.f_code] = str(frame.f_globals.get("__name__", ""))

    def sources(self, directory: str, core: Any, owners: set[str]) -> list[str]:
        """`path:first-last` of the functions that ran and hold rules, nearest lines merged, in the order of files.

        Args:
            directory: the task's reference, whose files came along with it.
            core: the environment below all wrappers. Its own file is left out if it only passes on: if none of the state is
                an attribute of it, and functions ran of the modules that have the state.
            owners: modules of the classes of which state is attributes.
        """
        spans = {}  # type: dict[str, list[tuple[int, int]]]
        passing = type(core).__module__
        modules = {module for code, module in self._codes.items() if _path(code, module, directory) is not None}
        only_passes = bool(owners & (modules - {passing})) and passing not in owners
        for code, module in self._codes.items():
            path = _path(code, module, directory)
            if path is None or (only_passes and module == passing):
                continue
            try:
                lines, first = inspect.getsourcelines(code)
            except (OSError, TypeError, IndexError):
                continue
            spans.setdefault(path, []).append((max(1, first), max(1, first) + len(lines) - 1))
        return [f"{path}:{first}-{last}" for path, found in spans.items() for first, last in _merged(found)]


def _path(code: Any, module: str, directory: str) -> str | None:
    """A function's file below the task or below the packages; None where its code holds no rules of an environment."""
    root = module.partition(".")[0]
    if root in LIBRARIES or any(module == each or module.startswith(each + ".") for each in WRAPPERS):
        return None
    file = os.path.realpath(code.co_filename)
    within = os.path.relpath(file, os.path.realpath(directory))
    if not within.startswith(os.pardir):
        return f"{os.path.basename(os.path.abspath(directory))}/{within}"
    for place in map(os.path.realpath, (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))):
        within = os.path.relpath(file, place)
        if not within.startswith(os.pardir):
            return within.replace(os.sep, "/")
    return None  # the standard library, or code that has no file


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, those joined that overlap or touch but for blank lines between two methods."""
    merged = []  # type: list[tuple[int, int]]
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1] + 2:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return merged
