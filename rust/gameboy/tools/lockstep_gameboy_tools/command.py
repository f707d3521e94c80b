"""`lockstep gameboy`: what there is about the Game Boy beside the task."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.frame import EXIT_ERROR, EXIT_FAIL, EXIT_INCONCLUSIVE, EXIT_OK, Output, command

FRAMES = 7200


@click.group("gameboy")
def gameboy() -> None:
    """The Game Boy's emulator in Rust (docs/gameboy.md)."""


@command("check-roms", "run every test ROM of a folder", "lockstep gameboy check-roms roms/")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--frames", type=click.IntRange(1, 1_000_000), default=FRAMES, show_default=True,
    help="Give a ROM up after so many frames; a second has 59.7.",
)  # fmt: skip
def check_roms(output: Output, folder: Path, frames: int) -> int:
    """Run every `.gb` below a folder and say which of them pass, fail or say nothing.

    A test ROM speaks over the serial port, in memory at 0xA000, in registers at `ld b, b`, by its screen, which is
    compared with the picture or the digest beside it, or in high memory (docs/gameboy.md). It begins where the console's
    own boot ROM ends. Needs Rust.
    """
    from harness.cli import show
    from harness.verdict import Outcome
    from lockstep_gameboy_tools.build import gameboy as module
    from lockstep_gameboy_tools.rom_checks import check_roms as check

    results = []
    with output.progress() as progress:
        console = module(lambda line: progress(line, 0, 1)).Console
        for result in check(folder, lambda rom: console(rom, boot_rom=None), frames):
            results.append(result)
            progress(f"{result.rom}: {result.outcome}", len(results), 0)
    worst = Outcome.worst([result.outcome for result in results])
    table = show.grid("left", "left", "left", "left")
    for result in results:
        table.add_row(result.rom, show.outcome_text(str(result.outcome)), result.by, result.what)
    passed = sum(result.outcome is Outcome.PASS for result in results)
    document = {
        "folder": str(folder),
        "frames": frames,
        "outcome": str(worst),
        "passed": passed,
        "roms": [result.to_json() for result in results],
    }
    output.emit(document, table, "", f"{passed} of {len(results)} passed")
    exits = {Outcome.PASS: EXIT_OK, Outcome.FAIL: EXIT_FAIL, Outcome.INCONCLUSIVE: EXIT_INCONCLUSIVE}
    return exits.get(worst, EXIT_ERROR)


gameboy.add_command(check_roms)
