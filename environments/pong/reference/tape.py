"""The tape behind `rand()`: the Python side of rand_tape.c, which LD_PRELOAD puts before the C library."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

VALUES = 16
WATCHES = 1024
RAND_MAX = 2**31 - 1


class _Watch(ctypes.Structure):
    _fields_ = [("source", ctypes.c_void_p), ("target", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class _Shared(ctypes.Structure):
    _fields_ = [
        ("forced", ctypes.c_int),
        ("tape_length", ctypes.c_int),
        ("taken", ctypes.c_int),
        ("recorded", ctypes.c_int),
        ("tape", ctypes.c_int * VALUES),
        ("record", ctypes.c_int * VALUES),
        ("watched", ctypes.c_int),
        ("watches", _Watch * WATCHES),
    ]


class RandTape:
    """Records every value of `rand()` under one name, and forces values in its place.

    Args:
        name: what to call the draws.

    Raises:
        RuntimeError: rand_tape.c is not loaded in this process.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        try:
            self._shared = _Shared.in_dll(ctypes.CDLL(None), "rand_tape")
        except ValueError:
            raise RuntimeError(
                "rand() is not on a tape in this process: start it with LD_PRELOAD={prefix}/lib/librand_tape.so, "
                "which `lockstep setup pong` builds"
            )
        self._shared.forced = 0
        self._shared.recorded = 0
        self._watched: list[tuple[Any, Any]] = []

    def watch(self, address: int, size: int) -> memoryview:
        """Copy `size` bytes at `address` at each `rand()`; returns a view of the newest copy.

        Raises:
            RuntimeError: more is watched in this process than there is room for.
        """
        shared = self._shared
        free = next((index for index in range(WATCHES) if not shared.watches[index].size), None)
        if free is None:
            raise RuntimeError("{} memories are watched already: this process has too many games".format(WATCHES))
        copy = (ctypes.c_char * size)()
        slot = shared.watches[free]
        slot.source, slot.target, slot.size = address, ctypes.addressof(copy), size
        shared.watched = max(shared.watched, free + 1)
        self._watched.append((slot, copy))
        return memoryview(copy).cast("B")

    def unwatch(self) -> None:
        """Forget what `watch` began, before the memory goes away."""
        for slot, _ in self._watched:
            slot.size = 0
        self._watched = []

    def force(self, draws: list[Any]) -> None:
        """Make `rand()` return these draws, a list of `[name, value]`, until `settle` is called.

        Raises:
            ValueError: a draw has another name, or is not what `rand()` can return.
        """
        values = []
        for name, value in draws:
            if name != self._name:
                raise ValueError("Pong draws {!r}, the tape has {!r}".format(self._name, name))
            number = np.asarray(value)
            if number.shape != () or number.dtype.kind not in "iu" or not 0 <= number <= RAND_MAX:
                raise ValueError("{!r} is an integer from 0 to {}, not {!r}".format(name, RAND_MAX, value))
            values.append(int(number))
        if len(values) > VALUES:
            raise ValueError("{} draws are left over: no step of Pong takes as many".format(len(values)))
        shared = self._shared
        shared.tape[: len(values)] = values
        shared.tape_length, shared.taken, shared.forced = len(values), 0, 1

    def settle(self) -> None:
        """End what `force` began.

        Raises:
            ValueError: a forced draw was left over, or one was missing.
        """
        shared = self._shared
        shared.forced = 0
        if shared.taken < shared.tape_length:
            left = shared.tape_length - shared.taken
            self.discard()
            raise ValueError("{} of {} draws are left over".format(left, shared.tape_length))
        if shared.taken > shared.tape_length:
            missing = shared.taken - shared.tape_length
            self.discard()
            raise ValueError("{} draw(s) of {!r} are missing from the tape".format(missing, self._name))

    @contextlib.contextmanager
    def aside(self, value: int) -> Iterator[None]:
        """Inside, `rand()` returns `value`, and neither its generator nor the record takes notice."""
        shared = self._shared
        recorded = shared.recorded
        shared.tape[:] = [value] * VALUES
        shared.tape_length, shared.taken, shared.forced = VALUES, 0, 1
        try:
            yield
        finally:
            shared.forced, shared.recorded = 0, recorded

    def discard(self) -> None:
        """Forget the draws since the last call of `take`."""
        self._shared.recorded = 0

    def take(self) -> list[tuple[str, np.ndarray]]:
        """The draws since the last call, as `(name, int32)`."""
        count = self._shared.recorded
        if count == 0:
            return []
        self.discard()
        if count > VALUES:
            message = "rand() was called {} times since its values were last taken, {} are kept"
            raise RuntimeError(message.format(count, VALUES))
        return [(self._name, np.array(value, dtype=np.int32)) for value in self._shared.record[:count]]
