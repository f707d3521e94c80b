//! Instances that step several at once: as they would one after the other, whoever is watched or rests among them.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use lockstep_batch::{Autoreset, Batch, seed_of};
use lockstep_env::{Drawn, Draws, Environment, Numbers, Options, Refused, Step, leaves};

use common::{Arrays, Bet, Dice, Sum, bets, ints};

const COUNT: usize = 37;
const MODES: [Autoreset; 3] = [Autoreset::NextStep, Autoreset::SameStep, Autoreset::Disabled];

/// What one sub-environment showed and drew in a step.
type Told = (i32, i32, f32, bool, Vec<Drawn>, Vec<Drawn>);

fn begun<E>(mode: Autoreset, threads: usize) -> (Batch<E>, Arrays)
where
    E: Environment<Observation = Sum, Action = Bet, Reward = f32>,
{
    let mut batch = Batch::<E>::new(&Options::default(), COUNT, mode, threads).expect("a batch");
    for env_index in (0..COUNT).filter(|env_index| watched(*env_index)) {
        batch.watch(env_index, vec![]).expect("a sub-environment");
    }
    let mut arrays = Arrays::new(COUNT);
    let seeds: Vec<u64> = (0..COUNT).map(|env_index| seed_of(3, env_index)).collect();
    batch.reset(&seeds, arrays.seen()).expect("a reset");
    (batch, arrays)
}

/// Alone among others, several side by side, and none for a while.
fn watched(env_index: usize) -> bool {
    env_index % 7 == 2 || (10..13).contains(&env_index)
}

fn played<const LANES: usize>(mode: Autoreset, threads: usize) -> Vec<Vec<Told>> {
    let (mut batch, mut arrays) = begun::<Dice<LANES>>(mode, threads);
    let action = Numbers::Int64((0..COUNT as i64).collect());
    let told = |batch: &mut Batch<Dice<LANES>>, arrays: &Arrays, env_index: usize| {
        let report = if watched(env_index) { batch.report(env_index).expect("a report") } else { Default::default() };
        let (now, last) = (arrays.totals()[env_index], ints(&arrays.last[0])[env_index]);
        (now, last, arrays.reward[env_index], arrays.terminated[env_index], report.stepped, report.begun)
    };
    (0..20)
        .map(|_| {
            batch.step(bets(&action, COUNT), arrays.outputs()).expect("a step");
            (0..COUNT).map(|env_index| told(&mut batch, &arrays, env_index)).collect()
        })
        .collect()
}

#[test]
fn several_at_once_play_as_they_would_one_after_the_other() {
    for mode in MODES {
        let alone = played::<1>(mode, 1);
        assert!(alone.iter().flatten().any(|told| told.3 && !told.4.is_empty()), "some that are watched end");
        for threads in [1, 3] {
            assert_eq!(alone, played::<2>(mode, threads));
            assert_eq!(alone, played::<5>(mode, threads));
            assert_eq!(alone, played::<64>(mode, threads));
        }
    }
}

leaves! { struct Nothing { nothing: u8 } }

/// Tells of `TELLS` steps, of whatever number it is asked; it steps four at once.
#[derive(Clone, Debug)]
struct Teller<const TELLS: usize>;

impl<const TELLS: usize> Environment for Teller<TELLS> {
    type Observation = Sum;
    type Action = Bet;
    type State = Nothing;
    type Reward = f32;

    const LANES: usize = 4;

    fn new(options: &Options) -> Result<Self, Refused> {
        options.only(&[])?;
        Ok(Teller)
    }

    fn reset<D: Draws>(&mut self, _draws: &mut D) {}

    fn step_lanes<D: Draws>(_: &mut [Self], _: &[Bet], _: &mut [D]) -> impl Iterator<Item = Step<f32>> {
        std::iter::repeat_n(Step { reward: 0.0, terminated: false, truncated: false }, TELLS)
    }

    fn observe(&self) -> Sum {
        Sum { total: 0, steps: [0; 2] }
    }

    fn encode(&self) -> Nothing {
        Nothing { nothing: 0 }
    }

    fn decode(&mut self, _state: &Nothing) -> Result<(), Refused> {
        Ok(())
    }
}

/// What a batch says whose environment tells of another number of steps than it was asked for.
fn said<const TELLS: usize>() -> String {
    let (mut batch, mut arrays) = begun::<Teller<TELLS>>(Autoreset::SameStep, 1);
    let action = Numbers::Int64(vec![1; COUNT]);
    let step = AssertUnwindSafe(|| batch.step(bets(&action, COUNT), arrays.outputs()));
    *catch_unwind(step).expect_err("a panic").downcast::<String>().expect("a text")
}

#[test]
fn a_step_of_which_nothing_is_told_is_a_mistake_of_the_environment() {
    assert_eq!(said::<3>(), "of 4 lanes only 3 were stepped");
    assert_eq!(said::<5>(), "more than 4 lanes were stepped");
}
