"""Records that somebody sends: bundles, and git directories with any refs and files in them.

Whatever they are, the answer is a report or an error; nothing that was sent runs, nothing is written, nothing is left; and
what is called proven is what the session proved.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harness.assurance.audit import AuditReport, audit
from harness.record import log
from harness.record.keys import PublicKey
from harness.record.received import opened
from tests.fuzz import sent
from tests.fuzz.guard import Guard
from tests.fuzz.mutate import json_text, of_bytes, of_json
from tests.fuzz.target import Target, Wrong

MAX_PARTS = 400
"""So many directories above a file; with more of them Python cannot remove what was made."""
EDITS = 6
"""So many changes one input has at most."""


class Original:
    """What the whole session proved, and the digests of its events."""

    def __init__(self, path: Path = sent.RECORDED) -> None:
        with opened(path) as store:
            self._report = audit(store)
            events = log.read_events(store)
        self._digests = [event.digest for event in events]
        self.key = PublicKey.from_json(events[0].detail["key"])

    def demand(self, report: AuditReport) -> None:
        """Refuse an audit that calls something proven which this session did not prove.

        Raises:
            Wrong: it does.
        """
        proven = {row.commit: row for row in self._report.rows}
        if report.last_good is not None and report.last_good not in proven:
            raise Wrong(f"{report.last_good} can be relied on, says the audit, and the session never verified it")
        sound = min((each.seq for each in report.problems if each.seq is not None), default=report.events)
        rows = [row for row in report.rows if row.seq < sound]
        if rows != list(self._report.rows[: len(rows)]):
            raise Wrong("the audit shows rows without a problem that are not the session's")
        if not report.ok:
            return
        if self._digests[report.events - 1 : report.events] != [report.last_event]:
            raise Wrong("the audit holds, and its last event is none of the session's at that place")
        ours = self._report
        for name in ("session", "task", "task_digest", "key", "keys"):
            if getattr(report, name) != getattr(ours, name):
                raise Wrong(f"the audit holds, and states another {name}")


def bundle(directory: Path) -> Target:
    """Bundles: their bytes, and changes to what is in them, packed again with ids and checksums that fit."""
    guard, original, record = Guard(directory), Original(), sent.beginning()
    place = directory / "received"
    place.mkdir()
    file = place / "some.bundle"

    def run(data: bytes) -> None:
        made = data
        if not data.startswith(b"#"):
            given = _described(data)
            if given is None:
                return
            made = sent.bundle(sent.changed(record, given["edits"]), given)
        file.write_bytes(made)
        with guard.reading():
            report = audit(file)
        original.demand(report)

    seeds = [b'{"edits": []}', sent.RECORDED.read_bytes()]
    return Target("bundle", seeds, run, partial(_of_edits, form=sent.form_drawn), cpu_s=10.0)


def refs(directory: Path) -> Target:
    """Git directories: their refs, and every file that git reads by itself, whatever it is."""
    guard, original, record = Guard(directory), Original(), sent.beginning()
    base, place = directory / "base", directory / "received"
    _unpacked(sent.bundle(record, {}), base)

    def run(data: bytes) -> None:
        given = _described(data)
        if given is None:
            return
        made = sent.changed(record, given["edits"])
        shutil.rmtree(place, ignore_errors=True)
        try:
            _laid(base, place, made.refs, given, guard)
        except (OSError, ValueError):  # no directory can be like this
            return
        with guard.reading():
            report = audit(place)
        original.demand(report)

    return Target(
        "refs", [b'{"edits": []}', b'{"edits": [], "loose": true}'], run, partial(_of_edits, form=_files_drawn)
    )


def _described(data: bytes) -> dict[str, Any] | None:
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) and isinstance(given.get("edits"), list) else None


def _of_edits(
    rng: random.Random, data: bytes, donors: Sequence[bytes], form: Callable[[random.Random], Mapping[str, Any]]
) -> bytes:
    """Another list of changes; the bytes themselves where the input is a bundle."""
    given = _described(data)
    if given is None:
        return of_bytes(rng, data, ())
    if rng.random() < 0.1:
        return of_json(rng, data, ())
    edits = [edit for edit in given["edits"] if rng.random() < 0.6][: EDITS - 1]
    edits += [sent.drawn(rng) for _ in range(rng.choice((0, 1, 1, 2)))]
    return json_text({"edits": edits, **form(rng)})


# --- git directories --------------------------------------------------------------------------------------------------


def _unpacked(bundle: bytes, base: Path) -> None:
    """A git directory of a bundle, as git makes it."""
    file = base.with_suffix(".bundle")
    file.write_bytes(bundle)
    subprocess.run(["git", "clone", "--quiet", "--mirror", "--template=", file, base], check=True, capture_output=True)
    file.unlink()


def _laid(base: Path, place: Path, refs: Sequence[tuple[str, str]], given: Mapping[str, Any], guard: Guard) -> None:
    """A git directory with these refs, and with the files that an input names."""
    shutil.copytree(base, place, copy_function=os.link)
    packed = place / "packed-refs"
    packed.unlink()
    if given.get("loose"):
        for name, target in refs:
            _put(place, name, f"{target}\n", guard)
    else:
        text = "# pack-refs with: peeled fully-peeled sorted\n" + "".join(f"{to} {name}\n" for name, to in sorted(refs))
        packed.write_bytes(text.encode(errors="surrogateescape"))
    files = given.get("files")
    for each in files if isinstance(files, list) else ():
        if isinstance(each, list) and len(each) == 2 and isinstance(each[0], str):
            _put(place, each[0], each[1], guard)


def _put(place: Path, name: str, what: Any, guard: Guard) -> None:
    """Put something at a path of a git directory: text, `{"link": to}`, `{"fifo": 1}`, `{"dir": 1}`, or null for nothing."""
    path = Path(os.path.normpath(place / name.encode(errors="surrogateescape").decode(errors="surrogateescape")))
    if (
        place not in path.parents or "\0" in name or name.count("/") > MAX_PARTS
    ):  # an archive is unpacked below one directory
        return
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    if what is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(what, dict) and "link" in what:
        path.symlink_to(str(what["link"]).replace("@outside", str(guard.marker.parent)))
    elif isinstance(what, dict) and "fifo" in what:
        os.mkfifo(path)
    elif isinstance(what, dict):
        path.mkdir()
    else:
        text = str(what).replace("@marker", str(guard.marker)).replace("@outside", str(guard.marker.parent))
        path.write_bytes(text.encode(errors="surrogateescape"))


RUN = "touch @marker"
CONFIGS = (
    f"[core]\n\tfsmonitor = {RUN}\n\thooksPath = hooks\n\tpager = {RUN}\n\tsshCommand = {RUN}\n\tgitProxy = {RUN}\n",
    "[include]\n\tpath = @outside/x\n",
    "[include]\n\tpath = /dev/zero\n",
    "[include]\n\tpath = fifo\n",
    '[includeIf "gitdir:**"]\n\tpath = config\n',
    "[include]\n\tpath = config\n",
    "[extensions]\n\tpartialClone = x\n[core]\n\trepositoryFormatVersion = 1\n"
    f'[remote "x"]\n\turl = ext::sh -c "{RUN}"\n\tpromisor = true\n',
    f'[remote "x"]\n\turl = @outside\n\tuploadpack = {RUN};\n\tpromisor = true\n\tpartialCloneFilter = blob:none\n',
    "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = sha256\n",
    "[core]\n\trepositoryFormatVersion = 9\n",
    "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\trefStorage = reftable\n",
    "[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tworktreeConfig = true\n",
    "[core]\n\tbare = false\n\tworktree = @outside\n",
    f"[core]\n\talternateRefsCommand = {RUN}\n",
    f'[alias]\n\tfor-each-ref = !{RUN}\n\tcat-file = !{RUN}\n[pager]\n\tfor-each-ref = {RUN}\n\tcat-file = {RUN}\n',
    f'[filter "x"]\n\tclean = {RUN}\n\tsmudge = {RUN}\n\tprocess = {RUN}\n[diff "x"]\n\ttextconv = {RUN}\n',
    f"[gpg]\n\tprogram = {RUN}\n[log]\n\tshowSignature = true\n[credential]\n\thelper = !{RUN}\n",
    "[core]\n\tuseReplaceRefs = true\n\tcommitGraph = true\n\tmultiPackIndex = true\n[log]\n\tmailmap = true\n",
    "[core]\n\tpackedGitWindowSize = 1\n\tpackedGitLimit = 1\n\tdeltaBaseCacheLimit = 1\n",
    "[core]\n\tignoreCase = true\n\tprecomposeUnicode = true\n\tquotePath = false\n[i18n]\n\tlogOutputEncoding = UTF-16\n",
    "[transfer]\n\thideRefs = refs/lockstep\n[uploadpack]\n\thideRefs = refs\n",
    "[core]\n\tx = " + "y" * 300_000 + "\n",
    "[core\n",
    "",
)  # fmt: skip
PLACES = (
    "HEAD", "config", "config.worktree", "packed-refs", "refs", "refs/heads", "refs/heads/main", "refs/heads/x",
    "refs/lockstep/events", "refs/notes/lockstep", "refs/replace/@", "refs/tags/x", "objects", "objects/pack",
    "objects/info", "objects/info/alternates", "objects/info/http-alternates", "objects/info/commit-graph",
    "objects/info/packs", "objects/info/commit-graphs/commit-graph-chain", "objects/pack/multi-pack-index",
    "objects/ab", f"objects/ab/{'ab' * 19}", "objects/pack/pack-x.pack", "objects/pack/pack-x.idx", "info/grafts",
    "info/attributes", "info/exclude", "shallow", "commondir", "gitdir", "worktrees/x/gitdir", "modules/x/HEAD", ".git",
    ".git/HEAD", ".gitmodules", ".gitattributes",
    "hooks/reference-transaction", "hooks/post-checkout", "description", "index", "logs/HEAD", "reftable/tables.list",
    "packed-refs.lock", "HEAD.lock", "FETCH_HEAD", "ORIG_HEAD", "fifo", "sequencer", "rr-cache",
)  # fmt: skip
CONTENTS: tuple[Any, ...] = (
    "", "\0", "x", "ref: refs/heads/main\n", "ref: refs/heads/x\n", "ref: refs/lockstep/events\n", "ref: ../../outside/x\n",
    "ref: refs/heads/../../HEAD\n", "ref: " + "refs/" + "y" * 70_000, f"{sent.MISSING}\n", "0" * 40 + "\n", "f" * 40,
    "../x\n", "@outside\n", "@outside/x\n", "/dev/zero\n", "/\n", "../base/objects\n", ".\n", "objects\n",
    "../received/objects\n",
    "#!/bin/sh\ntouch @marker\n", "gitdir: @outside\n", f"{sent.MISSING} {'cd' * 20}\n", "CGPH\1\1\0\0", "MIDX\1\1\0\0",
    "DIRC\0\0\0\2\0\0\0\0", "* filter=x diff=x\n", '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch%20@marker\n',
    "y\n" * 100_000, None, {"dir": 1}, {"fifo": 1}, {"link": "@outside/x"}, {"link": "/dev/zero"}, {"link": "."},
    {"link": "../received"}, {"link": "../base/packed-refs"}, {"link": "/dev/stdin"}, {"link": "fifo"}, {"link": "HEAD"},
)  # fmt: skip


def _files_drawn(rng: random.Random) -> dict[str, Any]:
    """Files of a git directory, and whether its refs lie in files of their own."""
    files: list[list[Any]] = []
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        if rng.random() < 0.35:
            text = rng.choice(CONFIGS)
            if rng.random() < 0.2:
                text = of_bytes(rng, (text + rng.choice(CONFIGS)).encode(), ()).decode(errors="surrogateescape")
            files.append(["config", text])
        else:
            name = rng.choice(PLACES) if rng.random() < 0.8 else sent.ref_name(rng)
            files.append([name, rng.choice(CONTENTS)])
    if ["config", "[include]\n\tpath = fifo\n"] in files:
        files.append(["fifo", {"fifo": 1}])
    return {"files": files, "loose": rng.random() < 0.5}
