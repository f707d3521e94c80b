"""Reading the transcripts that agents keep on this machine: Claude Code's and Codex's.

They are somebody else's files, written while they are read: a last line may be half there, records may be of kinds that
nobody here knows. Whatever cannot be understood is passed over, and nothing but counts, names and times is taken.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.session.usage.tokens import Response, Tokens, count
from harness.support.text import one_line

CLAUDE, CODEX = "claude", "codex"
MAX_LINE = 64 << 20
MAX_NAME = 100
MOST_SECONDS = 253_000_000_000.0
"""In the year 9987: a zone can move a time out of the years that can be written."""
SLACK_S = 60.0
"""How far a file's own time may lie behind those of its records: clocks of file systems are coarse."""
_NO_LETTER = re.compile(r"[^A-Za-z0-9]")
_PREFIX = 180
"""As much of a project's folder name is compared: a very long one is cut by its owner and ends in a hash."""


def claude_roots() -> tuple[Path, ...]:
    """Where Claude Code keeps its transcripts."""
    stated = os.environ.get("CLAUDE_CONFIG_DIR")
    if stated:
        return tuple(Path(location).expanduser() / "projects" for location in stated.split(",") if location)
    config = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
    return (Path("~/.claude").expanduser() / "projects", config / "claude" / "projects")


def codex_roots() -> tuple[Path, ...]:
    """Where Codex keeps its transcripts."""
    home = Path(os.environ.get("CODEX_HOME") or "~/.codex").expanduser()
    return (home / "sessions", home / "archived_sessions")


def responses(directories: Sequence[Path], since: str) -> list[Response]:
    """Every response, once, that an agent which worked in one of these directories (or below) got since a time.

    Args:
        since: ISO 8601 with a zone.
    """
    locations = [directory.resolve() for directory in directories]
    began = _time(since) or 0.0
    found = [*_claude(locations, began), *_codex(locations, began)]
    return sorted(found, key=lambda response: (response.time, response.transcript))


def _claude(locations: Sequence[Path], began: float) -> Iterator[Response]:
    """One line for each block of a response: all of them repeat its id, and the last one has its final counts."""
    seen: dict[str, Response] = {}
    for root in claude_roots():
        for folder in _folders(root, locations):
            for path in _recent(folder.rglob("*.jsonl"), began):
                for record in _records(path, b'"usage"'):
                    response = _claude_response(record, path, locations, began)
                    if response is None:
                        continue
                    key, found = response
                    before = seen.get(key)
                    seen[key] = found if before is None else _merged(before, found)
    yield from seen.values()


def _claude_response(
    record: Mapping[str, Any], path: Path, locations: Sequence[Path], began: float
) -> tuple[str, Response] | None:
    message = _map(record.get("message"))
    usage, identifier, model = _map(message.get("usage")), message.get("id"), _name(message.get("model"))
    time = _time(record.get("timestamp"))
    if not isinstance(identifier, str) or not model or not usage or time is None or time < began:
        return None
    if not _within(record.get("cwd"), locations):
        return None
    written = _map(usage.get("cache_creation"))
    long = count(written.get("ephemeral_1h_input_tokens"))
    tokens = Tokens(
        input=count(usage.get("input_tokens")),
        output=count(usage.get("output_tokens")),
        cache_read=count(usage.get("cache_read_input_tokens")),
        cache_write=max(0, count(usage.get("cache_creation_input_tokens")) - long),
        cache_write_long=long,
    )
    return identifier, Response(CLAUDE, path.stem, model, _iso(time), tokens)


def _merged(one: Response, other: Response) -> Response:
    """Two lines of one response: its counts grow while it is written; it belongs to the transcript that had it first."""
    first = min(one, other, key=lambda response: (response.time, response.transcript))
    return Response(first.source, first.transcript, other.model, first.time, one.tokens.most(other.tokens))


def _codex(locations: Sequence[Path], began: float) -> Iterator[Response]:
    copies: set[tuple[str, tuple[int, ...]]] = set()
    for root in codex_roots():
        for path in sorted(_recent(root.rglob("*.jsonl"), began)):
            yield from _codex_responses(path, locations, began, copies)


def _codex_responses(
    path: Path, locations: Sequence[Path], began: float, copies: set[tuple[str, tuple[int, ...]]]
) -> Iterator[Response]:
    """The differences between a session's running totals.

    A total may be repeated, and falls when a session restarts in the same file. A session that was forked from another
    begins with a copy of that one's records, with their times: those are not counted a second time.
    """
    before = Tokens()
    model, here = "", False
    for record in _records(path, b'"'):
        payload, kind = _map(record.get("payload")), record.get("type")
        if kind in ("session_meta", "turn_context"):
            model = _name(payload.get("model")) or model
            here = _within(payload["cwd"], locations) if "cwd" in payload else here
        if kind != "event_msg" or payload.get("type") != "token_count":
            continue
        totals = _map(_map(payload.get("info")).get("total_token_usage"))
        time = _time(record.get("timestamp"))
        if not totals or time is None:
            continue
        now = _codex_tokens(totals)
        if not now.total:
            continue
        fresh = now.beyond(before) if all(n >= b for n, b in zip(now.parts, before.parts, strict=True)) else now
        before = now
        mark = (_iso(time), now.parts)
        if not fresh.total or time < began or not here or mark in copies:
            continue
        copies.add(mark)
        yield Response(CODEX, path.stem, model or "unknown", _iso(time), fresh)


def _codex_tokens(totals: Mapping[str, Any]) -> Tokens:
    """Its input counts what came from a cache, or went into one, as well; its output counts reasoning."""
    read, written = count(totals.get("cached_input_tokens")), count(totals.get("cache_write_input_tokens"))
    return Tokens(
        input=max(0, count(totals.get("input_tokens")) - read - written),
        output=count(totals.get("output_tokens")),
        cache_read=read,
        cache_write=written,
    )


def _folders(root: Path, locations: Sequence[Path]) -> list[Path]:
    """The folders of projects at or below these places: named like the path, with a dash for all but letters and digits."""
    begins = tuple(_NO_LETTER.sub("-", str(location))[:_PREFIX] for location in locations)
    try:
        return sorted(folder for folder in root.iterdir() if folder.is_dir() and folder.name.startswith(begins))
    except OSError:
        return []


def _recent(paths: Iterable[Path], began: float) -> list[Path]:
    """The files that were written to since; a file that vanishes meanwhile is left out."""
    found = []
    try:
        for path in paths:
            try:
                if path.is_file() and path.stat().st_mtime >= began - SLACK_S:
                    found.append(path)
            except OSError:
                continue
    except OSError:
        pass
    return sorted(found)


def _records(path: Path, needle: bytes) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of a file's lines; lines without `needle` are not even parsed."""
    try:
        with path.open("rb") as file:
            while line := file.readline(MAX_LINE):
                if needle not in line:
                    continue
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(record, dict):
                    yield record
    except OSError:
        return


def _within(stated: object, locations: Sequence[Path]) -> bool:
    if not isinstance(stated, str):
        return False
    directory = Path(os.path.normpath(stated))
    return any(directory.is_relative_to(location) for location in locations)


def _name(value: object) -> str:
    """A model's name, as it may be shown in a terminal; empty for whatever is not a name."""
    return one_line(value[:MAX_NAME])[:MAX_NAME] if isinstance(value, str) else ""


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _time(stated: object) -> float | None:
    """Seconds since 1970 of an ISO 8601 time; one without a zone is in UTC, one before 1970 gives None."""
    if not isinstance(stated, str):
        return None
    try:
        moment = datetime.fromisoformat(stated)
    except ValueError:
        return None
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return seconds if 0.0 <= seconds < MOST_SECONDS else None


def _iso(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds")
