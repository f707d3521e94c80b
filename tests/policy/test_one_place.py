"""Every sandbox is asked for in one place, above the operator's floor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.paths import ROOT

FLOOR = "harness/policy/floor.py"
DESCRIBES = "harness/cli/doctor.py"
"""Says which drivers work, and opens none."""

GIVING = ("choose", "drivers", "ProcessDriver", "process")
"""What of the sandboxes gives a driver."""


def choosing(source: str) -> Iterator[str]:
    """The names by which a module could get a driver that nobody permitted."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "sandboxes":
            yield from (alias.name for alias in node.names if alias.name in GIVING)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] == "sandboxes")


def test_only_the_floor_gives_out_drivers() -> None:
    files = [path for room in ("harness", "mcp_server", "lockstep") for path in sorted((ROOT / room).rglob("*.py"))]
    found = {str(path.relative_to(ROOT)) for path in files if any(choosing(path.read_text(encoding="utf-8")))}
    assert found == {FLOOR, DESCRIBES}


def test_a_module_that_goes_past_the_floor_is_found() -> None:
    assert list(choosing("from sandboxes import Driver, choose")) == ["choose"]
    assert list(choosing("def late():\n    import sandboxes")) == ["sandboxes"]
    assert list(choosing("from sandboxes import Driver")) == []


def test_the_paths_exist() -> None:
    assert all(Path(ROOT, name).is_file() for name in (FLOOR, DESCRIBES))
