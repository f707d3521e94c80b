"""What `tools/list` costs a model, and that nothing is lost of what it left out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, Field

from mcp_server import schemas
from tests.mcp_server.conftest import Place

pytestmark = pytest.mark.anyio
CHARACTERS_IN_A_TOKEN = 3.5  # fewer than the usual four, since JSON has many marks
MOST_TOKENS = 9000


async def test_the_list_of_tools_is_cheap_and_the_whole_results_are_one_resource(place: Place) -> None:
    async with Client(place.inside()) as client:
        tools = (await client.list_tools()).tools
        read = await client.read_resource("lockstep://results")
    listed = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    assert len(json.dumps(listed, separators=(",", ":"))) / CHARACTERS_IN_A_TOKEN < MOST_TOKENS
    whole = json.loads(read.contents[0].text)  # pyright: ignore[reportAttributeAccessIssue]
    assert whole["tools"].keys() == {tool.name for tool in tools}
    for tool in tools:
        found = whole["$defs"][whole["tools"][tool.name]["$ref"].rpartition("/")[2]]
        shown = tool.output_schema
        assert shown is not None
        assert found["properties"].keys() == shown["properties"].keys() and found["required"] == shown["required"]
        assert all(each["type"] for each in shown["properties"].values())
    assert "address" in whole["$defs"]["Finding"]["properties"] and "description" in json.dumps(
        whole["$defs"]["Finding"]
    )


class Part(BaseModel):
    number: int = Field(3, description="A number.")


class Outer(BaseModel):
    name: str
    part: Part
    some: list[Part] = Field(default_factory=list)
    perhaps: Part | None = None
    either: int | str | None = None
    loose: Any = None


def test_a_result_is_told_one_level_deep_and_allows_all_that_it_may_be() -> None:
    assert schemas.of_result(Outer.model_json_schema()) == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "part": {"type": "object"},
            "some": {"type": "array"},
            "perhaps": {"type": ["object", "null"]},
            "either": {"type": ["integer", "string", "null"]},
            "loose": {},
        },
        "required": ["name", "part"],
    }


class Asked(BaseModel):
    level: int | None = Field(None, ge=1, le=4, description="Up to it.")
    text: str = ""
    wait: int = 30
    either: int | str | None = None


def test_arguments_keep_their_bounds_words_and_the_defaults_that_say_something() -> None:
    assert schemas.of_arguments(Asked.model_json_schema()) == {
        "type": "object",
        "properties": {
            "level": {"type": "integer", "minimum": 1, "maximum": 4, "description": "Up to it."},
            "text": {"type": "string"},
            "wait": {"type": "integer", "default": 30},
            "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        },
        "additionalProperties": False,
    }


@pytest.mark.parametrize("name", ["run_all_tests", "x" * 10_000, "\x1b[2J"])
async def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(place: Place, name: str) -> None:
    async with Client(place.inside()) as client:
        with pytest.raises(MCPError, match="there is no tool") as caught:
            await client.call_tool(name, {})
    assert caught.value.code == -32602 and len(caught.value.message) < 400 and "\x1b" not in caught.value.message
