"""No files import each other, over however many steps: each can be read after those that it imports."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

PACKAGES = ("lockstep", "harness", "mcp_server", "sandboxes")


def circle(*packages: str) -> list[str] | None:
    """The modules of one circle of imports, its first one twice, or None. Imports inside functions count too."""
    graph = grimp.build_graph(*packages, cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        return error.args[1]
    return None


def test_no_files_import_each_other() -> None:
    assert circle(*PACKAGES) is None


@pytest.mark.parametrize(
    "late",
    ["from planted_circle.second import two", "def later():\n    import planted_circle.second"],
    ids=["at the top", "in a function"],
)
def test_a_circle_is_named(late: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "planted_circle"
    place.mkdir()
    (place / "__init__.py").touch()
    (place / "first.py").write_text("from planted_circle import third\n")
    (place / "second.py").write_text("from planted_circle import first\n")
    (place / "third.py").write_text("one = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert circle("planted_circle") is None
    (place / "third.py").write_text(f"{late}\n")
    found = circle("planted_circle")
    assert found is not None and set(found) == {f"planted_circle.{name}" for name in ("first", "second", "third")}
