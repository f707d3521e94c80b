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
_TEXTS = ("file", "function", "operator", "before", "after", "verdict", "because")


@dataclass(frozen=True)
class Explanation:
    """What a person says of a survivor: `equivalent` with the argument, or `missed` with the test that would kill it."""

    file: str
    function: str
    operator: str
    before: str
    after: str
    verdict: str
    because: str
    occurrence: int | None = None

    @staticmethod
    def of(mutant: Mutant, verdict: str, because: str) -> Explanation:
        """What is said of this very mutant."""
        return Explanation(
            mutant.file,
            mutant.function,
            mutant.operator,
            mutant.before,
            mutant.after,
            verdict,
            because,
            mutant.occurrence,
        )

    def fits(self, mutant: Mutant) -> bool:
        """Whether it speaks of this mutant. Lines are not compared: they move with every edit."""
        mine = (self.file, self.function, self.operator, self.before, self.after)
        its = (mutant.file, mutant.function, mutant.operator, mutant.before, mutant.after)
        return mine == its and self.occurrence in (None, mutant.occurrence)

    @property
    def name(self) -> str:
        """The mutant in one line."""
        return f"{self.file} {self.function}, {self.operator}: {self.before} -> {self.after}"


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
    found = {mutant.id: entry for entry in explanations for mutant in mutants if entry.fits(mutant)}
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
    wrong = [
        f"`{name}` is missing or no text"
        for name in _TEXTS
        if not isinstance(entry.get(name), str)
        or not (entry[name] or name == "after")  # what is dropped leaves nothing
    ]
    wrong += [f"unknown key `{name}`" for name in entry if name not in (*_TEXTS, "occurrence")]
    if entry.get("verdict") not in (EQUIVALENT, MISSED):
        wrong.append(f'`verdict` is {entry.get("verdict")!r}; expected "{EQUIVALENT}" or "{MISSED}"')
    occurrence = entry.get("occurrence")
    if occurrence is not None and (type(occurrence) is not int or occurrence < 1):
        wrong.append(f"`occurrence` is {occurrence!r}; expected a whole number from 1")
    return wrong
