//! The small units: a register and some clocks.

use gameboy_core::{Parts, probe};
use lockstep_env::leaves;

use super::{HIGH_PAGE, started};

const P1: u16 = HIGH_PAGE;
const SB: u16 = HIGH_PAGE | 0x01;
const SC: u16 = HIGH_PAGE | 0x02;
const DIV: u16 = HIGH_PAGE | 0x04;
const TIMA: u16 = HIGH_PAGE | 0x05;
const SOUND: u16 = HIGH_PAGE | 0x10;

leaves! {
    pub struct Timer {
        counter: u16, tima: u8, tma: u8, tac: u8, reload_phase: u8, register: u8, value: u8, clocks: i64,
    }
}
leaves! {
    pub struct Counted {
        counter: u16, tima: u8, tma: u8, tac: u8, reload: u8, reload_left: u8, until_event: i64, seen: u8, requested: u8,
    }
}
leaves! { pub struct Buttons { before: u8, select: u8, held: u8 } }
leaves! { pub struct Pressed { stale: u8, p1: u8, requested: u8 } }
leaves! { pub struct Serial { data: u8, control: u8, clocks: i64 } }
leaves! { pub struct Sent { data: u8, control: u8, sending: bool, requested: u8 } }
leaves! { pub struct Note { register: u8, value: u8 } }
leaves! { pub struct Heard { byte: u8 } }

/// Registers are counted from 1; 0 writes none. Phases 1 to 4 are the clocks before a reload, 5 to 8 those after it.
pub fn timer(given: Timer) -> Counted {
    let (reload, reload_left) = match given.reload_phase {
        0 => (0, 0),
        phase @ 1..=4 => (1, phase),
        phase => (2, phase - 4),
    };
    let Timer { counter, tima, tma, tac, .. } = given;
    let mut console = started(&[], |parts| *parts = Parts { counter, tima, tma, tac, reload, reload_left, ..*parts });
    if given.register != 0 {
        console.write(DIV + u16::from(given.register) - 1, given.value);
    }
    probe::wait(&mut console, given.clocks as u64);
    let seen = console.read(TIMA);
    let Parts { counter, tima, tma, tac, reload, reload_left, timer_until_event, requested, .. } = console.parts();
    Counted { counter, tima, tma, tac, reload, reload_left, until_event: timer_until_event, seen, requested }
}

pub fn joypad(given: Buttons) -> Pressed {
    let mut console = started(&[], |parts| parts.held = given.before);
    console.write(P1, given.select);
    probe::hold(&mut console, given.held);
    let stale = console.read(P1);
    console.write(P1, given.select);
    Pressed { stale, p1: console.read(P1), requested: console.parts().requested }
}

pub fn serial(given: Serial) -> Sent {
    let mut console = started(&[], |_| {});
    console.write(SB, given.data);
    console.write(SC, given.control);
    probe::wait(&mut console, given.clocks as u64);
    let (data, control) = (console.read(SB), console.read(SC));
    let parts = console.parts();
    Sent { data, control, sending: parts.sending, requested: parts.requested }
}

pub fn sound(given: Note) -> Heard {
    let mut console = started(&[], |_| {});
    let register = SOUND + u16::from(given.register);
    console.write(register, given.value);
    Heard { byte: console.read(register) }
}
