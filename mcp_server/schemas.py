"""What `tools/list` says of arguments and results: all that a client needs, in few tokens, since a model pays for each.

A result is told by its fields and their types, one level deep. The whole schemas, which share their parts, are one resource.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mcp.server.mcpserver.tools import Tool
from pydantic.json_schema import models_json_schema

Schema = dict[str, Any]
NOTHING = (None, "", False, 0, 0.0, [])
"""Defaults that need no word: an argument that is left out."""


def of_arguments(schema: Mapping[str, Any]) -> Schema:
    """The schema of a tool's arguments without titles, which repeat names, and without defaults that say nothing."""
    properties = {name: _argument(each) for name, each in schema["properties"].items()}
    shown = {"type": "object", "properties": properties, "additionalProperties": False}
    return shown | ({"required": schema["required"]} if schema.get("required") else {})


def of_result(schema: Mapping[str, Any]) -> Schema:
    """The schema of a result, one level deep: whatever the whole schema allows, this one allows."""
    definitions = schema.get("$defs", {})
    properties = {name: _types(each, definitions) for name, each in schema["properties"].items()}
    shown = {"type": "object", "properties": properties}
    return shown | ({"required": schema["required"]} if schema.get("required") else {})


def whole(tools: Iterable[Tool]) -> dict[str, Any]:
    """The whole schema of each tool's result, with the parts that they share told once."""
    models = {tool.name: tool.fn_metadata.output_model for tool in tools}
    found, shared = models_json_schema([(model, "serialization") for model in dict.fromkeys(models.values())])
    return {"tools": {name: found[model, "serialization"] for name, model in models.items()}, **shared}


def _argument(schema: Mapping[str, Any]) -> Schema:
    shown = {key: value for key, value in schema.items() if key not in ("title", "anyOf")}
    if shown.get("default") in NOTHING:
        shown.pop("default", None)
    # What may be null may be left out; several types of one argument are more than some models' interfaces take.
    some = [each for each in schema.get("anyOf", []) if each != {"type": "null"}]
    return {**some[0], **shown} if len(some) == 1 else shown | ({"anyOf": some} if some else {})


def _types(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    if "$ref" in schema:
        return _types(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    types = [each for some in schema.get("anyOf", [schema]) for each in _type(some, definitions)]
    return {"type": types[0] if len(types) == 1 else types} if types else {}


def _type(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> list[str]:
    found = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return [found["type"]] if "type" in found else []
