"""What to tell an agent that works on a specification: its rules and its sheet, and nothing that it must not have seen.

Whoever writes scenarios sees no reading; whoever writes a reading sees neither scenarios nor the other reading.
"""

from __future__ import annotations

from harness.calls import ShellCalls, ToolCalls
from harness.errors import LockstepError
from harness.session.prompts.template import Template, fill, parse
from harness.specification.place import ADAPTER_FILE, DIRECTORY, READINGS, Place, Specification
from harness.support.embedded import prompt_text
from harness.task.contract import Mode
from harness.verify.explain import as_data

OWN = "reading"
"""What whoever writes a reading through tools calls its directory."""
NAMES = ("sheet", "scenarios", "reading")
"""The prompts of this workflow, in its order."""


def load(name: str) -> Template:
    """The template of one of `NAMES`."""
    return parse(name, prompt_text(f"{DIRECTORY}/{name}"))


def render(name: str, specification: Specification, which: str = READINGS[0], *, session: str | None = None) -> str:
    """A prompt, filled from a specification.

    Args:
        name: one of `NAMES`.
        which: of `reading`, the reading that is to be written.
        session: what its reader's tools are called with; None where the reader has a shell.

    Raises:
        LockstepError: there is no such prompt.
        TaskError: it needs a sheet, and there is none.
    """
    if name not in NAMES:
        raise LockstepError(f"there is no prompt {name!r} of a specification", expected=f"one of: {', '.join(NAMES)}")
    place = specification.place
    there = place.directory.parent
    values = {
        "task": place.name,
        "rules": as_data(place.text().rstrip()) + _tables(place, session),
        "place": "sheet.toml" if session else f"{DIRECTORY}/sheet.toml",
        "check": ToolCalls(session).spec("check") if session else ShellCalls.check_specification(there),
    }
    if name != "sheet":
        sheet, scenarios = specification.demanded()
        values["sheet"] = as_data(place.sheet.read_text(encoding="utf-8").rstrip())
        if name == "scenarios":
            names = [f"- {one.name} ({', '.join(map(str, one.cites))})" for one in scenarios.scenarios]
            uncovered = scenarios.uncovered([one.number for one in specification.statements])
            left = ", ".join(map(str, uncovered)) or "none"
            values["existing"] = "\n".join(
                [*(names or ["No scenarios."]), "", f"Statements without a scenario: {left}."]
            )
            values["place"] = f"{place.scenarios.name}/" if session else f"{DIRECTORY}/{place.scenarios.name}/"
        else:
            drawn = ["draws", "force_draws"] if sheet.mode is Mode.TAPE else []
            values["which"] = which
            values["capabilities"] = str(["restore", *drawn])
            own = f"{OWN}/{ADAPTER_FILE}", ToolCalls(session).spec("play")
            named = f"{DIRECTORY}/readings/{which}/{ADAPTER_FILE}", ShellCalls.play_scenarios(there, which)
            values["place"], values["check"] = own if session else named
    return fill(load(name).body, values).rstrip() + "\n"


def _tables(place: Place, session: str | None) -> str:
    """What is said of tables that belong to the rules; nothing where there are none."""
    if not place.tables.is_dir():
        return ""
    listed = ", ".join(f"`{name}`" for name in sorted(path.name for path in place.tables.iterdir()))
    where = f"`{place.tables.name}/`" if session else f"`{DIRECTORY}/{place.tables.name}/`"
    return f"\n\nTables that belong to the rules lie in {where}, and a copy of them beside each program: {listed}."
