"""The Docker engine, asked through the `docker` SDK, which is imported only when it is needed.

Every failure becomes one of this package's errors and names the engine, what it was asked, and what to do.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SandboxError, SandboxFailed, SandboxUnavailable

if TYPE_CHECKING:
    import docker

LABEL = "lockstep"
"""Every container carries it, with the value `sandbox`; `LABEL.owner` and the others say whose it is."""

PROBE_SECONDS = 10
CALL_SECONDS = 120
_REMOVED_SECONDS = 30
_NOT_FOUND, _CONFLICT = 404, 409
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Image:
    """An image that the engine has. `digest` is the hash of its configuration, which names every layer by hash."""

    name: str
    digest: str
    labels: Mapping[str, str]


@dataclass(frozen=True)
class Orphan:
    """A container whose owner is gone."""

    id: str
    name: str
    purpose: str


class Engine:
    """One engine: the one at `url`, or for None the one that DOCKER_HOST names, else this machine's."""

    def __init__(self, url: str | None = None) -> None:
        self._url = url

    @property
    def where(self) -> str:
        """Its address, for messages."""
        return self._url or os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"

    def unavailable(self) -> str | None:
        """None if it answers and can run our containers, else why not and what to do."""
        try:
            with self.client(PROBE_SECONDS) as client:
                options = client.info().get("SecurityOptions") or []
        except SandboxError as error:
            return str(error)
        for option in options:
            name = option.partition("name=")[2].split(",")[0]
            if name in ("rootless", "userns"):
                return (
                    f"the engine at {self.where} maps users ({name}), so files that commands write would belong to"
                    " nobody outside; use an engine that does not, or the driver 'bubblewrap'"
                )
        return None

    def version(self) -> str:
        """The engine's own version. Raises SandboxUnavailable."""
        with self.client(PROBE_SECONDS) as client:
            return str(client.version()["Version"])

    def image(self, name: str) -> Image | None:
        """What the engine has under that name, if anything. Raises SandboxUnavailable."""
        with self.client(PROBE_SECONDS) as client:
            for found in client.images.list(filters={"reference": name}):
                return Image(name, str(found.id), dict(found.labels))
            return None

    def start(self, container: Mapping[str, Any], host: Mapping[str, Any], masked: Sequence[str]) -> str:
        """Create and start a container; returns its id. Raises SandboxUnavailable or SandboxFailed.

        `container` and `host` are what the SDK's `create_container` and `create_host_config` take; `masked` are the
        paths that appear empty, for which the SDK has no name.
        """
        with self.client(CALL_SECONDS) as client:
            config = client.api.create_host_config(**host)
            config["MaskedPaths"] = list(masked)
            created = str(client.api.create_container(**container, host_config=config)["Id"])
            try:
                client.api.start(created)
            except BaseException:
                # Also on Ctrl-C: a container that never ran does not remove itself.
                self.remove(created)
                raise
            return created

    def running(self, container: str) -> bool:
        """Whether the container is there and runs; False also where the engine does not answer."""
        try:
            with self.client(PROBE_SECONDS) as client:
                return client.containers.get(container).status in ("created", "running")
        except SandboxError:
            return False

    def remove(self, container: str) -> None:
        """Kill and remove a container. One that is gone, or an engine that is, is no error: the link has ended it."""
        with contextlib.suppress(SandboxError), self.client(_REMOVED_SECONDS) as client:
            client.api.remove_container(container, v=True, force=True)

    def orphans(self) -> list[Orphan]:
        """Containers of this machine's that outlived their owner. Raises SandboxUnavailable.

        Those of owners in another namespace of processes, whom this process could not see, are left out.
        """
        with self.client(PROBE_SECONDS) as client:
            found = client.containers.list(all=True, filters={"label": f"{LABEL}=sandbox"}, ignore_removed=True)
            return [
                Orphan(str(one.id), str(one.name), one.labels.get(f"{LABEL}.purpose", ""))
                for one in found
                if _abandoned(one.labels)
            ]

    @contextlib.contextmanager
    def client(self, seconds: float) -> Iterator[docker.DockerClient]:
        """A client of the SDK, every error of which is turned into one of ours."""
        try:
            import docker
            import docker.errors
            import requests
        except ImportError as error:
            raise SandboxUnavailable(
                f"the Python package `docker` cannot be imported ({error}); run `pip install docker`"
            ) from None
        self._knock()
        try:
            if self._url is None:
                client = docker.from_env(timeout=int(seconds))
            else:
                client = docker.DockerClient(self._url, timeout=int(seconds))
            with contextlib.closing(client):
                yield client
        except docker.errors.ImageNotFound as error:
            raise SandboxUnavailable(
                f"the engine at {self.where} has no such image ({error.explanation}); run `lockstep images build`"
            ) from error
        except docker.errors.APIError as error:
            raise self._refused(error.explanation or str(error)) from error
        except (docker.errors.DockerException, requests.RequestException, OSError) as error:
            raise self._silent(error) from error

    def _knock(self) -> None:
        """See whether anybody listens at all: an SDK that is refused leaves its socket open."""
        if self.where.startswith("unix://"):
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                    connection.connect("/" + self.where.removeprefix("unix://").lstrip("/"))
            except OSError as error:
                raise self._silent(error) from error

    def _silent(self, error: BaseException) -> SandboxUnavailable:
        return SandboxUnavailable(
            f"no Docker engine answers at {self.where} ({_innermost(error)}); start one, or set DOCKER_HOST"
        )

    def _refused(self, said: str) -> SandboxError:
        if "bind source path does not exist" in said:
            path = said.rpartition(": ")[2]
            return SandboxUnavailable(
                f"the engine at {self.where} does not see {path}, which is there on this machine: it runs on another"
                " one, or with other files; use an engine of this machine, or put the files where both see them"
            )
        if "could not select device driver" in said:
            return SandboxUnavailable(
                f"gpus: the engine at {self.where} has no GPU to give; install NVIDIA's container toolkit on its"
                " machine, or ask for none"
            )
        return SandboxFailed(f"the engine at {self.where} refused: {said}")


def owner_labels(purpose: str) -> dict[str, str]:
    """By which the owner of a container, this process, is found again or found to be gone."""
    pid = os.getpid()
    return {
        LABEL: "sandbox",
        f"{LABEL}.boot": _boot(),
        f"{LABEL}.namespace": _namespace(),
        f"{LABEL}.owner": str(pid),
        f"{LABEL}.began": _began(pid),
        f"{LABEL}.purpose": purpose,
    }


def _abandoned(labels: Mapping[str, str]) -> bool:
    if labels.get(f"{LABEL}.boot") != _boot():
        return True
    if labels.get(f"{LABEL}.namespace") != _namespace():
        return False
    owner = labels.get(f"{LABEL}.owner", "")
    return not owner.isdecimal() or _began(int(owner)) != labels.get(f"{LABEL}.began")


def _boot() -> str:
    return _BOOT_ID.read_text().strip()


def _namespace() -> str:
    return os.readlink("/proc/self/ns/pid")


def _began(pid: int) -> str:
    """When a process began, in ticks since the machine did; empty if there is none: numbers are used again."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return text[text.rindex(")") + 2 :].split()[19]


def _innermost(error: BaseException) -> str:
    while error.__context__ is not None:
        error = error.__context__
    return str(error)
