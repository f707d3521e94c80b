"""The LR35902's instruction set: which forms each mnemonic has, and how each is encoded.

A form is written as the source writes it, with `n` for any expression: `ld a,[n]`, `bit n,[hl]`, `jr nz,n`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from .errors import ExpressionError


class Immediate(Enum):
    """What an instruction does with its expression."""

    NONE = auto()
    BYTE = auto()
    WORD = auto()
    OFFSET = auto()
    """A signed byte."""
    RELATIVE = auto()
    """An address, stored as its distance from the following instruction."""
    HIGH_PAGE = auto()
    """An address from $FF00 to $FFFF (or its low byte), of which the low byte is stored."""
    BIT = auto()
    """A bit's number, part of the opcode."""
    VECTOR = auto()
    """One of the eight restart addresses, part of the opcode."""


_LENGTHS = {
    Immediate.NONE: 0,
    Immediate.BYTE: 1,
    Immediate.WORD: 2,
    Immediate.OFFSET: 1,
    Immediate.RELATIVE: 1,
    Immediate.HIGH_PAGE: 1,
    Immediate.BIT: 0,
    Immediate.VECTOR: 0,
}


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write an instruction, and its encoding."""

    opcode: bytes
    immediate: Immediate = Immediate.NONE

    @property
    def size(self) -> int:
        """Length in bytes."""
        return len(self.opcode) + _LENGTHS[self.immediate]

    def encode(self, value: int, address: int) -> bytes:
        """The instruction's bytes at `address`. ExpressionError where the value doesn't fit."""
        match self.immediate:
            case Immediate.NONE:
                return self.opcode
            case Immediate.BYTE:
                return self.opcode + byte(value)
            case Immediate.WORD:
                return self.opcode + word(value)
            case Immediate.OFFSET:
                return self.opcode + _signed(value, "the offset")
            case Immediate.RELATIVE:
                return self.opcode + _signed(value - (address + self.size), "the distance of the jump")
            case Immediate.HIGH_PAGE:
                if not (0 <= value <= 0xFF or 0xFF00 <= value <= 0xFFFF):
                    raise ExpressionError(f"${value:X} is not in the high page: expected $FF00 to $FFFF")
                return self.opcode + bytes([value & 0xFF])
            case Immediate.BIT:
                if not 0 <= value <= 7:
                    raise ExpressionError(f"{value} is no bit of a byte: expected 0 to 7")
                return bytes([self.opcode[0], self.opcode[1] | value << 3])
            case Immediate.VECTOR:
                if value not in range(0, 0x40, 8):
                    raise ExpressionError(f"${value:X} is no restart address: expected $00, $08, … $38")
                return bytes([self.opcode[0] | value])


def byte(value: int) -> bytes:
    """A byte, signed or unsigned. ExpressionError where the value is neither."""
    if not -0x80 <= value <= 0xFF:
        raise ExpressionError(f"{value} does not fit in a byte: expected -128 to 255")
    return bytes([value & 0xFF])


def word(value: int) -> bytes:
    """A word, signed or unsigned, low byte first. ExpressionError where the value is neither."""
    if not -0x8000 <= value <= 0xFFFF:
        raise ExpressionError(f"{value} does not fit in a word: expected -32768 to 65535")
    return (value & 0xFFFF).to_bytes(2, "little")


def _signed(value: int, what: str) -> bytes:
    if not -0x80 <= value <= 0x7F:
        raise ExpressionError(f"{what} is {value}: expected -128 to 127")
    return bytes([value & 0xFF])


_R8 = ("b", "c", "d", "e", "h", "l", "[hl]", "a")
_R16 = ("bc", "de", "hl", "sp")
_PUSHED = ("bc", "de", "hl", "af")
_POINTERS = ("[bc]", "[de]", "[hl+]", "[hl-]")
_CONDITIONS = ("nz", "z", "nc", "c")
ACCUMULATOR_OPERATIONS = ("add", "adc", "sub", "sbc", "and", "xor", "or", "cp")
"""Those whose first operand is `a`, which may be left out."""
_ROTATIONS = ("rlc", "rrc", "rl", "rr", "sla", "sra", "swap", "srl")


def _loads() -> dict[str, Form]:
    forms = {
        "ld [n],sp": Form(b"\x08", Immediate.WORD),
        "ld [n],a": Form(b"\xea", Immediate.WORD),
        "ld a,[n]": Form(b"\xfa", Immediate.WORD),
        "ldh [n],a": Form(b"\xe0", Immediate.HIGH_PAGE),
        "ldh a,[n]": Form(b"\xf0", Immediate.HIGH_PAGE),
        "ldh [c],a": Form(b"\xe2"),
        "ldh a,[c]": Form(b"\xf2"),
        "ld hl,sp+n": Form(b"\xf8", Immediate.OFFSET),
        "ld sp,hl": Form(b"\xf9"),
    }
    for target, name in enumerate(_R8):
        forms[f"ld {name},n"] = Form(bytes([0x06 + 8 * target]), Immediate.BYTE)
        for source, other in enumerate(_R8):
            forms[f"ld {name},{other}"] = Form(bytes([0x40 + 8 * target + source]))
    # Its place in the table belongs to halt.
    del forms["ld [hl],[hl]"]
    for row, name in enumerate(_R16):
        forms[f"ld {name},n"] = Form(bytes([0x01 + 16 * row]), Immediate.WORD)
    for row, name in enumerate(_POINTERS):
        forms[f"ld {name},a"] = Form(bytes([0x02 + 16 * row]))
        forms[f"ld a,{name}"] = Form(bytes([0x0A + 16 * row]))
    for row, name in enumerate(_PUSHED):
        forms[f"pop {name}"] = Form(bytes([0xC1 + 16 * row]))
        forms[f"push {name}"] = Form(bytes([0xC5 + 16 * row]))
    return forms


def _arithmetic() -> dict[str, Form]:
    forms = {
        "rlca": Form(b"\x07"),
        "rrca": Form(b"\x0f"),
        "rla": Form(b"\x17"),
        "rra": Form(b"\x1f"),
        "daa": Form(b"\x27"),
        "cpl": Form(b"\x2f"),
        "scf": Form(b"\x37"),
        "ccf": Form(b"\x3f"),
        "add sp,n": Form(b"\xe8", Immediate.OFFSET),
    }
    for row, operation in enumerate(ACCUMULATOR_OPERATIONS):
        forms[f"{operation} a,n"] = Form(bytes([0xC6 + 8 * row]), Immediate.BYTE)
        for column, name in enumerate(_R8):
            forms[f"{operation} a,{name}"] = Form(bytes([0x80 + 8 * row + column]))
    for row, name in enumerate(_R8):
        forms[f"inc {name}"] = Form(bytes([0x04 + 8 * row]))
        forms[f"dec {name}"] = Form(bytes([0x05 + 8 * row]))
    for row, name in enumerate(_R16):
        forms[f"inc {name}"] = Form(bytes([0x03 + 16 * row]))
        forms[f"add hl,{name}"] = Form(bytes([0x09 + 16 * row]))
        forms[f"dec {name}"] = Form(bytes([0x0B + 16 * row]))
    return forms


def _bits() -> dict[str, Form]:
    forms: dict[str, Form] = {}
    for column, name in enumerate(_R8):
        for row, operation in enumerate(_ROTATIONS):
            forms[f"{operation} {name}"] = Form(bytes([0xCB, 8 * row + column]))
        for block, operation in enumerate(("bit", "res", "set"), start=1):
            forms[f"{operation} n,{name}"] = Form(bytes([0xCB, 0x40 * block + column]), Immediate.BIT)
    return forms


def _control() -> dict[str, Form]:
    forms = {
        "nop": Form(b"\x00"),
        # The byte after the opcode is skipped by the CPU.
        "stop": Form(b"\x10\x00"),
        "halt": Form(b"\x76"),
        "di": Form(b"\xf3"),
        "ei": Form(b"\xfb"),
        "jr n": Form(b"\x18", Immediate.RELATIVE),
        "jp n": Form(b"\xc3", Immediate.WORD),
        "jp hl": Form(b"\xe9"),
        "call n": Form(b"\xcd", Immediate.WORD),
        "ret": Form(b"\xc9"),
        "reti": Form(b"\xd9"),
        "rst n": Form(b"\xc7", Immediate.VECTOR),
    }
    for row, condition in enumerate(_CONDITIONS):
        forms[f"jr {condition},n"] = Form(bytes([0x20 + 8 * row]), Immediate.RELATIVE)
        forms[f"ret {condition}"] = Form(bytes([0xC0 + 8 * row]))
        forms[f"jp {condition},n"] = Form(bytes([0xC2 + 8 * row]), Immediate.WORD)
        forms[f"call {condition},n"] = Form(bytes([0xC4 + 8 * row]), Immediate.WORD)
    return forms


FORMS: dict[str, Form] = _loads() | _arithmetic() | _bits() | _control()
MNEMONICS = frozenset(form.split()[0] for form in FORMS)
RESERVED = frozenset((*_R8, *_R16, *_CONDITIONS, "af")) - {"[hl]"}
"""Names that no symbol may have: as operands they mean registers and conditions."""
