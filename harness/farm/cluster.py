"""The engine over a Ray cluster: each member is an actor. Placement and transfer are Ray's."""

from __future__ import annotations

import logging
import os
import pkgutil
import signal
import threading
from collections.abc import Mapping
from contextlib import chdir, suppress
from importlib.util import find_spec
from typing import Any, Self

from harness.errors import SetupError
from harness.farm.engine import ANY, CLOSE_S, Alike, Holds, Lost, Member, Recipe, Refused, Unreachable, hold
from harness.farm.joining import LOCAL, demand_there, is_there, left_behind, unjoined
from harness.farm.place import Answer, Place
from harness.support.home import lockstep_home

NODE_LABEL = "ray.io/node-id"
LOOK_S = 1.0
LOOK_AT_ALL_S = 30.0
PART = f"{Place.__module__}:{Place.__name__}"
"""What a node can import that has Lockstep."""


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
        if find_spec("ray") is None:
            raise SetupError("Ray is not installed", where="--on", next_step="pip install 'lockstep-rl[ray]'")
        # Before Ray is imported, which reads its settings then. A head that was ended leaves its address behind, and Ray
        # would wait for it.
        address = demand_there(address) or ("" if is_there(left_behind()) else LOCAL)
        import ray
        from ray.exceptions import RayError

        self._ray, self._alike = ray, alike
        self._began = not ray.is_initialized()
        if self._began:
            try:
                _init(ray, address)
            except (ConnectionError, RuntimeError, ValueError, RayError) as error:
                raise unjoined(address, str(error)) from error
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
                member.facts = member.make(recipe, holds)
                return member
            except (Lost, KeyboardInterrupt, SystemExit):
                member.kill()
                raise
            except Exception as refused:
                member.kill()
                if member.node_id:
                    refusals = {member.node_id: f"{member.node}: {refused}"}
                elif not (refusals := self._without_lockstep()):
                    raise
                with self._turn:
                    self._refusals.setdefault(recipe, {}).update(refusals)

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        if self._began:
            self._ray.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _living(self) -> dict[str, str]:
        """Its nodes that can work: the name of each, by its id."""
        able = (node for node in self._ray.nodes() if node["Alive"] and node["Resources"].get("CPU"))
        return {node["NodeID"]: _named(node["NodeManagerAddress"], node["NodeID"]) for node in able}

    def _without_lockstep(self) -> dict[str, str]:
        """Why nodes that have no Lockstep cannot work, by their ids: they cannot tell it themselves."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        ray, names = self._ray, self._living()
        # Every Python has this function; ours would have to be imported there.
        look = ray.remote(num_cpus=0, max_retries=0)(pkgutil.resolve_name)
        asked = {
            look.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote(PART): node
            for node in names
        }
        found = {}
        for promised in ray.wait(list(asked), num_returns=len(asked), timeout=LOOK_AT_ALL_S)[0]:
            try:
                ray.get(promised)
            except ray.exceptions.RayError as error:
                found[asked[promised]] = f"{names[asked[promised]]}: it has no such Lockstep ({_last_line(error)})"
        return found

    def _begun(self, recipe: Recipe) -> _Member:
        """An actor on a node that has not refused the recipe; it may have to wait for room.

        Raises:
            Refused: there is no such node.
        """
        with self._turn:
            refusals = dict(self._refusals.get(recipe, {}))
        try:
            if self._living().keys() <= refusals.keys():
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
            raise Unreachable(
                f"the cluster cannot be reached any more: {_first_line(error)}",
                where=f"--on {self.name}",
                next_step="see whether its head lives; the same command goes on with what was found so far",
            ) from None


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


def _named(address: str, node: str) -> str:
    return f"{address} ({node[:8]})"


class _Actor:
    """What Ray makes: a place that knows its node."""

    def __init__(self, alike: Alike) -> None:
        import ray
        from ray.util import get_node_ip_address

        self._id = ray.get_runtime_context().get_node_id()
        self._name = _named(get_node_ip_address(), self._id)
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
        try:
            self.node_id, self.node = self._waited("node", (), holds)
        except RuntimeError as error:
            raise Refused(
                f"a node cannot begin: {error}",
                where="--on ray",
                expected="the same version of Lockstep on every node",
                next_step="install it in the Python that `ray start` runs in",
            ) from None

    def make(self, recipe: Recipe, holds: Holds) -> Mapping[str, Any]:
        """Make what it is asked for, as long as it is wanted; gives the facts of the node."""
        return _opened(self._waited("make", (recipe,), holds))

    def ask(self, method: str, *arguments: Any, within: float | None = None) -> Any:
        return self.call("ask", method, arguments, within=within)

    def call(self, name: str, *arguments: Any, within: float | None = None) -> Any:
        """One of the actor's methods, its answer opened."""
        return _opened(self._got(getattr(self._actor, name).remote(*arguments), within))

    def kill(self) -> None:
        with suppress(Exception):  # a cluster that is gone has ended it
            if self._ray.is_initialized():
                self._ray.kill(self._actor, no_restart=True)

    def close(self) -> None:
        with suppress(Lost, RuntimeError):  # it is gone already
            self.call("close", within=CLOSE_S)
        self.kill()

    def _waited(self, name: str, arguments: tuple[Any, ...], holds: Holds) -> Any:
        """What one of its methods gives, which may take long."""
        promised = getattr(self._actor, name).remote(*arguments)
        while not self._ready(promised):
            if not holds(self):
                raise Lost("nobody waits for it any more")
        return self._got(promised)

    def _ready(self, promised: Any) -> bool:
        try:
            return bool(self._ray.wait([promised], timeout=LOOK_S)[0])
        except (self._ray.exceptions.RayError, ConnectionError) as error:
            raise Lost(f"Ray lost it: {_first_line(error)}") from None

    def _got(self, promised: Any, within: float | None = None) -> Any:
        exceptions = self._ray.exceptions
        try:
            return self._ray.get(promised, timeout=within)
        except exceptions.RayTaskError as error:  # what it did failed, and nothing died
            raise RuntimeError(_last_line(error)) from None
        except (exceptions.RayError, ConnectionError) as error:
            if getattr(error, "actor_init_failed", False):  # so it is where our modules cannot be imported
                raise RuntimeError(_last_line(error)) from None
            raise Lost(f"Ray lost it: {_first_line(error)}") from None


def _opened(answer: Answer) -> Any:
    answered, what = answer
    if answered:
        return what
    raise what


def _last_line(error: Exception) -> str:
    return str(error).strip().rsplit("\n", 1)[-1]


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
