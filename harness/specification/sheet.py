"""The state sheet of a specification: its words, and what an environment of these rules shows and takes.

Both readings declare exactly the leaves and draws that stand here, so that they can be compared leaf by leaf. The sheet says
what there is to see; what happens to it only the statements say.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.model import STATE, Array, Leaf
from harness.specification.values import value_of
from harness.task.agreement import check_agreement
from harness.task.contract import Budgets, Candidate, Mode, Module, Reference, Task, TaskDraw, Tolerance
from harness.task.load import CONTRACT, leaf_path
from harness.task.players import Order, Players
from harness.task.schema import (
    INVALID,
    Location,
    Required,
    anything,
    array_of,
    table,
    table_of,
    text,
    whole,
)
from harness.task.toml_file import read_toml

SHEET_FILE = "sheet.toml"


@dataclass(frozen=True)
class Meaning:
    """What a word or a leaf means, and the statements that say so."""

    says: str
    cites: tuple[int, ...]


@dataclass(frozen=True)
class Sheet:
    """A state sheet.

    Attributes:
        summary: the game in one sentence.
        glossary: the words of the text that mean something of their own.
        meanings: of each leaf.
        leaves, draws, mode, players, tolerances, budgets: as of a task.
        background: values of state leaves that scenarios begin with where they say nothing else.
    """

    summary: str
    glossary: Mapping[str, Meaning]
    meanings: Mapping[str, Meaning]
    leaves: Mapping[str, Leaf]
    draws: Mapping[str, TaskDraw]
    mode: Mode
    background: Mapping[str, Array] = field(default_factory=dict)
    players: Players | None = None
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict)
    budgets: Budgets = field(default_factory=Budgets)

    def task(self, name: str, directory: Path, adapter: str) -> Task:
        """The task whose reference is one reading, which lies in `directory`. No candidate of it is ever asked for."""
        outputs = tuple(path for path in self.leaves if path.split("/")[0] != "action")
        return Task(
            name=name,
            summary=self.summary,
            workflow="create",
            directory=directory,
            reference=Reference(adapter, workers=1),
            # Asked as a crate is: for the draws of its own episodes, as it has no sampler apart from its steps.
            candidate=Candidate("rust", "candidate/rust/src/lib.rs"),
            leaves=self.leaves,
            modules=(Module("everything", leaves=outputs),),
            mode=self.mode,
            draws=self.draws,
            tolerances=self.tolerances,
            budgets=self.budgets,
            players=self.players,
        )


def read_sheet(path: Path, text_of_rules: str, statements: Collection[int]) -> Sheet:
    """The sheet in a file.

    Args:
        text_of_rules: the specification, in which every word of the glossary must occur.
        statements: the numbers that may be cited.

    Raises:
        TaskError: there is no such file, or it is wrong; every mistake is named.
    """
    background: dict[str, Array] = {}
    words = " ".join(text_of_rules.casefold().split())

    def agree(written: Mapping[str, Any], read: Mapping[str, Any], root: Location) -> None:
        check_agreement(written, read, root)
        for term in read.get("glossary", {}):
            if term.casefold() not in words:
                root.at("glossary", term).wrong("the text does not have this word", "words as the text writes them")
        mode = read.get("randomness", {}).get("mode")
        if mode in (Mode.LAW, Mode.SHARED):
            root.at("randomness", "mode").wrong(
                f"it is `{mode}`, in which no step of two readings is compared", "`tape`, or `none` without chance"
            )
        _cited(read, statements, root)
        _meanings(written, read, root)
        for leaf, value in read.get("background", {}).items():
            known = read.get("leaves", {}).get(leaf)
            if not leaf.startswith(STATE):
                root.at("background", leaf).wrong("it is no leaf of the state", "leaves below `state/`")
            elif known is not None:
                background[leaf] = value_of(known, value, root.at("background", leaf))
            elif leaf not in written.get("leaves", {}):
                root.at("background", leaf).wrong("the sheet has no such leaf", "a leaf of `[leaves]`")
        for leaf, tolerance in read.get("tolerance", {}).items():
            if tolerance.scale:
                root.at("tolerance", leaf, "scale").wrong(
                    "scenarios are judged before there is a reference to measure", "`atol`, `rtol` or `ulp`"
                )

    read = read_toml(path, "the state sheet", _SHEET, agree, next_step=f"write {SHEET_FILE} (docs/specification.md)")
    randomness = read["randomness"]
    return Sheet(
        summary=read["summary"],
        glossary={term: Meaning(**one) for term, one in read.get("glossary", {}).items()},
        meanings={leaf: Meaning(**one) for leaf, one in read["meaning"].items()},
        leaves=read["leaves"],
        draws=randomness.get("draws", {}),
        mode=Mode(randomness["mode"]),
        background=background,
        players=Players(read["players"]["names"], Order(read["players"]["order"])) if "players" in read else None,
        tolerances=read.get("tolerance", {}),
        budgets=Budgets(**read.get("budgets", {})),
    )


_MEANING = table({"says": Required(text()), "cites": Required(array_of(whole(1), at_least=1, unique=True))})
_SHEET = table(
    {
        "summary": Required(text()),
        "glossary": table_of(_MEANING, text()),
        "meaning": Required(table_of(_MEANING, leaf_path)),
        **CONTRACT,
        "background": table_of(anything, leaf_path),
    }
)


def _cited(read: Mapping[str, Any], statements: Collection[int], root: Location) -> None:
    for part in ("glossary", "meaning"):
        for name, meaning in read.get(part, {}).items():
            for place, number in enumerate(meaning.get("cites", ())):
                if number is not INVALID and number not in statements:
                    root.at(part, name, "cites", place).wrong(
                        f"there is no statement {number}",
                        f"numbers of statements, {min(statements)} to {max(statements)}",
                    )


def _meanings(written: Mapping[str, Any], read: Mapping[str, Any], root: Location) -> None:
    """Each leaf means something that the text says, and nothing else does."""
    leaves = written.get("leaves", {})
    for path in read.get("leaves", {}):
        if path not in written.get("meaning", {}):
            root.at("leaves", path).wrong(
                "no entry of `[meaning]` says what it is", "one for each leaf, with what it cites"
            )
    for path in read.get("meaning", {}):
        if path not in leaves:
            root.at("meaning", path).wrong(
                "the sheet has no such leaf", "a leaf of `[leaves]`", given=path, choices=leaves
            )
