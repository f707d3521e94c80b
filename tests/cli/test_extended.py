"""Other packages add commands by entry points: listed without being imported, and a broken one breaks nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.cli.main import COMMANDS, cli
from tests.cli.conftest import ENTRY, Result

Run = Callable[..., Result]
ROOT = Path(__file__).parents[2]
SOURCE = """
from harness.cli.frame import command

@command("greet", "")
def greet(output):
    '''Greets.'''
    output.emit({"greeting": "hello"}, "hello")
    return 0

number = 3
"""
ENTRIES = """[lockstep.commands]
greet: say hello = stranger:greet
plain = stranger:greet
missing: import what is not there = stranger.nowhere:run
raises: raise at import = stranger_raises:run
number: be no command = stranger:number
verify: stand in for another = stranger_raises:run
"""


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of somebody else that is installed for one test."""
    place = tmp_path / "installed"
    metadata = place / "stranger-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\nSummary: What it is for\n")
    (metadata / "entry_points.txt").write_text(ENTRIES)
    (place / "stranger.py").write_text(SOURCE)
    (place / "stranger_raises.py").write_text("raise OSError('no licence')\n")
    monkeypatch.syspath_prepend(str(place))
    vars(cli).pop("added", None)
    yield place
    vars(cli).pop("added", None)
    for name in ("stranger", "stranger_raises"):
        sys.modules.pop(name, None)


def test_a_strangers_package_adds_a_command(stranger: Path, lockstep: Run) -> None:
    assert lockstep("greet").out == "hello\n"
    assert lockstep("greet", "--json").document == {"greeting": "hello"}
    assert "Greets." in lockstep("greet", "--help").out


def test_the_help_lists_what_is_added_and_imports_none_of_it(stranger: Path, lockstep: Run) -> None:
    reported = lockstep("--help").out
    assert re.search(r"^  greet +say hello$", reported, re.M) and re.search(
        r"^  raises +raise at import$", reported, re.M
    )
    assert re.search(r"^  plain +What it is for$", reported, re.M), "the package's own summary where the entry has none"
    assert "stranger" not in sys.modules


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("missing", "ModuleNotFoundError: No module named 'stranger.nowhere'"),
        ("raises", "OSError: no licence"),
        ("number", "stranger:number is of type int"),
    ],
)
@pytest.mark.parametrize("words", [(), ("--help",), ("folder", "--mode", "x")], ids=["alone", "help", "words"])
def test_a_broken_command_names_its_entry_point(
    stranger: Path, lockstep: Run, name: str, why: str, words: tuple[str, ...]
) -> None:
    result = lockstep(name, *words)
    assert result.code == 3 and result.out == "" and "Traceback" not in result.err
    assert why in result.err and f"entry point '{name}' of lockstep.commands, from stranger" in result.err
    assert "repair stranger, install it again, or uninstall it" in result.err
    document = lockstep(name, *words, "--json").document
    assert document["error"] == "LockstepError" and why in document["what"]
    assert lockstep("greet").code == 0


def test_a_command_of_lockstep_goes_before_one_of_its_name(stranger: Path, lockstep: Run) -> None:
    assert "Usage: lockstep verify" in lockstep("verify", "--help").out
    assert "stand in for another" not in lockstep("--help").out


def test_what_this_project_adds_is_there() -> None:
    added = {name: each.load(object) for name, each in cli.added.items()}
    assert {"demo", "gameboy", "serve"} <= set(added)
    assert not {"demo", "gameboy", "serve"} & {known.name for known in COMMANDS}


def test_one_command_imports_nothing_of_the_others() -> None:
    code = f"{ENTRY[2].rpartition(';')[0]}; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    for words in (["--help"], ["doctor", "--help"]):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
        assert not {"mcp_server", "lockstep_gameboy_tools"} & set(done.stderr.split())


def test_no_file_of_the_harness_speaks_of_the_game_boy() -> None:
    word = re.compile(rb"game.?boy", re.I)
    sources = [path for path in (ROOT / "harness").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert len(sources) > 300
    assert [str(path) for path in sources if word.search(path.read_bytes()) or word.search(path.name.encode())] == []
