//! The sub-frames of a step, in several games at once.
//!
//! In every sub-frame the same few numbers of each game move. They lie here as one array for each, so that the compiler
//! moves four games with one instruction. What an edge comes to is asked of one game alone: few sub-frames bring a ball
//! there.

use crate::rules::{self, Rally};
use crate::{Pong, State};

/// So many games move side by side.
pub const LANES: usize = 8;
const FRAMES: u32 = 8;

/// What moves, in all games.
#[derive(Clone, Default)]
struct Field {
    paddle_yl: [f32; LANES],
    paddle_yr: [f32; LANES],
    paddle_dir: [f32; LANES],
    ball_x: [f32; LANES],
    ball_y: [f32; LANES],
    ball_vx: [f32; LANES],
    ball_vy: [f32; LANES],
}

/// Play the sub-frames of a step in up to [`LANES`] games, in each as far as its rally goes.
///
/// Where a sub-frame ends it, the game is left as the one before showed it.
pub fn play(games: &mut [Pong]) -> [Rally; LANES] {
    let mut rallies = [Rally::GoesOn { bounced: false }; LANES];
    let mut field = Field::default();
    for (lane, Pong(state)) in games.iter().enumerate() {
        field.take(lane, state);
    }
    for frame in 0..FRAMES {
        let before = field.clone();
        if !field.move_all() {
            continue;
        }
        for (lane, (Pong(state), rally)) in games.iter_mut().zip(&mut rallies).enumerate() {
            let Rally::GoesOn { bounced } = *rally else { continue };
            if !rules::at_edge(field.ball_x[lane]) {
                continue;
            }
            field.give(lane, state);
            *rally = match state.meet_edges() {
                Rally::GoesOn { bounced: again } => {
                    field.take(lane, state);
                    Rally::GoesOn { bounced: bounced || again }
                }
                ends => {
                    before.give(lane, state);
                    if frame > 0 {
                        state.look();
                    }
                    ends
                }
            };
        }
    }
    for (lane, (Pong(state), rally)) in games.iter_mut().zip(rallies).enumerate() {
        if let Rally::GoesOn { .. } = rally {
            field.give(lane, state);
            state.look();
        }
    }
    rallies
}

impl Field {
    /// Paddles and balls move; whether a ball is at an edge then.
    fn move_all(&mut self) -> bool {
        let mut at_edge = false;
        for lane in 0..LANES {
            let mut state = State::blank();
            self.give(lane, &mut state);
            state.move_paddles();
            state.move_ball();
            self.take(lane, &state);
            at_edge |= rules::at_edge(state.ball_x);
        }
        at_edge
    }

    /// Write what moves into a game's state.
    fn give(&self, lane: usize, state: &mut State) {
        state.paddle_yl = self.paddle_yl[lane];
        state.paddle_yr = self.paddle_yr[lane];
        state.paddle_dir = self.paddle_dir[lane];
        state.ball_x = self.ball_x[lane];
        state.ball_y = self.ball_y[lane];
        state.ball_vx = self.ball_vx[lane];
        state.ball_vy = self.ball_vy[lane];
    }

    /// Read it from there.
    fn take(&mut self, lane: usize, state: &State) {
        self.paddle_yl[lane] = state.paddle_yl;
        self.paddle_yr[lane] = state.paddle_yr;
        self.paddle_dir[lane] = state.paddle_dir;
        self.ball_x[lane] = state.ball_x;
        self.ball_y[lane] = state.ball_y;
        self.ball_vx[lane] = state.ball_vx;
        self.ball_vy[lane] = state.ball_vy;
    }
}
