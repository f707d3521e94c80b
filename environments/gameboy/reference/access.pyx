# cython: language_level=3
"""PyBoy's own attributes, read and written: the state between two frames, and single parts of the console for probes.

PyBoy is compiled, and its classes hide most of what decides the future. Their declarations (.pxd) come with the package;
`build.py` compiles this module against them. Nothing is computed here that PyBoy computes: values are copied, and what
is left out of the state, because between two frames it always follows from the rest, is looked at in `_demand_rest`.
"""

import time

import cython
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from pyboy.core.cartridge.base_mbc cimport BaseMBC
from pyboy.core.cartridge.mbc1 cimport MBC1
from pyboy.core.cartridge.rtc cimport RTC
from pyboy.core.cpu cimport CPU
from pyboy.core.lcd cimport LCD
from pyboy.core.mb cimport Motherboard
from pyboy.core.serial cimport Serial
from pyboy.core.timer cimport Timer
from pyboy.pyboy cimport PyBoy
from pyboy.utils import WindowEvent

cdef int FRAME = 70224
cdef int ROWS = 144, COLUMNS = 160
cdef int RAM_BANK = 0x2000
cdef int RAM_SHOWN = 4 * RAM_BANK
cdef int IO_P1 = 0


cdef class Access:
    """The inside of one console.

    Args:
        console: the emulator, made with `cgb=False` and `sound_emulated=False`.
    """

    cdef Motherboard mb
    cdef CPU cpu
    cdef LCD lcd
    cdef Timer timer
    cdef Serial serial
    cdef BaseMBC cartridge
    cdef RTC rtc

    def __init__(self, PyBoy console):
        self.mb = console.mb
        self.cpu, self.lcd, self.timer = self.mb.cpu, self.mb.lcd, self.mb.timer
        self.serial, self.cartridge, self.rtc = self.mb.serial, self.mb.cartridge, self.mb.cartridge.rtc
        if self.mb.cgb or self.mb.sound.emulate or self.mb.sgb.enabled:
            raise ValueError("the console has colour, sound or a Super Game Boy: make it with cgb=False, sound_emulated=False")

    # --- the state between two frames ---------------------------------------------------------------------------------

    def read(self, bint resting=True):
        """Every field by name, without `state/`; arrays as bytes.

        Args:
            resting: whether the console has to be between two frames.

        Raises:
            RuntimeError: it is not, as the state supposes it.
        """
        if resting:
            self._demand_rest()
        cdef CPU cpu = self.cpu
        cdef LCD lcd = self.lcd
        cdef BaseMBC cart = self.cartridge
        fields = {
            "booting": bool(self.mb.bootrom_enabled),
            "cpu/a": cpu.A & 0xFF,
            "cpu/f": cpu.F & 0xFF,
            "cpu/b": cpu.B & 0xFF,
            "cpu/c": cpu.C & 0xFF,
            "cpu/d": cpu.D & 0xFF,
            "cpu/e": cpu.E & 0xFF,
            "cpu/hl": cpu.HL & 0xFFFF,
            "cpu/sp": cpu.SP & 0xFFFF,
            "cpu/pc": cpu.PC & 0xFFFF,
            "cpu/clock": cpu.cycles,
            "cpu/halted": bool(cpu.halted),
            "cpu/halted_after_ei": bool(cpu.halted_during_ei),
            "cpu/master": bool(cpu.interrupt_master_enable),
            "cpu/master_delay": cpu.interrupt_enable_delay,
            "cpu/enabled": cpu.interrupts_enabled_register,
            "cpu/requested": cpu.interrupts_flag_register,
            "timer/counter": self.timer.DIV_counter,
            "timer/tima": self.timer.TIMA,
            "timer/tma": self.timer.TMA,
            "timer/tac": self.timer.TAC,
            "timer/reload": self.timer.tima_reload_state,
            "timer/reload_left": self.timer.TIMA_counter,
            "timer/until_event": self.timer._cycles_to_interrupt,
            "serial/control": self.serial.SC,
            "serial/sending": bool(self.serial.transfer_enabled),
            "serial/done_at": self.serial.clock_target,
            "joypad/held": (self.mb.interaction.directional ^ 0xF) | (self.mb.interaction.standard ^ 0xF) << 4,
            "joypad/p1": self.mb.ram.io_ports[IO_P1],
            "dma/active": bool(self.mb.oam_dma_active),
            "dma/source": self.mb.oam_dma_source,
            "dma/done": self.mb.oam_dma_index,
            "dma/start": self.mb.oam_dma_start_cycle,
            "lcd/lcdc": lcd._LCDC.value,
            "lcd/stat": lcd._STAT.value,
            "lcd/line_high": bool(lcd._STAT._irq_line),
            "lcd/lyc": lcd.LYC,
            "lcd/scy": lcd.SCY,
            "lcd/scx": lcd.SCX,
            "lcd/wy": lcd.WY,
            "lcd/wx": lcd.WX,
            "lcd/bgp": lcd.BGP.value,
            "lcd/obp0": lcd.OBP0.value,
            "lcd/obp1": lcd.OBP1.value,
            "lcd/clock": lcd.clock,
            "lcd/target": lcd.clock_target,
            "lcd/first_frame": bool(lcd.first_frame),
            "lcd/mode_hidden": bool(lcd.stat_mode_override),
            "lcd/lyc_changed_while_off": bool(lcd.lyc_changed_while_disabled),
            "lcd/window_line": lcd.renderer.ly_window,
            "lcd/window_reached": bool(lcd.renderer.wy_activated_frame),
            "lcd/oam": (<char *>lcd.OAM)[:0xA0],
            "lcd/vram": (<char *>lcd.VRAM0)[:0x2000],
            "memory/wram": (<char *>&self.mb.ram.internal_ram0[0])[:0x2000],
            "memory/hram": (<char *>self.mb.ram.internal_ram1)[:0x7F],
            "memory/unusable": (<char *>self.mb.ram.non_io_internal_ram0)[:0x60],
            "cartridge/rom_bank": cart.rombank_selected,
            "cartridge/low_bank": cart.rombank_selected_low,
            "cartridge/ram_bank": cart.rambank_selected,
            "cartridge/ram_enabled": bool(cart.rambank_enabled),
            "cartridge/mode": cart.memorymodel,
            "cartridge/lower": 1,
            "cartridge/upper": 0,
            "cartridge/ram": (<char *>&cart.rambanks[0, 0])[:RAM_SHOWN],
        }
        if isinstance(cart, MBC1):
            fields["cartridge/lower"] = (<MBC1>cart).bank_select_register1
            fields["cartridge/upper"] = (<MBC1>cart).bank_select_register2
        fields.update(self._read_clock())
        return fields

    def write(self, fields):
        """Bring the console to where `read` gave these fields; it is then between two frames."""
        cdef CPU cpu = self.cpu
        cdef LCD lcd = self.lcd
        cdef BaseMBC cart = self.cartridge
        cdef int64_t now = fields["cpu/clock"]
        self.mb.bootrom_enabled = fields["booting"]
        cpu.A, cpu.F, cpu.B, cpu.C = fields["cpu/a"], fields["cpu/f"], fields["cpu/b"], fields["cpu/c"]
        cpu.D, cpu.E, cpu.HL = fields["cpu/d"], fields["cpu/e"], fields["cpu/hl"]
        cpu.SP, cpu.PC, cpu.cycles = fields["cpu/sp"], fields["cpu/pc"], now
        cpu.halted, cpu.halted_during_ei = fields["cpu/halted"], fields["cpu/halted_after_ei"]
        cpu.interrupt_master_enable = fields["cpu/master"]
        cpu.interrupt_enable_delay = fields["cpu/master_delay"]
        cpu.interrupts_enabled_register = fields["cpu/enabled"]
        cpu.interrupts_flag_register = fields["cpu/requested"]
        cpu.interrupt_queued, cpu.bail, cpu.memory_access_offset = False, False, 0

        self.timer.DIV_counter = fields["timer/counter"]
        self.timer.DIV = self.timer.DIV_counter >> 8
        self.timer.TIMA, self.timer.TMA, self.timer.TAC = fields["timer/tima"], fields["timer/tma"], fields["timer/tac"]
        self.timer.tima_reload_state = fields["timer/reload"]
        self.timer.TIMA_counter = fields["timer/reload_left"]
        self.timer._cycles_to_interrupt = fields["timer/until_event"]
        self.timer.last_cycles = now

        self.serial.SC = fields["serial/control"]
        self.serial.internal_clock = self.serial.SC & 1
        self.serial.transfer_enabled = fields["serial/sending"]
        self.serial.clock_target = fields["serial/done_at"]
        self.serial.clock = self.serial.last_cycles = now
        self.serial._cycles_to_interrupt = <int64_t>self.serial.clock_target - now

        self.mb.sound.last_cycles = now
        self.mb.interaction.directional = (fields["joypad/held"] & 0xF) ^ 0xF
        self.mb.interaction.standard = (fields["joypad/held"] >> 4) ^ 0xF
        self.mb.ram.io_ports[IO_P1] = fields["joypad/p1"]

        self.mb.oam_dma_active, self.mb.oam_dma_reading = fields["dma/active"], False
        self.mb.oam_dma_source, self.mb.oam_dma_index = fields["dma/source"], fields["dma/done"]
        self.mb.oam_dma_start_cycle = fields["dma/start"]

        lcd._LCDC.set(fields["lcd/lcdc"])
        lcd._STAT.value = fields["lcd/stat"]
        lcd._STAT._mode = lcd._STAT.value & 0b11
        lcd._STAT._irq_line = fields["lcd/line_high"]
        lcd.LY, lcd.LYC = 0, fields["lcd/lyc"]
        lcd.SCY, lcd.SCX, lcd.WY, lcd.WX = fields["lcd/scy"], fields["lcd/scx"], fields["lcd/wy"], fields["lcd/wx"]
        lcd.BGP.set(fields["lcd/bgp"])
        lcd.OBP0.set(fields["lcd/obp0"])
        lcd.OBP1.set(fields["lcd/obp1"])
        lcd.clock, lcd.clock_target, lcd.last_cycles = fields["lcd/clock"], fields["lcd/target"], now
        lcd._cycles_to_interrupt = <int64_t>lcd.clock_target - <int64_t>lcd.clock
        lcd._cycles_to_frame = FRAME - <int64_t>lcd.clock
        lcd.next_stat_mode, lcd.stat_transition, lcd.mode3_adjustment, lcd.reset = 3, 0, 0, False
        lcd.first_frame = fields["lcd/first_frame"]
        lcd.stat_mode_override = fields["lcd/mode_hidden"]
        lcd.lyc_changed_while_disabled = fields["lcd/lyc_changed_while_off"]
        lcd.renderer.ly_window = fields["lcd/window_line"]
        lcd.renderer.wy_activated_frame = fields["lcd/window_reached"]
        self._copy(<uint8_t *>lcd.OAM, fields["lcd/oam"], 0xA0)
        self._copy(<uint8_t *>lcd.VRAM0, fields["lcd/vram"], 0x2000)
        lcd.renderer.clear_cache()

        self._copy(&self.mb.ram.internal_ram0[0], fields["memory/wram"], 0x2000)
        self._copy(<uint8_t *>self.mb.ram.internal_ram1, fields["memory/hram"], 0x7F)
        self._copy(<uint8_t *>self.mb.ram.non_io_internal_ram0, fields["memory/unusable"], 0x60)

        cart.rombank_selected, cart.rombank_selected_low = fields["cartridge/rom_bank"], fields["cartridge/low_bank"]
        cart.rambank_selected, cart.rambank_enabled = fields["cartridge/ram_bank"], fields["cartridge/ram_enabled"]
        cart.memorymodel = fields["cartridge/mode"]
        if isinstance(cart, MBC1):
            (<MBC1>cart).bank_select_register1 = fields["cartridge/lower"]
            (<MBC1>cart).bank_select_register2 = fields["cartridge/upper"]
        # PyBoy has sixteen banks behind every cartridge.
        memset(&cart.rambanks[0, 0], 0, 16 * RAM_BANK)
        self._copy(&cart.rambanks[0, 0], fields["cartridge/ram"], RAM_SHOWN)
        self._write_clock(fields)

    cdef _read_clock(self):
        """MBC3's clock by name; zeros where the cartridge has none."""
        cdef RTC rtc = self.rtc
        if rtc is None:
            return dict(NO_CLOCK)
        return {
            "clock/seconds": rtc.seconds,
            "clock/minutes": rtc.minutes,
            "clock/hours": rtc.hours,
            "clock/days": rtc.day_high << 8 | rtc.day_low,
            "clock/day_carry": bool(rtc.day_carry),
            "clock/halted": bool(rtc.halt),
            "clock/latched": bool(rtc.latch_enabled),
            "clock/latched_seconds": rtc.sec_latch,
            "clock/latched_minutes": rtc.min_latch,
            "clock/latched_hours": rtc.hour_latch,
            "clock/latched_days": rtc.day_latch_high << 8 | rtc.day_latch_low,
            "clock/fraction": rtc.rtc_cycles,
            "clock/seen": rtc.last_cycles,
        }

    cdef _write_clock(self, fields):
        """Set MBC3's clock where there is one. The host's time, which PyBoy looks at besides, is that of now."""
        cdef RTC rtc = self.rtc
        if rtc is None:
            return
        rtc.seconds, rtc.minutes, rtc.hours = fields["clock/seconds"], fields["clock/minutes"], fields["clock/hours"]
        rtc.day_low, rtc.day_high = fields["clock/days"] & 0xFF, fields["clock/days"] >> 8
        rtc.day_carry, rtc.halt = fields["clock/day_carry"], fields["clock/halted"]
        rtc.latch_enabled = fields["clock/latched"]
        rtc.sec_latch, rtc.min_latch = fields["clock/latched_seconds"], fields["clock/latched_minutes"]
        rtc.hour_latch = fields["clock/latched_hours"]
        rtc.day_latch_low, rtc.day_latch_high = fields["clock/latched_days"] & 0xFF, fields["clock/latched_days"] >> 8
        rtc.rtc_cycles, rtc.last_cycles = fields["clock/fraction"], fields["clock/seen"]
        rtc.timezero = time.time()

    @cython.boundscheck(False)
    @cython.wraparound(False)
    def screen(self):
        """The picture as shades, 0 (white) to 3 (black), a byte a pixel, and four pixels to a byte, the left one uppermost.

        Before the first picture it is black.
        """
        shades, packed = bytearray(ROWS * COLUMNS), bytearray(ROWS * COLUMNS // 4)
        cdef uint8_t[::1] out = shades, fours = packed
        cdef uint32_t *colours = &self.lcd.renderer._screenbuffer[0, 0]
        cdef int at
        cdef uint8_t shade
        for at in range(ROWS * COLUMNS):
            # PyBoy's greys are 255, 153, 85 and 0 in each channel.
            shade = 3 - (colours[at] >> 6 & 3)
            out[at] = shade
            fours[at >> 2] = fours[at >> 2] << 2 | shade
        return shades, packed

    def write_screen(self, const uint8_t[:] packed):
        """Put a picture there, four pixels to a byte."""
        cdef uint32_t *colours = &self.lcd.renderer._screenbuffer[0, 0]
        cdef int at
        if len(packed) != ROWS * COLUMNS // 4:
            raise ValueError("a screen has {} bytes, not {}".format(ROWS * COLUMNS // 4, len(packed)))
        for at in range(ROWS * COLUMNS):
            colours[at] = self.lcd.BGP.palette_mem_rgb[packed[at >> 2] >> (6 - 2 * (at & 3)) & 3]

    @property
    def rom_banks(self):
        return self.cartridge.external_rom_count

    @property
    def has_clock(self):
        return self.rtc is not None

    # --- single parts, for probes -------------------------------------------------------------------------------------

    def run_processor(self, int64_t clocks):
        """One slice of the processor: an interrupt if one is due, then instructions until so many clocks are over."""
        self.cpu.tick(clocks)

    def wait(self, int64_t clocks):
        """Let time pass; the units notice when they are looked at."""
        self.cpu.cycles += clocks

    def hold(self, int held):
        """Press and release buttons until those of the mask are held."""
        cdef int before = (self.mb.interaction.directional ^ 0xF) | (self.mb.interaction.standard ^ 0xF) << 4
        for bit, (press, release) in enumerate(BUTTON_EVENTS):
            if (before ^ held) >> bit & 1:
                self.mb.buttonevent(WindowEvent(press if held >> bit & 1 else release))

    def copy_objects(self):
        """What a running DMA has copied by now."""
        self.mb.sync_oam_dma(0)

    def run_screen(self, int64_t clocks):
        """The screen's unit from event to event, as whole frames run it; the first look is after 4 clocks.

        Returns how often STAT's interrupt was requested.
        """
        cdef int64_t step = 4
        cdef int requested, count = 0
        while clocks > 0:
            step = min(step, clocks)
            self.cpu.cycles += step
            requested = self.lcd.tick(self.cpu.cycles)
            self.cpu.set_interruptflag(requested)
            count += requested >> 1 & 1
            clocks -= step
            step = max(1, self.lcd._cycles_to_interrupt)
        return count

    def run_clock(self, uint64_t clocks):
        """MBC3's clock."""
        self.rtc.tick(self.rtc.last_cycles + clocks)

    def set_clock(self, uint8_t register, uint8_t value):
        """Write one of its registers, 0x08 to 0x0C."""
        self.rtc.setregister(register, value)

    def command_clock(self, uint8_t value):
        """Write what latches it."""
        self.rtc.writecommand(value)

    def read_clock(self, uint8_t register):
        """Read one of its registers, as it was latched."""
        return self.rtc.getregister(register)

    def draw_line(self, int y):
        """Draw one line of the screen and return its shades."""
        self.lcd.disable_renderer = False
        self.lcd.renderer.scanline(y)
        self.lcd.renderer.scanline_sprites(
            y, self.lcd.renderer._screenbuffer, self.lcd.renderer._screenbuffer_attributes, False
        )
        return self.screen()[0][y * COLUMNS : (y + 1) * COLUMNS]

    @property
    def line(self):
        return self.lcd.LY

    cdef _copy(self, uint8_t *target, const uint8_t[:] content, int size):
        if len(content) != size:
            raise ValueError("{} bytes were expected, not {}".format(size, len(content)))
        memcpy(target, &content[0], size)

    cdef _demand_rest(self):
        cdef LCD lcd = self.lcd
        cdef uint64_t now = self.cpu.cycles
        wrong = []
        if not (lcd.last_cycles == self.timer.last_cycles == self.serial.last_cycles == self.serial.clock == now):
            wrong.append("a unit has not run as far as the processor")
        if lcd.LY != 0 or lcd.reset or (lcd._LCDC.lcd_enable and (lcd.next_stat_mode != 3 or lcd.stat_transition != 0)):
            wrong.append("the screen is not at its first line")
        if lcd._STAT._mode != lcd._STAT.value & 0b11 or self.timer.DIV != self.timer.DIV_counter >> 8:
            wrong.append("a register and what it is computed from disagree")
        if self.serial.SB != 0xFF or bool(self.serial.internal_clock) != bool(self.serial.SC & 1):
            wrong.append("the serial port is connected")
        if self.cpu.interrupt_queued or self.cpu.stopped or self.cpu.memory_access_offset or self.mb.oam_dma_reading:
            wrong.append("an instruction is under way")
        if self._has_hidden_ram():
            wrong.append("the cartridge keeps something in RAM beyond what the state shows")
        if now and (
            lcd._cycles_to_interrupt != <int64_t>lcd.clock_target - <int64_t>lcd.clock
            or lcd._cycles_to_frame != FRAME - <int64_t>lcd.clock
            or self.serial._cycles_to_interrupt != <int64_t>self.serial.clock_target - <int64_t>self.serial.clock
        ):
            wrong.append("the time of the next event does not follow from the clocks")
        if wrong:
            raise RuntimeError("at clock {}: {}".format(now, "; ".join(wrong)))


    @cython.boundscheck(False)
    @cython.wraparound(False)
    cdef bint _has_hidden_ram(self):
        """Whether a bank that the state does not show holds anything."""
        cdef int bank, at
        for bank in range(RAM_SHOWN // RAM_BANK, self.cartridge.external_ram_count):
            for at in range(RAM_BANK):
                if self.cartridge.rambanks[bank, at]:
                    return True
        return False


NO_CLOCK = {
    "clock/" + name: 0
    for name in ("seconds", "minutes", "hours", "days", "latched_seconds", "latched_minutes", "latched_hours", "latched_days",
                 "fraction", "seen")
}
NO_CLOCK.update({"clock/" + name: False for name in ("day_carry", "halted", "latched")})

BUTTON_EVENTS = (
    (WindowEvent.PRESS_ARROW_RIGHT, WindowEvent.RELEASE_ARROW_RIGHT),
    (WindowEvent.PRESS_ARROW_LEFT, WindowEvent.RELEASE_ARROW_LEFT),
    (WindowEvent.PRESS_ARROW_UP, WindowEvent.RELEASE_ARROW_UP),
    (WindowEvent.PRESS_ARROW_DOWN, WindowEvent.RELEASE_ARROW_DOWN),
    (WindowEvent.PRESS_BUTTON_A, WindowEvent.RELEASE_BUTTON_A),
    (WindowEvent.PRESS_BUTTON_B, WindowEvent.RELEASE_BUTTON_B),
    (WindowEvent.PRESS_BUTTON_SELECT, WindowEvent.RELEASE_BUTTON_SELECT),
    (WindowEvent.PRESS_BUTTON_START, WindowEvent.RELEASE_BUTTON_START),
)
