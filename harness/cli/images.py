"""`lockstep images`: the image that the sandbox driver `docker` runs things in."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.frame import EXIT_FAIL, EXIT_OK, Output, command

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("images", short_help="build the image of the sandbox `docker`")
def images() -> None:
    """The image in which the sandbox driver `docker` runs candidates and agents' commands."""


@command("build", "build the image", "lockstep images build")
@click.option("--cuda", is_flag=True, help="For NVIDIA GPUs, beside the image for CPUs.")
@click.option("--base", metavar="IMAGE", help="A Debian image to begin with; best by its digest.")
@click.option(
    "--rootfs",
    type=click.Path(exists=True, path_type=Path),
    help="Begin with a Debian root file system instead: a directory or a tar file, as debootstrap makes one.",
)
@click.option("--mirror", metavar="URL", help="A mirror of Debian's packages.")
@click.option("--pip-index", metavar="URL", help="An index of Python packages.")
@click.option("--cargo-index", metavar="URL", help="A sparse index of crates.")
@click.option("--ca", type=_FILE, help="Certificates to trust besides, in one PEM file.")
@click.option(
    "--offline",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Fetch nothing: take wheels/ and vendor/ of this directory; the base has the Debian packages.",
)
@click.option("--package", "packages", multiple=True, metavar="NAME==VERSION", help="A Python distribution more.")
@click.option("--network", metavar="MODE", help="The build's network, as in `docker build --network`.")
@click.option("--tag", metavar="NAME", help="What to call the image; default: what the driver looks for.")
def build(output: Output, base: str | None, packages: tuple[str, ...], **given: object) -> int:
    """Build the image from this version's sources.

    Python with JAX, a Rust toolchain, and the sources of the crates that a candidate may build on, all at pinned
    versions. Behind a mirror name it with --mirror, --pip-index and --cargo-index; without any network begin with
    --rootfs or --base and name what was fetched elsewhere with --offline.
    """
    from sandboxes.containers.build import BASE, Recipe
    from sandboxes.containers.build import build as make
    from sandboxes.containers.engine import Engine

    recipe = Recipe(base=base or BASE, packages=packages, **given)  # type: ignore[arg-type]
    with output.progress() as progress:
        image = make(Engine(), recipe, lambda line: progress(line[:100], 0, 0))
    output.emit({"image": image.name, "digest": image.digest}, f"built {image.name}\n{image.digest}")
    return EXIT_OK


@command("check", "is the image there and up to date", "lockstep images check")
@click.option("--cuda", is_flag=True, help="The one for NVIDIA GPUs.")
def check(output: Output, cuda: bool) -> int:
    """Say whether the engine has the image as this version would build it."""
    from sandboxes.containers.build import Recipe, state
    from sandboxes.containers.engine import Engine

    engine = Engine()
    name = Recipe(cuda=cuda).name
    wrong = state(engine, name)
    image = engine.image(name)
    found = {"image": name, "digest": image.digest if image else None, "wrong": wrong}
    output.emit(found, wrong or f"{name} is up to date\n{image.digest if image else ''}")
    return EXIT_OK if wrong is None else EXIT_FAIL


images.add_command(build)
images.add_command(check)
