"""The two passes: the first lays out every line and learns the labels, the second writes the bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .errors import AssemblyError, ExpressionError, Place
from .expressions import Expression, ExpressionParser, Symbol
from .header import SIZE as HEADER_SIZE
from .header import START as HEADER_START
from .header import Header
from .instructions import MNEMONICS, byte, word
from .layout import BANK_SIZE, REGIONS, Layout, Section
from .lines import Line, expand, read_lines, split_arguments, split_branches, take_block
from .operands import instruction, split_at_commas
from .symbols import Symbols
from .tokens import Token, tokenize

FILLING = 0xFF
"""What no section covers, as an erased ROM has it."""
_DEEPEST = 64
_MOST_REPEATS = 65_536


@dataclass(frozen=True, slots=True)
class Rom:
    """A complete cartridge image, and what its labels and constants stand for."""

    image: bytes
    symbols: dict[str, Symbol]


@dataclass(frozen=True, slots=True)
class _Item:
    """Bytes that are known in the second pass. `encode` gets the values of `expressions`, and the address."""

    section: Section
    address: int
    place: Place
    expressions: tuple[Expression, ...]
    encode: Callable[[list[int], int], bytes]


def assemble(path: Path) -> Rom:
    """Assemble a file and what it includes. AssemblyError for what is wrong in the source, OSError for the file itself."""
    return assemble_lines(read_lines(path, path.name), path.parent)


def assemble_text(text: str, directory: Path = Path()) -> Rom:
    """Assemble a text, whose includes are looked for in `directory`. AssemblyError for what is wrong in it."""
    places = enumerate(text.splitlines(), start=1)
    return assemble_lines([Line(line, Place("<text>", number)) for number, line in places], directory)


def assemble_lines(lines: list[Line], directory: Path) -> Rom:
    program = _Program(directory)
    program.run(lines, 0)
    return program.finish()


class _Program:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._symbols = Symbols()
        self._layout = Layout()
        self._header = Header()
        self._section: Section | None = None
        self._items: list[_Item] = []
        self._macros: dict[str, list[Line]] = {}
        self._expansions = 0
        self._directives: dict[str, Callable[[list[Token], Place], None]] = {
            "section": self._open_section,
            "def": self._define,
            "db": self._bytes,
            "dw": self._words,
            "ds": self._space,
            "assert": self._assert,
            "title": lambda tokens, place: self._header.set_title(self._text(tokens, place, "title"), place),
            "cartridge": lambda tokens, place: self._header.set_cartridge(
                self._text(tokens, place, "cartridge"), place
            ),
            "romsize": lambda tokens, place: self._header.set_rom_size(self._now(tokens, place), place),
            "ramsize": lambda tokens, place: self._header.set_ram_size(self._now(tokens, place), place),
        }

    # The first pass

    def run(self, lines: list[Line], depth: int) -> None:
        """Lay lines out; `depth` counts the files, macros and blocks that they are inside of."""
        if depth > _DEEPEST:
            raise AssemblyError(lines[0].place, f"more than {_DEEPEST} files, macros and blocks inside each other")
        index = 0
        while index < len(lines):
            line = lines[index]
            word_ = line.first_word
            if word_ in ("macro", "rept", "if"):
                body, index = take_block(lines, index)
                self._block(word_, line, body, depth)
                continue
            index += 1
            if word_ == "include":
                self._include(line, depth)
            else:
                self._line(line, depth)

    def _block(self, kind: str, line: Line, body: list[Line], depth: int) -> None:
        tokens = tokenize(line.text, line.place)[1:]
        if kind == "macro":
            if len(tokens) != 1 or tokens[0].kind != "name":
                raise AssemblyError(line.place, "expected the macro's name behind macro, and nothing else")
            if tokens[0].text in self._macros or tokens[0].text.lower() in MNEMONICS | self._directives.keys():
                raise AssemblyError(line.place, f"{tokens[0].text} is a macro, an instruction or a directive already")
            self._macros[tokens[0].text] = body
        elif kind == "rept":
            count = self._now(tokens, line.place)
            if not 0 <= count <= _MOST_REPEATS:
                raise AssemblyError(line.place, f"rept {count}: expected 0 to {_MOST_REPEATS}")
            for _ in range(count):
                self.run(body, depth + 1)
        else:
            self._conditional(tokens, line, body, depth)

    def _conditional(self, tokens: list[Token], line: Line, body: list[Line], depth: int) -> None:
        for opening, branch in split_branches(body):
            if opening is not None:
                line = opening
                tokens = tokenize(opening.text, opening.place)[1:]
            if line.first_word == "else" or self._now(tokens, line.place):
                self.run(branch, depth + 1)
                return

    def _include(self, line: Line, depth: int) -> None:
        name = self._text(tokenize(line.text, line.place)[1:], line.place, "include")
        try:
            lines = read_lines(self._directory / name, name)
        except (OSError, UnicodeDecodeError) as problem:
            raise AssemblyError(line.place, f"can't include {name!r}: {problem}") from problem
        self.run(lines, depth + 1)

    def _line(self, line: Line, depth: int) -> None:
        tokens = tokenize(line.text, line.place)
        text = line.text
        if len(tokens) > 1 and tokens[0].kind == "name" and tokens[1].text == ":" and tokens[1].kind == "symbol":
            section = self._current(line.place)
            self._symbols.label(tokens[0].text, section.position, section.bank, line.place)
            tokens = tokens[2:]
            text = text.split(":", 1)[1]
        if not tokens:
            return
        if tokens[0].kind != "name":
            raise AssemblyError(line.place, f"unexpected {tokens[0]}: expected a label, an instruction or a directive")
        name = tokens[0].text
        if name in self._macros:
            self._expansions += 1
            arguments = split_arguments(text.split(name, 1)[1])
            self.run(expand(self._macros[name], line.place, arguments, self._expansions), depth + 1)
        elif name.lower() in self._directives:
            self._directives[name.lower()](tokens[1:], line.place)
        elif name.lower() in MNEMONICS:
            self._instruction(name.lower(), tokens[1:], line.place)
        else:
            expected = "expected an instruction, a directive, a macro, or a label with :"
            raise AssemblyError(line.place, f"unknown {name!r}: {expected}")

    def _instruction(self, mnemonic: str, tokens: list[Token], place: Place) -> None:
        form, expression = instruction(mnemonic, tokens, place, lambda part: self._expression(part, place))
        expressions = () if expression is None else (expression,)
        self._emit(
            form.size, place, expressions, lambda values, address: form.encode(values[0] if values else 0, address)
        )

    # Directives

    def _open_section(self, tokens: list[Token], place: Place) -> None:
        parts = split_at_commas(tokens)
        if len(parts) not in (2, 3) or len(parts[0]) != 1 or parts[0][0].kind != "string":
            raise AssemblyError(place, 'expected section "name", region[address], bank[number]')
        region, address = self._with_brackets(parts[1], place)
        bank = None
        if len(parts) > 2:
            word_, bank = self._with_brackets(parts[2], place)
            if word_ != "bank" or bank is None:
                raise AssemblyError(place, "expected bank[number] behind the region")
        elif region == "romx":
            bank = 1
        self._section = self._layout.open(parts[0][0].text, region, address, bank, place)

    def _with_brackets(self, tokens: list[Token], place: Place) -> tuple[str, int | None]:
        if not tokens or tokens[0].kind != "name":
            raise AssemblyError(place, "expected a region (rom0, romx, vram, sram, wram, hram) or bank[number]")
        if len(tokens) == 1:
            return tokens[0].text.lower(), None
        if tokens[1].text != "[" or tokens[-1].text != "]":
            raise AssemblyError(place, f"expected {tokens[0]}[number]")
        return tokens[0].text.lower(), self._now(tokens[2:-1], place)

    def _define(self, tokens: list[Token], place: Place) -> None:
        if len(tokens) < 3 or tokens[0].kind != "name" or tokens[0].text.startswith("."):
            raise AssemblyError(place, "expected def NAME equ value (a constant) or def NAME = value (a variable)")
        value = self._now(tokens[2:], place)
        if tokens[1].text.lower() == "equ":
            self._symbols.constant(tokens[0].text, value, place)
        elif tokens[1].text == "=":
            self._symbols.variable(tokens[0].text, value, place)
        else:
            raise AssemblyError(place, f"unexpected {tokens[1]}: expected equ or =")

    def _bytes(self, tokens: list[Token], place: Place) -> None:
        for part in self._parts(tokens, place, "db"):
            if len(part) == 1 and part[0].kind == "string":
                text = part[0].text
                if not text.isascii():
                    raise AssemblyError(place, f"{part[0]} has characters that are not ASCII")
                self._emit(len(text), place, (), lambda _values, _address, text=text: text.encode("ascii"))
            else:
                self._emit(1, place, (self._expression(part, place),), lambda values, _: byte(values[0]))

    def _words(self, tokens: list[Token], place: Place) -> None:
        for part in self._parts(tokens, place, "dw"):
            self._emit(2, place, (self._expression(part, place),), lambda values, _: word(values[0]))

    def _space(self, tokens: list[Token], place: Place) -> None:
        parts = self._parts(tokens, place, "ds")
        size = self._now(parts[0], place)
        if size < 0 or len(parts) > 2:
            raise AssemblyError(place, "expected ds size or ds size, filling, with a size of 0 or more")
        if self._current(place).region.in_rom:
            filling = self._expression(parts[1], place) if len(parts) > 1 else None
            expressions = () if filling is None else (filling,)
            self._emit(size, place, expressions, lambda values, _: byte(values[0] if values else 0) * size)
        elif len(parts) > 1:
            raise AssemblyError(place, "RAM has no filling: its content is what the program writes")
        else:
            self._current(place).reserve(size, place)

    def _assert(self, tokens: list[Token], place: Place) -> None:
        parts = self._parts(tokens, place, "assert")
        if len(parts) != 2 or len(parts[1]) != 1 or parts[1][0].kind != "string":
            raise AssemblyError(place, 'expected assert condition, "message"')
        message = parts[1][0].text

        def check(values: list[int], _address: int) -> bytes:
            if not values[0]:
                raise ExpressionError(f"assertion failed: {message}")
            return b""

        section = self._section or Section("assert", REGIONS["rom0"], 0, 0, place)
        self._items.append(_Item(section, section.position, place, (self._expression(parts[0], place),), check))

    # What the directives are made of

    def _current(self, place: Place) -> Section:
        if self._section is None:
            raise AssemblyError(place, 'no section is open: expected section "name", region before')
        return self._section

    def _emit(
        self, size: int, place: Place, expressions: tuple[Expression, ...], encode: Callable[[list[int], int], bytes]
    ) -> None:
        section = self._current(place)
        if not section.region.in_rom:
            raise AssemblyError(place, f"section {section.name!r} is in RAM, which has no content: expected ds")
        self._items.append(_Item(section, section.reserve(size, place), place, expressions, encode))

    def _expression(self, tokens: list[Token], place: Place) -> Expression:
        here = self._section.position if self._section is not None else 0
        return ExpressionParser(tokens, place, here, lambda name: self._symbols.meaning(name, place)).parse()

    def _now(self, tokens: list[Token], place: Place) -> int:
        """A value that the first pass needs, so that all its names must be defined above."""
        try:
            return self._expression(tokens, place).evaluate(self._symbols)
        except ExpressionError as problem:
            reason = "the value is needed here, where only what stands above is known"
            raise AssemblyError(place, f"{problem} ({reason})") from None

    def _parts(self, tokens: list[Token], place: Place, directive: str) -> list[list[Token]]:
        parts = split_at_commas(tokens)
        if not parts or not all(parts):
            raise AssemblyError(place, f"{directive}: a value is missing")
        return parts

    def _text(self, tokens: list[Token], place: Place, directive: str) -> str:
        if len(tokens) != 1 or tokens[0].kind != "string":
            raise AssemblyError(place, f'expected {directive} "text"')
        return tokens[0].text

    # The second pass

    def finish(self) -> Rom:
        place = Place("<header>", 0)
        header = Section("header", REGIONS["rom0"], 0, HEADER_START, place)
        header.position += HEADER_SIZE
        self._layout.check_overlaps(header)
        for section in self._layout.sections:
            if section.region.in_rom and section.bank >= self._header.banks:
                expected = f"expected 0 to {self._header.banks - 1}, or a larger romsize"
                raise AssemblyError(section.place, f"bank {section.bank} is not in the ROM: {expected}")
        image = bytearray([FILLING]) * (self._header.banks * BANK_SIZE)
        for item in self._items:
            try:
                values = [expression.evaluate(self._symbols) for expression in item.expressions]
                content = item.encode(values, item.address)
            except ExpressionError as problem:
                raise AssemblyError(item.place, str(problem)) from None
            offset = item.section.offset(item.address)
            image[offset : offset + len(content)] = content
        self._header.write(image)
        return Rom(bytes(image), dict(self._symbols.labels_and_constants))
