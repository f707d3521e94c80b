//! The game of `tests/candidate/adapters/candidates/dice.py`: several action leaves, a nested observation, legal actions,
//! integer types, and draws that occur at the reset, at a step or at both.

use lockstep_env::{Draw, Draws, Environment, Options, Probe, Random, Refused, Rng, Step, leaves, probe};

lockstep_env::environment!(Dice);

leaves! {
    /// Every fact that decides the future.
    #[derive(Copy)]
    pub struct State {
        pub board: [f32; 3],
        pub total: i32,
        pub turn: i32,
    }
}

leaves! {
    /// What is seen, and which bets are allowed.
    pub struct Seen {
        pub board: [f32; 3] => "observation/board",
        pub total: i16 => "observation/hand/total",
        pub legal_actions: [bool; 4],
    }
}

leaves! {
    /// On how many dice is bet, and how hard the wind is pushed.
    pub struct Move {
        pub bet: i64 => "action/bet",
        pub push: [f32; 2] => "action/push",
    }
}

leaves! {
    pub struct Total {
        pub total: i32,
    }
}

leaves! {
    pub struct Legal {
        pub legal: [bool; 4],
    }
}

const DECK: Draw<[i32; 2]> = Draw::new("deck");
const ROLL: Draw<i32> = Draw::new("roll");
const WIND: Draw<[f32; 3]> = Draw::new("wind");

/// One game.
#[derive(Clone, Debug)]
pub struct Dice(State);

impl Environment for Dice {
    type Observation = Seen;
    type Action = Move;
    type State = State;
    type Reward = f32;

    const PROBES: &'static [Probe] =
        &[probe!("rules", Total => Legal, |asked: Total| Legal { legal: legal(asked.total) })];

    fn new(options: &Options) -> Result<Self, Refused> {
        options.only(&[])?;
        Ok(Dice(State { board: [0.0; 3], total: 0, turn: 0 }))
    }

    fn reset<D: Draws>(&mut self, draws: &mut D) {
        let deck = draws.draw(&DECK, |random| [roll(random), roll(random)]);
        self.0 = State { board: wind(draws), total: deck.iter().sum(), turn: 0 };
    }

    fn step<D: Draws>(&mut self, action: &Move, draws: &mut D) -> Step<f32> {
        let State { board, total, turn } = &mut self.0;
        let push = action.push[0] + action.push[1];
        for (place, blown) in board.iter_mut().zip(wind(draws)) {
            *place += blown * push;
        }
        let won: i32 = (0..action.bet).map(|_| draws.draw(&ROLL, roll)).sum();
        *total += won;
        *turn += 1;
        Step { reward: won as f32, terminated: *total > 30, truncated: *turn >= 8 }
    }

    fn observe(&self) -> Seen {
        let State { board, total, .. } = self.0;
        Seen { board, total: total as i16, legal_actions: legal(total) }
    }

    fn encode(&self) -> State {
        self.0
    }

    fn decode(&mut self, state: &State) -> Result<(), Refused> {
        self.0 = *state;
        Ok(())
    }
}

fn legal(total: i32) -> [bool; 4] {
    [true, true, total <= 20, total <= 20]
}

fn roll(random: &mut Random) -> i32 {
    (random.next_u32() % 6) as i32 + 1
}

fn wind<D: Draws>(draws: &mut D) -> [f32; 3] {
    draws.draw(&WIND, |random| std::array::from_fn(|_| (random.next_u32() >> 8) as f32 / (1 << 24) as f32))
}
