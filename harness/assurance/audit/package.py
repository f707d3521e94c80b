"""An exported package held against the attestation that it carries: are the candidate's files those that were verified?

The attestation names the SHA-256 of a list, which lies beside it, of all files of the verified tree. Of these a package has
the candidate's alone. What Lockstep wrote around them is not attested: faces, crates, `contract.json`, what builds it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.assurance.audit.checkout import NAMED, Expected, difference, entries, shown
from harness.candidate.package import ATTESTATION, ATTESTED
from harness.errors import RecordError
from harness.record.attest import SUMMARY, unseal
from harness.record.bounds import MAX_FILE_BYTES
from harness.record.keys import PublicKey
from harness.support.files import DIRECTORY
from harness.task.contract import CANDIDATE_DIRECTORY

_AGAIN = "export the candidate again, from its session"


@dataclass(frozen=True)
class PackageReport:
    """What a package's attestation says, and what of the package is not as it says.

    Attributes:
        commit, levels, module, task: of the signed summary; `module` where it is about one alone, else None.
        key: the id of the key that signed it.
        files: how many files of the candidate it names.
        differences: each in one line; there are none where all holds.
    """

    commit: str
    levels: tuple[str, ...]
    module: str | None
    task: str
    key: str
    files: int
    differences: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the candidate in the package is what was attested."""
        return not self.differences

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"ok": self.ok, **vars(self)} | {"levels": list(self.levels), "differences": list(self.differences)}


def check_package(directory: Path, key: PublicKey) -> PackageReport:
    """Check a project that `lockstep export` wrote, or an installed package. Nothing of it is run.

    Raises:
        RecordError: it carries no attestation that `key` signed, or has no candidate whose files could be compared.
    """
    directory = directory.resolve()
    package = _package(directory)
    statement = unseal(_read(package / ATTESTATION), key)
    listed = _read(package / ATTESTED)
    if statement.get("predicateType") != SUMMARY or statement["predicate"]["verificationResult"] != "PASSED":
        raise RecordError(
            "this attests no verification that passed", where=str(package / ATTESTATION), next_step=_AGAIN
        )
    [subject], predicate = statement["subject"], statement["predicate"]
    expected: dict[str, Expected] = {}
    if hashlib.sha256(listed).hexdigest() != subject["digest"]["dirHash"]:
        found = (f"{ATTESTED} is not the list of files that is attested",)
    else:
        expected = _candidate(listed)
        found = tuple(_differences([directory, package], expected))
    return PackageReport(
        commit=subject["digest"]["gitCommit"],
        levels=tuple(predicate["verifiedLevels"]),
        module=predicate["lockstep"].get("module"),
        task=predicate["policy"]["digest"]["sha256"],
        key=key.id,
        files=len(expected),
        differences=found,
    )


def _package(directory: Path) -> Path:
    """The importable package: the directory itself, or the one below its `src`."""
    found = [
        path.parent for path in (directory / ATTESTATION, *directory.glob(f"src/*/{ATTESTATION}")) if path.exists()
    ]
    if len(found) != 1:
        raise RecordError(
            f"{len(found)} attestations lie here" if found else "no attestation lies here",
            where=str(directory),
            expected=f"a directory that `lockstep export` wrote from a session, with {ATTESTATION} in one package",
            next_step=_AGAIN,
        )
    return found[0]


def _candidate(listed: bytes) -> dict[str, Expected]:
    """The files of the candidate in a list whose digest was attested."""
    lines = (line.partition("  ") for line in listed.decode().splitlines())
    return {path: Expected(sha256) for sha256, _, path in lines if path.startswith(f"{CANDIDATE_DIRECTORY}/")}


def _differences(places: list[Path], expected: Mapping[str, Expected]) -> Iterator[str]:
    """What differs in each candidate that lies there: whatever is built or imported is one of them."""
    there = [place for place in dict.fromkeys(places) if os.path.lexists(place / CANDIDATE_DIRECTORY)]
    if not there:
        raise RecordError(
            "the package has no sources of its candidate",
            where=str(places[-1]),
            expected=f"a directory {CANDIDATE_DIRECTORY}/, which projects and packages of candidates in JAX have",
            next_step="check the project that it was built from",
        )
    for place in there:
        found: set[str] = set()
        try:
            root = os.open(place, DIRECTORY)
        except OSError as error:
            raise RecordError(f"the package cannot be read: {error.strerror}", where=str(place)) from error
        try:
            for path, parent, name in entries(root, whole=False):
                found.add(path)
                if what := difference(parent, name, expected.get(path)):
                    yield f"{shown(path)} in {place} {what} what is attested"
                if len(found) > NAMED + len(expected):
                    yield f"there is much more in {place} than what is attested"
                    return
        finally:
            os.close(root)
        yield from (f"{path} is attested, and missing in {place}" for path in sorted(expected.keys() - found))


def _read(path: Path) -> bytes:
    """A plain file of a package that may come from anybody: no link is followed, and no pipe waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
            content = file.read(MAX_FILE_BYTES + 1) if plain else b""
    except OSError as error:
        raise RecordError(
            f"{path.name} cannot be read: {error.strerror}", where=str(path.parent), next_step=_AGAIN
        ) from error
    if not plain or len(content) > MAX_FILE_BYTES:
        raise RecordError(f"{path.name} is no plain file, or too large", where=str(path.parent), next_step=_AGAIN)
    return content
