"""The arguments that tools share, each with its bounds and the words that a model reads."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mcp_server.limits import ID_CHARACTERS, MESSAGE_CHARACTERS, PATH_CHARACTERS

_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"

SessionId = Annotated[
    str,
    Field(description="The session's id, as start_session gave it.", pattern=_NAME, max_length=ID_CHARACTERS),
]
JobId = Annotated[
    str,
    Field(
        description="The job's id, as a call gave it: SESSION.NUMBER.",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*\.[0-9]{1,7}$",
        max_length=ID_CHARACTERS,
    ),
]
Level = Annotated[
    int | None,
    Field(description="Verify up to this level (1 property, 2 interaction, 3 rollout, 4 transfer).", ge=1, le=4),
]
Module = Annotated[
    str,
    Field(description="Only this module, at level 1. Empty: the recipe decides.", max_length=ID_CHARACTERS),
]
Message = Annotated[
    str,
    Field(
        description="What you changed and why, in one or two sentences: the commit's message, if this is progress.",
        max_length=MESSAGE_CHARACTERS,
    ),
]
Seed = Annotated[
    int | None,
    Field(
        description="Repeat a run with its seed. Never counts as progress; leave it out to be judged.",
        ge=0,
        lt=1 << 63,
    ),
]
FilePath = Annotated[
    str,
    Field(description="Relative to the workspace, such as candidate/env.py.", min_length=1, max_length=PATH_CHARACTERS),
]
Digest = Annotated[
    str,
    Field(
        description="sha256 of the file as you know it, or `absent`. If that no longer holds, nothing is written.",
        pattern=r"^([0-9a-f]{64}|absent)?$",
    ),
]
