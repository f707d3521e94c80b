"""Git's object formats, as far as the record uses them: blobs, trees of plain files, commits."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from harness.errors import RecordError

FILE = "100644"
EXECUTABLE = "100755"
TREE = "40000"
ID_BYTES = 20


@dataclass(frozen=True)
class Entry:
    """One entry of a tree: its mode (`FILE`, `EXECUTABLE` or `TREE`) and the id of the object behind it."""

    mode: str
    id: str


@dataclass(frozen=True)
class Commit:
    """A commit; `author` and `committer` are `Name <mail> seconds +0000`.

    `signature` is what git keeps in the header `gpgsig`: an armoured signature over the commit without it, or empty.
    """

    tree: str
    parents: tuple[str, ...]
    author: str
    committer: str
    message: str
    signature: str = ""


def object_id(kind: str, content: bytes) -> str:
    """The id (40 hexadecimal digits) that git gives to an object."""
    return hashlib.sha1(header(kind, content) + content, usedforsecurity=False).hexdigest()


def header(kind: str, content: bytes) -> bytes:
    """What git puts before the content when it hashes and stores an object."""
    return f"{kind} {len(content)}\0".encode()


def encode_tree(entries: Mapping[str, Entry]) -> bytes:
    """The content of a tree object; git orders directories as if their names ended in a slash."""
    ordered = sorted(entries.items(), key=lambda item: item[0].encode() + (b"/" if item[1].mode == TREE else b""))
    return b"".join(f"{entry.mode} {name}\0".encode() + bytes.fromhex(entry.id) for name, entry in ordered)


def decode_tree(content: bytes) -> dict[str, Entry]:
    """The inverse of `encode_tree`.

    Raises:
        RecordError: the content is not a tree, or names one entry twice.
    """
    entries: dict[str, Entry] = {}
    position = 0
    try:
        while position < len(content):
            end = content.index(b"\0", position)
            mode, name = content[position:end].decode().split(" ", 1)
            position = end + 1 + ID_BYTES
            if name in entries or position > len(content):
                raise ValueError(name)
            entries[name] = Entry(mode, content[end + 1 : position].hex())
    except ValueError as error:
        raise RecordError("a tree object is malformed", expected="one entry for each name") from error
    return entries


def encode_commit(commit: Commit) -> bytes:
    """The content of a commit object."""
    lines = [f"tree {commit.tree}", *(f"parent {parent}" for parent in commit.parents)]
    lines += [f"author {commit.author}", f"committer {commit.committer}"]
    if commit.signature:
        # Git moves the lines of a value that has several in by one space.
        lines.append("gpgsig " + commit.signature.rstrip("\n").replace("\n", "\n "))
    lines += ["", commit.message]
    return "\n".join(lines).encode()


def decode_commit(content: bytes) -> Commit:
    """The inverse of `encode_commit`; headers that it does not know are passed over.

    Raises:
        RecordError: the content is not a commit.
    """
    head, _, message = content.decode(errors="replace").partition("\n\n")
    fields: dict[str, list[str]] = {}
    for line in head.replace("\n ", "\0").split("\n"):
        name, _, value = line.partition(" ")
        fields.setdefault(name, []).append(value.replace("\0", "\n"))
    try:
        return Commit(
            tree=fields["tree"][0],
            parents=tuple(fields.get("parent", ())),
            author=fields["author"][0],
            committer=fields["committer"][0],
            message=message,
            signature=fields.get("gpgsig", [""])[0],
        )
    except KeyError as error:
        raise RecordError(f"a commit object is malformed: it has no {error.args[0]}") from None


def identity(name_and_mail: str, seconds: int) -> str:
    """The `author` or `committer` of a commit at `seconds` since 1970."""
    return f"{name_and_mail} {seconds} +0000"
