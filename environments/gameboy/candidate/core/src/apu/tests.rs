use super::*;

fn powered() -> Apu {
    let mut apu = Apu::new(true, 48_000);
    apu.write(NR52, POWER, 0, 0);
    apu
}

#[test]
fn registers_read_back_with_their_unused_bits_set() {
    let mut apu = powered();
    for register in 0..0x20 {
        if register != NR52 {
            apu.write(register, 0, 0, 0);
        }
    }
    let read: Vec<u8> = (0..0x14).map(|r| apu.read(r)).collect();
    assert_eq!(
        read,
        [
            0x80, 0x3F, 0x00, 0xFF, 0xBF, 0xFF, 0x3F, 0x00, 0xFF, 0xBF, 0x7F, 0xFF, 0x9F, 0xFF, 0xBF, 0xFF, 0xFF, 0x00,
            0x00, 0xBF
        ]
    );
    assert_eq!((apu.read(NR50), apu.read(NR52), apu.read(0x17)), (0, 0xF0, 0xFF));
}

#[test]
fn nothing_but_lengths_and_wave_ram_is_written_with_the_power_off() {
    let mut apu = Apu::new(true, 48_000);
    apu.write(2, 0xF3, 0, 0);
    apu.write(NR51, 0xFF, 0, 0);
    apu.write(0x20, 0x12, 0, 0);
    apu.write(1, 0xC1, 0, 0);
    assert_eq!((apu.read(2), apu.read(NR51), apu.read(0x20)), (0, 0, 0x12));
    assert_eq!(apu.read(1), 0x3F, "the duty is not written");
    assert_eq!(apu.sweep.length.left, 63);
}

#[test]
fn a_length_switches_its_channel_off() {
    let mut apu = powered();
    apu.write(2, 0xF0, 0, 0);
    apu.write(1, 0x3E, 0, 0);
    apu.write(4, 0xC0, 0, 0);
    assert_eq!(apu.read(NR52), 0xF1);
    apu.tick(STEP_CLOCKS);
    assert_eq!(apu.read(NR52), 0xF1);
    apu.tick(3 * STEP_CLOCKS);
    assert_eq!(apu.read(NR52), 0xF0);
}

#[test]
fn a_channel_without_a_dac_does_not_start() {
    let mut apu = powered();
    for (envelope, control) in [(2, 4), (7, 9), (0x11, 0x13)] {
        apu.write(envelope, 0x07, 0, 0);
        apu.write(control, 0x80, 0, 0);
    }
    apu.write(0x0E, 0x80, 0, 0);
    assert_eq!(apu.read(NR52), 0xF0);
}

#[test]
fn an_overflowing_sweep_stops_channel_one() {
    let mut apu = powered();
    apu.write(0, 0x11, 0, 0);
    apu.write(2, 0xF0, 0, 0);
    apu.write(3, 0xFF, 0, 0);
    apu.write(4, 0x87, 0, 0);
    assert_eq!(apu.read(NR52), 0xF0, "0x7FF + 0x3FF is over at the trigger");
    apu.write(3, 0x00, 0, 0);
    apu.write(4, 0x84, 0, 0);
    assert_eq!(apu.read(NR52), 0xF1);
    apu.tick(8 * STEP_CLOCKS);
    assert_eq!(apu.read(NR52), 0xF0, "0x400, 0x600, 0x900");
}

#[test]
fn power_off_clears_all_but_the_lengths() {
    let mut apu = powered();
    apu.write(NR50, 0x77, 0, 0);
    apu.write(0x0B, 0x10, 0, 0);
    apu.write(NR52, 0, 0, 0);
    assert_eq!((apu.read(NR52), apu.read(NR50)), (0x70, 0));
    assert_eq!(apu.wave.length.left, 0xF0);
}

#[test]
fn a_div_write_with_its_bit_high_clocks_the_sequencer() {
    let mut apu = powered();
    apu.div_reset(0x0F);
    assert_eq!(apu.step, 0);
    apu.div_reset(0x10);
    assert_eq!(apu.step, 1);
}

#[test]
fn without_emulation_every_register_reads_zero() {
    let mut apu = Apu::new(false, 48_000);
    apu.write(NR52, 0xFF, 0, 0);
    apu.tick(1 << 20);
    assert_eq!((apu.read(NR52), apu.read(0x20), apu.until_event), (0, 0, NEVER));
}
