"""Sections: where in which bank the next byte goes, and that no two of them share a byte."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from .errors import AssemblyError, Place

BANK_SIZE = 0x4000


@dataclass(frozen=True, slots=True)
class Region:
    """A window of the address space. `banks`: the lowest and the highest bank that it may show."""

    start: int
    end: int
    banks: tuple[int, int]
    in_rom: bool
    first_free: int
    """Where sections without an address begin: in ROM0 behind the header."""


REGIONS = {
    "rom0": Region(0x0000, 0x4000, (0, 0), True, 0x0150),
    "romx": Region(0x4000, 0x8000, (1, 511), True, 0x4000),
    "vram": Region(0x8000, 0xA000, (0, 0), False, 0x8000),
    "sram": Region(0xA000, 0xC000, (0, 15), False, 0xA000),
    "wram": Region(0xC000, 0xE000, (0, 0), False, 0xC000),
    "hram": Region(0xFF80, 0xFFFF, (0, 0), False, 0xFF80),
}


@dataclass(slots=True)
class Section:
    """A run of addresses; `position` is the address of its next byte."""

    name: str
    region: Region
    bank: int
    start: int
    place: Place
    position: int = field(init=False)

    def __post_init__(self) -> None:
        self.position = self.start

    def reserve(self, size: int, place: Place) -> int:
        """Take `size` bytes; the address of the first. AssemblyError where the region ends before."""
        address = self.position
        if address + size > self.region.end:
            over = address + size - self.region.end
            raise AssemblyError(
                place, f"section {self.name!r} leaves its region at ${self.region.end:04X} by {over} bytes"
            )
        self.position += size
        return address

    def offset(self, address: int) -> int:
        """The place in the ROM image of an address of this section."""
        return self.bank * BANK_SIZE + address % BANK_SIZE


class Layout:
    """All sections of one program, in the order of their first byte in the source."""

    def __init__(self) -> None:
        self.sections: list[Section] = []

    def open(self, name: str, region_name: str, address: int | None, bank: int | None, place: Place) -> Section:
        """Begin a section; without an address it follows the highest one of its region and bank."""
        region = REGIONS.get(region_name)
        if region is None:
            raise AssemblyError(place, f"unknown region {region_name!r}: expected one of {', '.join(REGIONS)}")
        lowest, highest = region.banks
        bank = lowest if bank is None else bank
        if not lowest <= bank <= highest:
            raise AssemblyError(place, f"bank {bank} of {region_name}: expected {lowest} to {highest}")
        if address is None:
            address = self._end(region, bank)
        if not region.start <= address < region.end:
            expected = f"${region.start:04X} to ${region.end - 1:04X}"
            raise AssemblyError(place, f"${address:04X} is not in {region_name}: expected {expected}")
        section = Section(name, region, bank, address, place)
        self.sections.append(section)
        return section

    def _end(self, region: Region, bank: int) -> int:
        return max([region.first_free, *(s.position for s in self.sections if s.region is region and s.bank == bank)])

    def check_overlaps(self, header: Section) -> None:
        """AssemblyError for two sections that share a byte; the header's bytes are the assembler's own."""
        filled = [s for s in (*self.sections, header) if s.position > s.start]
        filled.sort(key=lambda s: (s.region.start, s.bank, s.start))
        for before, after in pairwise(filled):
            if before.region is after.region and before.bank == after.bank and after.start < before.position:
                # Blame the one that the source can move.
                section, other = (before, after) if after is header else (after, before)
                span = f"${other.start:04X} to ${other.position - 1:04X}"
                raise AssemblyError(section.place, f"section {section.name!r} overlaps {other.name!r} ({span})")
