//! Battles of the first generation as Pokémon Showdown has them (@pkmn/sim 0.10.11), equal to it turn by turn.
//!
//! Showdown calls what it has to do by names of events. Here each of them is a line at its place, in the order in which
//! Showdown would come to it.

mod before;
mod chance;
mod choice;
mod damage;
mod data;
mod effects;
mod hit;
mod leaves;
mod moves;
mod probes;
mod queue;
mod sight;
mod state;
mod stats;
mod tables;
mod teams;
mod turn;
mod use_move;

use lockstep_env::{Draws, Environment, Options, Probe, Refused, RowMut, Step};

use leaves::State;
use sight::SIGHT;
use state::{Battle, WAITS};
use turn::End;

lockstep_env::environment!(Pokemon);

lockstep_env::leaves! {
    /// What each player sees and may do, and whether it is asked.
    pub struct Seen {
        pub first: [i16; SIGHT] => "observation/p1",
        pub second: [i16; SIGHT] => "observation/p2",
        pub first_legal: [bool; 10] => "legal_actions/p1",
        pub second_legal: [bool; 10] => "legal_actions/p2",
        pub first_moves: bool => "to_move/p1",
        pub second_moves: bool => "to_move/p2",
    }
}

lockstep_env::leaves! {
    /// One of four moves, or who of the team comes in.
    pub struct Choices {
        pub first: i32 => "action/p1",
        pub second: i32 => "action/p2",
    }
}

lockstep_env::leaves! {
    /// What each player earns.
    #[derive(Copy)]
    pub struct Rewards {
        pub first: f32 => "reward/p1",
        pub second: f32 => "reward/p2",
    }
}

/// One battle.
#[derive(Clone, Copy, Debug)]
pub struct Pokemon(Battle);

impl Environment for Pokemon {
    type Observation = Seen;
    type Action = Choices;
    type State = State;
    type Reward = Rewards;

    const PROBES: &'static [Probe] = probes::PROBES;

    fn new(options: &Options) -> Result<Self, Refused> {
        options.only(&[])?;
        Ok(Pokemon(Battle::default()))
    }

    fn reset<D: Draws>(&mut self, draws: &mut D) {
        self.0 = teams::begin(&chance::beginning(draws));
    }

    fn step<D: Draws>(&mut self, action: &Choices, draws: &mut D) -> Step<Rewards> {
        let end = turn::step(&mut self.0, [action.first, action.second], draws);
        let (first, second) = match end {
            Some(End::Won(0)) => (1.0, -1.0),
            Some(End::Won(_)) => (-1.0, 1.0),
            Some(End::Tied) | None => (0.0, 0.0),
        };
        Step { reward: Rewards { first, second }, terminated: end.is_some(), truncated: false }
    }

    fn observe(&self) -> Seen {
        Seen {
            first: sight::see(&self.0, 0),
            second: sight::see(&self.0, 1),
            first_legal: choice::legal(&self.0, 0),
            second_legal: choice::legal(&self.0, 1),
            first_moves: self.0.sides[0].request != WAITS,
            second_moves: self.0.sides[1].request != WAITS,
        }
    }

    fn look(&self, row: &mut RowMut<'_, '_>) {
        for side in [0, 1] {
            let page = row.numbers::<i16>(side).first_chunk_mut().expect("room for what a player sees");
            sight::write(&self.0, side, page);
            row.set(2 + side, &choice::legal(&self.0, side));
            row.set(4 + side, &(self.0.sides[side].request != WAITS));
        }
    }

    fn encode(&self) -> State {
        leaves::encode(&self.0)
    }

    fn decode(&mut self, state: &State) -> Result<(), Refused> {
        self.0 = leaves::decode(state)?;
        Ok(())
    }
}
