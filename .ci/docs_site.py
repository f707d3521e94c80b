"""A hook of mkdocs: the site has the pages of the tree under the names that they have there.

mkdocs reads one folder. Here pages lie beside what they are about, and link to each other as files do. So docs/ goes into
the site as `docs/`, and the pages outside of it beside it: every relative link works in both places, and strict building
checks all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).parents[1]
OUTSIDE = (
    "*.md",
    "LICENSE",
    "environments/*/*.md",
    "environments/*/*/README.md",
    "environments/*/specification/RULES.md",
    "examples/*.md",
    "examples/*.ipynb",
    "rust/README.md",
    "rust/*/README.md",
    "tests/protocol/node/README.md",
    "tests/protocol/node/reference/*.mjs",
)
"""The pages outside of docs/, and what they link to."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put every decision into the navigation, after the page that introduces them."""
    decisions = _section(config.nav, "Decisions")
    decisions += sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/decisions").glob("[0-9]*.md"))
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Name the files as the tree does."""
    folder = Path(config.docs_dir)
    for file in [each for each in files if Path(each.abs_src_path or "/").is_relative_to(folder)]:
        files.remove(file)
        files.append(_file(config, folder / file.src_uri, file.inclusion))
    for path in _outside():
        files.append(_file(config, path))
    return files


def _outside() -> Iterator[Path]:
    for pattern in OUTSIDE:
        found = sorted(ROOT.glob(pattern))
        if not found:
            raise FileNotFoundError(f"no file fits {pattern!r}: correct OUTSIDE in {Path(__file__).name}")
        yield from found


def _file(config: MkDocsConfig, path: Path, inclusion: InclusionLevel = InclusionLevel.UNDEFINED) -> File:
    return File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path), inclusion=inclusion)


def _section(nav: list, title: str) -> list:
    """The pages of a section, wherever it lies in the navigation."""
    sections = [each for each in nav if isinstance(each, dict)]
    while sections:
        ((name, pages),) = sections.pop(0).items()
        if name == title:
            return pages
        sections += [each for each in pages if isinstance(each, dict)] if isinstance(pages, list) else []
    raise KeyError(f"mkdocs.yml has no section {title!r} in its navigation")
