"""The assembler: every opcode against a decoder that goes by the opcode's bits, and each kind of mistake by its message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from environments.gameboy.assembler import FORMS, AssemblyError, Form, Immediate, assemble, assemble_text
from environments.gameboy.assembler.__main__ import main, symbol_lines

START = 0x150
HEAD = 'section "main", rom0\n'

REGISTERS = ("b", "c", "d", "e", "h", "l", "[hl]", "a")
PAIRS = ("bc", "de", "hl", "sp")
POINTERS = ("[bc]", "[de]", "[hl+]", "[hl-]")
CONDITIONS = ("nz", "z", "nc", "c")
ALU = ("add", "adc", "sub", "sbc", "and", "xor", "or", "cp")
ROTATIONS = ("rlc", "rrc", "rl", "rr", "sla", "sra", "swap", "srl")
ILLEGAL = {0xD3, 0xDB, 0xDD, 0xE3, 0xE4, 0xEB, 0xEC, 0xED, 0xF4, 0xFC, 0xFD}


def code(text: str) -> bytes:
    """The bytes that a text gives, from its first section on."""
    image = assemble_text(HEAD + text).image
    end = len(image[START:0x4000].rstrip(b"\xff"))
    return image[START : START + end]


def decode(opcode: int, address: int) -> tuple[str, bytes] | None:
    """What the bits of an opcode mean, as source with sample operands, and the operands' bytes. None: no instruction.

    The opcode is read as x (two bits), y and z (three bits each), and y as p (two bits) and q, as the processor's
    documentation groups its table. Nothing of the assembler is used here.
    """
    x, y, z = opcode >> 6, opcode >> 3 & 7, opcode & 7
    p, q = y >> 1, y & 1
    if opcode in ILLEGAL or opcode == 0xCB:
        return None
    byte, word, signed = ("$9C", b"\x9c"), ("$1234", b"\x34\x12"), ("-5", b"\xfb")
    # Three bytes back from the instruction's end, two bytes behind its start.
    relative = (f"${address - 1:04X}", b"\xfd")
    none = ("", b"")

    def form(template: str, operand: tuple[str, bytes] = none) -> tuple[str, bytes]:
        return template.replace("@", operand[0]), operand[1]

    if x == 1:
        return form("halt") if opcode == 0x76 else form(f"ld {REGISTERS[y]}, {REGISTERS[z]}")
    if x == 2:
        return form(f"{ALU[y]} a, {REGISTERS[z]}")
    if x == 0:
        if z == 0:
            jumps = [form("nop"), form("ld [@], sp", word), form("stop", ("", b"\0")), form("jr @", relative)]
            return jumps[y] if y < 4 else form(f"jr {CONDITIONS[y - 4]}, @", relative)
        if z == 1:
            return form(f"add hl, {PAIRS[p]}") if q else form(f"ld {PAIRS[p]}, @", word)
        if z == 2:
            return form(f"ld a, {POINTERS[p]}") if q else form(f"ld {POINTERS[p]}, a")
        if z == 3:
            return form(f"{'dec' if q else 'inc'} {PAIRS[p]}")
        if z in (4, 5):
            return form(f"{('inc', 'dec')[z - 4]} {REGISTERS[y]}")
        if z == 6:
            return form(f"ld {REGISTERS[y]}, @", byte)
        return form(("rlca", "rrca", "rla", "rra", "daa", "cpl", "scf", "ccf")[y])
    high = ("$FF44", b"\x44")
    if z == 0:
        others = [
            form("ldh [@], a", high),
            form("add sp, @", signed),
            form("ldh a, [@]", high),
            form("ld hl, sp@", signed),
        ]
        return form(f"ret {CONDITIONS[y]}") if y < 4 else others[y - 4]
    if z == 1:
        return form(("ret", "reti", "jp hl", "ld sp, hl")[p]) if q else form(f"pop {(*PAIRS[:3], 'af')[p]}")
    if z == 2:
        others = [form("ldh [c], a"), form("ld [@], a", word), form("ldh a, [c]"), form("ld a, [@]", word)]
        return form(f"jp {CONDITIONS[y]}, @", word) if y < 4 else others[y - 4]
    if z == 3:
        return {0: form("jp @", word), 6: form("di"), 7: form("ei")}[y]
    if z == 4:
        return form(f"call {CONDITIONS[y]}, @", word)
    if z == 5:
        return form("call @", word) if q else form(f"push {(*PAIRS[:3], 'af')[p]}")
    if z == 6:
        return form(f"{ALU[y]} a, @", byte)
    return form(f"rst ${8 * y:02X}")


def decode_prefixed(opcode: int) -> str:
    """The same for the opcodes behind $CB, which take no operands."""
    x, y, z = opcode >> 6, opcode >> 3 & 7, opcode & 7
    if x == 0:
        return f"{ROTATIONS[y]} {REGISTERS[z]}"
    return f"{('bit', 'res', 'set')[x - 1]} {y}, {REGISTERS[z]}"


def every_instruction() -> Iterator[tuple[str, bytes]]:
    """All instructions, as if they stood one behind the other from START on."""
    address = START
    for opcode in range(0x100):
        decoded = decode(opcode, address)
        if decoded is not None:
            text, operand = decoded
            encoded = bytes([opcode]) + operand
            yield text, encoded
            address += len(encoded)
    for opcode in range(0x100):
        yield decode_prefixed(opcode), bytes([0xCB, opcode])


def wrong_instructions() -> list[str]:
    """The instructions that the assembler gives other bytes than the decoder reads back."""
    instructions = list(every_instruction())
    lines = "".join(f"Line{number}: {text}\n" for number, (text, _) in enumerate(instructions))
    try:
        rom = assemble_text(HEAD + lines + "End:\n")
    except AssemblyError as problem:
        return [str(problem)]
    wrong = []
    for number, (text, encoded) in enumerate(instructions):
        start = rom.symbols[f"Line{number}"].value
        following = rom.symbols.get(f"Line{number + 1}", rom.symbols["End"])
        found = rom.image[start : following.value]
        if found != encoded:
            wrong.append(f"{text}: {found.hex(' ')}, expected {encoded.hex(' ')}")
    return wrong


def test_every_one_of_the_500_opcodes_is_encoded_as_its_bits_say() -> None:
    assert len(list(every_instruction())) == 500
    assert wrong_instructions() == []


@pytest.mark.parametrize(
    ("form", "fault"),
    [
        ("sla b", Form(b"\xcb\x28")),
        ("ld h,[hl]", Form(b"\x6e")),
        ("ld [n],sp", Form(b"\x08", Immediate.BYTE)),
        ("jr z,n", Form(b"\x30", Immediate.RELATIVE)),
        ("bit n,l", Form(b"\xcb\x85", Immediate.BIT)),
        ("ldh [n],a", Form(b"\xf0", Immediate.HIGH_PAGE)),
        ("add sp,n", Form(b"\xe8", Immediate.WORD)),
        ("stop", Form(b"\x10")),
        ("rst n", Form(b"\xc0", Immediate.VECTOR)),
        ("push af", Form(b"\xf1")),
    ],
)
def test_the_comparison_of_opcodes_notices_a_wrong_form(
    form: str, fault: Form, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert FORMS[form] != fault
    monkeypatch.setitem(FORMS, form, fault)
    assert wrong_instructions() != []


def test_no_form_is_without_an_opcode_and_none_shares_one() -> None:
    counted: dict[bytes, str] = {}
    for spelling, form in FORMS.items():
        values = {Immediate.BIT: range(8), Immediate.VECTOR: range(0, 0x40, 8)}.get(form.immediate, (0,))
        for value in values:
            head = form.encode(value, 0)[: len(form.opcode)]
            assert head not in counted, (spelling, counted[head])
            counted[head] = spelling
    assert len(counted) == 500


@pytest.mark.parametrize(
    ("spelling", "same_as"),
    [
        ("ld [hli], a", "ld [hl+], a"),
        ("ld a, [hld]", "ld a, [hl-]"),
        ("add b", "add a, b"),
        ("cp $10", "cp a, $10"),
        ("LD A, [HL]", "ld a, [hl]"),
        ("ldh a, [$44]", "ldh a, [$FF44]"),
        ("ld hl, sp - 2", "ld hl, sp + -2"),
    ],
)
def test_an_instruction_may_be_spelled_in_the_usual_other_ways(spelling: str, same_as: str) -> None:
    assert code(spelling) == code(same_as)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("$1F + %101 + 1_000", 0x1F + 5 + 1000),
        ("2 + 3 * 4 - 6 / 4", 13),
        ("(2 + 3) * 4 % 7", 6),
        ("7%4", 3),
        ("1 << 4 | 3 & 6 ^ 1", 1 << 4 | 3 & 6 ^ 1),
        ("-1 & $FF", 255),
        ("~0 & 7", 7),
        ("!5 + !0", 1),
        ("3 < 4 && 4 <= 4 || 0", 1),
        ("5 == 5 != 1", 0),
        ("$80 >> 3 > 15", 1),
        ("high($1234) * 256 + low($1234)", 0x1234),
        ("'A' + 1", 66),
        ('"A" + 1', 66),
        (r"'\n'", 10),
        ("@ - Here", 0),
        ("bank(Other)", 3),
        ("Later - Here", 2),
        # The low plane has the pixels 1 and 3, the high plane 2 and 3.
        ("`.0123.3.", 0b00011010 << 8 | 0b00101010),
    ],
)
def test_an_expression_has_the_value_that_its_signs_say(expression: str, value: int) -> None:
    text = f'romsize 128\n{HEAD}Here: dw {expression}\nLater:\nsection "other", romx, bank[3]\nOther: nop'
    image = assemble_text(text).image
    assert image[START : START + 2] == (value & 0xFFFF).to_bytes(2, "little")


def test_a_percent_sign_is_a_remainder_behind_a_value_and_a_binary_number_elsewhere() -> None:
    assert code("db %11\n db 13 % 8, 13%8, 5 - %11") == bytes([3, 5, 5, 2])


def test_data_directives_write_bytes_words_text_and_space() -> None:
    assert code(r'db 1, "ab\n", -1' + '\n dw $1234, "c"\n ds 3, 7\n db 8, ";" ; a comment') == bytes(
        [1, 0x61, 0x62, 10, 0xFF, 0x34, 0x12, 0x63, 0, 7, 7, 7, 8, 0x3B]
    )


def test_local_labels_belong_to_the_label_before_them() -> None:
    text = "One: nop\n.x: jr .x\nTwo: nop\n.x: jr .x\n dw One.x, Two.x"
    assert code(text) == bytes([0, 0x18, 0xFE, 0, 0x18, 0xFE, 0x51, 0x01, 0x54, 0x01])


def test_a_macro_gets_its_arguments_and_a_name_of_its_own() -> None:
    text = "macro twice\n.again\\@: ld a, \\1\n jr .again\\@\n db \\#\nendm\nMain:\n twice [hl]\n twice 3 + (1, 2)"
    with pytest.raises(AssemblyError, match="<text>:3"):
        code(text)
    text = text.replace("3 + (1, 2)", "low($0103), 9")
    assert code(text) == bytes([0x7E, 0x18, 0xFD, 1, 0x3E, 3, 0x18, 0xFC, 2])


def test_a_macro_may_stand_behind_a_label_that_has_its_name_in_it() -> None:
    assert code("macro put\n db \\1\nendm\nputting: put 7 ; put 9") == bytes([7])


def test_a_block_repeats_with_a_variable_that_changes() -> None:
    assert code("def N = 1\nrept 4\n db N\ndef N = N * 3\nendr\nrept 0\n db 99\nendr\n db N") == bytes(
        [1, 3, 9, 27, 81]
    )


def test_repeated_and_conditional_blocks_go_inside_each_other() -> None:
    inner = "if N == 1\n db $11\nelif N == 2\nrept 2\n db $22\nendr\nelse\n db $EE\nendc\n"
    text = f"def N = 0\nrept 4\n{inner}def N = N + 1\nendr"
    assert code(text) == bytes([0xEE, 0x11, 0x22, 0x22, 0xEE])


def test_sections_go_where_they_say_and_behind_one_another() -> None:
    text = """
        romsize 64
        section "vector", rom0[$40]
            reti
        section "first", rom0
            db 1
        section "far", romx[$7FFF], bank[3]
            db 2
        section "second", rom0
            db 3
        section "ram", wram
        wOne: ds 2
        section "more ram", wram
        wTwo: ds 1
        section "high", hram
        hOne: ds 1
    """
    rom = assemble_text(text)
    assert len(rom.image) == 65536
    assert rom.image[0x40] == 0xD9
    assert rom.image[START : START + 3] == b"\x01\x03\xff"
    assert rom.image[-1] == 2
    assert {name: symbol.value for name, symbol in rom.symbols.items()} == {
        "wOne": 0xC000,
        "wTwo": 0xC002,
        "hOne": 0xFF80,
    }


def header_faults(image: bytes) -> list[str]:
    """What a header has wrong, by the checksums' definition in Pan Docs."""
    faults = []
    checksum = 0
    for address in range(0x134, 0x14D):
        checksum = (checksum - image[address] - 1) % 256
    if image[0x14D] != checksum:
        faults.append("header checksum")
    total = sum(image[:0x14E]) + sum(image[0x150:])
    if int.from_bytes(image[0x14E:0x150], "big") != total % 65536:
        faults.append("global checksum")
    if len(image) != 0x8000 << image[0x148]:
        faults.append("size")
    return faults


def test_the_header_says_title_type_and_sizes_with_both_checksums() -> None:
    text = 'title "A GAME"\ncartridge "MBC5+RAM+BATTERY"\nromsize 256\nramsize 32\n' + HEAD + "db 1, 2, 3"
    image = assemble_text(text).image
    assert header_faults(image) == []
    assert image[0x134:0x144] == b"A GAME" + bytes(10)
    assert image[0x147:0x14A] == bytes([0x1B, 3, 3])
    assert not any(image[0x104:0x134])


@pytest.mark.parametrize(
    ("address", "fault"),
    [(0x134, "header checksum"), (0x14D, "header checksum"), (0x14F, "global checksum"), (0x7FFF, "global checksum")],
)
def test_the_comparison_of_headers_notices_a_wrong_byte(address: int, fault: str) -> None:
    image = bytearray(assemble_text('title "A"\n' + HEAD + "nop").image)
    image[address] ^= 1
    assert fault in header_faults(bytes(image))


MISTAKES = [
    ("ld a, bc", "2: no instruction 'ld a,bc': expected ld a,[bc], ld a,[de], ld a,[hl+], ld a,[hl-], ld a,[hl], "),
    ("ld [hl], [hl]", "2: no instruction 'ld [hl],[hl]'"),
    ("push sp", "2: no instruction 'push sp': expected push af, push bc, push de, push hl"),
    ("frob a", "2: unknown 'frob': expected an instruction, a directive, a macro, or a label with :"),
    ("ld a, 256", "2: 256 does not fit in a byte: expected -128 to 255"),
    ("dw 65536", "2: 65536 does not fit in a word: expected -32768 to 65535"),
    ("add sp, 128", "2: the offset is 128: expected -128 to 127"),
    ("jr $0250", "2: the distance of the jump is 254: expected -128 to 127"),
    ("bit 8, a", "2: 8 is no bit of a byte: expected 0 to 7"),
    ("rst 9", "2: $9 is no restart address: expected $00, $08, … $38"),
    ("ldh [$1234], a", "2: $1234 is not in the high page: expected $FF00 to $FFFF"),
    ("jp Nowhere", "2: Nowhere is not defined"),
    ("One:\nOne: nop", "3: One is defined twice"),
    (".x: nop", "2: local label .x has no label before it"),
    ("def sp equ 2", "2: sp is the name of a register or a condition: expected another name"),
    ("db hl + 1", "2: hl is a register or a condition: it has no value"),
    ("db 1 +", "2: the expression ends too early: expected a number, a name or ("),
    ("db (1", "2: expected )"),
    ("db " + 33 * "(", "2: more than 32 parentheses inside each other"),
    ("db 1 2", "2: unexpected 2 after the expression"),
    ("db 1,", "2: db: a value is missing"),
    ("db 1 / (2 - 2)", "2: division by zero"),
    ("db 1 << 65", "2: a shift by 65: expected 0 to 64"),
    ("db ?", "2: unexpected '?': neither a number, a name nor a sign"),
    ("ld a,, b", "2: ld: an operand is missing beside the comma"),
    ("ds Later\nLater:", "2: Later is not defined (the value is needed here, where only what stands above is known)"),
    ("ds -1", "2: expected ds size or ds size, filling, with a size of 0 or more"),
    ("rept 3\nnop", "2: rept is never closed: expected endr"),
    ("macro one\nendm\nmacro one\nendm", "4: one is a macro, an instruction or a directive already"),
    ("macro m\n db \\2\nendm\n m 1", "3 (expanded at <text>:5): argument \\2 is missing: the call has 1"),
    ("macro m\n m\nendm\n m", "3 (expanded at "),
    ('section "x", wram\n db 1', "3: section 'x' is in RAM, which has no content: expected ds"),
    ('section "x", wram\n ds 2, 1', "3: RAM has no filling: its content is what the program writes"),
    ('section "x", attic', "2: unknown region 'attic': expected one of rom0, romx, vram, sram, wram, hram"),
    ('section "x", rom0[$4000]', "2: $4000 is not in rom0: expected $0000 to $3FFF"),
    ('section "x", romx, bank[0]', "2: bank 0 of romx: expected 1 to 511"),
    ('section "x", romx, bank[2]\n nop', "2: bank 2 is not in the ROM: expected 0 to 1, or a larger romsize"),
    ("ds $3EB1", "2: section 'main' leaves its region at $4000 by 1 bytes"),
    ('ds 4\nsection "x", rom0[$152]\n nop', "3: section 'x' overlaps 'main' ($0150 to $0153)"),
    ('section "x", rom0[$100]\n ds 5', "2: section 'x' overlaps 'header' ($0104 to $014F)"),
    ('title ""', "2: title '': expected 1 to 16 ASCII characters"),
    ('cartridge "mbc9"', "2: unknown cartridge 'mbc9': expected one of rom, mbc1, "),
    ("romsize 33", "2: ROM of 33 KiB: expected one of 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192"),
    ("ramsize 1", "2: RAM of 1 KiB: expected one of 0, 2, 8, 32, 64, 128"),
    ('include "missing.inc"', "2: can't include 'missing.inc': "),
    ('assert 1 == 2, "one is not two"', "2: assertion failed: one is not two"),
    (r'db "\q"', r"2: unknown escape \q: expected one of"),
    ('db "é"', '2: "é" has characters that are not ASCII'),
    ("db bank(N)\ndef N equ 1", "2: N is a constant: only labels have a bank"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES, ids=[text.splitlines()[0] for text, _ in MISTAKES])
def test_a_mistake_is_reported_with_its_place_and_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(AssemblyError) as caught:
        assemble_text(HEAD + text)
    assert str(caught.value).startswith(f"<text>:{message}")


def test_code_before_any_section_is_a_mistake() -> None:
    with pytest.raises(AssemblyError, match='<text>:1: no section is open: expected section "name", region before'):
        assemble_text("nop")


def test_a_mistake_in_an_included_file_is_reported_in_that_file(tmp_path: Path) -> None:
    (tmp_path / "inner.inc").write_text("def OK equ 1\n  ld a, bd\n", encoding="utf-8")
    (tmp_path / "main.asm").write_text(HEAD + 'include "inner.inc"\n', encoding="utf-8")
    with pytest.raises(AssemblyError, match=re.escape("inner.inc:2: bd is not defined")):
        assemble(tmp_path / "main.asm")


def test_the_command_writes_image_and_symbols(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source, image, symbols = tmp_path / "a.asm", tmp_path / "a.gb", tmp_path / "a.sym"
    source.write_text(HEAD + 'Main: nop\n.end: nop\nsection "w", wram\nwX: ds 1\n', encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["assembler", str(source), str(image), "--symbols", str(symbols)])
    assert main() == 0
    assert image.read_bytes() == assemble(source).image
    assert symbols.read_text() == "00:0150 Main\n00:0151 Main.end\n00:C000 wX\n" == symbol_lines(assemble(source))
    source.write_text(HEAD + "frob\n", encoding="utf-8")
    assert main() == 1
    assert capsys.readouterr().err.startswith("a.asm:2: unknown 'frob'")
