"""The other side of a member: the process in which what a recipe says is made, and asked."""

from __future__ import annotations

import importlib
import os
import pickle
import queue
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from harness.farm.engine import ANY, Alike, Recipe, Refused
from sandboxes.removal import remove_left_behind, scratch_directory

HERE = "this machine"

Answer = tuple[bool, Any]
"""Whether a question was answered, and its answer, or what was raised."""


class Place:
    """Holds what was made from a recipe. Every call gives an `Answer`, so that nothing is raised across a process.

    Args:
        node: the name of the node.
        alike: what it must have in common with the machine that asks.
    """

    def __init__(self, node: str, alike: Alike) -> None:
        self._node, self._alike = node, alike
        self._stack = ExitStack()
        self._made: Any = None

    def make(self, recipe: Recipe) -> Answer:
        """Make it; answers with the facts of the node."""
        try:
            facts = _named(self._alike.look)() if self._alike.look else {}
            self._demand(facts)
            remove_left_behind(Path(tempfile.gettempdir()))  # of members that were killed
            below = self._stack.enter_context(scratch_directory("lockstep-farm-"))
            parcels = {name: parcel.unpack(below) for name, parcel in recipe.parcels.items()}
            self._made = _named(recipe.factory)(**recipe.arguments, **parcels)
            if (close := getattr(self._made, "close", None)) is not None:
                self._stack.callback(close)
        except Exception as error:
            self._stack.close()
            return False, _portable(error)
        return True, facts

    def ask(self, method: str, arguments: tuple[Any, ...]) -> Answer:
        """Call a method of what was made."""
        try:
            return True, getattr(self._made, method)(*arguments)
        except Exception as error:
            return False, _portable(error)

    def close(self) -> Answer:
        """Close what was made, and remove its directories."""
        self._stack.close()
        return True, None

    def _demand(self, facts: Mapping[str, Any]) -> None:
        demanded = self._alike.demanded
        other = [name for name, wanted in demanded.items() if facts.get(name) != wanted]
        if other:
            raise Refused(
                f"it has {', '.join(f'{name} {facts.get(name)}' for name in other)}",
                where=f"node {self._node}",
                expected=f"{', '.join(f'{name} {demanded[name]}' for name in other)}, as the machine that asks",
                next_step="install the same versions there",
            )


def _named(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _portable(error: Exception) -> Exception:
    """The error if it can be sent, else one with its words."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def serve(connection: Connection, node: str) -> None:
    """Answer what comes over a connection until it ends: also in the midst of work, for nobody waits for it then."""
    asked: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def read() -> None:
        while True:
            try:
                asked.put(connection.recv())
            except (EOFError, OSError):
                os._exit(1)

    threading.Thread(target=read, name="lockstep-farm", daemon=True).start()
    place = Place(node, ANY)
    while True:
        call, arguments = asked.get()
        answer = getattr(place, call)(*arguments)
        try:
            connection.send(answer)
        except (pickle.PicklingError, AttributeError, TypeError) as error:  # before a byte of it was written
            connection.send((False, RuntimeError(f"its answer cannot be sent: {error}")))
        if call == "close":
            return


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])), HERE)
