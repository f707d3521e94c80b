"""What each step of a specification came to, in a sentence, and what is due then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.calls import ToolCalls

Document = Mapping[str, Any]
Told = tuple[str, str, str]
"""The outcome, the sentence, and the call that is due."""
PASS, FAIL = "PASS", "FAIL"


def due(document: Document, calls: ToolCalls) -> str:
    """What is due after `check`."""
    check, session = calls.spec("check"), calls.session
    missing = next((which for which, there in document["readings"].items() if not there), "")
    return {
        "changed": "take back what was changed, or have a person freeze it again",
        "task": f"tell a person: the task is made, in {document['directory']}; a session on it begins once they offer it",
        "sheet": f"take the prompt `sheet`, write sheet.toml, then {check}",
        "contradictions": f"read the statements of these scenarios again, correct one of each pair, then {check}",
        "scenarios": f"take the prompt `scenarios`, write scenarios/, then {check}",
        "reading": f"have another agent, which has not seen this session, take the prompt `reading` of {session}.{missing}",
        "compare": calls.spec("compare"),
    }[document["due"]]


def _check(document: Document, calls: ToolCalls) -> Told:
    uncovered, found = document["without_scenario"], document["contradictions"]
    said = f"{len(document['statements'])} statements, {document['scenarios']} scenarios; "
    said += f"{len(uncovered)} statements have none, {len(found)} contradictions."
    return FAIL if uncovered or found or document["changed_since"] else PASS, said, due(document, calls)


def _number(document: Document, calls: ToolCalls) -> Told:
    return PASS, f"{document['added']} statements got a number.", calls.spec("check")


def _rule(document: Document, calls: ToolCalls) -> Told:
    added = document["statement"]
    then = f"write a scenario that cites {added['number']}, have the readings mended, then {calls.spec('compare')}"
    return PASS, f"Statement {added['number']}: {added['text']}", then


def _play(document: Document, calls: ToolCalls) -> Told:
    missed = document["missed"]
    if missed:
        said = f"The {document['reading']} reading misses {len(missed)} of {document['played']} scenarios."
        return FAIL, said, "read the statements that these cite again; what the text says is mended in the reading"
    return PASS, f"The {document['reading']} reading does as all {document['played']} scenarios say.", ""


def _compare(document: Document, calls: ToolCalls) -> Told:
    outcome, said = document["outcome"], f"{document['outcome']}: {document['summary']}."
    if outcome == PASS:
        return outcome, said, calls.spec("freeze", "first")
    differ = f"ask a person what the text means, then {calls.spec('rule')} with ruling and on"
    return outcome, said, differ if document["divergences"] else "have the reading mended that `missed` names"


def _strength(document: Document, calls: ToolCalls) -> Told:
    said = f"{document['survived']} of {document['planted']} faults in the {document['reading']} reading go unnoticed."
    return PASS, said, "write scenarios for the statements that the document names" if document["survived"] else ""


def _freeze(document: Document, calls: ToolCalls) -> Told:
    said = (
        f"The {document['reading']} reading is the reference of {document['task']}: commit {document['commit'][:12]}."
    )
    return PASS, said, calls.audit()


TOLD: Mapping[str, Callable[[Document, ToolCalls], Told]] = {
    "check": _check,
    "number": _number,
    "rule": _rule,
    "play": _play,
    "compare": _compare,
    "strength": _strength,
    "freeze": _freeze,
}
