"""Faults in the Game Boy's emulator: each in one rule, to be traced to the module that the rule belongs to.

Where the rule is that of an instruction, `shown` holds for the inputs of the probe that shows the fault, so that the
opcode is named too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.model import Leaves
from harness.task.contract import Task
from harness.verdict import Divergence
from harness.verify.request import LevelsRequest
from harness.verify.verifier import Verifier
from tests.mutants.plant import Mutant, assert_caught, plant

SEED = 20_260


@dataclass(frozen=True)
class EmulatorFault:
    """One fault: the module to which it must be traced, the leaf that must show it, and what is to be seen of the inputs.

    Attributes:
        mutant: what is changed, and where it must be caught.
        shown: holds for the inputs of the probe that shows it.
        usual: whether it is among the few that CI plants.
    """

    mutant: Mutant
    shown: Callable[[Leaves], bool]
    usual: bool

    @property
    def name(self) -> str:
        """What is wrong."""
        return self.mutant.name


def anything(inputs: Leaves) -> bool:
    """No instruction is to be named."""
    return True


def catch(fault: EmulatorFault, task: Task, verifier: Verifier, tree: Path) -> Divergence:
    """Plant a fault in a tree, see that it is traced to where it is by the level that must, and return what that said.

    What a probe shows is taken as it was found first: to make it plainer takes ten times as long.
    """
    plant(task, fault.mutant, tree)
    by_probe = fault.mutant.path.startswith("probe/")
    levels = range(1, fault.mutant.level + 1)
    found = assert_caught(fault.mutant, verifier.verify(tree, LevelsRequest(levels, SEED, stop_at_failure=by_probe)))
    assert not by_probe or fault.shown(found.inputs or {}), f"{fault.name}: {found.inputs}"
    return found


def opcodes(*numbers: int, prefixed: bool = False) -> Callable[[Leaves], bool]:
    """The instruction is one of these."""

    def shown(inputs: Leaves) -> bool:
        return bool(inputs["prefixed"][0]) == prefixed and int(inputs["opcode"][0]) in numbers

    return shown


def fault(
    name: str,
    module: str,
    path: str,
    file: str,
    before: str,
    after: str,
    shown: Callable[[Leaves], bool] = anything,
    *,
    level: int = 1,
    usual: bool = False,
) -> EmulatorFault:
    """A fault in a file of the emulator, which a level must trace to its module at a leaf."""
    mutant = Mutant(name, ((before, after),), level, path, module=module, file=f"core/src/{file}")
    return EmulatorFault(mutant, shown, usual)


ADC = (*range(0x88, 0x90), 0xCE)
SBC = (*range(0x98, 0xA0), 0xDE)
JR = (0x18, 0x20, 0x28, 0x30, 0x38)
SRA = tuple(range(0x28, 0x30))

FAULTS = (
    # The cartridge.
    fault(
        "MBC1 selects bank 0",
        "cartridge",
        "probe/mapper/(rom_bank|byte)",
        "mapper.rs",
        "self.lower = (value & 0x1F).max(1)",
        "self.lower = value & 0x1F",
        usual=True,
    ),
    fault(
        "MBC1's mode does not move the lower bank",
        "cartridge",
        "probe/mapper/(low_bank|byte)",
        "mapper.rs",
        "self.low_bank = if self.advanced { low % banks } else { 0 };",
        "self.low_bank = low % banks * u16::from(false);",
    ),
    fault(
        "MBC2's registers are told apart by another bit",
        "cartridge",
        "probe/mapper/.*",
        "mapper.rs",
        "0x0000..=0x3FFF if address & 0x100 == 0 =>",
        "0x0000..=0x3FFF if address & 0x200 == 0 =>",
    ),
    fault(
        "MBC5 has no ninth bit",
        "cartridge",
        "probe/mapper/(rom_bank|byte)",
        "mapper.rs",
        "(u16::from(value & 1) << 8 | self.rom_bank & 0xFF) % banks",
        "(self.rom_bank & 0xFF) % banks",
    ),
    fault(
        "RAM is enabled by 0x0A alone",
        "cartridge",
        "probe/mapper/(ram_enabled|byte)",
        "mapper.rs",
        "    value & 0x0F == 0x0A",
        "    value == 0x0A",
    ),
    fault(
        "MBC3 latches at every write of 1",
        "cartridge",
        "probe/clock/(bytes|latched)",
        "rtc.rs",
        "if !self.is_latched {",
        "if !self.is_latched || value == 1 {",
    ),
    fault(
        "the last day of MBC3's clock does not carry",
        "cartridge",
        "probe/clock/(day_carry|bytes)",
        "rtc.rs",
        "            return self.days == 0;",
        "            return false;",
    ),
    # The processor.
    fault(
        "the half carry of an addition leaves out the carry",
        "processor",
        "probe/(arithmetic|memory)/f",
        "cpu/alu.rs",
        "if_set((a & 0xF) + (value & 0xF) + c > 0xF, HALF)",
        "if_set((a & 0xF) + (value & 0xF) > 0xF, HALF)",
        opcodes(*ADC),
        usual=True,
    ),
    fault(
        "the half borrow of a subtraction leaves out the borrow",
        "processor",
        "probe/(arithmetic|memory)/f",
        "cpu/alu.rs",
        "if_set(a & 0xF < (value & 0xF) + b, HALF)",
        "if_set(a & 0xF < value & 0xF, HALF)",
        opcodes(*SBC),
    ),
    fault(
        "DAA forgets the carry of a subtraction",
        "processor",
        "probe/arithmetic/[af]",
        "cpu/alu.rs",
        "f & CARRY != 0 || !subtracted && a > 0x99",
        "!subtracted && (f & CARRY != 0 || a > 0x99)",
        opcodes(0x27),
    ),
    fault(
        "a short jump goes forward alone",
        "processor",
        "probe/arithmetic/pc",
        "cpu/execute.rs",
        "next.wrapping_add_signed(i16::from(offset as i8))",
        "next.wrapping_add(u16::from(offset))",
        opcodes(*JR),
    ),
    fault(
        "SRA loses the sign",
        "processor",
        "probe/(arithmetic|memory)/.*",
        "cpu/prefixed.rs",
        "5 => ((value as i8 >> 1) as u8, value & 0x01)",
        "5 => (value >> 1, value & 0x01)",
        opcodes(*SRA, prefixed=True),
    ),
    fault(
        "a rotation of the accumulator sets the zero flag",
        "processor",
        "probe/arithmetic/f",
        "cpu/prefixed.rs",
        "self.r[F] &= CARRY;",
        "self.r[F] &= CARRY | ZERO;",
        opcodes(0x07, 0x0F, 0x17, 0x1F),
    ),
    fault(
        "POP AF brings the lower half of F",
        "processor",
        "probe/memory/f",
        "cpu/execute.rs",
        "self.cpu.r[F] = f & 0xF0;",
        "self.cpu.r[F] = f;",
        opcodes(0xF1),
    ),
    fault(
        "EI holds an instruction too early",
        "processor",
        "probe/arithmetic/master(_delay)?",
        "cpu/execute.rs",
        "self.cpu.master_delay = 1;",
        "self.cpu.master_delay = 2;",
        opcodes(0xFB),
        usual=True,
    ),
    fault(
        "HALT is not passed while the master enable is off",
        "processor",
        "probe/interrupt/pc",
        "cpu/run.rs",
        "if self.cpu.halted && !self.cpu.halted_after_ei {",
        "if self.cpu.halted && !self.cpu.halted_after_ei && self.cpu.master {",
    ),
    fault(
        "the last of several interrupts is taken first",
        "processor",
        "probe/interrupt/(requested|pc)",
        "cpu/run.rs",
        "pending.trailing_zeros()",
        "(7 - pending.leading_zeros())",
    ),
    fault(
        "an interrupt takes 16 clocks",
        "processor",
        "probe/interrupt/.*",
        "cpu/run.rs",
        "DISPATCH_CLOCKS: u64 = 20",
        "DISPATCH_CLOCKS: u64 = 16",
    ),
    # Timer, buttons, serial port.
    fault(
        "the timer's interrupt comes at once",
        "timer",
        "probe/timer/.*",
        "timer.rs",
        "RELOAD_PHASE: u8 = 4",
        "RELOAD_PHASE: u8 = 1",
        usual=True,
    ),
    fault(
        "switching the timer off counts nothing",
        "timer",
        "probe/timer/.*",
        "timer.rs",
        "if was_high && !is_high {",
        "if was_high && !is_high && value & ENABLED != 0 {",
    ),
    fault(
        "a write to DIV counts nothing",
        "timer",
        "probe/timer/.*",
        "timer.rs",
        "        if self.tac & ENABLED != 0 && self.counter & Self::bit(self.tac) != 0 {\n"
        "            self.count();\n        }\n        self.counter = 0;",
        "        self.counter = 0;",
    ),
    fault(
        "a write to TIMA holds while it is reloaded",
        "timer",
        "probe/timer/(tima|seen)",
        "timer.rs",
        "if self.reload != Reload::Writing {",
        "if self.reload != Reload::Writing || value != self.tima {",
    ),
    fault(
        "a released button requests the interrupt",
        "joypad",
        "probe/joypad/requested",
        "joypad.rs",
        "let pressed = buttons & !self.held != 0;",
        "let pressed = buttons != self.held;",
    ),
    fault(
        "a byte takes as long as on a console",
        "serial",
        "probe/serial/.*",
        "serial.rs",
        "BYTE_CLOCKS: u64 = 8 * 128",
        "BYTE_CLOCKS: u64 = 8 * 512",
    ),
    fault(
        "a byte is sent on the other side's clock",
        "serial",
        "probe/serial/sending",
        "serial.rs",
        "self.sending = value & TRANSFER != 0 && value & INTERNAL_CLOCK != 0;",
        "self.sending = value & TRANSFER != 0;",
    ),
    # The screen.
    fault(
        "the first object of memory wins, not the leftmost",
        "screen",
        "probe/line/pixels",
        "ppu/render.rs",
        "std::cmp::Reverse((self.oam[usize::from(index) * 4 + 1], index))",
        "std::cmp::Reverse((0u8, index))",
        usual=True,
    ),
    fault(
        "eleven objects on a line",
        "screen",
        "probe/(line/pixels|screen/.*)",
        "ppu/mod.rs",
        "LINE_OBJECTS: usize = 10",
        "LINE_OBJECTS: usize = 11",
    ),
    fault(
        "objects are always 8 lines high",
        "screen",
        "probe/(line/pixels|screen/.*)",
        "ppu/mod.rs",
        "if self.enabled(lcdc::TALL_OBJECTS) { 16 } else { 8 }",
        "if self.enabled(lcdc::TALL_OBJECTS) { 8 } else { 8 }",
    ),
    fault(
        "objects take the other palette",
        "screen",
        "probe/line/pixels",
        "ppu/render.rs",
        "PALETTE_1: u8 = 0x10",
        "PALETTE_1: u8 = 0x08",
    ),
    fault(
        "the window's line begins at 0 in the next frame",
        "screen",
        "probe/line/window_line",
        "ppu/render.rs",
        "self.window_line = -1;",
        "self.window_line = 0;",
    ),
    fault(
        "LYC is compared after the line has begun",
        "screen",
        "probe/screen/.*",
        "ppu/events.rs",
        "if self.first_frame { self.stat.set_coincidence(false) } else { self.compare() }",
        "self.stat.set_coincidence(false)",
    ),
    fault(
        "STAT's interrupt is the level of its line",
        "screen",
        "probe/screen/times",
        "ppu/stat.rs",
        "let rises = line && !self.line;",
        "let rises = line;",
    ),
    fault(
        "scrolling lengthens mode 3 by whole fours alone",
        "screen",
        "probe/screen/.*",
        "ppu/events.rs",
        "(self.scx & 7).div_ceil(4) * 4",
        "(self.scx & 7) / 4 * 4",
    ),
    fault(
        "a screen has 153 lines",
        "screen",
        "probe/screen/.*",
        "ppu/mod.rs",
        "LAST_LINE: u8 = 153",
        "LAST_LINE: u8 = 152",
    ),
    # DMA and sound.
    fault(
        "DMA copies 159 bytes",
        "dma",
        "probe/dma/.*",
        "dma.rs",
        "LENGTH: u8 = 0xA0",
        "LENGTH: u8 = 0x9F",
        usual=True,
    ),
    fault(
        "DMA from above the echo comes from the cartridge",
        "dma",
        "probe/dma/oam",
        "dma.rs",
        "if self.source >= 0xFE { self.source - 0x20 }",
        "if self.source >= 0xFE { self.source - 0x40 }",
    ),
    fault(
        "DMA begins two clocks late",
        "dma",
        "probe/dma/.*",
        "dma.rs",
        "START_CLOCKS: u64 = 12",
        "START_CLOCKS: u64 = 14",
    ),
    fault(
        "sound registers read as open",
        "sound",
        "probe/sound/byte",
        "apu/mod.rs",
        "        if !self.emulated {\n            return 0;",
        "        if !self.emulated {\n            return 0xFF;",
    ),
    # What puts them together.
    fault(
        "the boot ROM does not go away",
        "frame",
        "state/.*",
        "bus.rs",
        "!matches!(value, 0x01 | 0x11)",
        "value != 0x11",
        level=2,
    ),
    fault(
        "a write to a register does not end the slice",
        "frame",
        "state/.*",
        "bus.rs",
        "        self.cpu.bail();\n    }\n\n    fn store_timer",
        "    }\n\n    fn store_timer",
    ),
    fault(
        "code goes on in the bank that it has switched away",
        "frame",
        "state/.*",
        "bus.rs",
        "                self.forget_window();\n                self.cpu.bail();\n",
        "                self.cpu.bail();\n",
    ),
    fault(
        "HL carries half at exactly 0xFFF",
        "processor",
        "probe/arithmetic/f",
        "cpu/alu.rs",
        "(value & 0xFFF) > 0xFFF",
        "(value & 0xFFF) >= 0xFFF",
        lambda inputs: inputs["opcode"][0] in (0x09, 0x19, 0x29, 0x39),
    ),
    fault(
        "0xFF7F belongs to high memory",
        "frame",
        ".*",
        "bus.rs",
        "0xFF80..=0xFFFE if !self.dma.active => self.hram[usize::from(address & 0x7F)]",
        "0xFF7F..=0xFFFE if !self.dma.active => self.hram[usize::from(address & 0x7F) % 0x7F]",
        level=2,
    ),
    fault(
        "a loop that reads object memory goes on as a copy ends",
        "frame",
        "state/.*",
        "bus.rs",
        "        if (0x8000..0xFF00).contains(&address) {\n            self.cpu.idle.disturb();\n        }\n",
        "",
        level=2,
    ),
    fault(
        "the second byte of a push is written four clocks early",
        "frame",
        ".*",
        "cpu/execute.rs",
        "        self.cpu.clock += 4;\n        self.store8(self.cpu.sp.wrapping_sub(2), low);\n",
        "        self.store8(self.cpu.sp.wrapping_sub(2), low);\n        self.cpu.clock += 4;\n",
        level=2,
    ),
    fault(
        "without a controller bank 0 can be selected",
        "frame",
        "state/.*",
        "mapper.rs",
        "u16::from(value.max(1) & 1)",
        "u16::from(value & 1)",
        level=2,
    ),
    fault(
        "an interrupt that takes itself back goes on where it was",
        "frame",
        ".*",
        "cpu/run.rs",
        "            self.cpu.pc = 0;\n            return;\n",
        "            return;\n",
        level=2,
    ),
    fault(
        "a loop that counts its turns in memory waits all the same",
        "frame",
        ".*",
        "cpu/idle.rs",
        "self.calm &= !changes;",
        "self.calm |= !changes;",
        level=2,
    ),
    fault(
        "a loop sees the mode that STAT hides once for ever",
        "frame",
        ".*",
        "bus.rs",
        "                self.cpu.idle.disturb_if(self.ppu.mode_is_hidden());\n",
        "",
        level=2,
    ),
)
