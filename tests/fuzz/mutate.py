"""New inputs from old ones: of bytes, and of the values in JSON, MessagePack and TOML.

A valid message that is changed in one field gets past the outer checks, which random bytes never do. So every mutator
changes values most of the time and bytes some of the time.
"""

from __future__ import annotations

import base64
import copy
import json
import random
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgpack

MAX_INPUT = 1 << 20
DEEP, DIGITS = "@deep@", "@digits@"
"""Stand for values that no encoder writes: lists in lists beyond any stack, a number of more digits than Python reads."""
NEST = 20_000
TEXTS = (
    "", " ", "a", "\0", "\ud800", "\ufeff", "\u202e", "..", "../../etc/passwd", "/etc/passwd", ".git/config",
    "-x", "a" * 300, "x" * 70_000, "{{7*7}}", "<script>", "%s%n", "NaN", "inf", "nan", "1e999", "S2000000000",
    "O", "V8", "<f8", "float32", "2026-02-30T25:61:00Z", "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59", "🦀", "e\u0301", "\r\n", "lockstep-level: 9",
)  # fmt: skip
NUMBERS = (
    0, 1, -1, 2, 3, 255, 256, 65_535, 1 << 31, (1 << 31) - 1, -(1 << 31), 1 << 32, (1 << 53) + 1,
    (1 << 63) - 1, 1 << 63, -(1 << 63), (1 << 64) - 1, 1 << 64, 10**30, 0.0, -0.0, 0.5, 1e308, -1e308, 5e-324,
    float("inf"), float("-inf"), float("nan"),
)  # fmt: skip
OTHERS: tuple[Any, ...] = (None, True, False, [], {}, [[]], [None], {"": None}, [0] * 300, DEEP, DIGITS)
RUNS = (
    b"\0", b"\xff", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\0\0\0", b"\0\0\0\0",
    b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xc6\x40\0\0\0", b"\xc9\x40\0\0\0\x01",
    b"\xdb\x7f\xff\xff\xff", b"\xc1", b"\xc0", b"{", b"}", b"[", b'"', b"\\u0000", b"\n", b"=", b"'''", b'"""',
    b"#", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"e999", b"-", b"\r",
)  # fmt: skip


class Extension(list[Any]):
    """A MessagePack extension as a list `[code, content]`, so that it is changed as any list is."""


def of_bytes(rng: random.Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    """A few changes of bytes: flipped, set, cut out, doubled, put in, cut off, or joined with another input."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(made) + 1)
        length = min(rng.choice((1, 1, 2, 4, 16, 200)), len(made) - at)
        choice = rng.randrange(7)
        if choice == 0 and at < len(made):
            made[at] ^= 1 << rng.randrange(8)
        elif choice == 1 and at < len(made):
            made[at] = rng.randrange(256)
        elif choice == 2:
            del made[at : at + length]
        elif choice == 3:
            made[at:at] = made[at : at + length] * rng.choice((1, 1, 2, 50))
        elif choice == 4:
            run = rng.choice(RUNS)
            made[at : at + rng.choice((0, len(run)))] = run
        elif choice == 5 and rng.random() < 0.3:
            del made[at:]
        elif choice == 6 and donors:
            other = rng.choice(donors)
            start = rng.randrange(len(other) + 1)
            made[at:] = other[start : start + rng.choice((8, 64, 4096))] + (made[at:] if rng.random() < 0.5 else b"")
    return bytes(made[:MAX_INPUT])


def of_value(rng: random.Random, value: Any, donors: Sequence[Any] = ()) -> Any:
    """A copy of a tree of lists and dicts with a few of its parts changed."""
    root = [copy.deepcopy(value)]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = list(_places(root))
        holder, key = rng.choice(places)
        choice = rng.randrange(12)
        if choice < 5:
            holder[key] = _other(rng, holder[key])
        elif choice == 5 and holder is not root:
            del holder[key]
        elif choice == 6 and isinstance(holder, dict):
            holder[_other_text(rng, key) if isinstance(key, str) else key] = holder.pop(key)
        elif choice == 7 and isinstance(holder, list) and holder is not root:
            holder[key:key] = [copy.deepcopy(holder[key])] * rng.choice((1, 2, 100))
        elif choice == 8:
            other, there = rng.choice(places)
            if other is not root and holder is not root:
                holder[key] = copy.deepcopy(other[there])
        elif choice == 9 and isinstance(holder[key], dict):
            holder[key][rng.choice(TEXTS)] = _anything(rng)
        elif choice == 10 and isinstance(holder[key], list):
            holder[key].insert(rng.randrange(len(holder[key]) + 1), _anything(rng))
        elif choice == 11 and donors:
            theirs, there = rng.choice(list(_places([rng.choice(donors)])))
            holder[key] = copy.deepcopy(theirs[there])
        else:
            holder[key] = _anything(rng)
    return root[0]


def _places(root: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a tree: what holds it, and its key there."""
    pending = [root]
    while pending:
        holder = pending.pop()
        for key, value in list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder)):
            yield holder, key
            if isinstance(value, dict | list):
                pending.append(value)


def _anything(rng: random.Random) -> Any:
    return copy.deepcopy(rng.choice((*TEXTS, *NUMBERS, *OTHERS)))


def _other(rng: random.Random, value: Any) -> Any:
    """Another value, of the same type half of the time: what is of the right type gets further."""
    if rng.random() < 0.5 or value is None:
        return _anything(rng)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        near = (value + 1, value - 1, -value, value * 2, value * 1000)
        return rng.choice((*near, *NUMBERS)) if rng.random() < 0.8 else float(rng.choice(NUMBERS))
    if isinstance(value, str):
        return _other_text(rng, value)
    if isinstance(value, bytes):
        return of_bytes(rng, value, ())
    if isinstance(value, list):
        return rng.choice((value[::-1], value * 2, value[1:], [value], [*value, *value[:1]]))
    return dict(list(value.items())[: rng.randrange(len(value) + 1)]) if isinstance(value, dict) else None


def _other_text(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    return rng.choice(
        (
            text[:at],
            text[at:],
            text[:at] + rng.choice(TEXTS) + text[at:],
            text * 2,
            text.upper(),
            rng.choice(TEXTS),
            text + "/x",
        )
    )


def of_json(rng: random.Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    """A JSON document with other values; bytes are changed where it is none, and now and then besides."""
    try:
        value = json.loads(data)
        others = [json.loads(rng.choice(donors))] if donors and rng.random() < 0.2 else []
        made = json_text(of_value(rng, value, others))
    except (ValueError, RecursionError):
        return of_bytes(rng, data, donors)
    return of_bytes(rng, made, donors) if rng.random() < 0.1 else made[:MAX_INPUT]


def json_text(value: Any) -> bytes:
    """A value as JSON, with what no encoder writes put in for its stand-ins."""
    text = json.dumps(value, indent=None)
    return _unusual(text, f'"{DEEP}"', f'"{DIGITS}"').encode()


def _unusual(text: str, deep: str, digits: str) -> str:
    return text.replace(deep, "[" * NEST + "]" * NEST, 1).replace(digits, "9" * 5_000)


def of_json_lines(rng: random.Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    """Lines of JSON, one of them changed, taken out, doubled or moved."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    choice = rng.randrange(6)
    if choice == 0:
        del lines[at]
    elif choice == 1:
        lines[at:at] = [lines[at]] * 2
    elif choice == 2:
        rng.shuffle(lines)
    else:
        lines[at] = of_json(rng, lines[at], ())
    return b"\n".join(lines)[:MAX_INPUT]


def of_message(rng: random.Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    """A MessagePack message with other values, the insides of its arrays included."""
    if rng.random() < 0.15:
        return of_bytes(rng, data, donors)
    try:
        return packed(of_value(rng, unpacked(data)))
    except Exception:  # it was no message before, or holds now what no message can
        return of_bytes(rng, data, donors)


def unpacked(data: bytes) -> Any:
    """A message as a tree of lists and dicts."""

    def extension(code: int, content: bytes) -> Extension:
        return Extension([code, msgpack.unpackb(content, raw=False, strict_map_key=False)])

    return msgpack.unpackb(data, raw=False, strict_map_key=False, ext_hook=extension)


def packed(value: Any) -> bytes:
    """The inverse of `unpacked`."""

    def extension(found: Any) -> Any:
        code, content = (*found, None, None)[:2]
        code = code & 0x7F if isinstance(code, int) else 1
        return msgpack.ExtType(code, content if isinstance(content, bytes) else packed(content))

    made = bytes(msgpack.packb(value, default=extension, strict_types=True, use_bin_type=True) or b"")
    return made.replace(b"\xa6@deep@", b"\x91" * 2_000 + b"\xc0", 1)


def frames_in(data: bytes) -> list[tuple[int, bytes]]:
    """The frames of a stream, each with the length that it states; the last may have less."""
    found, at = [], 0
    while at + 4 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        found.append((length, data[at + 4 : at + 4 + length]))
        at += 4 + length
    return found


def of_frames(rng: random.Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    """A stream of frames in which one is changed inside, or states another length, or is taken out, doubled or moved."""
    frames = frames_in(data)
    if not frames or rng.random() < 0.05:
        return of_bytes(rng, data, donors)
    at = rng.randrange(len(frames))
    length, content = frames[at]
    choice = rng.randrange(14)
    if choice == 0:
        frames[at] = (
            rng.choice((0, 1, length + 1, max(0, length - 1), 1 << 30, (1 << 30) + 1, (1 << 32) - 1)),
            content,
        )
    elif choice == 1:
        del frames[at]
    elif choice == 2:
        frames[at:at] = [frames[at]]
    elif choice == 3:
        other = rng.randrange(len(frames))
        frames[at], frames[other] = frames[other], frames[at]
    elif choice == 4 and donors:
        frames[at] = rng.choice(frames_in(rng.choice(donors)) or [frames[at]])
    else:
        made = of_message(rng, content, ())
        frames[at] = (len(made), made)
    return b"".join(struct.pack(">I", length & 0xFFFFFFFF) + content for length, content in frames)[:MAX_INPUT]


_ASSIGNED = re.compile(r"(=\s*)(.+)")
_TOML_VALUES = (
    "1", "-1", "0", "true", '""', '"x"', "[]", "{}", "[[]]", "1e400", "-inf", "nan", "1979-05-27T07:32:00Z",
    "07:32:00", "0x7fffffffffffffff", "1" + "0" * 400, "9" * 5_000, "[" * 2_000 + "]" * 2_000,
    "{a=" * 300 + "1" + "}" * 300, "[1, 2, 3]", '["a", "a"]', "{a = 1}", "-0.0", '"\\u0000"',
    '"' + "y" * 20_000 + '"', '"../../x"', "'''\n'''", "[1.5, 2e308]",
    '{dtype = "float32", shape = [4294967296, 4294967296]}',
    '{dtype = "int8", shape = [' + "2," * 70 + "], low = 0, high = 1}", '"' + " " * 5_000 + '"', "=",
    '{"" = {}}',
)  # fmt: skip


def of_toml(rng: random.Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    """A TOML document with other values, and lines taken out, doubled, moved or put in."""
    if rng.random() < 0.15:
        return of_bytes(rng, data, donors)
    lines = data.decode(errors="surrogateescape").split("\n")
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.randrange(len(lines))
        choice = rng.randrange(8)
        if choice < 4:
            lines[at] = _ASSIGNED.sub(lambda found: found[1] + rng.choice(_TOML_VALUES), lines[at], count=1)
        elif choice == 4 and len(lines) > 1:
            del lines[at]
        elif choice == 5:
            lines.insert(rng.randrange(len(lines)), lines[at])
        elif choice == 6 and donors:
            lines.insert(at, rng.choice(rng.choice(donors).decode(errors="surrogateescape").split("\n")))
        else:
            name = rng.choice(("a", '"é"', "a.b", '""', '"\\u0001"', "name", "leaves", '"state/x".low'))
            lines.insert(at, rng.choice((f"[{name}]", f"[[{name}]]", f"{name} = {rng.choice(_TOML_VALUES)}")))
    return "\n".join(lines).encode(errors="surrogateescape")[:MAX_INPUT]


def either(*mutators: Callable[..., bytes]) -> Callable[[random.Random, bytes, Sequence[bytes]], bytes]:
    """One of several mutators, drawn each time."""
    return lambda rng, data, donors: rng.choice(mutators)(rng, data, donors)


def as_text(content: bytes) -> Any:
    """Bytes inside JSON: text where they are, else base64 in an object."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def as_bytes(described: Any) -> bytes:
    """The inverse of `as_text`; anything else becomes JSON."""
    if isinstance(described, str):
        return described.encode(errors="surrogatepass")
    if isinstance(described, dict) and isinstance(described.get("base64"), str):
        return base64.b64decode(described["base64"].encode(errors="replace"), validate=False)
    return json_text(described)
