"""The git directory of a session: objects written raw and durably, refs moved by compare-and-swap.

Blobs, trees and commits are written by this module itself, byte for byte: no index, no working tree, no filter, no
attribute and no hook is ever involved. The git program moves refs and reads objects; its system-wide and personal
configuration are shut out, and every object that it returns is checked against its id.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

# Without this the import itself fails where no git is installed, before anyone can say what is missing.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")

from git import Git
from git.exc import CommandError, GitCommandNotFound

from harness.errors import RecordError
from harness.record.bounds import MAX_DEPTH, MAX_FILE_BYTES, MAX_FILES, MAX_REFS, demand_object, too_large
from harness.record.names import objection
from harness.record.objects import (
    EXECUTABLE,
    FILE,
    TREE,
    Commit,
    Entry,
    decode_commit,
    decode_tree,
    encode_commit,
    encode_tree,
    header,
    object_id,
)
from harness.support.files import storing, sync_directory, write_new

NO_OBJECT = "0" * 40
PACK_ABOVE = 5000
"""With more loose objects than this, closing a session packs them."""
UNREACHED_KEPT = "1.hour.ago"
"""What no ref reaches is kept so long when a record is packed: a tree is stored a moment before an event names it."""
RECENT, RECENT_BYTES = 512, 64 << 10
"""So many objects that were read last, of at most this size, are not asked for again: neighbours share most of theirs."""

SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.attributesFile": os.devnull,
    "core.fsync": "all",
    "core.pager": "cat",
    "gc.auto": "0",
    "receive.autogc": "false",
    "core.bigFileThreshold": "16m",  # larger ones pass through git in pieces, not through its memory
}


class Store:
    """A git directory, opened for reading, or for reading and writing.

    Args:
        path: a bare repository, or a checkout that has one in `.git`.
        lock: descriptor of the session's lock, which children that write inherit; None for a reader.
        settings: a git directory that git takes for this one in everything but its objects; None for `path` itself.

    Raises:
        RecordError: there is no git directory.
    """

    def __init__(self, path: Path, lock: int | None = None, settings: Path | None = None) -> None:
        path = repository_at(path)
        self.path = path.resolve()
        self._inherited = () if lock is None else (lock,)
        self._guard = threading.RLock()
        self._known: set[str] = set()
        self._unsynced: set[Path] = set()
        self._sha256: dict[str, str] = {}
        self._commits: dict[str, Commit] = {}
        self._recent: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._git = Git(self.path)
        self._git.update_environment(**environment(settings or self.path, self.path / "objects"))

    @classmethod
    def create(cls, path: Path) -> None:
        """Make an empty bare repository at `path`, with none of the files that a template would bring.

        Raises:
            RecordError: it cannot be made.
        """
        with storing(path), failing(path):
            path.mkdir(parents=True)
            git = Git(path)
            git.update_environment(**environment(path))
            git.execute(["git", "init", "--quiet", "--bare", "--template=", "--initial-branch=main", str(path)])

    def close(self) -> None:
        """End the reading child process."""
        with self._guard:
            self._git.clear_cache()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Writing

    def put(self, kind: str, content: bytes) -> str:
        """Store an object (`blob`, `tree` or `commit`) and return its id; one that is there is left alone.

        The name becomes durable with `flush`, the content at once.

        Raises:
            RecordError: the object cannot be written.
        """
        identifier = object_id(kind, content)
        with self._guard:
            if self._has(identifier):
                return identifier
            objects = self.path / "objects"
            directory = objects / identifier[:2]
            temporary = objects / f"tmp_obj_{secrets.token_hex(8)}"
            with storing(self.path):
                try:
                    write_new(temporary, zlib.compress(header(kind, content) + content, 1), 0o444)
                    directory.mkdir(exist_ok=True)
                    os.rename(temporary, directory / identifier[2:])
                except OSError:
                    temporary.unlink(missing_ok=True)
                    raise
            self._unsynced |= {objects, directory}
            self._known.add(identifier)
        return identifier

    def put_tree(self, entries: Mapping[str, Entry]) -> str:
        """Store a tree, with its subtrees, from entries keyed by path (`a/b.py`); a `TREE` entry is taken as it is."""
        here: dict[str, Entry] = {}
        below: dict[str, dict[str, Entry]] = {}
        for path, entry in entries.items():
            name, slash, rest = path.partition("/")
            if slash:
                below.setdefault(name, {})[rest] = entry
            else:
                here[name] = entry
        for name, part in below.items():
            here[name] = Entry(TREE, self.put_tree(part))
        return self.put("tree", encode_tree(here))

    def put_commit(self, commit: Commit) -> str:
        """Store a commit object; no ref moves."""
        return self.put("commit", encode_commit(commit))

    def flush(self) -> None:
        """Make everything put so far durable, before a ref may name it."""
        with self._guard, storing(self.path):
            for directory in sorted(self._unsynced):
                sync_directory(directory)
            self._unsynced.clear()

    def move_refs(self, moves: Mapping[str, tuple[str, str | None]]) -> None:
        """Point refs at new ids (first) if they are at the old ones now (second; None: if they do not exist).

        All of them move, or none; when this returns they are durable.

        Raises:
            RecordError: a ref is somewhere else by now, or cannot be written.
        """
        if not moves:
            return
        self.flush()
        lines = (f"update {name}\0{new}\0{old or NO_OBJECT}\0" for name, (new, old) in moves.items())
        with failing(self.path), storing(self.path), tempfile.TemporaryFile() as instructions:
            instructions.write("".join(lines).encode())
            instructions.seek(0)
            self._git.execute(
                ["git", "update-ref", "--no-deref", "--stdin", "-z"],
                istream=instructions.fileno(),
                pass_fds=self._inherited,
            )

    def clear_leftovers(self) -> None:
        """Remove lock files and temporary files of a process that was killed. Only the holder of the lock may."""
        with storing(self.path):
            leftovers = [*self.path.glob("*.lock"), *(self.path / "refs").rglob("*.lock")]
            leftovers += [*(self.path / "objects").glob("tmp_obj_*"), *(self.path / "objects" / "pack").glob("tmp_*")]
            for leftover in leftovers:
                leftover.unlink()

    def pack(self) -> None:
        """Pack loose objects once there are many, so that a session of thousands of attempts stays quick to open.

        What no ref reaches, such as trees that were refused, is removed when it is so old that nobody is about to name it.

        Raises:
            RecordError: packing failed; nothing is lost by that.
        """
        loose = sum(len(list(part.iterdir())) for part in (self.path / "objects").glob("[0-9a-f][0-9a-f]"))
        if loose > PACK_ABOVE:
            with failing(self.path):
                self._git.execute(["git", "repack", "-d", "-q"], pass_fds=self._inherited)
                self._git.execute(["git", "pack-refs", "--all"], pass_fds=self._inherited)
                self._git.execute(["git", "prune", f"--expire={UNREACHED_KEPT}"], pass_fds=self._inherited)

    def bundle(self, path: Path) -> None:
        """Write the whole record, every ref of it, into one file that `git clone --mirror` and the audit read.

        Raises:
            RecordError: the file cannot be written.
        """
        with failing(path):
            self._git.execute(["git", "bundle", "create", "--quiet", str(path.resolve()), "--all"])

    # Reading

    def read(self, kind: str, identifier: str) -> bytes:
        """The content of an object.

        Raises:
            RecordError: it is missing, of another kind, or its bytes do not have its id.
        """
        with self._guard:
            if (kind, identifier) in self._recent:
                self._recent.move_to_end((kind, identifier))
                return self._recent[kind, identifier]
            try:
                _, found, size_bytes = self._git.get_object_header(identifier)
                demand_object(found, size_bytes, identifier, self.path)
                _, _, _, content = self._git.get_object_data(identifier)
            except (ValueError, OSError, CommandError) as error:
                self._git.clear_cache()  # git may have ended, the next read starts another
                raise RecordError(f"the {kind} {identifier} is missing or damaged", where=str(self.path)) from error
            if object_id(kind, content) != identifier:  # an id is a digest of the kind and the content
                self._git.clear_cache()
                raise RecordError(f"the {kind} {identifier} is damaged or none", where=str(self.path))
            if len(content) <= RECENT_BYTES:
                self._recent[kind, identifier] = content
                if len(self._recent) > RECENT:
                    self._recent.popitem(last=False)
        return content

    def commit(self, identifier: str) -> Commit:
        """A commit. Raises RecordError as `read` does."""
        if identifier not in self._commits:
            self._commits[identifier] = decode_commit(self.read("commit", identifier))
        return self._commits[identifier]

    def tree(self, identifier: str) -> dict[str, Entry]:
        """One tree's own entries. Raises RecordError as `read` does."""
        return decode_tree(self.read("tree", identifier))

    def blob(self, identifier: str) -> bytes:
        """A file's content. Raises RecordError as `read` does."""
        return self.read("blob", identifier)

    def files(self, tree: str) -> dict[str, Entry]:
        """Every file below a tree, keyed by path.

        Raises:
            RecordError: the tree holds anything but plain files and directories with names that a snapshot allows.
        """
        found: dict[str, Entry] = {}
        self._collect(tree, "", found, [0], 0)
        return found

    def sha256(self, blob: str) -> str:
        """SHA-256 of a blob's content (without git's header)."""
        if blob not in self._sha256:
            self._sha256[blob] = sha256(self.blob(blob)).hexdigest()
        return self._sha256[blob]

    def put_file(self, content: bytes) -> str:
        """Store a file's content, and return its id.

        Raises:
            RecordError: the object cannot be written, is larger than one may be, or another content is stored under its id.
        """
        if len(content) > MAX_FILE_BYTES:  # nobody could read it any more
            raise RecordError(
                f"a file of {len(content)} bytes is too large for a record",
                where=str(self.path),
                expected=f"at most {MAX_FILE_BYTES >> 20} MiB",
            )
        digest = sha256(content).hexdigest()
        identifier = object_id("blob", content)
        if self._has(identifier):
            # Two files can be made that git takes for one. What is judged and kept is then the first, whoever reads which.
            if self.sha256(identifier) != digest:
                raise RecordError(
                    f"two files have the same SHA-1, which git knows them by: {identifier}",
                    where=str(self.path),
                    next_step="remove the file with the SHA-256 " + digest,
                )
            return identifier
        self._sha256[self.put("blob", content)] = digest
        return identifier

    def refs(self) -> dict[str, str]:
        """Every ref, and the id that it is at."""
        with failing(self.path):
            asked = ["git", "for-each-ref", f"--count={MAX_REFS + 1}", "--format=%(objectname) %(refname)"]
            listed = str(self._git.execute(asked)).splitlines()
        if len(listed) > MAX_REFS:
            raise too_large("the record has too many refs", MAX_REFS, "refs", str(self.path))
        pairs = (line.split(" ", 1) for line in listed)
        return {name: identifier for identifier, name in pairs}

    def _has(self, identifier: str) -> bool:
        if identifier in self._known or (self.path / "objects" / identifier[:2] / identifier[2:]).is_file():
            return True
        if not any((self.path / "objects" / "pack").glob("*.pack")):
            return False
        try:
            self._git.get_object_header(identifier)
        except ValueError:
            return False
        return True

    def _collect(self, tree: str, prefix: str, found: dict[str, Entry], read: list[int], depth: int) -> None:
        read[0] += 1  # one tree can be there under many names, and each name is read
        if read[0] > MAX_FILES:
            raise too_large("a tree has too many directories", MAX_FILES, "directories", prefix)
        if depth > MAX_DEPTH:
            raise RecordError(f"the tree {tree} is nested more than {MAX_DEPTH} deep", where=prefix)
        for name, entry in self.tree(tree).items():
            path = prefix + name
            if reason := objection(name):
                raise RecordError(f"a recorded file {reason}", where=repr(path))
            if entry.mode == TREE:
                self._collect(entry.id, f"{path}/", found, read, depth + 1)
            elif entry.mode in (FILE, EXECUTABLE):
                found[path] = entry
                if len(found) > MAX_FILES:
                    raise too_large("a tree has too many files", MAX_FILES, "files", prefix)
            else:
                raise RecordError(
                    f"a recorded entry has mode {entry.mode}, so it is not a plain file", where=repr(path)
                )


def repository_at(path: Path) -> Path:
    """The git directory at a path: a bare repository, or that of a checkout.

    Raises:
        RecordError: there is none.
    """
    path = path / ".git" if (path / ".git").is_dir() else path
    if not (path / "HEAD").is_file() or not (path / "objects").is_dir():
        raise RecordError(
            "this is not a git directory",
            where=str(path),
            expected="a bare repository, a clone of one, or a bundle",
            next_step="clone a session with `git clone --mirror`, so that all its refs come along",
        )
    return path


@contextmanager
def failing(where: Path) -> Iterator[None]:
    """Turn a failure of the git program into a `RecordError` with git's own words."""
    try:
        yield
    except GitCommandNotFound as error:
        raise RecordError(
            "git is not installed", expected="git 2.36 or newer on PATH", next_step="install git"
        ) from error
    except CommandError as error:
        said = str(error.stderr).strip().removeprefix("stderr:").strip(" '\n") or str(error)
        raise RecordError(
            f"git says: {said}",
            where=str(where),
            next_step="everything recorded before is still there; mend what git names and repeat the call",
        ) from error


def environment(path: Path, objects: Path | None = None) -> dict[str, str]:
    """Variables that shut out every configuration but ours, and everything that could make git run other programs.

    Args:
        path: the git directory; `objects` is where its objects lie, if not in it.
    """
    environment = {
        "GIT_DIR": str(path),
        "GIT_COMMON_DIR": str(path),
        "GIT_OBJECT_DIRECTORY": str(objects or path / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_PARAMETERS": "",
        "GIT_CONFIG_COUNT": str(len(SETTINGS)),
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_DEFAULT_REF_FORMAT": "files",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
    }
    for number, (name, value) in enumerate(SETTINGS.items()):
        environment |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return environment
