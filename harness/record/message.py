"""The message of a verified commit: the agent's words, and trailers for the eye."""

from __future__ import annotations

import re
import unicodedata

from harness.errors import SessionError
from harness.support.text import visible
from harness.verdict import Verdict

AGENT = "Lockstep agent <agent@lockstep.invalid>"
MAX_CHARACTERS = 10_000
_IDENTITY = re.compile(r"[^<>\n\0]+ <[^<>\s\0]+>")
_TRAILER = re.compile(r"\s*lockstep-", re.IGNORECASE)
_DIVIDER = "---"
"""Where a line begins with it, `git interpret-trailers` takes the message to end, before the harness's own trailers."""


def commit_message(agent_message: str, title: str, verdict: Verdict) -> str:
    """`agent_message` (or, if there are none, `title`) with trailers that say what was verified.

    An agent's own lines that look like these trailers are quoted: only the harness says what passed. Hidden characters and
    those that a terminal obeys are escapes, for `git log` shows a message as it is; the event keeps the agent's own words.
    """
    lines = (agent_message.replace("\0", "").strip()[:MAX_CHARACTERS] or title).splitlines()
    body = "\n".join(f"> {visible(line)}" if _may_mislead(line) else visible(line.rstrip()) for line in lines)
    return body + "\n\n" + "\n".join(trailers(verdict)) + "\n"


def trailers(verdict: Verdict) -> list[str]:
    """The trailers for a verdict."""
    return [
        *(f"Lockstep-Level: {report.level} passed" for report in verdict.reports),
        *(f"Lockstep-Module: {report.module}" for report in verdict.reports if report.module),
        f"Lockstep-Seed: {verdict.seed}",
        f"Lockstep-Sandbox: {verdict.sandbox}{'' if verdict.isolated else ' (not isolated)'}",
    ]


def _may_mislead(line: str) -> bool:
    """Whether a line would be read as a trailer of the harness, by git or by an eye, or would hide those."""
    seen = "".join(character for character in unicodedata.normalize("NFKC", line) if visible(character) == character)
    return bool(_TRAILER.match(line) or _TRAILER.match(seen) or seen.startswith(_DIVIDER))


def trailers_in(message: str) -> list[str]:
    """The lines of a message that are, or look like, these trailers."""
    return [line for line in message.splitlines() if _TRAILER.match(line)]


def check_identity(author: str) -> str:
    """`author` if git can store it as one.

    Raises:
        SessionError: it has not the form `Name <mail>`.
    """
    if not _IDENTITY.fullmatch(author) or visible(author) != author:
        raise SessionError(f"the author {author!r} cannot be recorded", expected=f"`Name <mail>`, for example {AGENT}")
    return author
