//! The walk of `tests/verify/levels/walk`: a walker in gusts, drawn where the wind decides.

use std::f64::consts::TAU;

use lockstep_env::{Draw, Draws, Environment, Options, Probe, Random, Refused, Rng, Step, leaves, probe};

lockstep_env::environment!(Walk);

leaves! {
    /// Where the walker is, and after how many steps.
    #[derive(Copy)]
    pub struct State {
        pub place: f64,
        pub steps: i32,
    }
}

leaves! {
    /// Both, as the walker sees them.
    pub struct Seen {
        pub observation: [f32; 2],
    }
}

leaves! {
    /// Left, right, or wherever the wind blows.
    pub struct Push {
        pub action: i32,
    }
}

leaves! {
    pub struct Over {
        pub over: bool,
    }
}

const GUST: Draw<f64> = Draw::new("gust");

/// One walker.
#[derive(Clone, Debug)]
pub struct Walk(State);

impl Environment for Walk {
    type Observation = Seen;
    type Action = Push;
    type State = State;
    type Reward = f32;

    const PROBES: &'static [Probe] =
        &[probe!("ending", State => Over, |at: State| Over { over: at.fell() || at.tired() })];

    fn new(options: &Options) -> Result<Self, Refused> {
        options.only(&[])?;
        Ok(Walk(State { place: 0.0, steps: 0 }))
    }

    fn reset<D: Draws>(&mut self, _draws: &mut D) {
        self.0 = State { place: 0.0, steps: 0 };
    }

    fn step<D: Draws>(&mut self, action: &Push, draws: &mut D) -> Step<f32> {
        let before = self.0.place;
        self.0.place += match action.action {
            2 => draws.draw(&GUST, normal),
            1 => 1.0,
            _ => -1.0,
        };
        self.0.steps += 1;
        let reward = (self.0.place.abs() - before.abs()) as f32;
        Step { reward, terminated: self.0.fell(), truncated: self.0.tired() }
    }

    fn observe(&self) -> Seen {
        Seen { observation: [self.0.place as f32, self.0.steps as f32] }
    }

    fn encode(&self) -> State {
        self.0
    }

    fn decode(&mut self, state: &State) -> Result<(), Refused> {
        self.0 = *state;
        Ok(())
    }
}

impl State {
    fn fell(&self) -> bool {
        self.place.abs() > 5.0
    }

    fn tired(&self) -> bool {
        self.steps >= 40
    }
}

/// Box and Muller's transform of two uniform numbers.
fn normal(random: &mut Random) -> f64 {
    let mut uniform = || ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    (-2.0 * uniform().ln()).sqrt() * (TAU * uniform()).cos()
}
