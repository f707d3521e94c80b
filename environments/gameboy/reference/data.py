"""Writes what a candidate includes: the ROM of every cartridge as `NAME.gb`, and the boot ROM as `boot.rom`.

ENVPYTHON reference/data.py DESTINATION
"""

from __future__ import annotations

import sys
from pathlib import Path

from cartridges import NAMES, boot_rom, cartridge


def main(destination: Path) -> None:
    """Write the files into a directory that is there."""
    for number, name in enumerate(NAMES):
        (destination / (name + ".gb")).write_bytes(cartridge(number).image)
    (destination / "boot.rom").write_bytes(boot_rom())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python data.py DESTINATION")
    main(Path(sys.argv[1]))
