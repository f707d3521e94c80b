"""`python -m assembler SOURCE IMAGE [--symbols FILE]`: assemble one ROM."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import AssemblyError, Rom, assemble


def main() -> int:
    parser = argparse.ArgumentParser(prog="assembler", description="Assemble a Game Boy ROM.")
    parser.add_argument("source", type=Path, help="the assembly source; its includes are looked for beside it")
    parser.add_argument("image", type=Path, help="where the ROM image goes")
    parser.add_argument("--symbols", type=Path, help="where the labels go, a line each: bank:address name")
    arguments = parser.parse_args()
    try:
        rom = assemble(arguments.source)
        arguments.image.write_bytes(rom.image)
        if arguments.symbols is not None:
            arguments.symbols.write_text(symbol_lines(rom), encoding="ascii")
    except (AssemblyError, OSError, UnicodeDecodeError) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


def symbol_lines(rom: Rom) -> str:
    """The labels in the form that debuggers read, in the order of their addresses."""
    labels = [(symbol.bank, symbol.value, name) for name, symbol in rom.symbols.items() if symbol.bank is not None]
    return "".join(f"{bank:02X}:{address:04X} {name}\n" for bank, address, name in sorted(labels))


if __name__ == "__main__":
    sys.exit(main())
