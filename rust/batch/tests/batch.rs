//! What a batch promises, on an environment that is small enough to be worked out by hand.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;

use lockstep_batch::{Autoreset, Batch, BatchError, TeamError, seed_of};
use lockstep_env::{Columns, Leaves, Numbers, Options};

use common::{ASKED, Arrays, Bet, Dice, PANICS, SLOW, Sum, bets, ints};

type One = Dice<1>;

fn batch(num_envs: usize, mode: Autoreset, threads: usize) -> (Batch<One>, Arrays) {
    let mut batch = Batch::<One>::new(&Options::default(), num_envs, mode, threads).expect("a batch");
    let mut arrays = Arrays::new(num_envs);
    let seeds: Vec<u64> = (0..num_envs).map(|env_index| seed_of(7, env_index)).collect();
    batch.reset(&seeds, arrays.seen()).expect("a reset");
    (batch, arrays)
}

/// All that 30 steps of 37 sub-environments lead to.
fn played(mode: Autoreset, threads: usize) -> Vec<(Vec<i32>, Vec<f32>, Vec<bool>)> {
    let (mut batch, mut arrays) = batch(37, mode, threads);
    let action = Numbers::Int64((0..37).collect());
    (0..30)
        .map(|_| {
            batch.step(bets(&action, 37), arrays.outputs()).expect("a step");
            (arrays.totals().to_vec(), arrays.reward.clone(), arrays.terminated.clone())
        })
        .collect()
}

#[test]
fn what_comes_of_a_step_does_not_depend_on_the_threads() {
    for mode in [Autoreset::NextStep, Autoreset::SameStep, Autoreset::Disabled] {
        assert_eq!(played(mode, 1), played(mode, 3));
    }
}

#[test]
fn a_sub_env_plays_as_it_would_alone() {
    let (mut batch, mut arrays) = batch(5, Autoreset::SameStep, 2);
    let mut alone = Batch::<One>::new(&Options::default(), 1, Autoreset::SameStep, 1).expect("a batch");
    let mut row = Arrays::new(1);
    alone.reset(&[seed_of(7, 3)], row.seen()).expect("a reset");
    for _ in 0..20 {
        assert_eq!(row.totals()[0], arrays.totals()[3]);
        batch.step(bets(&Numbers::Int64(vec![1; 5]), 5), arrays.outputs()).expect("a step");
        alone.step(bets(&Numbers::Int64(vec![1]), 1), row.outputs()).expect("a step");
        assert_eq!((row.reward[0], row.terminated[0]), (arrays.reward[3], arrays.terminated[3]));
    }
}

#[test]
fn in_the_same_step_the_end_is_kept_and_the_next_begin_is_seen() {
    let (mut batch, mut arrays) = batch(1, Autoreset::SameStep, 1);
    let action = Numbers::Int64(vec![1]);
    let mut before = arrays.totals()[0];
    loop {
        batch.step(bets(&action, 1), arrays.outputs()).expect("a step");
        let after = before + arrays.reward[0] as i32;
        if arrays.terminated[0] {
            assert_eq!(ints(&arrays.last[0])[0], after);
            assert!(after >= 12 && (1..=6).contains(&arrays.totals()[0]));
            return;
        }
        assert_eq!(arrays.totals()[0], after);
        assert_eq!(ints(&arrays.last[0])[0], 0, "nothing is written where nothing ended");
        before = after;
    }
}

#[test]
fn in_the_next_step_the_action_is_not_taken() {
    let (mut batch, mut arrays) = batch(1, Autoreset::NextStep, 1);
    let action = Numbers::Int64(vec![1]);
    while !arrays.terminated[0] || arrays.truncated[0] {
        batch.step(bets(&action, 1), arrays.outputs()).expect("a step");
    }
    assert!(arrays.totals()[0] >= 12, "the end is seen");
    batch.step(bets(&action, 1), arrays.outputs()).expect("a step");
    assert_eq!((arrays.reward[0], arrays.terminated[0]), (0.0, false));
    assert!((1..=6).contains(&arrays.totals()[0]));
}

#[test]
fn without_auto_reset_a_sub_env_rests_until_it_is_reset() {
    let (mut batch, mut arrays) = batch(2, Autoreset::Disabled, 1);
    let action = Numbers::Int64(vec![1; 2]);
    for _ in 0..12 {
        batch.step(bets(&action, 2), arrays.outputs()).expect("a step");
    }
    let resting = arrays.totals().to_vec();
    batch.step(bets(&action, 2), arrays.outputs()).expect("a step");
    assert_eq!((arrays.totals(), &arrays.reward[..]), (&resting[..], &[0.0, 0.0][..]));
    batch.reset_env(1, Some(5), &mut arrays.seen()).expect("a reset");
    assert!(arrays.totals()[0] == resting[0] && arrays.totals()[1] <= 6);
}

#[test]
fn a_saved_sub_env_goes_on_as_it_would_have_its_chance_included() {
    let (mut batch, mut arrays) = batch(2, Autoreset::SameStep, 1);
    let action = Numbers::Int64(vec![1; 2]);
    let saved = batch.save(0).expect("a sub-environment");
    let first: Vec<i32> = (0..9)
        .map(|_| {
            batch.step(bets(&action, 2), arrays.outputs()).expect("a step");
            arrays.totals()[0]
        })
        .collect();
    batch.load(1, &saved, &mut arrays.seen()).expect("a sub-environment");
    let again: Vec<i32> = (0..9)
        .map(|_| {
            batch.step(bets(&action, 2), arrays.outputs()).expect("a step");
            arrays.totals()[1]
        })
        .collect();
    assert_eq!(first, again);
}

#[test]
fn arrays_for_another_number_of_sub_envs_are_refused() {
    let (mut batch, mut arrays) = batch(3, Autoreset::SameStep, 1);
    let error = batch.step(bets(&Numbers::Int64(vec![1; 2]), 2), arrays.outputs()).expect_err("too few");
    assert_eq!(error, BatchError::Rows { what: "actions", rows: 2, num_envs: 3 });
    assert_eq!(error.to_string(), "actions for 2 sub-environments were given; there are 3");
    assert_eq!(batch.save(3).err(), Some(BatchError::NoSubEnv { env_index: 3, num_envs: 3 }));
}

/// A batch of 64 steps only after a reset of all.
fn demand_torn(mut batch: Batch<One>, mut arrays: Arrays) {
    let quick = Numbers::Int64(vec![1; 64]);
    assert_eq!(batch.step(bets(&quick, 64), arrays.outputs()), Err(BatchError::Team(TeamError::Torn)));
    batch.reset(&[3; 64], arrays.seen()).expect("a reset");
    batch.step(bets(&quick, 64), arrays.outputs()).expect("a step");
}

#[test]
fn a_batch_that_was_stopped_is_reset_before_it_steps() {
    let (mut batch, mut arrays) = batch(64, Autoreset::SameStep, 2);
    let action = Numbers::Int64(vec![SLOW; 64]);
    let stopped = batch.step_unless(bets(&action, 64), arrays.outputs(), &|| {
        ASKED.store(true, Relaxed);
        true
    });
    assert_eq!(stopped, Err(BatchError::Team(TeamError::Stopped)));
    demand_torn(batch, arrays);
}

#[test]
fn a_batch_that_panicked_is_reset_before_it_steps() {
    let (mut batch, mut arrays) = batch(64, Autoreset::SameStep, 2);
    let action = Numbers::Int64((0..64).map(|number| if number == 40 { PANICS } else { 1 }).collect());
    let step = AssertUnwindSafe(|| batch.step(bets(&action, 64), arrays.outputs()));
    assert!(catch_unwind(step).is_err());
    demand_torn(batch, arrays);
}

#[test]
fn a_batch_one_of_which_panicked_is_reset_before_it_steps() {
    let (mut batch, mut arrays) = batch(64, Autoreset::SameStep, 2);
    let state = Sum { total: PANICS as i32, steps: [0, 0] };
    let restore = AssertUnwindSafe(|| batch.restore_env(40, &state, None, &mut arrays.seen()));
    assert!(catch_unwind(restore).is_err());
    demand_torn(batch, arrays);
}

#[test]
fn columns_of_another_type_or_length_are_refused() {
    assert!(Columns::new(Bet::LEAVES, vec![Numbers::Int32(vec![1]).column()], 1).is_none());
    assert!(Columns::new(Bet::LEAVES, vec![Numbers::Int64(vec![1]).column()], 2).is_none());
    assert!(Columns::new(Bet::LEAVES, vec![], 0).is_none());
}

#[test]
fn sub_envs_have_seeds_of_their_own() {
    let mut seeds: Vec<u64> =
        (0..4).flat_map(|seed| (0..1000).map(move |env_index| seed_of(seed, env_index))).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 4000);
}

/// Totals and rewards of 40 steps of one sub-environment, and what it drew, where it is watched.
fn watched(tape: Option<Vec<Vec<lockstep_env::Drawn>>>) -> (Vec<(i32, f32)>, Vec<Vec<lockstep_env::Drawn>>) {
    let mut batch = Batch::<One>::new(&Options::default(), 1, Autoreset::SameStep, 1).expect("a batch");
    let mut arrays = Arrays::new(1);
    let watching = tape.is_some();
    if let Some(tape) = tape {
        batch.watch(0, tape).expect("a sub-environment");
    }
    batch.reset(&[5], arrays.seen()).expect("a reset");
    let mut drawn = Vec::new();
    if watching {
        drawn.push(batch.report(0).expect("a reset").begun);
    }
    let action = Numbers::Int64(vec![1]);
    let steps = (0..40).map(|_| {
        batch.step(bets(&action, 1), arrays.outputs()).expect("a step");
        if watching {
            let report = batch.report(0).expect("a step");
            assert_eq!(report.last.is_some(), arrays.terminated[0]);
            if let Some(last) = report.last {
                assert_eq!(last.total, ints(&arrays.last[0])[0]);
            }
            drawn.push(report.stepped);
            if arrays.terminated[0] {
                drawn.push(report.begun);
            }
        }
        (arrays.totals()[0], arrays.reward[0])
    });
    let steps = steps.collect();
    (steps, drawn)
}

#[test]
fn a_watched_sub_env_plays_as_any_and_tells_what_it_drew() {
    let (alone, _) = watched(None);
    let (steps, drawn) = watched(Some(vec![]));
    assert_eq!(alone, steps);
    assert!(drawn.iter().all(|row| row.len() == 1 && row[0].name == "roll"));
    let (taped, again) = watched(Some(drawn.clone()));
    assert_eq!((steps, drawn), (taped, again));
}

#[test]
fn a_sub_env_that_nobody_watches_tells_nothing() {
    let (mut batch, _) = batch(2, Autoreset::Disabled, 1);
    assert_eq!(batch.report(1).err(), Some(BatchError::Unwatched(1)));
}

#[test]
fn a_sub_env_goes_on_from_a_canonical_state() {
    let (mut batch, mut arrays) = batch(2, Autoreset::Disabled, 1);
    let state = batch.state(0).expect("a sub-environment");
    batch.restore_env(1, &Sum { total: 11, ..state }, Some(3), &mut arrays.seen()).expect("a state");
    assert_eq!(arrays.totals()[1], 11);
    batch.step(bets(&Numbers::Int64(vec![1; 2]), 2), arrays.outputs()).expect("a step");
    assert!(arrays.terminated[1]);
}
