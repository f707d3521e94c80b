"""Test ROMs are judged by what they say, in each of the ways in which they can."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from environments.gameboy.assembler import assemble
from harness.cli.main import main
from harness.errors import LockstepError
from lockstep_gameboy_tools.rom_checks import digest_of, expected_screen

HEAD = """
title "CHECK"
cartridge "mbc1+ram"
ramsize 8
section "entry", rom0[$100]
  nop
  jp Start
section "main", rom0[$150]
Send:
  ldh [1], a
  ld a, $81
  ldh [2], a
  ret
macro send
  ld a, \\1
  call Send
endm
Start:
  ld sp, $E000
"""
DONE = "\n.done:\n  jr .done\n"
MEMORY = """
  ld a, $0A
  ld [$0000], a
  ld a, $80
  ld [$A000], a
  ld a, $DE
  ld [$A001], a
  ld a, $B0
  ld [$A002], a
  ld a, $61
  ld [$A003], a
  ld a, "E"
  ld [$A004], a
  xor a
  ld [$A005], a
"""


def sent(text: str) -> str:
    return "".join(f"  send '{letter}'\n" for letter in text)


def marked(*values: int) -> str:
    return "".join(f"  ld {name}, {value}\n" for name, value in zip("bcdehl", values, strict=True)) + "  ld b, b\n"


def status(number: int) -> str:
    return MEMORY + f"  ld a, {number}\n  ld [$A000], a\n"


def high(found: int, wanted: int, equal: int) -> str:
    written = {"$80": found, "$81": wanted, "$82": equal}
    return "".join(f"  ld a, {value}\n  ldh [{place}], a\n" for place, value in written.items())


DARK = "  ld a, $FF\n  ldh [$47], a\n"
"""All colours of the background are black."""
ROMS = {  # `begins`: DIV as it is where the boot ROM of the console ends
    "serial-right": (sent("Passed"), "PASS", "serial", "Passed"),
    "serial-wrong": (sent("Failed x3"), "FAIL", "serial", "Failed x3"),
    "memory-right": (status(0), "PASS", "memory", "E"),
    "memory-wrong": (status(7), "FAIL", "memory", "E"),
    "memory-runs": (MEMORY, "INCONCLUSIVE", "", "said nothing"),
    "registers-right": (marked(3, 5, 8, 13, 21, 34), "PASS", "registers", "B=3 C=5"),
    "registers-wrong": (marked(*[0x42] * 6), "FAIL", "registers", "B=66"),
    "registers-other": (marked(1, 2, 3, 4, 5, 6), "INCONCLUSIVE", "", "said nothing"),
    "screen-right": (DARK, "PASS", "screen", ""),
    "screen-wrong": ("", "FAIL", "screen", "not the expected one"),
    "locked": ("  db $D3\n", "INCONCLUSIVE", "", "opcode that does not exist"),
    "high-right": (high(5, 5, 1), "PASS", "high memory", "5 came out; 5 is right"),
    "high-wrong": (high(5, 6, 255), "FAIL", "high memory", "5 came out; 6 is right"),
    "high-other": (high(5, 6, 1), "INCONCLUSIVE", "", "said nothing"),
    "high-in-use": (high(5, 6, 255) + sent("Passed"), "PASS", "serial", "Passed"),
    "begins": (
        "  ldh a, [4]\n  ldh [$80], a\n  ld a, $AB\n  ldh [$81], a\n  ld a, 1\n  ldh [$82], a\n",
        "PASS", "high memory", "171 came out; 171 is right",
    ),
    "silent": (sent("hm"), "INCONCLUSIVE", "", "it sent 'hm'"),
}  # fmt: skip


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("roms")
    (place / "deeper").mkdir()
    for name, (lines, *_) in ROMS.items():
        source = place / f"{name}.asm"
        source.write_text(HEAD + lines + DONE)
        where = place / "deeper" if name.startswith("serial") else place
        (where / f"{name}.gb").write_bytes(assemble(source).image)
    for name in ("screen-right", "screen-wrong"):
        Image.new("L", (160, 144), 0).save(place / f"{name}.png")
    (place / "cut.gb").write_bytes(b"x" * 100)
    image = bytearray((place / "silent.gb").read_bytes())
    (place / "half.GB").write_bytes(image[: len(image) // 2])
    image[0x143] = 0xC0
    (place / "color.gb").write_bytes(image)
    return place


@pytest.mark.slow
@pytest.mark.rust
def test_each_way_of_speaking_is_understood(folder: Path, cargo: None, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["gameboy", "check-roms", str(folder), "--frames", "100", "--json"])
    told = json.loads(capsys.readouterr().out)
    found = {Path(each["rom"]).stem: each for each in told["roms"]}
    assert set(found) == {*ROMS, "cut", "half", "color"} and found["serial-right"]["rom"] == "deeper/serial-right.gb"
    for name, (_, outcome, by, words) in ROMS.items():
        assert (found[name]["outcome"], found[name]["by"]) == (outcome, by), found[name]
        assert words in found[name]["what"]
        assert (found[name]["frames"] < 100) == (
            by in ("serial", "memory", "registers") or name in ("screen-right", "locked")
        )
    for name, words in (("cut", "100 bytes"), ("half", "16384 bytes; its header says 32768"), ("color", "Color alone")):
        assert found[name]["outcome"] == "ERROR" and words in found[name]["what"]
    assert (told["outcome"], told["passed"], code) == ("FAIL", 7, 1)


@pytest.mark.slow
@pytest.mark.rust
def test_the_exit_code_tells_the_worst(
    folder: Path, cargo: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, code in (("memory-right", 0), ("memory-runs", 5), ("registers-wrong", 1)):
        (tmp_path / f"{name}.gb").write_bytes((folder / f"{name}.gb").read_bytes())
        assert main(["gameboy", "check-roms", str(tmp_path), "--frames", "20"]) == code
    assert "1 of 3 passed" in capsys.readouterr().out
    (tmp_path / "registers-wrong.gb").write_bytes(b"no ROM")
    assert main(["gameboy", "check-roms", str(tmp_path), "--frames", "20"]) == 3


def test_a_folder_without_roms_is_no_folder_of_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("lockstep_gameboy_tools.build.gameboy", lambda progress: type("Module", (), {"Console": None}))
    assert main(["gameboy", "check-roms", str(tmp_path)]) == 3
    assert "there is no ROM" in capsys.readouterr().err


def test_without_rust_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["gameboy", "check-roms", str(tmp_path)]) == 3
    said = capsys.readouterr().err
    assert "compiled by cargo, which is not on PATH" in said and "install Rust" in said


def test_an_expected_screen_is_a_picture_or_a_digest(tmp_path: Path) -> None:
    rom = tmp_path / "one.gb"
    assert expected_screen(rom) is None
    shades = np.arange(160 * 144).reshape(144, 160) % 4
    for greys in ((255, 170, 85, 0), (255, 153, 85, 0)):
        Image.fromarray(np.array(greys, np.uint8)[shades]).save(tmp_path / "one.png")
        assert expected_screen(rom) == digest_of(shades)
    (tmp_path / "one.sha256").write_text(digest_of(shades * 0).upper() + "  one\n")
    assert expected_screen(rom) == digest_of(shades * 0), "a digest goes first"
    (tmp_path / "one.sha256").write_text("no digest")
    with pytest.raises(LockstepError, match="no digest"):
        expected_screen(rom)
    (tmp_path / "one.sha256").unlink()
    (tmp_path / "one.png").write_bytes(b"no picture")
    with pytest.raises(LockstepError, match="no picture"):
        expected_screen(rom)
    Image.new("L", (10, 10)).save(tmp_path / "one.png")
    with pytest.raises(LockstepError, match="10 by 10"):
        expected_screen(rom)
