"""The cartridge's header, $0104 to $014F: what the console and emulators read before the program runs."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import AssemblyError, Place
from .layout import BANK_SIZE

START = 0x0104
SIZE = 0x4C
CARTRIDGES = {
    "rom": 0x00,
    "mbc1": 0x01,
    "mbc1+ram": 0x02,
    "mbc1+ram+battery": 0x03,
    "mbc2": 0x05,
    "mbc2+battery": 0x06,
    "rom+ram": 0x08,
    "rom+ram+battery": 0x09,
    "mbc3+timer+battery": 0x0F,
    "mbc3+timer+ram+battery": 0x10,
    "mbc3": 0x11,
    "mbc3+ram": 0x12,
    "mbc3+ram+battery": 0x13,
    "mbc5": 0x19,
    "mbc5+ram": 0x1A,
    "mbc5+ram+battery": 0x1B,
    "mbc5+rumble": 0x1C,
    "mbc5+rumble+ram": 0x1D,
    "mbc5+rumble+ram+battery": 0x1E,
}
"""By the names that `cartridge` takes."""
_ROM_SIZES = {32 << code: code for code in range(9)}
_RAM_SIZES = {0: 0, 2: 1, 8: 2, 32: 3, 128: 4, 64: 5}
_LICENSEE_FOLLOWS = 0x33
_NOT_JAPAN = 0x01
_TITLE_LENGTH = 16


@dataclass(slots=True)
class Header:
    """What the directives said. Sizes are in KiB."""

    title: str = ""
    cartridge: int = CARTRIDGES["rom"]
    rom_size: int = 32
    ram_size: int = 0

    def set_title(self, title: str, place: Place) -> None:
        """At most sixteen characters of ASCII, of which a black-and-white cartridge may use all but the top bit."""
        if not title.isascii() or not title.isprintable() or not 0 < len(title) <= _TITLE_LENGTH:
            raise AssemblyError(place, f"title {title!r}: expected 1 to {_TITLE_LENGTH} ASCII characters")
        self.title = title

    def set_cartridge(self, name: str, place: Place) -> None:
        if name.lower() not in CARTRIDGES:
            raise AssemblyError(place, f"unknown cartridge {name!r}: expected one of {', '.join(CARTRIDGES)}")
        self.cartridge = CARTRIDGES[name.lower()]

    def set_rom_size(self, kibibytes: int, place: Place) -> None:
        if kibibytes not in _ROM_SIZES:
            raise AssemblyError(place, f"ROM of {kibibytes} KiB: expected one of {', '.join(map(str, _ROM_SIZES))}")
        self.rom_size = kibibytes

    def set_ram_size(self, kibibytes: int, place: Place) -> None:
        if kibibytes not in _RAM_SIZES:
            raise AssemblyError(
                place, f"RAM of {kibibytes} KiB: expected one of {', '.join(map(str, sorted(_RAM_SIZES)))}"
            )
        self.ram_size = kibibytes

    @property
    def banks(self) -> int:
        return self.rom_size * 1024 // BANK_SIZE

    def write(self, image: bytearray) -> None:
        """Fill the header of a complete image in, both checksums last.

        The 48 bytes at $0104, which the console's own boot ROM compares with its maker's logo, stay zero: the logo is a
        trademark, and the boot ROMs that matter here do not look at it.
        """
        fields = bytearray(SIZE)
        title = self.title.encode("ascii")
        fields[0x30 : 0x30 + len(title)] = title
        fields[0x43] = self.cartridge
        fields[0x44] = _ROM_SIZES[self.rom_size]
        fields[0x45] = _RAM_SIZES[self.ram_size]
        fields[0x46] = _NOT_JAPAN
        fields[0x47] = _LICENSEE_FOLLOWS
        fields[0x49] = -sum(byte + 1 for byte in fields[0x30:0x49]) & 0xFF
        image[START : START + SIZE] = fields
        # The global checksum leaves its own two bytes out; they are still zero here.
        image[START + SIZE - 2 : START + SIZE] = (sum(image) & 0xFFFF).to_bytes(2, "big")
