"""The calls that texts name, held against the commands and the tools that there are."""

from __future__ import annotations

import ast
import functools
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import click

from harness.cli.main import cli
from harness.session.prompts import templates
from mcp_server import schemas
from mcp_server.profile_tools import profile_tools
from mcp_server.session_tools import session_tools
from mcp_server.specification_tools import specification_tools
from mcp_server.transfer_tools import transfer_tools
from mcp_server.verification_tools import verification_tools
from mcp_server.workspace_tools import workspace_tools
from tests.project.texts import VALUE, Text, nodes, texts

WRITES_CALLS = "harness/calls.py"
EXAMPLES = {("docs/extending.md", "greet")}
"""Commands that a page makes up."""
FOREIGN_OPTIONS = {
    "--config": "of Cargo",
    "--coverage": "of compilers",
    "--path": "of harness/protocol/worker.py",
    "--strict": "of the protocol's inspector",
}
"""Options of other programs that stand alone in a text."""
OTHER_NAMES = {
    "legal_actions": "a leaf, which a state sheet may have",
    "take_draws": "a method of an adapter, as a reading is one",
    "half_width": "a key of the noise floor, which is data of level 4",
    "test_image_content": "a fixture of the protocol's conformance suite",
    "test_logging_tool": "a fixture of the protocol's conformance suite",
    "test_missing_capability": "a fixture of the protocol's conformance suite",
    "test_streaming_elicitation": "a fixture of the protocol's conformance suite",
}
"""Names in texts for agents that are neither of a tool nor of its arguments or results."""
TOOLS = frozenset({
    "start_session", "session_status", "run_level_tests", "policy_transfer", "compare_rollouts", "profile_sps",
    "explain_divergence", "history", "replay", "audit", "report_usage", "run_command", "get_job", "cancel_job", "read_file",
    "write_file", "edit_file", "list_files", "start_specification", "spec",
})  # fmt: skip
"""The tools as texts name them. Whoever renames a tool finds here which texts still have its old name."""

_COMMAND = re.compile(
    r"(?<![\w=./:@-])(?<!from )(?<!import )(?:(?<=`)lockstep\s+|(?:[\w./$~-]*bin/)?lockstep +)(?=[a-z-])"
)
_ENDS = re.compile(r"\s(?:#|&&|\|\|?|;|\d?>|<)(?:\s|$)|   |\)|(?<=\S)[.,;:](?:\s|$)")
"""What ends a command line outside backquotes, or separates it from another one."""
_TOOL = re.compile(r"(?<![\w.])([a-z][a-z_]*)\(([^()`\n]*)")
_NAME = re.compile(r"(?<!def )(?<![\w./:<>-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w/])")


@dataclass(frozen=True)
class Offered:
    """What can be called.

    Attributes:
        commands: the command line.
        tools: the arguments of each tool of the server.
        words: the other names in what an agent reads: fields of results, prompts and their arguments.
    """

    commands: click.Group
    tools: Mapping[str, frozenset[str]]
    words: frozenset[str]


@functools.cache
def offered() -> Offered:
    """What this version offers."""
    tools = [*session_tools(), *verification_tools(), *transfer_tools(), *profile_tools(), *workspace_tools()]
    tools += specification_tools()
    prompts = templates().values()
    words = set(_fields(schemas.whole(tools)))
    words |= {prompt.name for prompt in prompts} | {each.name for prompt in prompts for each in prompt.arguments}
    return Offered(
        cli,
        {tool.name: frozenset(tool.parameters["properties"]) for tool in tools},
        frozenset(words | OTHER_NAMES.keys()),
    )


def _fields(schema: object) -> Iterator[str]:
    """Every name of a field in a JSON schema."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        yield from _fields(part)


def mistakes(path: str, content: str, known: Offered | None = None) -> list[str]:
    """Every call in a file that nobody can make, and every call that it writes by hand, with where it stands."""
    known = known or offered()
    found: list[str] = []
    for text in texts(path, content):
        for at, said in _of_text(text, known):
            found.append(f"{path}:{text.line + text.content[:at].count(chr(10))}: {said}")
    if path.endswith(".py"):
        found += [f"{path}:{line}: {said}" for line, said in _of_code(path, nodes(content), known)]
    return found


def _of_text(text: Text, known: Offered) -> Iterator[tuple[int, str]]:
    for at, line, whole in _command_lines(text.content):
        if VALUE in line and text.path != WRITES_CALLS:
            yield at, f"`{_shown(line)}` is written by hand: take it from {WRITES_CALLS}"
        elif (text.path, line.split()[1]) not in EXAMPLES:
            yield from ((at, said) for said in wrong_command(line, known.commands, whole=whole))
    yield from _options(text, known.commands)
    for found in _TOOL.finditer(text.content):
        name, given = found[1], found[2]
        if VALUE in given and (name in known.tools or re.search(r"\b(session|job_id)=", given)):
            yield found.start(), f"`{_shown(found[0])})` is written by hand: take it from {WRITES_CALLS}"
        else:
            yield from ((found.start(), said) for said in wrong_tool(name, given, known.tools))
    for name in TOOLS - known.tools.keys():
        # A name of one word is a word of the language too; docs/mcp.md has those in a table of their own test.
        for found in re.finditer(rf"\b{name}\b", text.content) if "_" in name else ():
            yield found.start(), f"there is no tool `{name}` any more"
    if _for_agents(text, known):
        names = set(known.tools) | known.words | {each for arguments in known.tools.values() for each in arguments}
        for found in _NAME.finditer(text.content):
            if found[0] not in names:
                yield found.start(), f"there is no tool, argument or field `{found[0]}`"


def _for_agents(text: Text, known: Offered) -> bool:
    """Whether an agent that calls tools reads this text."""
    if text.page:
        return text.path.startswith("prompts/") or text.path in ("docs/mcp.md", "harness/connect/AGENTS.md")
    if not text.path.startswith("mcp_server/") or text.path.startswith("mcp_server/demo/"):
        return False
    return text.function in known.tools if text.docstring else " " in text.content.strip()


def _command_lines(content: str) -> Iterator[tuple[int, str, bool]]:
    """Every command line in a text: where it begins, the line, and whether it is one to be typed as it stands."""
    for found in _COMMAND.finditer(content):
        rest = content[found.end() :]
        quoted = content[: found.start()].endswith("`")
        if quoted:
            rest = rest.partition("`")[0].replace("\n", " ")
        else:
            rest = rest.replace("\\\n", " ").partition("\n")[0].partition("`")[0].partition("</code>")[0]
        before = content[: found.start()].rpartition("\n")[2]
        end = _ENDS.search(rest) if not quoted else re.search(r"\s(?:&&|\|)\s", rest)
        rest = rest[: end.start()] if end else rest
        yield found.start(), f"lockstep {rest.strip()}", not quoted and before.strip() in ("", "$")


def wrong_command(line: str, group: click.Group, *, whole: bool = False) -> Iterator[str]:
    """What is wrong with a command line, or with the synopsis of one: its command, options, choices, number of arguments.

    Args:
        line: begins with `lockstep`; it may stop anywhere unless it is `whole`.
    """
    words, command, context = _words(line)[1:], group, click.Context(group)
    said = "lockstep"
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, said = words[0], f"{said} {words[0]}"
        found = command.get_command(context, name) if re.fullmatch("[a-z][a-z-]*", name) else None
        if found is None:
            yield f"there is no command `{said}`"
            return
        command, words = found, words[1:]
        context = click.Context(command, parent=context, info_name=name)
    yield from _wrong_words(said, command.get_params(context), words, whole)


def _wrong_words(said: str, parameters: list[click.Parameter], words: list[str], whole: bool) -> Iterator[str]:
    options = {name: each for each in parameters for name in (*each.opts, *each.secondary_opts) if name.startswith("-")}
    arguments = [each for each in parameters if isinstance(each, click.Argument)]
    given, seen, rest = 0, set[str | None](), iter(words)
    for word in rest:
        if word == "--":
            given += len(list(rest))
        elif not word.startswith("-") or word == "-":
            given += 1
        elif (name := word.partition("=")[0]) not in options:
            yield f"`{said}` has no option `{name}`"
        elif isinstance(option := options[name], click.Option):
            seen.add(option.name)
            value = word.partition("=")[2] if "=" in word else "" if option.is_flag or option.count else next(rest, "")
            choices = option.type.choices if isinstance(option.type, click.Choice) else None
            if choices is not None and re.fullmatch("[a-z][a-z0-9_-]*", value) and value not in choices:
                yield f"`{said}` has no `{name} {value}`, only {', '.join(map(str, choices))}"
    unbound = any(each.nargs < 0 for each in arguments)
    most, least = sum(each.nargs for each in arguments), sum(each.nargs for each in arguments if each.required)
    if given > most and not unbound:
        yield f"`{said}` takes {most} arguments at most, not {given}"
    if whole and given < least and "--help" not in words:
        yield f"`{said}` takes {least} arguments at least, not {given}"
    if whole:
        missing = [each for each in parameters if isinstance(each, click.Option) and each.required]
        yield from (f"`{said}` needs {each.opts[0]}" for each in missing if each.name not in seen)


def _words(line: str) -> list[str]:
    """The words of a command line; in a synopsis `[A or B]` is one, and what may be left out counts as given."""
    line = re.sub(r"\[([^\[\]]*?) or [^\[\]]*\]", r"\1", line.replace("\\|", "|"))
    line = re.sub(r"[\[\]]|\.\.\.|…", "", line)
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _options(text: Text, group: click.Group) -> Iterator[tuple[int, str]]:
    """Options that stand without their command, as in "give --session or --task, not both"."""
    every = _every_option(group)
    if text.page:
        for row in re.finditer(r"^\|([^|\n]*)\|(.*)$", text.content.replace("\\|", "//"), re.MULTILINE):
            of_row = [line for _, line, _ in _command_lines(row[1])]
            if not of_row:
                continue
            own = set[str]().union(*(_options_of(line, group) for line in of_row))
            for found in re.finditer(r"(?<=`)--[a-z][a-z-]*", row[2]):
                if found[0] not in own and found[0] in every:
                    yield row.start(2) + found.start(), f"`{of_row[0]}` has no option `{found[0]}`"
        standing = re.finditer(r"(?<=`)--[a-z][a-z-]*", text.content)
    elif text.path.startswith(("harness/", "mcp_server/", "sandboxes/")) and " " in text.content.strip():
        # Another program's options stand in its own backquotes, or are arguments of it.
        own_words = re.sub(r"`(?!--|lockstep)[^`]*`", lambda other: " " * len(other[0]), text.content)
        standing = re.finditer(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*(?![\w=-])", own_words)
    else:
        return
    for found in standing:
        if found[0] not in every and found[0] not in FOREIGN_OPTIONS:
            yield found.start(), f"no command has an option `{found[0]}`"


@functools.cache
def _every_option(group: click.Group) -> frozenset[str]:
    context, found = click.Context(group), set[str]()
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            found |= _every_option(command)
        found |= {each for option in command.get_params(context) for each in (*option.opts, *option.secondary_opts)}
    return frozenset(each for each in found if each.startswith("--")) | {"--help", "--version"}


def _options_of(line: str, group: click.Group) -> frozenset[str]:
    context, command = click.Context(group), group.get_command(click.Context(group), line.split()[1])
    if command is None:
        return frozenset()
    if isinstance(command, click.Group):
        return _every_option(command)
    return frozenset(each for option in command.get_params(context) for each in (*option.opts, *option.secondary_opts))


def wrong_tool(name: str, given: str, tools: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """What is wrong with the call of a tool, if `name(given)` is one: it has the argument of a tool, or a tool's name."""
    named = re.findall(r"(?:^|, *)([a-z_]+)=(?!=)", given)
    if name not in tools:
        if {"session", "job_id"} & set(named):
            yield f"there is no tool `{name}`"
        return
    bare = [each for each in given.split(", ") if re.fullmatch("[a-z_]+", each)] if "_" in name else []
    yield from (f"the tool `{name}` has no argument `{each}`" for each in [*named, *bare] if each not in tools[name])


def _of_code(path: str, code: tuple[ast.AST, ...], known: Offered) -> Iterator[tuple[int, str]]:
    """Tools that code calls by name, and command lines that it puts together."""
    for node in code:
        match node:
            case (
                ast.List(elts=[ast.Constant(value="lockstep"), _, *_])
                | ast.Tuple(elts=[ast.Constant(value="lockstep"), _, *_])
            ) if path != WRITES_CALLS:
                yield node.lineno, f"a command line is put together by hand: take it from {WRITES_CALLS}"
            case ast.Call(func=ast.Attribute(attr="call"), args=[ast.Constant(value=str() as name)], keywords=keywords):
                if path.startswith("mcp_server/"):
                    if name not in known.tools:
                        yield node.lineno, f"there is no tool `{name}`"
                        continue
                    for each in keywords:
                        if each.arg and each.arg not in known.tools[name]:
                            yield node.lineno, f"the tool `{name}` has no argument `{each.arg}`"


def _shown(text: str) -> str:
    return " ".join(text.replace(VALUE, "{}").split())
