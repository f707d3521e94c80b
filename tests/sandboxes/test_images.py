"""What the sandbox image is made of: pinned, from where one says, and checked before an engine is asked."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

import pytest

from sandboxes import SandboxUnavailable, SpecRefused
from sandboxes.containers import build
from sandboxes.containers.build import SOURCES, Recipe
from sandboxes.containers.engine import Engine
from tests.paths import ROOT

NOWHERE = Engine("unix:///nowhere")


def settings(recipe: Recipe) -> dict[str, bytes]:
    with tarfile.open(fileobj=build._context(recipe)) as archive:
        files = {entry.name: archive.extractfile(entry) for entry in archive.getmembers() if entry.isfile()}
        return {name.removeprefix("settings/"): file.read() for name, file in files.items() if file is not None}


def pins(path: Path) -> dict[str, str]:
    lines = (line.partition("==") for line in path.read_text().splitlines() if "==" in line)
    return {name.partition("[")[0].lower(): version for name, _, version in lines}


def test_python_distributions_are_at_the_versions_of_the_projects_constraints() -> None:
    ours, image = pins(ROOT / "constraints.txt"), pins(SOURCES / "requirements.txt")
    assert {"jax", "jaxlib", "numpy", "msgpack"} <= set(image)
    assert {name: ours[name] for name in image if name != "maturin"} == {
        name: version for name, version in image.items() if name != "maturin"
    }
    assert pins(SOURCES / "requirements-cuda.txt")["jax-cuda12-plugin"] == image["jax"]


def test_every_crate_is_pinned_and_locked() -> None:
    manifest = (SOURCES / "crates" / "Cargo.toml").read_text().partition("[dependencies]")[2]
    lock = (SOURCES / "crates" / "Cargo.lock").read_text()
    wanted = re.findall(r'^(\w+) = .*?"=([\d.]+)"', manifest, re.MULTILINE)
    assert len(wanted) == len(manifest.strip().splitlines())
    for name, version in wanted:
        assert f'name = "{name}"\nversion = "{version}"\n' in lock


def test_mirrors_certificates_and_packages_reach_the_build(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("a certificate")
    found = settings(
        Recipe(
            mirror="http://mirror.example/debian/",
            pip_index="https://mirror.example/simple",
            cargo_index="https://mirror.example/index/",
            ca=tmp_path / "ca.pem",
            packages=("chex==0.1.90",),
        )
    )
    assert found["mirror"] == b"http://mirror.example/debian"
    assert b"index-url = https://mirror.example/simple" in found["pip.conf"]
    assert b'registry = "sparse+https://mirror.example/index/"' in found["cargo.toml"]
    assert found["ca.pem"] == b"a certificate"
    assert found["packages.txt"] == b"chex==0.1.90\n"


def test_without_a_network_what_was_fetched_elsewhere_reaches_the_build(tmp_path: Path) -> None:
    for part in ("wheels", "vendor"):
        (tmp_path / part).mkdir()
        (tmp_path / part / "one").write_text(part)
    found = settings(Recipe(offline=tmp_path))
    assert found["offline/wheels/one"] == b"wheels"
    assert found["offline/vendor/one"] == b"vendor"
    assert b"no-index" in found["pip.conf"]


@pytest.mark.parametrize(
    ("recipe", "complaint"),
    [
        (Recipe(mirror="https://user:word@mirror.example/debian"), "mirror: .*without a password"),
        (Recipe(pip_index="file:///wheels"), "pip_index: .*http"),
        (Recipe(packages=("chex",)), "not pinned"),
        (Recipe(packages=("chex==1; echo x",)), "not pinned"),
        (Recipe(ca=Path("/nowhere/ca.pem")), "ca: .*cannot be read"),
        (Recipe(offline=Path("/nowhere")), "offline: there is no /nowhere/wheels"),
    ],
)
def test_an_option_that_cannot_be_is_refused_by_name_before_the_engine_is_asked(recipe: Recipe, complaint: str) -> None:
    with pytest.raises(SpecRefused, match=complaint):
        build.build(NOWHERE, recipe, lambda line: None)


def test_a_root_file_system_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecRefused, match=r"rootfs: .*neither a tar file"), build._root(tmp_path):
        pass


def test_a_root_file_system_is_read_from_a_directory(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "os-release").write_text("ID=debian\n")
    with build._root(tmp_path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        assert "./etc/os-release" in archive.getnames()


def test_an_engine_that_is_not_there_is_named() -> None:
    with pytest.raises(SandboxUnavailable, match="unix:///nowhere"):
        build.state(NOWHERE, "lockstep-sandbox:cpu")


@pytest.mark.docker
def test_an_image_of_other_sources_is_out_of_date(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()
    if engine.unavailable() is not None or build.state(engine, Recipe().name) is not None:
        pytest.skip("no engine with the image of this version")
    monkeypatch.setattr(build, "source_digest", lambda: "0" * 64)
    assert "other sources" in (build.state(engine, Recipe().name) or "")
