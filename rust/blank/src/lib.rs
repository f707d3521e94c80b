//! The smallest environment: a number that grows by what is added, and an episode that never ends.

#![forbid(unsafe_code)]

use lockstep_env::{Draws, Environment, Options, Refused, Step, leaves};

lockstep_env::environment!(Blank);

leaves! {
    /// The number.
    pub struct Count {
        pub count: i32,
    }
}

leaves! {
    /// What is seen: the number.
    pub struct Seen {
        pub observation: i32,
    }
}

leaves! {
    /// What is added.
    pub struct Added {
        pub action: i32,
    }
}

/// A number.
#[derive(Clone, Debug)]
pub struct Blank(i32);

impl Environment for Blank {
    type Observation = Seen;
    type Action = Added;
    type State = Count;
    type Reward = f32;

    fn new(options: &Options) -> Result<Self, Refused> {
        options.only(&[])?;
        Ok(Blank(0))
    }

    fn reset<D: Draws>(&mut self, _draws: &mut D) {
        self.0 = 0;
    }

    fn step<D: Draws>(&mut self, action: &Added, _draws: &mut D) -> Step<f32> {
        self.0 = self.0.wrapping_add(action.action);
        Step { reward: 0.0, terminated: false, truncated: false }
    }

    fn observe(&self) -> Seen {
        Seen { observation: self.0 }
    }

    fn encode(&self) -> Count {
        Count { count: self.0 }
    }

    fn decode(&mut self, state: &Count) -> Result<(), Refused> {
        self.0 = state.count;
        Ok(())
    }
}
