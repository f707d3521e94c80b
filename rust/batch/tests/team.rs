//! Work is stopped when asked, whoever does it; and nothing takes more than there is.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use lockstep_batch::{MOST_THREADS, Stop, Team, TeamError, many};

fn team(threads: usize) -> Team {
    Team::new(threads, "test").expect("threads")
}

/// Work that ends only when it is told to.
fn endless(stop: &Stop<'_>) {
    while !stop.now() {
        std::hint::spin_loop();
    }
}

#[test]
fn work_ends_when_whoever_asked_says_so() {
    for alone in [true, false] {
        let asked = AtomicUsize::new(0);
        let done = team(2).work(alone, &|| asked.fetch_add(1, Relaxed) == 2, endless);
        assert_eq!((done, asked.into_inner()), (Err(TeamError::Stopped), 3));
    }
}

#[test]
fn work_that_nobody_stops_is_done() {
    for alone in [true, false] {
        let parts = AtomicUsize::new(0);
        let done = team(2).work(alone, &|| false, |stop| {
            for _ in 0..1000 {
                assert!(!stop.now());
                parts.fetch_add(1, Relaxed);
            }
        });
        assert_eq!((done, parts.into_inner()), (Ok(()), 1000));
    }
}

#[test]
fn a_panic_reaches_whoever_asked_and_the_threads_go_on() {
    let mut team = team(2);
    for alone in [true, false] {
        let panicked = catch_unwind(AssertUnwindSafe(|| team.work(alone, &|| false, |_| panic!("planted"))));
        assert_eq!(panicked.expect_err("a panic").downcast_ref::<&str>(), Some(&"planted"));
    }
    assert_eq!(team.whole(), Err(TeamError::Torn));
    assert_eq!(team.work(false, &|| false, |_| ()), Ok(()));
    assert_eq!(team.whole(), Ok(()));
}

#[test]
fn what_was_torn_stays_so_until_all_of_it_is_done_again() {
    let mut team = team(2);
    assert!(catch_unwind(AssertUnwindSafe(|| team.touch(|| panic!("planted")))).is_err());
    team.touch(|| ());
    assert_eq!(team.whole(), Err(TeamError::Torn));
    assert_eq!(team.work(true, &|| false, |_| ()), Ok(()));
    team.touch(|| ());
    assert_eq!(team.whole(), Ok(()));
}

#[test]
fn more_threads_than_help_are_left_out() {
    assert_eq!(team(3).threads(), 3);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    assert_eq!(team(100_000).threads(), processors.max(MOST_THREADS));
}

#[test]
fn instances_for_which_there_is_no_room_are_refused_in_bytes() {
    assert_eq!(many(&7u8, 5000, 0).map(|all| all.len()), Ok(5000));
    let none = many(&[0u64; 512], 1 << 40, 0).expect_err("four pebibytes");
    assert!(none.to_string().starts_with("1099511627776 environments would take 4503599627370496 bytes of memory"));
    assert!(many(&7u8, usize::MAX, usize::MAX).is_err());
    // An instance that is small itself, and whose memory lies elsewhere.
    assert!(many(&vec![1u8; 1 << 16], 1 << 30, 0).is_err());
    assert!(many(&7u8, 1000, 1 << 50).is_err(), "its rows have no room");
}
