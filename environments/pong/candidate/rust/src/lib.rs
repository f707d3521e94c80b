//! PufferLib 3.0.0's Pong at frameskip 8, equal to the C code bit for bit.
//!
//! A step runs sub-frames until one of them ends the rally. The observation stays that of the last whole sub-frame then,
//! and the state becomes a new round, which one raw `rand()` value serves.

mod probes;
mod rallies;
mod rules;

use lockstep_env::{Draw, Draws, Environment, Options, Probe, Refused, Rng, Step, leaves};

use rules::Rally;

lockstep_env::environment!(Pong);

leaves! {
    /// The C structure's fields, in pixels, y upwards: `_yl` and `_l` are the opponent's, `_yr` and `_r` the agent's.
    ///
    /// The observation is one of them: after a point it is not that of the state.
    #[derive(Copy)]
    pub struct State {
        pub paddle_yl: f32,
        pub paddle_yr: f32,
        pub ball_x: f32,
        pub ball_y: f32,
        pub ball_vx: f32,
        pub ball_vy: f32,
        pub score_l: u32,
        pub score_r: u32,
        pub paddle_dir: f32,
        pub tick: i32,
        pub n_bounces: i32,
        pub win: i32,
        pub observation: [f32; 8],
    }
}

leaves! {
    /// What the agent sees.
    pub struct Seen {
        pub observation: [f32; 8],
    }
}

leaves! {
    /// Stay, up or down.
    pub struct Move {
        pub action: i64,
    }
}

/// What `rand()` returned, of which only the parity counts.
const SERVE: Draw<i32> = Draw::new("serve");

/// One game.
#[derive(Clone, Debug)]
pub struct Pong(State);

impl Environment for Pong {
    type Observation = Seen;
    type Action = Move;
    type State = State;
    type Reward = f32;

    const PROBES: &'static [Probe] = probes::PROBES;
    const LANES: usize = rallies::LANES;

    fn new(options: &Options) -> Result<Self, Refused> {
        options.only(&[])?;
        Ok(Pong(State::blank()))
    }

    fn reset<D: Draws>(&mut self, draws: &mut D) {
        self.0 = State::blank();
        self.0.new_round(serve(draws));
        self.0.look();
    }

    fn step_lanes<D: Draws>(games: &mut [Self], actions: &[Move], draws: &mut [D]) -> impl Iterator<Item = Step<f32>> {
        for (Pong(state), action) in games.iter_mut().zip(actions) {
            state.paddle_dir = rules::direction(action.action);
            state.tick += 1;
        }
        let rallies = rallies::play(games);
        games.iter_mut().zip(draws).zip(rallies).map(|((Pong(state), draws), rally)| match rally {
            Rally::GoesOn { bounced } => {
                Step { reward: State::reward_of_rally(bounced), terminated: false, truncated: false }
            }
            Rally::Ends(side) => state.settle(side, serve(draws)),
        })
    }

    fn observe(&self) -> Seen {
        Seen { observation: self.0.observation }
    }

    fn encode(&self) -> State {
        self.0
    }

    fn decode(&mut self, state: &State) -> Result<(), Refused> {
        self.0 = *state;
        Ok(())
    }
}

fn serve<D: Draws>(draws: &mut D) -> i32 {
    draws.draw(&SERVE, |random| (random.next_u32() >> 1) as i32)
}
