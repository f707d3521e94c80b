//! Connect Four of PettingZoo 1.27.0, equal to it board by board.
//!
//! An illegal move ends the game both ways, costs its player 1, and leaves the board; the player who is named as the next
//! one is then always the first.

mod board;
mod probes;

use lockstep_env::{Draws, Environment, Options, Probe, Refused, Step, leaves};

use board::{Board, Cells};

lockstep_env::environment!(ConnectFour);

leaves! {
    /// The board as PettingZoo keeps it, the top row first, and whose turn it is.
    pub struct State {
        pub board: Cells,
        pub mover: i32,
    }
}

leaves! {
    /// What each player sees, and what the player to move may do.
    pub struct Seen {
        pub first: [[[i8; 2]; 7]; 6] => "observation/player_0",
        pub second: [[[i8; 2]; 7]; 6] => "observation/player_1",
        pub legal_actions: [bool; 7],
        pub to_move: i32,
    }
}

leaves! {
    /// A column.
    pub struct Move {
        pub action: i64,
    }
}

leaves! {
    /// What each player earns.
    #[derive(Copy)]
    pub struct Rewards {
        pub first: f32 => "reward/player_0",
        pub second: f32 => "reward/player_1",
    }
}

/// One game.
#[derive(Clone, Copy, Debug)]
pub struct ConnectFour {
    board: Board,
    mover: usize,
}

impl Environment for ConnectFour {
    type Observation = Seen;
    type Action = Move;
    type State = State;
    type Reward = Rewards;

    const PROBES: &'static [Probe] = probes::PROBES;

    fn new(options: &Options) -> Result<Self, Refused> {
        options.only(&[])?;
        Ok(ConnectFour { board: Board::default(), mover: 0 })
    }

    fn reset<D: Draws>(&mut self, _draws: &mut D) {
        *self = ConnectFour { board: Board::default(), mover: 0 };
    }

    fn step<D: Draws>(&mut self, action: &Move, _draws: &mut D) -> Step<Rewards> {
        let player = self.mover;
        if !self.board.drop(action.action, player) {
            self.mover = 0;
            return Step { reward: rewards(player, -1.0, 0.0), terminated: true, truncated: true };
        }
        let won = self.board.has_four(player);
        self.mover = 1 - player;
        let reward = if won { rewards(player, 1.0, -1.0) } else { rewards(player, 0.0, 0.0) };
        Step { reward, terminated: won || self.board.is_full(), truncated: false }
    }

    fn observe(&self) -> Seen {
        let [first, second] = self.board.planes();
        Seen { first, second, legal_actions: self.board.legal(), to_move: self.mover as i32 }
    }

    fn encode(&self) -> State {
        State { board: self.board.cells(), mover: self.mover as i32 }
    }

    fn decode(&mut self, state: &State) -> Result<(), Refused> {
        self.board = Board::of(&state.board);
        self.mover = usize::from(state.mover != 0);
        Ok(())
    }
}

/// What the player who moved earns, and the other, in the order of the players.
fn rewards(player: usize, own: f32, other: f32) -> Rewards {
    let (first, second) = if player == 0 { (own, other) } else { (other, own) };
    Rewards { first, second }
}
