"""Building the sandbox image from `sandboxes/images/`, also behind a mirror, with a certificate authority of one's own,
and without any network."""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from ..errors import SandboxFailed, SpecRefused
from .driver import IMAGE, IMAGE_CUDA, PACKAGES_LABEL
from .engine import Engine, Image

SOURCES = Path(__file__).resolve().parent.parent / "images"
SOURCE_LABEL = "lockstep.source"
"""The image's label with the hash of what it was built from."""
BASE = "debian:trixie-slim"
BUILD_SECONDS = 3600
_BASE_NAME = "lockstep-base"
_PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.!+_-]+")
_LINES_OF_ERROR = 15
_PIECE = 1 << 20


@dataclass(frozen=True)
class Recipe:
    """What to build, and from where. A field left out is the engine's or the tool's own way.

    `rootfs` is a directory or a tar file with a Debian system, instead of `base`. `mirror` is a Debian mirror, `pip_index`
    a Python index, `cargo_index` a sparse index of crates; `ca` a file of certificates to trust besides. `offline` is a
    directory with `wheels/` and `vendor/` (as `pip download` and `cargo vendor` write them): then nothing is fetched, and
    the base must have the Debian packages already. `network` is the build's, as in `docker build --network`.
    """

    cuda: bool = False
    base: str = BASE
    rootfs: Path | None = None
    mirror: str | None = None
    pip_index: str | None = None
    cargo_index: str | None = None
    ca: Path | None = None
    offline: Path | None = None
    packages: tuple[str, ...] = ()
    network: str | None = None
    tag: str | None = None

    @property
    def name(self) -> str:
        """What the image will be called."""
        return self.tag or (IMAGE_CUDA if self.cuda else IMAGE)


def source_digest() -> str:
    """Hash of this installation's recipe for the image: an image with another one in its label is out of date."""
    digest = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            digest.update(f"{path.relative_to(SOURCES)}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def state(engine: Engine, name: str) -> str | None:
    """None if the engine has the image as this installation would build it, else what is wrong.

    Raises SandboxUnavailable.
    """
    image = engine.image(name)
    if image is None:
        return f"the engine at {engine.where} has no image {name}; run `lockstep images build`"
    if image.labels.get(SOURCE_LABEL) != source_digest():
        return f"{name} was built from other sources than this version's; run `lockstep images build`"
    return None


def build(engine: Engine, recipe: Recipe, tell: Callable[[str], None]) -> Image:
    """Build the image; `tell` gets what the engine says, line by line.

    Raises SpecRefused for an option that cannot be, SandboxFailed with the end of the log where a step fails, and
    SandboxUnavailable.
    """
    context = _context(recipe)
    with engine.client(BUILD_SECONDS) as client:
        base = recipe.base
        if recipe.rootfs is not None:
            tell(f"importing {recipe.rootfs}")
            base = f"{_BASE_NAME}:{hashlib.sha256(str(recipe.rootfs).encode()).hexdigest()[:12]}"
            with _root(recipe.rootfs) as stream:
                # Piece by piece: of a file the SDK would announce pieces and send it whole.
                pieces = iter(lambda: stream.read(_PIECE), b"")
                client.api.import_image_from_stream(pieces, *base.split(":"))
        said = client.api.build(
            fileobj=context,
            custom_context=True,
            tag=recipe.name,
            rm=True,
            forcerm=True,
            buildargs={"BASE": base, "REQUIREMENTS": "requirements-cuda.txt" if recipe.cuda else "requirements.txt"},
            labels={SOURCE_LABEL: source_digest(), PACKAGES_LABEL: " ".join(_pins(recipe))},
            network_mode=recipe.network or ("none" if recipe.offline else None),
            decode=True,
        )
        _follow(said, recipe.name, tell)
    image = engine.image(recipe.name)
    if image is None:
        raise SandboxFailed(f"the engine at {engine.where} said that it had built {recipe.name}, and has it not")
    return image


def _follow(said: Any, name: str, tell: Callable[[str], None]) -> None:
    lines: list[str] = []
    for part in said:
        if "error" in part:
            end = "\n".join(lines[-_LINES_OF_ERROR:])
            raise SandboxFailed(f"building {name} failed: {part['error'].strip()}\n{end}")
        for line in part.get("stream", "").splitlines():
            if line.strip():
                lines.append(line)
                tell(line)


def _pins(recipe: Recipe) -> list[str]:
    """Every distribution that the image will have, as `name==version`."""
    lines = (SOURCES / "requirements.txt").read_text().splitlines()
    return [*(line for line in lines if line and not line.startswith("#")), *recipe.packages]


def _context(recipe: Recipe) -> IO[bytes]:
    """What the engine gets to build from: our files, and `settings/` as the Dockerfile expects them."""
    for name in ("mirror", "pip_index", "cargo_index"):
        url = getattr(recipe, name)
        if url is not None and (urlsplit(url).scheme not in ("http", "https") or "@" in urlsplit(url).netloc):
            # What a build is given stays in the image's layers, for all who can read it.
            raise SpecRefused(f"{name}: expected an http or https address without a password in it")
    for package in recipe.packages:
        if not _PIN.fullmatch(package):
            raise SpecRefused(f"package: {package!r} is not pinned; expected NAME==VERSION")
    settings = {"packages.txt": "".join(f"{package}\n" for package in recipe.packages).encode()}
    if recipe.mirror is not None:
        settings["mirror"] = recipe.mirror.rstrip("/").encode()
    if recipe.pip_index is not None:
        settings["pip.conf"] = f"[global]\nindex-url = {recipe.pip_index}\n".encode()
    if recipe.cargo_index is not None:
        settings["cargo.toml"] = (
            f'[source.crates-io]\nreplace-with = "mirror"\n[source.mirror]\nregistry = "sparse+{recipe.cargo_index}"\n'
        ).encode()
    if recipe.ca is not None:
        settings["ca.pem"] = _read("ca", recipe.ca)
    if recipe.offline is not None:
        settings["pip.conf"] = b"[global]\nno-index = true\nfind-links = /tmp/settings/offline/wheels\n"
        for part in ("wheels", "vendor"):
            if not (recipe.offline / part).is_dir():
                raise SpecRefused(
                    f"offline: there is no {recipe.offline / part}; make it with pip download, cargo vendor"
                )
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.add(SOURCES, ".", filter=_anonymous)
        for name, data in settings.items():
            entry = tarfile.TarInfo(f"settings/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        if recipe.offline is not None:
            archive.add(recipe.offline, "settings/offline", filter=_anonymous)
    file.seek(0)
    return file


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry


def _read(field: str, path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SpecRefused(f"{field}: {path} cannot be read: {error.strerror}") from error


@contextlib.contextmanager
def _root(path: Path) -> Iterator[IO[bytes]]:
    """A root file system as a tar stream. Raises SpecRefused."""
    if path.is_file():
        with path.open("rb") as file:
            yield file
        return
    if not (path / "etc" / "os-release").exists():
        raise SpecRefused(f"rootfs: {path} is neither a tar file nor a directory with a system in it")
    command = ["tar", "--numeric-owner", "--one-file-system", "-C", str(path), "-c", "."]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tar:
        assert tar.stdout is not None
        assert tar.stderr is not None
        yield tar.stdout
        complaint = tar.stderr.read().decode(errors="replace").strip()
    if tar.returncode != 0:
        raise SpecRefused(f"rootfs: {path} could not be read whole (are you root?): {complaint[-300:]}")
