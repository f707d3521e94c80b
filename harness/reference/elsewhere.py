"""A reference in a process that an engine placed, on this machine or on another: its process there, the link to it here."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from harness.errors import Side
from harness.farm.engine import STRIKES, Engine, Lost, Member, Recipe, name_of
from harness.protocol.channel import Channel
from harness.protocol.environment import Environment, Pool
from harness.protocol.link import Gone, Link, Pipes
from harness.reference.install import reference_command, setup
from harness.reference.start import start_process
from harness.task.contract import Task
from harness.task.elsewhere import task_parts, task_there

CONVERSATIONS = {"open": "", "reset": "one", "restore": "one", "step": "one", "vector": "many", "advance": "many"}
"""Calls that a worker answers by what was asked before, and the conversation that each belongs to."""
BEGINNING = frozenset(("open", "reset", "restore", "vector"))
"""Those of them that begin it anew."""
ELSEWHERE = frozenset(("rollout", "drive", "probe"))
"""Calls that leave the environment where it would not be gone on from."""
ROOM_S = 15.0
CLOSE_S = 5.0
GRACE_S = 60.0
"""A node that says nothing for so much longer than the worker may take, or than others took to open, is lost."""
BUILD_S = 900.0
"""So long a node may build the reference that takes the place of another."""
OWN = "was ended by its owner"


class ReferenceThere:
    """Holds the process of a reference: what a member is.

    Args:
        task, files: as `harness.task.elsewhere` takes them there.
    """

    def __init__(self, *, task: Task, files: Path) -> None:
        task = task_there(task, files)
        installed = setup(task)
        with ExitStack() as stack:
            running, sandbox = start_process(task, installed, reference_command(task, installed))
            stack.callback(sandbox.close)
            self._pipes = Pipes(running)
            _opened_by(
                self._pipes, task
            )  # one that does not open here is this node's matter: another may have what it needs
            self.close = stack.pop_all().close

    def exchange(self, request: bytes, call: str, limit: float) -> bytes:
        """As `Link.exchange`."""
        return self._pipes.exchange(request, call, limit)

    def said(self) -> str:
        """As `Link.said`."""
        return self._pipes.said()


class Far:
    """The link to a reference that an engine placed.

    Where its member is lost, another one is started, and told again what it has to know to go on: a reference gives the same
    answers to the same requests, so nobody on this side sees a difference.
    """

    def __init__(self, engine: Engine, recipe: Recipe) -> None:
        self._engine, self._recipe = engine, recipe
        self._member: Member | None = None
        self._asked: dict[str, list[tuple[str, bytes]]] = {}  # by conversation
        self._ended = False
        self._until = math.inf
        self.facts: dict[str, Mapping[str, Any]] = {}

    def exchange(self, request: bytes, call: str, limit: float) -> bytes:
        """As `Link.exchange`."""
        if call == "close":
            return self._closed(request, limit)
        why = ""
        for _ in range(STRIKES):
            if self._ended:
                break
            try:
                member = self._member or self._begun(limit)
                answer = member.ask("exchange", request, call, limit, within=limit + GRACE_S)
            except Lost as lost:
                why = str(lost)
                self._drop()
                continue
            self._remember(call, request)
            return answer
        raise Gone(
            "was ended by its owner" if self._ended else f"was lost {STRIKES} times over this call, at last so: {why}"
        )

    def said(self) -> str:
        """As `Link.said`."""
        member = self._member  # it may be killed meanwhile
        try:
            return "" if member is None else member.ask("said", within=GRACE_S)
        except Lost:
            return ""

    @property
    def alive(self) -> bool:
        """As `Link.alive`: where a member is lost another takes its place."""
        return not self._ended

    def kill(self) -> None:
        """As `Link.kill`."""
        self._ended = True
        self._drop()

    @property
    def placed(self) -> bool:
        """Whether there is room for it; the reference may still be built there."""
        return self._member is not None and bool(self._member.node)

    def rest(self) -> None:
        """End the member; another one is started when something is asked."""
        self._drop()

    def _closed(self, request: bytes, limit: float) -> bytes:
        member, self._member = self._member, None
        self._ended = True
        if member is None:
            raise Gone(OWN)
        try:
            answer = member.ask("exchange", request, "close", limit, within=limit + CLOSE_S)
        except Lost:
            member.kill()
            raise Gone(OWN) from None
        member.close()
        return answer

    def _begun(self, limit: float) -> Member:
        # The first time nobody knows how long a node builds. A node that takes the place of another, and hangs, is left.
        self._until = time.monotonic() + BUILD_S if self._asked else math.inf
        member = self._engine.start(self._recipe, self._holds)
        try:
            self.facts[member.node] = member.facts
            for conversation in self._asked.values():
                for call, request in conversation:
                    member.ask("exchange", request, call, limit, within=limit + GRACE_S)
        except BaseException:
            self._drop()
            raise
        return member

    def _holds(self, member: Member) -> bool:
        self._member = member
        wanted = not self._ended and time.monotonic() < self._until
        if not wanted:
            self._drop()
        return wanted

    def _remember(self, call: str, request: bytes) -> None:
        if call in ELSEWHERE:
            self._asked.pop("one", None)
        if (conversation := CONVERSATIONS.get(call)) is None:
            return
        if call in BEGINNING:
            self._asked[conversation] = []
        self._asked.setdefault(conversation, []).append((call, request))

    def _drop(self) -> None:
        if self._member is not None:
            self._member.kill()
            self._member = None


def reference_recipe(task: Task) -> Recipe:
    """How workers of a task's reference are made elsewhere."""
    arguments, parcels = task_parts(task)
    return Recipe(name_of(ReferenceThere), arguments, parcels)


class FarPool(Pool):
    """Workers of a task's reference that an engine placed.

    Args:
        recipe: `reference_recipe`.
        count: how many at most; 0 takes what the task says, or as many as the engine has slots. What has no room some time
            after others have opened is left out: somebody else may have the slots for long.

    Raises:
        Refused: no node can run the reference.
        EnvironmentFailure: it does not start, or does not describe itself.
    """

    def __init__(self, task: Task, engine: Engine, recipe: Recipe, count: int = 0) -> None:
        count = count or task.reference.workers or engine.slots
        links = [Far(engine, recipe) for _ in range(count)]

        with ThreadPoolExecutor(count) as threads:
            try:
                opening = {threads.submit(_opened_by, link, task): link for link in links}
                done = _opened(opening)
                environments = [each.result() for each in opening if each in done]
            except BaseException:
                for link in links:  # those that still wait for room too
                    link.kill()
                raise
        self._links = [link for each, link in opening.items() if each in done]
        super().__init__(environments)

    @property
    def nodes(self) -> dict[str, Mapping[str, Any]]:
        """The facts of every node that has worked, by its name."""
        return {name: facts for link in self._links for name, facts in sorted(link.facts.items())}

    def close(self) -> None:
        """End all workers, at the same time: one may be on a node that hangs."""
        with ThreadPoolExecutor(len(self._links)) as threads:
            list(threads.map(lambda environment: environment.close(), self.environments))
        super().close()

    def rest(self) -> None:
        """Give the slots free until the workers are asked again."""
        for link in self._links:
            link.rest()


def _opened_by(link: Link, task: Task) -> Environment:
    return Environment(Channel(link, Side.REFERENCE, task.reference.timeout_s), task.reference.options)


def _opened(opening: Mapping[Future[Environment], Far]) -> set[Future[Environment]]:
    """Those that have opened; ended are those for which there is no room, and those that take much longer than the others.

    Raises:
        Exception: what one of them raised.
    """
    done: set[Future[Environment]] = set()
    late = set(opening)
    since = math.inf
    while late:
        new, late = wait(late, ROOM_S if done else None, FIRST_COMPLETED)
        for each in new:
            each.result()
        done |= new
        if new:
            since = time.monotonic()
            continue
        hangs = time.monotonic() - since > GRACE_S
        left_out = {each for each in late if hangs or not opening[each].placed}
        late -= left_out
        for each in left_out:
            opening[each].kill()
    return done


def nodes(pool: Pool | None) -> dict[str, Mapping[str, Any]]:
    """The facts of the nodes on which a pool's workers were, by name; empty where all were on this machine."""
    return pool.nodes if isinstance(pool, FarPool) else {}
