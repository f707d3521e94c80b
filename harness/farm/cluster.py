"""The engine over a Ray cluster: each member is an actor. Placement and transfer are Ray's."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Mapping
from contextlib import chdir, suppress
from typing import Any, Self

from harness.errors import SetupError
from harness.farm.engine import ANY, CLOSE_S, Alike, Holds, Lost, Member, Recipe, Refused, hold
from harness.farm.place import Answer, Place
from harness.support.home import lockstep_home

NODE_LABEL = "ray.io/node-id"
CONNECT_S = 10.0
LOOK_S = 1.0
TRIES = 3
"""A head that is busy may begin the server for a client too late."""


class Cluster:
    """Members are actors of a Ray cluster, one for each processor that Ray counts.

    A node that refuses a recipe gets no more members. What is lost is not started again here: who asks starts another.

    Args:
        address: of a cluster (`ray://host:port`, `host:port`); empty takes that of `RAY_ADDRESS`, or of this machine, and
            starts one where there is none.
        alike: what nodes must have in common with this machine.

    Raises:
        SetupError: Ray is not installed, or there is no cluster at that address.
    """

    name, apart = "ray", True

    def __init__(self, address: str = "", alike: Alike = ANY) -> None:
        try:
            import ray
            from ray.exceptions import RayError
        except ImportError as error:
            raise SetupError(
                "Ray is not installed", where="--on", next_step="pip install 'lockstep-rl[ray]'"
            ) from error
        _demand_there(address)
        self._ray, self._alike = ray, alike
        self._began = not ray.is_initialized()
        if self._began:
            for tries in range(TRIES, 0, -1):
                try:
                    _init(ray, address)
                    break
                except (ConnectionError, RuntimeError, ValueError, RayError) as error:
                    if tries == 1 or not address.startswith("ray://"):
                        raise _unjoined(address, str(error)) from error
        self._actor = ray.remote(num_cpus=1, max_restarts=0)(_Actor)
        self._refusals: dict[Recipe, dict[str, str]] = {}  # by the node's id
        self._turn = threading.Lock()

    @property
    def slots(self) -> int:
        """As `Engine.slots`: the processors of the cluster's living nodes."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    @property
    def nodes(self) -> int:
        """As `Engine.nodes`: those of the cluster that live and have processors."""
        return len(self._living())

    def start(self, recipe: Recipe, holds: Holds = hold) -> Member:
        """As `Engine.start`."""
        while True:
            member = self._begun(recipe)
            try:
                member.find(holds)
                member.facts = member.call("make", recipe)
                return member
            except (Lost, KeyboardInterrupt, SystemExit):
                member.kill()
                raise
            except Exception as refused:
                member.kill()
                if not member.node_id:  # its node has no Lockstep that could tell which one it is
                    raise
                with self._turn:
                    self._refusals.setdefault(recipe, {})[member.node_id] = f"{member.node}: {refused}"

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        if self._began:
            self._ray.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _living(self) -> set[str]:
        """The ids of its nodes that can work."""
        return {node["NodeID"] for node in self._ray.nodes() if node["Alive"] and node["Resources"].get("CPU")}

    def _begun(self, recipe: Recipe) -> _Member:
        """An actor on a node that has not refused the recipe; it may have to wait for room.

        Raises:
            Refused: there is no such node.
        """
        with self._turn:
            refusals = dict(self._refusals.get(recipe, {}))
        try:
            if self._living() <= refusals.keys():
                reasons = "; ".join(refusals.values()) or "none has a processor"
                raise Refused(
                    f"no node of the cluster can do this: {reasons}",
                    where=f"--on {self.name}",
                    next_step="mend one of these, or leave --on out",
                )
            options: dict[str, Any] = {"scheduling_strategy": "SPREAD"}
            if refusals:
                options = {"label_selector": {NODE_LABEL: f"!in({','.join(refusals)})"}}
            return _Member(self._ray, self._actor.options(**options).remote(self._alike))
        except (self._ray.exceptions.RayError, ConnectionError) as error:
            raise Lost(f"the cluster cannot be reached: {error}") from None


def _init(ray: Any, address: str) -> None:
    """Join or start a cluster; who is ended by SIGTERM stays so, and not as Ray likes."""
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a Ray that is started here tells nobody
    try:
        # Ray lets its workers import from where this is started, and an agent may have written there.
        with chdir(lockstep_home()):
            ray.init(address or None, logging_level=logging.ERROR, log_to_driver=False)
    finally:
        if main:
            signal.signal(signal.SIGTERM, before)


def _demand_there(address: str) -> None:
    """Ray asks for minutes where nobody answers."""
    named = address or os.environ.get("RAY_ADDRESS", "")
    place = host_and_port(named)
    if place is None:
        return
    try:
        socket.create_connection(place, CONNECT_S).close()
    except (OSError, ValueError, OverflowError) as error:
        raise _unjoined(named, str(error)) from error


def host_and_port(address: str) -> tuple[str, int] | None:
    """The two of `ray://host:port` or `host:port`; None of another text."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    return (host, int(port)) if port.isascii() and port.isdigit() else None


def _unjoined(address: str, why: str) -> SetupError:
    return SetupError(
        f"no Ray cluster can be joined: {why}",
        where=f"--on {address or 'ray'}",
        expected="the address of a running cluster, as `ray start --head` tells it",
        next_step="start one, or give `--on ray` alone: Ray then runs on this machine",
    )


class _Actor:
    """What Ray makes: a place that knows its node."""

    def __init__(self, alike: Alike) -> None:
        import ray
        from ray.util import get_node_ip_address

        self._id = ray.get_runtime_context().get_node_id()
        self._name = f"{get_node_ip_address()} ({self._id[:8]})"
        self._place = Place(self._name, alike)

    def node(self) -> tuple[str, str]:
        return self._id, self._name

    def make(self, recipe: Recipe) -> Answer:
        return self._place.make(recipe)

    def ask(self, method: str, arguments: tuple[Any, ...]) -> Answer:
        return self._place.ask(method, arguments)

    def close(self) -> Answer:
        return self._place.close()


class _Member:
    facts: Mapping[str, Any]
    node_id, node = "", ""

    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray, self._actor = ray, actor

    def find(self, holds: Holds) -> None:
        """Wait until it has a node, as long as it is wanted.

        Raises:
            Refused: the node has no Lockstep that can be asked.
        """
        promised = self._actor.node.remote()
        while True:
            if not holds(self):
                raise Lost("nobody waits for it any more")
            if self._ray.wait([promised], timeout=LOOK_S)[0]:
                break
        try:
            self.node_id, self.node = self._got(promised)
        except RuntimeError as error:
            raise Refused(
                f"a node cannot begin: {error}",
                where="--on ray",
                expected="the same version of Lockstep on every node",
                next_step="install it in the Python that `ray start` runs in",
            ) from None

    def ask(self, method: str, *arguments: Any, within: float | None = None) -> Any:
        return self.call("ask", method, arguments, within=within)

    def call(self, name: str, *arguments: Any, within: float | None = None) -> Any:
        """One of the actor's methods, its answer opened."""
        answered, answer = self._got(getattr(self._actor, name).remote(*arguments), within)
        if answered:
            return answer
        raise answer

    def kill(self) -> None:
        with suppress(Exception):  # a cluster that is gone has ended it
            if self._ray.is_initialized():
                self._ray.kill(self._actor, no_restart=True)

    def close(self) -> None:
        with suppress(Lost, RuntimeError):  # it is gone already
            self.call("close", within=CLOSE_S)
        self.kill()

    def _got(self, promised: Any, within: float | None = None) -> Any:
        exceptions = self._ray.exceptions
        try:
            return self._ray.get(promised, timeout=within)
        except exceptions.RayTaskError as error:  # what it did failed, and nothing died
            raise RuntimeError(str(error).strip().rsplit("\n", 1)[-1]) from None
        except (exceptions.RayError, ConnectionError) as error:
            said = str(error).strip().split("\n", 1)[0]
            raise Lost(f"Ray lost it: {said}") from None
