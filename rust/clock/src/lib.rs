//! A wall clock that is wrong by `CLOCK_SHIFT_S` seconds, for a program that is started with this library preloaded.
//!
//! A crate is compiled a second time under it (`harness/candidate/crates/surroundings.py`), so that code which depends on
//! the day of its compilation shows. It takes the place of the C library's functions; a program that asks the kernel
//! itself is not misled.

use std::ffi::{c_int, c_long};
use std::sync::OnceLock;

#[cfg(target_arch = "x86_64")]
const CLOCK_GETTIME: c_long = 228;
#[cfg(target_arch = "aarch64")]
const CLOCK_GETTIME: c_long = 113;
const REALTIME: c_int = 0;
const REALTIME_COARSE: c_int = 5;

/// `struct timespec` of 64-bit Linux.
#[repr(C)]
#[derive(Default)]
pub struct TimeSpec {
    seconds: i64,
    nanoseconds: i64,
}

/// `struct timeval` of 64-bit Linux.
#[repr(C)]
pub struct TimeValue {
    seconds: i64,
    microseconds: i64,
}

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
}

fn shift() -> i64 {
    static SHIFT: OnceLock<i64> = OnceLock::new();
    *SHIFT.get_or_init(|| {
        let given = std::env::var("CLOCK_SHIFT_S").ok();
        given.and_then(|text| text.parse().ok()).unwrap_or(0)
    })
}

fn now() -> TimeSpec {
    let mut time = TimeSpec::default();
    // SAFETY: the kernel writes one `timespec` to a place that is one. With this clock the call cannot fail.
    unsafe { syscall(CLOCK_GETTIME, REALTIME, &raw mut time) };
    time.seconds += shift();
    time
}

/// The C library's `clock_gettime`, with wall clocks shifted.
///
/// # Safety
/// `time` is a valid place for a `timespec`, as in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut TimeSpec) -> c_int {
    // SAFETY: what the caller promises of `time` is what the kernel asks for.
    let status = unsafe { syscall(CLOCK_GETTIME, clock, time) };
    if status == 0 && matches!(clock, REALTIME | REALTIME_COARSE) {
        // SAFETY: the kernel has just written there.
        unsafe { (*time).seconds += shift() };
    }
    status as c_int
}

/// The C library's `gettimeofday`, shifted; no time zone is told.
///
/// # Safety
/// `time` is null or a valid place for a `timeval`, as in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(time: *mut TimeValue, _zone: *mut u8) -> c_int {
    let TimeSpec { seconds, nanoseconds } = now();
    if !time.is_null() {
        // SAFETY: the caller promises that a place which is not null is valid.
        unsafe { *time = TimeValue { seconds, microseconds: nanoseconds / 1000 } };
    }
    0
}

/// The C library's `time`, shifted.
///
/// # Safety
/// `place` is null or a valid place for a `time_t`, as in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn time(place: *mut i64) -> i64 {
    let TimeSpec { seconds, .. } = now();
    if !place.is_null() {
        // SAFETY: the caller promises that a place which is not null is valid.
        unsafe { *place = seconds };
    }
    seconds
}
