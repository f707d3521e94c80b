"""The driver over a Docker engine: `driver` opens sandboxes, `engine` is the only place that speaks the SDK, `link`
starts commands in a container without the engine, `access` says as whom they run."""

from __future__ import annotations

from .driver import DockerDriver

__all__ = ["DockerDriver"]
