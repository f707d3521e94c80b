"""A directory as bytes with a digest, to be unpacked where a member is made."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

Ignore = Callable[[str, list[str]], set[str]]
"""As `shutil.copytree` takes it: which of the names in a directory are left out."""


@dataclass(frozen=True)
class Parcel:
    """The files of a directory.

    Attributes:
        name: of the directory, which it has again where it is unpacked.
        data: an archive of what is in it: the same bytes for the same names, contents and modes.
    """

    name: str
    data: bytes

    @cached_property
    def digest(self) -> str:
        """SHA-256 over name and content."""
        return hashlib.sha256(self.name.encode() + b"\0" + self.data).hexdigest()

    @staticmethod
    def of(directory: Path, ignore: Ignore) -> Parcel:
        """Pack a directory, but for what is ignored."""
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
            _add(archive, directory, "", ignore)
        return Parcel(directory.name, stream.getvalue())

    def unpack(self, below: Path) -> Path:
        """Write the files into a new directory of that name; gives the directory."""
        place = below / self.digest[:16] / self.name
        place.mkdir(parents=True)
        with tarfile.open(fileobj=io.BytesIO(self.data)) as archive:
            archive.extraction_filter = getattr(tarfile, "tar_filter", None)  # Python 3.11.3 has none yet
            archive.extractall(place)
        return place


def _add(archive: tarfile.TarFile, directory: Path, below: str, ignore: Ignore) -> None:
    names = sorted(path.name for path in directory.iterdir())
    for name in sorted(set(names) - ignore(str(directory), names)):
        path = directory / name
        archive.add(path, below + name, recursive=False, filter=_nobodys)
        if path.is_dir() and not path.is_symlink():
            _add(archive, path, f"{below}{name}/", ignore)


def _nobodys(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without whose it is and since when."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry
