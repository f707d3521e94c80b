"""A record as somebody could send it: the objects and refs of a recorded session with changes, and the bundle of the result.

Whoever sends a record has no key of its session. So whatever these changes are, what an audit calls proven must be what the
session proved.
"""

from __future__ import annotations

import hashlib
import random
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.record import log
from harness.record import objects as git
from harness.record.received import opened
from tests.fuzz.mutate import MAX_INPUT, of_bytes, of_json
from tests.paths import RECORDED_SESSIONS

RECORDED = RECORDED_SESSIONS / "cartpole.bundle"
EVENTS = 7
"""So many events of it: a start, a failure with its case, and two verified commits."""
KINDS = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}
REF_DELTA = 7
MISSING = "ab" * 20
MAX_MANY = 3_000
MAX_ZEROS = 80
NAMED = ("event.json", "event.sig", "verdict.json", "summary.json", "level-1.json", "task.toml", "env.py")
"""Files that a change can be asked of by name."""
MODES = ("100644", "100755", "40000", "120000", "160000", "100664", "040000", "0", "777777777777", "")
NAMES = (
    "..",
    ".",
    ".git",
    ".GIT",
    "git~1",
    "",
    "a/b",
    "x" * 300,
    "é",
    "e\u0301",
    "\udcff",
    "a\nb",
    "-x",
    "con",
    "\u200bgit",
)


@dataclass(frozen=True)
class Object:
    """One object of git."""

    kind: str
    content: bytes

    @cached_property
    def id(self) -> str:
        """Its id."""
        return git.object_id(self.kind, self.content)

    @cached_property
    def children(self) -> frozenset[str]:
        """The ids that it names, as far as it is of its form and not very large."""
        if self.kind == "blob" or len(self.content) > MAX_INPUT:
            return frozenset()
        if self.kind == "tree":
            return frozenset(identifier for _, _, identifier in entries_of(self.content))
        lines = self.content.split(b"\n\n", 1)[0].decode(errors="replace").split("\n")
        return frozenset(line.split(" ", 1)[1] for line in lines if line.startswith(("tree ", "parent ", "object ")))

    def naming(self, others: Mapping[str, str]) -> Object:
        """This object with other ids in the place of some."""
        content = self.content
        for old, new in others.items():
            if old == new:
                continue
            pair = (bytes.fromhex(old), bytes.fromhex(new)) if self.kind == "tree" else (old.encode(), new.encode())
            content = content.replace(*pair)
        return Object(self.kind, content)


@dataclass
class Record:
    """Objects by id, refs, and the ids of the files with certain names."""

    objects: dict[str, Object]
    refs: list[tuple[str, str]]
    named: Mapping[str, Sequence[str]]

    def copy(self) -> Record:
        """One that can be changed."""
        return Record(dict(self.objects), list(self.refs), self.named)


def beginning(path: Path = RECORDED, events: int = EVENTS) -> Record:
    """The first events of a recorded session, with the refs as they were then."""
    objects: dict[str, Object] = {}
    named: dict[str, list[str]] = {name: [] for name in NAMED}
    with opened(path) as store:
        refs, done = store.refs(), log.read_events(store)[:events]
        verified = [event for event in done if event.commit]
        notes = refs[log.NOTES]
        while len(store.tree(store.commit(notes).tree)) > len(verified):
            (notes,) = store.commit(notes).parents
        kept = {log.EVENTS: done[-1].id, log.MAIN: str(verified[-1].commit), log.NOTES: notes}
        kept |= {f"{log.ATTESTATIONS}{event.commit}": event.id for event in verified}
        pending = [("commit", identifier) for identifier in kept.values()]
        while pending:
            kind, identifier = pending.pop()
            if identifier in objects:
                continue
            objects[identifier] = found = Object(kind, store.read(kind, identifier))
            if kind == "commit":
                commit = git.decode_commit(found.content)
                pending += [("tree", commit.tree), *(("commit", parent) for parent in commit.parents)]
            elif kind == "tree":
                for name, entry in git.decode_tree(found.content).items():
                    pending.append(("tree" if entry.mode == git.TREE else "blob", entry.id))
                    if name in named:
                        named[name].append(entry.id)
    return Record(objects, sorted(kept.items()), {name: sorted(set(ids)) for name, ids in named.items()})


def entries_of(content: bytes) -> list[tuple[bytes, bytes, str]]:
    """Mode, name and id of each entry of a tree, as far as it can be read."""
    found, at = [], 0
    while (end := content.find(b"\0", at)) >= 0 and end + 21 <= len(content):
        mode, _, name = content[at:end].partition(b" ")
        found.append((mode, name, content[end + 1 : end + 21].hex()))
        at = end + 21
    return found


def tree_of(entries: Sequence[tuple[bytes, bytes, str]]) -> bytes:
    """The inverse of `entries_of`, whatever the entries are and in whatever order."""
    return b"".join(mode + b" " + name + b"\0" + bytes.fromhex(identifier) for mode, name, identifier in entries)


# --- changes ----------------------------------------------------------------------------------------------------------


def changed(record: Record, edits: Sequence[Any]) -> Record:
    """A record with changes, one after the other. What is no change is passed over."""
    made = record.copy()
    for edit in edits:
        what = edit.get("do") if isinstance(edit, dict) else None
        if isinstance(what, str) and what in CHANGES:
            CHANGES[what](made, edit)
    return made


def number(edit: Mapping[str, Any], name: str, limit: int = 1 << 62) -> int:
    """A number of a change, whatever stands there."""
    value = edit.get(name, 0)
    return int(value) % limit if isinstance(value, int) and limit else 0


def chosen(record: Record, edit: Mapping[str, Any]) -> str | None:
    """The object that a change is about: `of` a kind or of a file's name, and the number `at` among these."""
    what = edit.get("of")
    if not isinstance(what, str):
        what = None
    if what in record.named:
        ids = [identifier for identifier in record.named[what] if identifier in record.objects]
    else:
        ids = sorted(
            identifier for identifier, each in record.objects.items() if what not in KINDS or each.kind == what
        )
    return ids[number(edit, "at", len(ids))] if ids else None


def _content(record: Record, edit: Mapping[str, Any]) -> None:
    """Another content of an object; with `follow` all that names it, up to the refs, names the new one."""
    identifier = chosen(record, edit)
    if identifier is None:
        return
    rng, old = random.Random(number(edit, "seed")), record.objects[identifier]
    new = Object(old.kind, _other(rng, old, record))
    record.objects[new.id] = new
    if edit.get("follow"):
        follow(record, {identifier: new.id})
    else:
        del record.objects[identifier]


def _other(rng: random.Random, old: Object, record: Record) -> bytes:
    if old.kind == "tree" and rng.random() < 0.9:
        return _other_tree(rng, entries_of(old.content), sorted(record.objects))
    if old.kind == "commit" and rng.random() < 0.9:
        return _other_commit(rng, old.content.split(b"\n"), sorted(record.objects))
    return (of_json if old.content.startswith(b"{") and rng.random() < 0.8 else of_bytes)(rng, old.content, ())


def _other_tree(rng: random.Random, entries: list[tuple[bytes, bytes, str]], ids: Sequence[str]) -> bytes:
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.randrange(len(entries)) if entries else 0
        mode, name, identifier = entries[at] if entries else (b"100644", b"x", MISSING)
        odd = rng.choice(NAMES).encode(errors="surrogateescape")
        other = rng.choice((*ids, MISSING))
        ways = (
            [(rng.choice(MODES).encode(), name, identifier)],
            [(mode, odd, identifier)],
            [(mode, name, other)],
            [(mode, name, identifier)] * 2,
            [(mode, name, identifier), (rng.choice(MODES).encode(), odd, other)],
            [],
        )
        entries[at : at + 1] = rng.choice(ways)
    if rng.random() < 0.1:
        rng.shuffle(entries)
    return tree_of(entries)


def _other_commit(rng: random.Random, lines: list[bytes], ids: Sequence[str]) -> bytes:
    at, other = rng.randrange(len(lines)), rng.choice((*ids, MISSING)).encode()
    ways = (
        [lines[at]] * 2,
        [],
        [b"parent " + other, lines[at]],
        [b"tree " + other],
        [b"encoding UTF-16", lines[at]],
        [b"gpgsig -----BEGIN PGP SIGNATURE-----", b" x", lines[at]],
        [b"mergetag object " + other, b" type commit", lines[at]],
        [lines[at] + b"\0"],
        [lines[at].replace(b"+0000", b"+9999999999999999999")],
        [b"author x <x> 99999999999999999999 +0000"],
    )
    lines[at : at + 1] = rng.choice(ways)
    return b"\n".join(lines)


def follow(record: Record, others: Mapping[str, str]) -> None:
    """Let everything that names one of these objects, up to the refs, name the new one in its place."""
    known = {**others, **{new: new for new in others.values()}}

    def renewed(identifier: str) -> str:
        if identifier not in known and identifier in record.objects:
            known[identifier] = identifier  # a changed object can name what it lies in: it goes on naming the old one
            old = record.objects[identifier]
            new = old.naming({child: renewed(child) for child in sorted(old.children)})
            if new.id != identifier:
                record.objects[new.id] = new
                del record.objects[identifier]
            known[identifier] = new.id
        return known.get(identifier, identifier)

    record.refs = [(name, renewed(identifier)) for name, identifier in record.refs]
    for old, new in others.items():
        if old != new:
            record.objects.pop(old, None)


def _drop(record: Record, edit: Mapping[str, Any]) -> None:
    identifier = chosen(record, edit)
    if identifier is not None:
        del record.objects[identifier]


def _zeros(record: Record, edit: Mapping[str, Any]) -> None:
    """An object of many mebibytes of zeros, in the place of another one."""
    identifier = chosen(record, edit)
    if identifier is not None:
        new = Object(record.objects[identifier].kind, bytes(number(edit, "mib", MAX_ZEROS) << 20))
        record.objects[new.id] = new
        follow(record, {identifier: new.id})


def _ref(record: Record, edit: Mapping[str, Any]) -> None:
    """A ref, in the place of others of its name or (`more`) beside them; none for `null`; `many` of them by number."""
    name, to = str(edit.get("name", "")), edit.get("to")
    if not edit.get("more"):
        record.refs = [pair for pair in record.refs if pair[0] != name]
    if to is not None:
        target = resolved(record, str(to))
        many = number(edit, "many", MAX_MANY)
        record.refs += [(name, target)] if not many else [(f"{name}{each}", target) for each in range(many)]


def _tag(record: Record, edit: Mapping[str, Any]) -> None:
    """An annotated tag of an object, of a tag of it, and so on, under a ref."""
    kind, identifier = "commit", resolved(record, str(edit.get("to", "@main")))
    if identifier in record.objects:
        kind = record.objects[identifier].kind
    for each in range(1 + number(edit, "deep", 200)):
        made = Object("tag", f"object {identifier}\ntype {kind}\ntag t{each}\ntagger x <x> 1 +0000\n\nx\n".encode())
        record.objects[made.id] = made
        kind, identifier = "tag", made.id
    record.refs.append((str(edit.get("name", "refs/tags/t")), identifier))


def _shorter(record: Record, edit: Mapping[str, Any]) -> None:
    """The log, cut off after so many events, with its ref alone or (`whole`) with every ref as it was then."""
    short = beginning(events=5 + number(edit, "at", EVENTS - 5))
    if edit.get("whole"):
        record.objects, record.refs = dict(short.objects), list(short.refs)
    else:
        _ref(record, {"name": log.EVENTS, "to": dict(short.refs)[log.EVENTS]})


CHANGES: Mapping[str, Callable[[Record, Mapping[str, Any]], None]] = {
    "content": _content,
    "drop": _drop,
    "zeros": _zeros,
    "ref": _ref,
    "tag": _tag,
    "shorter": _shorter,
}


def resolved(record: Record, target: str) -> str:
    """An id, from an id or a word for one."""
    refs = dict(record.refs)
    words = {
        "@main": refs.get(log.MAIN),
        "@events": refs.get(log.EVENTS),
        "@notes": refs.get(log.NOTES),
        "@missing": MISSING,
    }
    if target.removeprefix("@") in KINDS:
        return chosen(record, {"of": target[1:]}) or MISSING
    return (words.get(target) or MISSING) if target.startswith("@") else target


def drawn(rng: random.Random) -> dict[str, Any]:
    """A change of one kind or another."""
    what = rng.choice(("content",) * 6 + ("ref",) * 3 + ("drop", "tag", "shorter") + ("zeros",) * (rng.random() < 0.1))
    edit: dict[str, Any] = {"do": what, "at": rng.randrange(1 << 16), "seed": rng.randrange(1 << 30)}
    if what in ("content", "drop", "zeros"):
        edit |= {"of": rng.choice((*NAMED, *KINDS, *KINDS)), "follow": rng.random() < 0.9}
    if what == "zeros":
        edit |= {"mib": rng.randrange(MAX_ZEROS)}
    if what in ("ref", "tag"):
        edit |= {"name": ref_name(rng), "to": rng.choice(TARGETS), "more": rng.random() < 0.3}
    if what == "ref" and rng.random() < 0.1:
        edit |= {"many": rng.choice((2, 300, MAX_MANY - 1))}
    if what == "tag":
        edit |= {"deep": rng.choice((0, 1, 199))}
    if what == "shorter":
        edit |= {"whole": rng.random() < 0.7}
    return edit


TARGETS = (
    "@main",
    "@events",
    "@notes",
    "@blob",
    "@tree",
    "@commit",
    "@missing",
    "0" * 40,
    "x",
    "",
    None,
    "ref: refs/heads/main",
)


def ref_name(rng: random.Random) -> str:
    """The name of a ref: one that a record has, one that git has a use for, or an odd one."""
    known = (log.EVENTS, log.MAIN, log.NOTES, f"{log.ATTESTATIONS}{MISSING}", "HEAD")
    used = (
        f"refs/replace/{MISSING}", "refs/stash", "refs/bisect/bad", "refs/worktree/x", "FETCH_HEAD", "refs/lockstep/x",
        "refs/heads/main/x", "refs/lockstep/events/x", "refs/lockstep", "refs/heads", "refs/remotes/origin/HEAD",
    )  # fmt: skip
    odd = (
        "refs/heads/../../outside/marker", "refs/heads/x.lock", "refs/heads/" + "y" * 250,
        "refs/heads/" + "y/" * 1500 + "y", "refs/heads/" + "y/" * 300 + "y",
        "refs/heads/a b", "refs/heads/\x1b[2J", "refs/heads/\u202e", "refs/heads/\udcff", "refs/heads/-x", "refs//x",
        "refs/", "/etc/x", "../x", "", "x", "refs/heads/@{0}", "refs/heads/x~1", "refs/heads/.x", "refs/heads/é",
        "refs/heads/e\u0301", "refs/heads/MAIN", "config", "objects/x", "hooks/post-checkout", "refs/heads/x\t",
        "refs/heads/x\r",
    )  # fmt: skip
    return rng.choice(rng.choice((known, known, used, odd)))


# --- bundles ----------------------------------------------------------------------------------------------------------


def bundle(record: Record, form: Mapping[str, Any]) -> bytes:
    """A bundle of a record.

    Args:
        form: how it is written: `lines` before the refs, `deltas` between objects, lies of the `pack`, and `bytes` that are
            changed at the end.
    """
    given = form.get("lines")
    lines = [str(each) for each in given] if isinstance(given, list) else []
    head = [] if lines and lines[0].startswith(("#", "gitdir")) else ["# v2 git bundle"]
    text = "\n".join([*head, *lines, *(f"{identifier} {name}" for name, identifier in record.refs), "", ""])
    made = text.encode(errors="surrogatepass") + pack(list(record.objects.values()), form)
    if isinstance(form.get("bytes"), int):
        made = of_bytes(random.Random(form["bytes"]), made, ())
        if form.get("sealed"):  # with a checksum that fits, so that it is read
            at = made.find(b"PACK")
            made = made[:-20] + hashlib.sha1(made[at:-20], usedforsecurity=False).digest()
    return made


def pack(objects: Sequence[Object], form: Mapping[str, Any]) -> bytes:
    """A pack with a checksum that fits; `deltas` makes so many of its objects differences from later ones of their kind, or
    (`odd`) from any, in circles too."""
    rng, made = random.Random(number(form, "seed")), []
    deltas = number(form, "deltas", len(objects) + 1)
    for at, each in enumerate(objects):
        bases = objects if form.get("odd") else [later for later in objects[at + 1 :] if later.kind == each.kind]
        if at < deltas and bases and each.content:  # git takes no difference of fewer than four bytes
            base = rng.choice(bases)
            made.append(_entry(REF_DELTA, _delta(rng, base, each, form), bytes.fromhex(base.id), form, rng))
        else:
            made.append(_entry(KINDS[each.kind], each.content, b"", form, rng))
    count = form.get("count", len(objects))
    header = b"PACK" + struct.pack(">II", 2, count % (1 << 32) if isinstance(count, int) else len(objects))
    content = header + b"".join(made)
    return content + hashlib.sha1(content, usedforsecurity=False).digest()


def _entry(kind: int, content: bytes, base: bytes, form: Mapping[str, Any], rng: random.Random) -> bytes:
    size = len(content)
    if form.get("lies") and rng.random() < 0.05:
        size, kind = rng.choice(((1 << 20, kind), (1 << 31, kind), (1 << 45, kind), (size, 0), (size, 5), (0, kind)))
    first, size = (kind << 4) | (size & 15), size >> 4
    head = bytearray()
    while size:
        head.append(first | 0x80)
        first, size = size & 0x7F, size >> 7
    head.append(first)
    return bytes(head) + base + zlib.compress(content, 1)


def _delta(rng: random.Random, base: Object, wanted: Object, form: Mapping[str, Any]) -> bytes:
    """What makes `wanted` of `base`: all of it put in; or (`odd`) copies of the base beyond its end, or many of them."""
    steps = bytearray(_varint(len(base.content)) + _varint(len(wanted.content)))
    if form.get("odd") and rng.random() < 0.2:
        copies = rng.choice((1, 300, 30_000))
        steps = bytearray(_varint(len(base.content)) + _varint(copies * 0x10000))
        return bytes(steps) + b"\x80" * copies
    for at in range(0, len(wanted.content), 127):
        part = wanted.content[at : at + 127]
        steps += bytes([len(part)]) + part
    return bytes(steps)


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def form_drawn(rng: random.Random) -> dict[str, Any]:
    """How a bundle is written, which is mostly as git writes it."""
    form: dict[str, Any] = {}
    if rng.random() < 0.15:
        lines = (
            "# v3 git bundle", "# v9 git bundle", "gitdir: ../base", "@object-format=sha1", "@object-format=sha256",
            "@filter=blob:none", "@filter=tree:0", "@x",
            f"-{MISSING} x", f"-{MISSING}", "-", f"{MISSING} refs/heads/y", "", "x" * 70_000,
        )  # fmt: skip
        form["lines"] = rng.sample(lines, rng.choice((1, 2, 3)))
    if rng.random() < 0.2:
        form |= {"deltas": rng.choice((1, 10, 1 << 16)), "seed": rng.randrange(1 << 30), "odd": rng.random() < 0.2}
    if rng.random() < 0.08:
        form |= {"lies": True, "seed": rng.randrange(1 << 30)}
    if rng.random() < 0.05:
        form |= {"count": rng.choice((0, 1, 1 << 31, (1 << 32) - 1))}
    if rng.random() < 0.06:
        form |= {"bytes": rng.randrange(1 << 30), "sealed": rng.random() < 0.7}
    return form
