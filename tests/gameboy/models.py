"""What the ROMs about arithmetic and bank switching must arrive at, computed here without an emulator."""

from __future__ import annotations

import binascii
from collections.abc import Iterable, Iterator

ZERO, SUBTRACT, HALF, CARRY = 0x80, 0x40, 0x20, 0x10


class Checksum:
    """The `mix` of busy.asm: value and flags into 16 bits, and the flags that doing so leaves behind."""

    def __init__(self) -> None:
        self.total = 0
        self.flags = 0

    def mix(self, value: int, flags: int) -> None:
        mixed = (self.total + (value << 8 | flags)) & 0xFFFF
        self.total = _rotate_left(mixed)
        if mixed >> 15:
            # INC on an even byte: neither zero nor a half carry; the carry stays.
            self.flags = CARRY
        else:
            # The addition of words leaves zero as the operation had it.
            self.flags = flags & ZERO | (HALF if mixed & 0x800 else 0)


def _rotate_left(value: int) -> int:
    return (value << 1 | value >> 15) & 0xFFFF


def _zero(value: int) -> int:
    return 0 if value & 0xFF else ZERO


def _added(a: int, b: int, carry: int) -> tuple[int, int]:
    total = a + b + carry
    half = HALF if (a & 15) + (b & 15) + carry > 15 else 0
    return total & 0xFF, _zero(total) | half | (CARRY if total > 0xFF else 0)


def _subtracted(a: int, b: int, carry: int) -> tuple[int, int]:
    rest = a - b - carry
    half = HALF if (a & 15) - (b & 15) - carry < 0 else 0
    return rest & 0xFF, _zero(rest) | SUBTRACT | half | (CARRY if rest < 0 else 0)


def _arithmetic(a: int, b: int) -> Iterator[tuple[int, int]]:
    """A and F after each operation that the ROM does, carry having been set before it."""
    yield _added(a, b, 0)
    yield _added(a, b, 1)
    yield _subtracted(a, b, 0)
    yield _subtracted(a, b, 1)
    yield a & b, _zero(a & b) | HALF
    yield a ^ b, _zero(a ^ b)
    yield a | b, _zero(a | b)
    yield a, _subtracted(a, b, 0)[1]
    up, down = (a + 1) & 0xFF, (a - 1) & 0xFF
    yield up, _zero(up) | (HALF if a & 15 == 15 else 0) | CARRY
    yield down, _zero(down) | SUBTRACT | (HALF if a & 15 == 0 else 0) | CARRY


def _rotated(a: int) -> Iterator[tuple[int, int]]:
    left, right = a >> 7, a & 1
    around = [
        ((a << 1 | left) & 0xFF, left),
        (a >> 1 | right << 7, right),
        ((a << 1 | 1) & 0xFF, left),
        (a >> 1 | 1 << 7, right),
    ]
    # The short forms never set zero.
    for value, carry in around:
        yield value, carry * CARRY
    for value, carry in [*around, (a << 1 & 0xFF, left), (a >> 1 | a & 0x80, right)]:
        yield value, _zero(value) | carry * CARRY
    swapped = (a << 4 | a >> 4) & 0xFF
    yield swapped, _zero(swapped)
    yield a >> 1, _zero(a >> 1) | right * CARRY


def arithmetic_checksum(operand: int) -> int:
    """busy's wAlu in the round whose low byte is `operand`."""
    checksum = Checksum()
    for a in range(256):
        for value, flags in _arithmetic(a, operand):
            checksum.mix(value, flags)
    return checksum.total


def bits_checksum() -> int:
    """busy's wBits."""
    checksum = Checksum()
    for a in range(256):
        for value, flags in _rotated(a):
            checksum.mix(value, flags)
        # cpl and ccf leave zero as it was.
        checksum.mix(a ^ 0xFF, checksum.flags & ZERO | SUBTRACT | HALF | CARRY)
        checksum.mix(a, checksum.flags & ZERO)
        for bit in range(8):
            checksum.mix(a, (0 if a >> bit & 1 else ZERO) | HALF | CARRY)
        checksum.mix(a & ~0x08 | 0x40, checksum.flags)
    return checksum.total


def busy_results(round_number: int, pattern: bytes) -> bytes:
    """busy's results of one round, wAlu to wMoved."""
    words = (
        arithmetic_checksum(round_number & 0xFF),
        bits_checksum(),
        0x9300,
        binascii.crc_hqx(pattern, 0),
        round_number * 12345 & 0xFFFF,
    )
    primes = sum(all(number % factor for factor in range(2, number)) for number in range(2, 256))
    moved = round_number & 0xFF
    for _ in range(3):
        moved = (moved + 7) & 0xFF
        moved = (moved << 4 & 0xF0 | moved >> 4) ^ 0x35
    return b"".join(word.to_bytes(2, "little") for word in words) + bytes([primes, 1, 144, 1, moved])


BUSY_RESULTS = 15
"""Bytes in it."""


def busy_total(rounds: int, pattern: bytes) -> int:
    """busy's wTotal when so many rounds are finished."""
    total = 0
    for number in range(rounds):
        for byte in busy_results(number, pattern):
            total = _rotate_left((total + byte) & 0xFFFF)
    return total


def visits_checksum(banks: Iterable[int]) -> int:
    """A mapper ROM's wVisits, the banks that answer being these."""
    total = 0
    for bank in banks:
        low = (total & 0xFF) ^ (bank * 37 + 11 & 0xFF)
        total = ((low << 1 | low >> 7) & 0xFF) << 8 | total >> 8
    return total
