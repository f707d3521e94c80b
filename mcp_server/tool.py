"""A tool that takes no argument that it does not know, and whose errors say what a model needs to go on."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import ValidationError

from harness.errors import LockstepError
from mcp_server import schemas, texts
from mcp_server.catalog import TITLES
from mcp_server.limits import RESULT_CHARACTERS
from sandboxes import SandboxError

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)


class StrictTool(Tool):
    """A tool of the server.

    The SDK passes over arguments that a tool does not have, so that a misspelt `module` would verify all of them; and what
    an exception says does not reach the model, which an error of Lockstep must.
    """

    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> Any:
        """Run it; see `Tool.run`."""
        known = self.parameters["properties"]
        unknown = [name for name in arguments if name not in known]
        if unknown:
            near = difflib.get_close_matches(unknown[0], known, n=1)
            raise ToolError(
                f"{self.name} has no argument {texts.cut(repr(unknown[0]), 80)}"
                f"{f'; did you mean {near[0]!r}?' if near else ''}\n  expected: {', '.join(known) or 'no arguments'}"
            )
        try:
            return await super().run(arguments, context, convert_result)
        except UnexpectedToolError as error:
            if isinstance(error.__cause__, LockstepError | SandboxError):
                raise ToolError(texts.cut(str(error.__cause__), RESULT_CHARACTERS)) from error.__cause__
            raise
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_mistakes(self.name, error.__cause__)) from error.__cause__
            raise


def tool(function: Callable[..., Any], *, hints: ToolAnnotations) -> StrictTool:
    """A function as a tool; its docstring is what a model reads, its title the summary in `catalog`."""
    made = StrictTool.from_function(
        function,
        title=TITLES[function.__name__],
        description=" ".join((function.__doc__ or "").split()),
        annotations=hints,
    )
    assert isinstance(made, StrictTool)
    made.parameters = schemas.of_arguments(made.parameters)
    whole = made.fn_metadata.output_schema
    assert whole is not None  # each answers with a model of `results`
    made.fn_metadata.output_schema = schemas.of_result(whole)
    return made


def changes(*, destructive: bool, idempotent: bool = False) -> ToolAnnotations:
    """The hints of a tool that changes something."""
    return ToolAnnotations(
        read_only_hint=False, destructive_hint=destructive, idempotent_hint=idempotent or None, open_world_hint=False
    )


def _mistakes(name: str, error: ValidationError) -> str:
    """Every argument that is wrong, without repeating what was given, which may be a megabyte."""
    lines = [f"{name} was called with arguments that it cannot take"]
    for mistake in error.errors(include_url=False, include_input=False):
        where = ".".join(str(part) for part in mistake["loc"]) or "arguments"
        lines.append(f"{where}: {texts.cut(mistake['msg'], 300)}")
    return "\n  ".join(lines)
