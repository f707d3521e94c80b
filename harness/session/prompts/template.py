"""Templates: a head of TOML between two lines `+++`, then Markdown with slots like `{{level}}`.

Every slot must be filled and every value must have a slot, so that a renamed one is an error and never a hole in a prompt.
Values are put in once and are not looked at again: text that comes from a candidate or a reference cannot open a slot of
its own.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from harness.errors import LockstepError
from harness.support.embedded import prompt_text

NAMES = (
    "translate",
    "properties",
    "interactions",
    "repair",
    "optimise_jax",
    "optimise_rust",
    "extract",
)
"""The templates that there are, in the order of the recipe."""
_SLOT = re.compile(r"\{\{(\w+)\}\}")
_HEAD = "+++\n"


@dataclass(frozen=True)
class Argument:
    """What a reader may choose: its name and what it means. Every one has a default that the description states."""

    name: str
    description: str


@dataclass(frozen=True)
class Template:
    """One prompt: `name` is that of its file, `body` the Markdown with slots. All take a session besides `arguments`."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    body: str


def templates() -> Mapping[str, Template]:
    """Every template by name, in the order of the recipe.

    Raises:
        LockstepError: one is missing or malformed.
    """
    return {name: load(name) for name in NAMES}


def load(name: str) -> Template:
    """One template.

    Raises:
        LockstepError: there is none of this name, or it is malformed.
    """
    if name not in NAMES:
        near = difflib.get_close_matches(name, NAMES, n=1)
        raise LockstepError(
            f"there is no prompt {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""),
            expected=f"one of: {', '.join(NAMES)}",
        )
    return parse(name, prompt_text(name))


def parse(name: str, text: str) -> Template:
    """The template that a file's text states.

    Raises:
        LockstepError: its head is missing or malformed.
    """
    try:
        empty, head, body = text.split(_HEAD, 2)
        described = tomllib.loads(head)
        if empty or set(described) - {"title", "description", "arguments"}:
            raise ValueError("its head may state title, description and arguments")
        arguments = tuple(
            Argument(argument, str(given_text["description"]))
            for argument, given_text in described.get("arguments", {}).items()
        )
        return Template(name, str(described["title"]), str(described["description"]), arguments, body)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LockstepError(
            f"the prompt template is malformed ({error})",
            where=f"prompts/{name}.md",
            expected="a head of TOML between two lines `+++` with title and description, then the text",
            next_step="mend the template, or install Lockstep again",
        ) from error


def slots(template: str) -> frozenset[str]:
    """The names of a template's slots."""
    return frozenset(_SLOT.findall(template))


def fill(template: str, values: Mapping[str, str]) -> str:
    """A template with its slots filled.

    Raises:
        LockstepError: a slot has no value, or a value no slot.
    """
    wanted = slots(template)
    if wanted != values.keys():
        lacking, surplus = sorted(wanted - values.keys()), sorted(values.keys() - wanted)
        raise LockstepError(
            f"the prompt template does not fit: slots without a value {lacking}, values without a slot {surplus}",
            expected=f"exactly the slots {sorted(values)}",
            next_step="mend the template in prompts/",
        )
    return _SLOT.sub(lambda slot: values[slot.group(1)], template)
