"""The contract of what makes members: a recipe goes in, a member comes out, and what dies is told apart from what fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from harness.errors import LockstepError
from harness.farm.parcel import Parcel


@dataclass(frozen=True, eq=False)
class Recipe:
    """How a member is made, on whatever node.

    Attributes:
        factory: what makes it, as `module:name`; called with `arguments`, and with the path of each parcel, by name.
        arguments: plain data.
        parcels: the directories that it needs.
    """

    factory: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    parcels: Mapping[str, Parcel] = field(default_factory=dict)


@dataclass(frozen=True)
class Alike:
    """What nodes must have in common with the machine that asks.

    Attributes:
        look: what tells the facts of a node, as `module:name`; called without arguments, it gives a dictionary.
        demanded: facts that must be the same there as here.
    """

    look: str = ""
    demanded: Mapping[str, Any] = field(default_factory=dict)


CLOSE_S = 10.0
"""So long a member may take to close what it holds."""
STRIKES = 3
"""What so many members were lost over, one after the other, is given up."""


ANY = Alike()
"""Any node will do."""


def name_of(made: Callable[..., Any]) -> str:
    """A class or function of a module as `module:name`."""
    return f"{made.__module__}:{made.__name__}"


class Lost(Exception):
    """A member's process or its node is gone: says nothing of the question that it was asked."""


class Refused(LockstepError):
    """A node cannot do what a recipe needs."""


class Unreachable(LockstepError):
    """There is no cluster any more that could be asked: says nothing of any piece of work."""


class Member(Protocol):
    """Something that was made from a recipe. One thread at a time asks it; `kill` may come from another."""

    @property
    def node(self) -> str:
        """The name of the node that it is on; empty as long as it waits for room."""
        ...

    @property
    def facts(self) -> Mapping[str, Any]:
        """What `look` told of that node."""
        ...

    def ask(self, method: str, *arguments: Any, within: float | None = None) -> Any:
        """Call a method there, and give its answer.

        Args:
            within: seconds after which it counts as lost; None waits as long as its process lives.

        Raises:
            Lost: it is gone.
            Exception: whatever the method raised.
        """
        ...

    def kill(self) -> None:
        """End it at once; whoever waits for its answer is told `Lost`."""
        ...

    def close(self) -> None:
        """Have it close what it holds, and end it."""
        ...


Holds = Callable[[Member], bool]


def hold(member: Member) -> bool:
    """A `Holds` of somebody who waits as long as it takes."""
    return True


class Engine(Protocol):
    """Makes members."""

    @property
    def name(self) -> str:
        """What a user calls it, as `--on` takes it."""
        ...

    @property
    def slots(self) -> int:
        """How many members can work at once."""
        ...

    @property
    def apart(self) -> bool:
        """Whether members can be on several nodes, so that one may be slower than others."""
        ...

    @property
    def nodes(self) -> int:
        """How many nodes there are now."""
        ...

    def start(self, recipe: Recipe, holds: Holds = hold) -> Member:
        """A new member; may be called by several threads.

        Args:
            holds: called with the member as soon as it can be killed, and on a cluster again now and then while there is no
                room for it yet or it is being made. Where it says that it is not wanted any more, it counts as lost.

        Raises:
            Refused: no node can do what the recipe needs; each is named with its reason.
            Lost: it was gone before it had begun.
            Unreachable: the cluster is gone.
            Exception: on an engine of one node, what making it raised.
        """
        ...

    def close(self) -> None:
        """End what this engine began."""
        ...

    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...
