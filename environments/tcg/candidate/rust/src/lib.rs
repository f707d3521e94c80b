//! A trading card game for two, equal to the reference of specification/RULES.md step by step.
//!
//! Cards are data: a table has their numbers and the words of their effects, which are carried out one after another. A
//! card whose words are there needs no code.

mod actions;
mod cards;
mod chance;
mod damage;
mod data;
mod decks;
mod effect;
mod leaves;
mod legal;
mod questions;
mod run;
mod state;
mod tables;
mod turn;
mod view;
mod words;

use lockstep_env::{Draws, Environment, Options, Refused, Step};

use actions::{ACTIONS, Actions};
use leaves::State;
use state::{Game, OVER};
use view::SIGHT;

lockstep_env::environment!(CardGame);

lockstep_env::leaves! {
    /// What each player sees, who is asked, and what that player may do.
    pub struct Seen {
        pub first: [u8; SIGHT] => "observation/p1",
        pub second: [u8; SIGHT] => "observation/p2",
        pub legal_actions: [bool; ACTIONS],
        pub to_move: i32,
    }
}

lockstep_env::leaves! {
    /// What who is asked does.
    pub struct Action {
        pub action: i32,
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

/// One game, and what is legal in it.
#[derive(Clone, Copy, Debug)]
pub struct CardGame {
    game: Game,
    legal: Actions,
}

impl CardGame {
    fn at(game: Game) -> Self {
        CardGame { legal: legal::legal(&game), game }
    }
}

impl Environment for CardGame {
    type Observation = Seen;
    type Action = Action;
    type State = State;
    type Reward = Rewards;

    fn new(options: &Options) -> Result<Self, Refused> {
        options.only(&[])?;
        Ok(CardGame::at(Game::default()))
    }

    fn reset<D: Draws>(&mut self, draws: &mut D) {
        *self = CardGame::at(decks::begin(draws));
    }

    fn step<D: Draws>(&mut self, action: &Action, draws: &mut D) -> Step<Rewards> {
        let chosen = usize::try_from(action.action).ok().filter(|action| *action < ACTIONS);
        // An action that is not legal changes nothing (93).
        let chosen = chosen.filter(|action| self.legal >> action & 1 == 1);
        let winner = chosen.and_then(|action| {
            let winner = turn::act(&mut self.game, action, draws);
            self.legal = legal::legal(&self.game);
            winner
        });
        let (first, second) = match winner {
            Some(0) => (1.0, -1.0),
            Some(_) => (-1.0, 1.0),
            None => (0.0, 0.0),
        };
        Step { reward: Rewards { first, second }, terminated: self.game.phase == OVER, truncated: false }
    }

    fn observe(&self) -> Seen {
        Seen {
            first: view::see(&self.game, 0),
            second: view::see(&self.game, 1),
            legal_actions: actions::mask(self.legal),
            to_move: i32::from(self.game.asked),
        }
    }

    fn encode(&self) -> State {
        leaves::encode(&self.game)
    }

    fn decode(&mut self, state: &State) -> Result<(), Refused> {
        *self = CardGame::at(leaves::decode(state)?);
        Ok(())
    }
}
