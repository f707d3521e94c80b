"""Every reader of foreign bytes, by name. A target is made when it is needed: some start a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tests.fuzz.target import Target
from tests.fuzz.targets import clients, crates, files, frames, gameboy, received, record, server

Maker = Callable[[Path], Target]
"""Makes a target that may use an empty directory."""

TARGETS: Mapping[str, Maker] = {
    "frames": frames.answers,
    "batches": frames.batches,
    "requests": frames.requests,
    "task": files.task,
    "cases": files.cases,
    "policy": files.policy,
    "home": files.home,
    "objects": record.objects,
    "envelope": record.envelope,
    "record": record.whole_log,
    "bundle": received.bundle,
    "refs": received.refs,
    "manifest": crates.manifest,
    "compiler": crates.compiler,
    "counted": crates.counted,
    "module": crates.module,
    "settings": clients.settings,
    "transcripts": clients.transcripts,
    "prices": clients.prices,
    "host": server.host,
    "mcp": server.mcp,
    "stdio": server.stdio,
    "gameboy-rom": gameboy.roms,
    "gameboy-state": gameboy.states,
    "gameboy-program": gameboy.programs,
}
