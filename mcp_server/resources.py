"""What can be read: tasks, with the reference that is to be translated, and everything that a session's record holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.mcpserver.tools import Tool
from mcp.shared.path_security import PathEscapeError, safe_join

from harness import operations
from harness.calls import reference_uri, session_uri, task_uri
from harness.errors import LockstepError, NoSuchTask, RecordError, SessionError
from harness.record import directory as directories
from harness.record.event import VERDICT_FILE
from harness.record.log import event_file
from harness.reference.install import installed
from harness.reference.source_files import SourceFile, SourceFiles
from harness.session.view import SessionView
from harness.support.embedded import TASK_FILE
from harness.support.text import visible, visible_document
from harness.task.load import load_task
from mcp_server import schemas, texts
from mcp_server.limits import RESOURCE_CHARACTERS
from mcp_server.services import Services

JSON, TEXT, MARKDOWN, TOML = "application/json", "text/plain", "text/markdown", "application/toml"
PAGE = 200
FILES_AT_MOST = 1000


def add_resources(server: MCPServer[Services], services: Services, tools: Sequence[Tool]) -> None:
    """Register every resource; the results of these tools are described by one."""
    read = Resources(services, tools)

    def offer(uri: str, mime: str, function: Callable[..., str]) -> None:
        described = " ".join((function.__doc__ or "").split())
        title = function.__name__.replace("_", " ")
        server.resource(uri, name=function.__name__, title=title, mime_type=mime, description=described)(function)

    offer("lockstep://tasks", JSON, read.tasks)
    offer("lockstep://sessions", JSON, read.sessions)
    offer("lockstep://results", JSON, read.results)
    offer("lockstep://tasks/{task}", TOML, read.contract)
    offer("lockstep://tasks/{task}/quirks", MARKDOWN, read.quirks)
    offer("lockstep://tasks/{task}/reference", JSON, read.reference)
    offer("lockstep://tasks/{task}/reference/{+path}", TEXT, read.reference_file)
    offer("lockstep://sessions/{session}/contract", TOML, read.contract_of_session)
    offer("lockstep://sessions/{session}/quirks", MARKDOWN, read.quirks_of_session)
    offer("lockstep://sessions/{session}/reference", JSON, read.reference_of_session)
    offer("lockstep://sessions/{session}/reference/{+path}", TEXT, read.reference_file_of_session)
    offer("lockstep://sessions/{session}/status", JSON, read.status)
    offer("lockstep://sessions/{session}/events{?after}", JSON, read.events)
    offer("lockstep://sessions/{session}/verdicts/{event}", JSON, read.verdict)
    offer("lockstep://sessions/{session}/verdicts/{event}/levels/{level}", JSON, read.level_report)
    offer("lockstep://sessions/{session}/divergences/{event}", JSON, read.divergence)
    offer("lockstep://sessions/{session}/jobs/{number}", JSON, read.job)


def _as_text(function: Callable[..., Any]) -> Callable[..., str]:
    """A document as text. What is unknown is not found (-32602); a damaged record is the server's error (-32603)."""

    @wraps(function)
    def read(self: Resources, *given: Any, **named: Any) -> str:
        try:
            document = function(self, *given, **named)
        except RecordError as error:
            raise ResourceError(visible(str(error))) from error
        except LockstepError as error:
            raise ResourceNotFoundError(visible(str(error))) from error
        # A string is a file of a task, and stays exact: an agent has to know what it translates.
        text = (
            document
            if isinstance(document, str)
            else json.dumps(visible_document(document), indent=1, ensure_ascii=False)
        )
        return texts.cut(text, RESOURCE_CHARACTERS)

    return read


class Resources:
    """Reads them; the SDK runs these beside its event loop."""

    def __init__(self, services: Services, tools: Sequence[Tool]) -> None:
        self._services = services
        self._tools = tools

    @_as_text
    def tasks(self) -> Any:
        """Every task that a session can be begun on, with its own resources."""
        return {
            name: {
                "contract": task_uri(name),
                "quirks": f"{task_uri(name)}/quirks",
                "reference": reference_uri(task_uri(name)),
            }
            for name in self._services.registry.tasks()
        }

    @_as_text
    def sessions(self) -> Any:
        """Every session that you may see: its id, task, workspace and state."""
        return self._services.access.sessions()

    @_as_text
    def results(self) -> Any:
        """What the result of each tool holds, field by field: JSON Schema, whose parts are told once."""
        return schemas.whole(self._tools)

    @_as_text
    def contract(self, task: str) -> Any:
        """The contract of a task: what the candidate has to offer, leaf by leaf, with tolerances and limits."""
        return _text(_task(self._services, task), TASK_FILE)

    @_as_text
    def quirks(self, task: str) -> Any:
        """The oddities of a task's reference, and for each whether it is to be reproduced."""
        return _text(_task(self._services, task), "QUIRKS.md")

    @_as_text
    def reference(self, task: str) -> Any:
        """The files in which a task's reference has its rules: those that its contract names, what it brings, and the
        packages it is installed with. They are to be read and translated; no candidate ever runs beside them."""
        return _listed(_files(_task(self._services, task), task_uri(task)))

    @_as_text
    def reference_file(self, task: str, path: str) -> Any:
        """One file of a task's reference, or of a package it is installed with, as text; a directory is a list."""
        return _file(_files(_task(self._services, task), task_uri(task)), path)

    @_as_text
    def contract_of_session(self, session: str) -> Any:
        """The contract of a session, as its candidate is judged by it."""
        return _text(self._trusted(session), TASK_FILE)

    @_as_text
    def quirks_of_session(self, session: str) -> Any:
        """The oddities of a session's reference, and for each whether it is to be reproduced."""
        return _text(self._trusted(session), "QUIRKS.md")

    @_as_text
    def reference_of_session(self, session: str) -> Any:
        """The files in which the rules of a session's own reference are, as for a task."""
        return _listed(_files(self._trusted(session), session_uri(session)))

    @_as_text
    def reference_file_of_session(self, session: str, path: str) -> Any:
        """One file of a session's own reference, or of a package it is installed with; a directory is a list."""
        return _file(_files(self._trusted(session), session_uri(session)), path)

    @_as_text
    def status(self, session: str) -> Any:
        """Where a session stands. Subscribe to it to be notified when that changes."""
        return operations.status(session, home=self._services.access.reach(session))

    @_as_text
    def events(self, session: str, after: str = "-1") -> Any:
        """The events of a session, oldest first, 200 at a time: `?after=N` goes on after event N."""
        return operations.history(session, home=self._services.access.reach(session), after=_number(after), limit=PAGE)

    @_as_text
    def verdict(self, session: str, event: str) -> Any:
        """A verdict with every level, check and divergence, as it was recorded."""
        return _verdict(self._services, session, event)

    @_as_text
    def level_report(self, session: str, event: str, level: str) -> Any:
        """What one level of a verdict found."""
        for report in _verdict(self._services, session, event)["levels"]:
            if report["level"] == _number(level):
                return report
        raise ResourceNotFoundError(f"the verdict of event {event} has no level {level}")

    @_as_text
    def divergence(self, session: str, event: str) -> Any:
        """The divergence that a verdict tells first: as text and as data, with the call that reproduces it."""
        document = operations.explain(session, home=self._services.access.reach(session), event=_number(event))
        if document["divergence"] is None:
            raise ResourceNotFoundError(f"the verdict of event {event} has no divergence")
        return document

    @_as_text
    def job(self, session: str, number: str) -> Any:
        """A job with its whole result. Subscribe to it to be notified when it ends."""
        return self._services.job(f"{session}.{_number(number)}").to_json()

    def _trusted(self, session: str) -> Path:
        """The session's own copy of its task."""
        return directories.find(self._services.access.reach(session), session).trusted


def _files(directory: Path, holder: str) -> SourceFiles:
    task = load_task(directory)
    return SourceFiles(task, installed(task), holder)


def _listed(files: SourceFiles, below: str = "") -> dict[str, Any]:
    found = islice(files.below(below) if below else files.main(), FILES_AT_MOST)
    listed = {file.name: {"uri": files.uri(file.name), **_about(file)} for file in found}
    # An environment is built by a session's host, which answers the tool; a resource only reads.
    why = "its package is not installed yet" if not files.is_built else "it is neither in the task nor in its packages"
    missing = {} if below else {name: {"uri": files.uri(name), "missing": why} for name in files.absent}
    return listed | missing


def _about(file: SourceFile) -> dict[str, Any]:
    if file.is_directory:
        return {"kind": "directory"}
    rules = {"rules": list(file.rules)} if file.rules else {}
    return {"bytes": file.bytes, "sha256": file.sha256, **rules}


def _file(files: SourceFiles, path: str) -> Any:
    if files.find(path).is_directory:
        return _listed(files, path)
    name, content = files.read(path)
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise ResourceNotFoundError(f"{name} is not text: {len(content)} bytes") from None


def _task(services: Services, named: str) -> Path:
    found = services.registry.tasks().get(named)
    if found is None:
        raise NoSuchTask(f"there is no task {named!r}; there are: {', '.join(services.registry.tasks())}")
    return found


def _text(root: Path, path: str) -> str:
    try:
        return safe_join(root, path).read_text(encoding="utf-8")
    except (PathEscapeError, OSError, ValueError):
        raise ResourceNotFoundError(f"there is no text file {path!r} there") from None


def _verdict(services: Services, session: str, event: str) -> dict[str, Any]:
    number = _number(event)
    with SessionView(session, services.access.reach(session)) as view:
        chosen = next((each for each in view.events if each.seq == number), None)
        if chosen is None or VERDICT_FILE not in chosen.attached:
            raise SessionError(f"event {number} of {session} is not a verdict")
        return json.loads(event_file(view.store, chosen.id, VERDICT_FILE))


def _number(text: str) -> int:
    try:
        if len(text) > 10:
            raise ValueError
        return int(text)
    except ValueError:
        raise _no_number(text) from None


def _no_number(text: str) -> SessionError:
    return SessionError(f"{texts.cut(text, 40)!r} is not a number", expected="the number of an event or a job")
