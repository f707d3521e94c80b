"""`survivors.toml` of a task: for each mutant of its own candidate that no level kills, why.

::

    [[survivor]]
    file = "env.py"
    function = "settle"
    operator = "comparison"
    before = "score == 21"
    after = "score >= 21"
    occurrence = 2              # only where several mutants agree in all of the above
    verdict = "equivalent"      # or "missed"
    because = "a game ends at 21: no state in scope has a greater score"

Without `operator`, `before` and `after` an entry speaks of all survivors of a function, and without `function` of a file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import TaskError
from harness.measure.strength.mutants import Mutant
from harness.support.foreign import toml_of
from harness.task.contract import SURVIVORS_FILE

EQUIVALENT, MISSED = "equivalent", "missed"
_TEXTS, _OF_ONE = ("file", "verdict", "because"), ("operator", "before", "after")


@dataclass(frozen=True)
class Explanation:
    """What a person says of survivors: `equivalent` with the argument, or `missed` with the test that would kill them."""

    file: str
    verdict: str
    because: str
    function: str | None = None
    operator: str | None = None
    before: str | None = None
    after: str | None = None
    occurrence: int | None = None

    @staticmethod
    def of(mutant: Mutant, verdict: str, because: str) -> Explanation:
        """What is said of this very mutant."""
        return Explanation(
            mutant.file,
            verdict,
            because,
            mutant.function,
            mutant.operator,
            mutant.before,
            mutant.after,
            mutant.occurrence,
        )

    @property
    def of_one(self) -> bool:
        """Whether it speaks of a single mutant, and so of none that is killed."""
        return self.before is not None

    def fits(self, mutant: Mutant) -> bool:
        """Whether it speaks of this mutant. Lines are not compared: they move with every edit."""
        names = ("function", *_OF_ONE, "occurrence")
        stated = {name: value for name in names if (value := getattr(self, name)) is not None}
        return self.file == mutant.file and all(getattr(mutant, name) == value for name, value in stated.items())

    @property
    def name(self) -> str:
        """What it speaks of, in one line."""
        where = f"{self.file} {self.function}" if self.function else self.file
        return f"{where}, {self.operator}: {self.before} -> {self.after}" if self.of_one else f"{where}, all survivors"


def load_explanations(directory: Path, kind: str = "jax") -> tuple[Explanation, ...]:
    """The explanations in a task's directory that speak of its candidate of a kind; none where it has no such file.

    Raises:
        TaskError: the file is wrong; every mistake is named.
    """
    path = directory / SURVIVORS_FILE
    if not path.is_file():
        return ()
    try:
        document = toml_of(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TaskError(f"it is not valid TOML: {error}", where=str(path)) from error
    mistakes = [f"unknown key `{name}`; expected [[survivor]]" for name in document if name != "survivor"]
    entries = document.get("survivor", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise TaskError("`survivor` is not an array of tables", where=str(path), mistakes=("expected [[survivor]]",))
    found = []
    for number, entry in enumerate(entries, 1):
        wrong = _mistakes(entry)
        mistakes += [f"[[survivor]] number {number}: {text}" for text in wrong]
        if not wrong:
            found.append(Explanation(**entry))
    if mistakes:
        raise TaskError("the explanations of survivors are wrong", where=str(path), mistakes=tuple(mistakes))
    return tuple(entry for entry in found if entry.file.endswith(".rs") == (kind == "rust"))


def explained(
    mutants: Sequence[Mutant], explanations: Sequence[Explanation], *, where: Path | None
) -> dict[str, Explanation]:
    """By id of a mutant, what is said of it.

    Args:
        where: the directory that holds the explanations, if each has to speak of one of the mutants; None lets them speak
            of another candidate.

    Raises:
        TaskError: an explanation speaks of no mutant.
    """
    closest = sorted(explanations, key=lambda entry: (entry.of_one, entry.function is not None))
    found = {mutant.id: entry for entry in closest for mutant in mutants if entry.fits(mutant)}
    strangers = [entry.name for entry in explanations if not any(entry.fits(mutant) for mutant in mutants)]
    if strangers and where is not None:
        raise TaskError(
            "some explanations speak of no mutant of the candidate",
            where=str(where / SURVIVORS_FILE),
            mistakes=tuple(strangers),
            next_step="remove them, or word them as `lockstep strength` words the mutant",
        )
    return found


def _mistakes(entry: Mapping[str, Any]) -> list[str]:
    one = any(name in entry for name in (*_OF_ONE, "occurrence"))
    needed = (*_TEXTS, *(("function", *_OF_ONE) if one else ("function",) if "function" in entry else ()))
    wrong = [
        f"`{name}` is missing or no text"
        for name in needed
        if not isinstance(entry.get(name), str)
        or not (entry[name] or name == "after")  # what is dropped leaves nothing
    ]
    wrong += [f"unknown key `{name}`" for name in entry if name not in (*_TEXTS, "function", *_OF_ONE, "occurrence")]
    if entry.get("verdict") not in (EQUIVALENT, MISSED):
        wrong.append(f'`verdict` is {entry.get("verdict")!r}; expected "{EQUIVALENT}" or "{MISSED}"')
    occurrence = entry.get("occurrence")
    if occurrence is not None and (type(occurrence) is not int or occurrence < 1):
        wrong.append(f"`occurrence` is {occurrence!r}; expected a whole number from 1")
    return wrong
