//! Dice, which are small enough to be worked out by hand, and the arrays of a batch of them.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use lockstep_batch::Outputs;
use lockstep_env::{
    ColumnMut, Columns, ColumnsMut, Draw, Draws, Environment, Leaves, Numbers, Options, Refused, Rng, Step, leaves,
};

leaves! { pub struct Sum { pub total: i32 => "observation/total", pub steps: [u8; 2] => "observation/steps" } }
leaves! { pub struct Bet { pub action: i64 } }

/// A bet at which the dice panic, and one at which they wait until somebody asked whether to stop.
pub const PANICS: i64 = -1;
pub const SLOW: i64 = -2;
pub static ASKED: AtomicBool = AtomicBool::new(false);

const ROLL: Draw<i32> = Draw::new("roll");

/// Adds up dice: an episode ends when the sum is 12 or more. So many are rolled at once.
#[derive(Clone, Debug)]
pub struct Dice<const LANES: usize> {
    total: i32,
    steps: u8,
}

impl<const LANES: usize> Environment for Dice<LANES> {
    type Observation = Sum;
    type Action = Bet;
    type State = Sum;
    type Reward = f32;

    const LANES: usize = LANES;

    fn new(options: &Options) -> Result<Self, Refused> {
        options.only(&[])?;
        Ok(Dice { total: 0, steps: 0 })
    }

    fn reset<D: Draws>(&mut self, draws: &mut D) {
        *self = Dice { total: roll(draws), steps: 0 };
    }

    fn step_lanes<D: Draws>(dice: &mut [Self], bets: &[Bet], draws: &mut [D]) -> impl Iterator<Item = Step<f32>> {
        assert!((1..=LANES).contains(&dice.len()) && dice.len() == bets.len() && dice.len() == draws.len());
        assert!(bets.iter().all(|bet| bet.action != PANICS), "planted");
        while bets.iter().any(|bet| bet.action == SLOW) && !ASKED.load(Relaxed) {
            std::hint::spin_loop();
        }
        let rolled: Vec<i32> = draws.iter_mut().map(roll).collect();
        dice.iter_mut().zip(bets).zip(rolled).map(|((dice, bet), eyes)| {
            dice.total += eyes;
            dice.steps += 1;
            Step { reward: (bet.action * i64::from(eyes)) as f32, terminated: dice.total >= 12, truncated: false }
        })
    }

    fn observe(&self) -> Sum {
        Sum { total: self.total, steps: [self.steps, 0] }
    }

    fn encode(&self) -> Sum {
        self.observe()
    }

    fn decode(&mut self, state: &Sum) -> Result<(), Refused> {
        assert!(i64::from(state.total) != PANICS, "planted");
        *self = Dice { total: state.total, steps: state.steps[0] };
        Ok(())
    }
}

fn roll<D: Draws>(draws: &mut D) -> i32 {
    draws.draw(&ROLL, |random| 1 + (random.next_u32() % 6) as i32)
}

/// Arrays for a batch, as a caller would own them.
pub struct Arrays {
    pub seen: Vec<Numbers>,
    pub last: Vec<Numbers>,
    pub reward: Vec<f32>,
    pub terminated: Vec<bool>,
    pub truncated: Vec<bool>,
}

impl Arrays {
    pub fn new(num_envs: usize) -> Self {
        let seen: Vec<_> = Sum::LEAVES.iter().map(|leaf| Numbers::zeros(leaf.dtype, num_envs * leaf.size())).collect();
        Arrays {
            last: seen.clone(),
            seen,
            reward: vec![9.0; num_envs],
            terminated: vec![true; num_envs],
            truncated: vec![true; num_envs],
        }
    }

    pub fn seen(&mut self) -> ColumnsMut<'_> {
        columns(&mut self.seen, self.reward.len())
    }

    pub fn outputs(&mut self) -> Outputs<'_> {
        let num_envs = self.reward.len();
        let (seen, last) = (columns(&mut self.seen, num_envs), columns(&mut self.last, num_envs));
        let reward =
            ColumnsMut::new(f32::LEAVES, vec![ColumnMut::Float32(&mut self.reward)], num_envs).expect("a reward");
        Outputs::new(seen, last, reward, &mut self.terminated, &mut self.truncated).expect("rows")
    }

    pub fn totals(&self) -> &[i32] {
        ints(&self.seen[0])
    }
}

pub fn columns(numbers: &mut [Numbers], rows: usize) -> ColumnsMut<'_> {
    ColumnsMut::new(Sum::LEAVES, numbers.iter_mut().map(Numbers::column_mut).collect(), rows).expect("columns that fit")
}

pub fn ints(numbers: &Numbers) -> &[i32] {
    let Numbers::Int32(values) = numbers else { panic!("int32") };
    values
}

pub fn bets(action: &Numbers, rows: usize) -> Columns<'_> {
    Columns::new(Bet::LEAVES, vec![action.column()], rows).expect("columns that fit")
}
