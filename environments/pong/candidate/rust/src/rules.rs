//! The rules, one after the other.

use lockstep_env::Step;

use crate::State;

pub const WIDTH: f32 = 500.0;
pub const HEIGHT: f32 = 640.0;
pub const PADDLE: f32 = 70.0;
pub const BALL: f32 = 32.0;
pub const BALL_SPEED: f32 = 10.0;
const PADDLE_SPEED: f32 = 8.0;
const MAX_VY: f32 = 13.0;
const VY_STEP: f32 = 3.0;
const LOWEST: f32 = -PADDLE / 2.0;
const HIGHEST: f32 = HEIGHT - PADDLE / 2.0;
const MAX_SCORE: u32 = 21;

/// Whose point it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Opponent,
    Agent,
}

/// What a sub-frame came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rally {
    GoesOn { bounced: bool },
    Ends(Side),
}

/// What an edge came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    Away,
    Hit,
    Missed,
}

/// The paddle's direction for an action: 1 is up, 2 is down.
pub fn direction(action: i64) -> f32 {
    f32::from(i8::from(action == 1) - i8::from(action == 2))
}

/// Whether a ball is where a paddle has to return it.
pub fn at_edge(ball_x: f32) -> bool {
    ball_x < 0.0 || ball_x + BALL > WIDTH
}

impl State {
    /// Before the first round.
    pub fn blank() -> Self {
        State {
            paddle_yl: 0.0,
            paddle_yr: 0.0,
            ball_x: 0.0,
            ball_y: 0.0,
            ball_vx: 0.0,
            ball_vy: 0.0,
            score_l: 0,
            score_r: 0,
            paddle_dir: 0.0,
            tick: 0,
            n_bounces: 0,
            win: 0,
            observation: [0.0; 8],
        }
    }

    /// What a sub-frame comes to once everything has moved. Where it ends the rally, the state means nothing any more.
    pub fn meet_edges(&mut self) -> Rally {
        if self.meet_opponent() == Edge::Missed {
            return Rally::Ends(Side::Agent);
        }
        match self.meet_agent() {
            Edge::Missed => Rally::Ends(Side::Opponent),
            edge => Rally::GoesOn { bounced: edge == Edge::Hit },
        }
    }

    /// The agent's paddle moves by its direction, the opponent's after the ball, where that is before it moves.
    pub fn move_paddles(&mut self) {
        let chase = (self.ball_y - (self.paddle_yl + PADDLE / 2.0)).clamp(-PADDLE_SPEED, PADDLE_SPEED);
        self.paddle_yl = (self.paddle_yl + chase).clamp(LOWEST, HIGHEST);
        self.paddle_yr = (self.paddle_yr + PADDLE_SPEED * self.paddle_dir).clamp(LOWEST, HIGHEST);
    }

    /// A wall turns the ball around, but does not put it back inside.
    pub fn move_ball(&mut self) {
        self.ball_x += self.ball_vx;
        self.ball_y += self.ball_vy;
        if self.ball_y < 0.0 || self.ball_y + BALL > HEIGHT {
            self.ball_vy = -self.ball_vy;
        }
    }

    /// The left edge: the opponent returns the ball as it came, or it passes.
    pub fn meet_opponent(&mut self) -> Edge {
        if self.ball_x >= 0.0 {
            return Edge::Away;
        }
        if !self.beside(self.paddle_yl) {
            return Edge::Missed;
        }
        self.bounce();
        Edge::Hit
    }

    /// The right edge: only here does a moving paddle change vy, and only here is the ball put back into the field.
    pub fn meet_agent(&mut self) -> Edge {
        if self.ball_x + BALL <= WIDTH {
            return Edge::Away;
        }
        if !self.beside(self.paddle_yr) {
            return Edge::Missed;
        }
        self.bounce();
        self.ball_x = put_back(self.ball_x, WIDTH - BALL);
        self.ball_y = put_back(self.ball_y, HEIGHT - BALL);
        let vy = (self.ball_vy + VY_STEP * self.paddle_dir).clamp(-MAX_VY, MAX_VY);
        // C compares a float with the double 0.01.
        self.ball_vy = if f64::from(vy.abs()) < 0.01 { VY_STEP } else { vy };
        Edge::Hit
    }

    fn beside(&self, paddle_y: f32) -> bool {
        self.ball_y + BALL > paddle_y && self.ball_y < paddle_y + PADDLE
    }

    fn bounce(&mut self) {
        self.ball_vx = -self.ball_vx;
        self.n_bounces += 1;
    }

    /// What a step is worth that ends no rally.
    pub fn reward_of_rally(bounced: bool) -> f32 {
        if bounced { 0.1 } else { 0.0 }
    }

    /// What a point comes to: it is counted, and the next round served.
    pub fn settle(&mut self, side: Side, serve: i32) -> Step<f32> {
        let (score, reward) = match side {
            Side::Opponent => (&mut self.score_l, -1.0),
            Side::Agent => (&mut self.score_r, 1.0),
        };
        *score += 1;
        let terminated = *score == MAX_SCORE;
        self.win = i32::from(side == Side::Agent);
        self.new_round(serve);
        Step { reward, terminated, truncated: false }
    }

    /// Paddles and ball in place. An even `rand()` serves downwards, an odd one straight, none upwards.
    pub fn new_round(&mut self, serve: i32) {
        self.paddle_yl = (HEIGHT - PADDLE) / 2.0;
        self.paddle_yr = self.paddle_yl;
        self.ball_x = WIDTH / 5.0;
        self.ball_y = (HEIGHT - BALL) / 2.0;
        self.ball_vx = BALL_SPEED;
        self.ball_vy = (serve % 2 - 1) as f32;
        self.tick = 0;
        self.n_bounces = 0;
    }

    /// Bring the observation up to date.
    pub fn look(&mut self) {
        self.observation = [
            (self.paddle_yl - LOWEST) / (HIGHEST - LOWEST),
            (self.paddle_yr - LOWEST) / (HIGHEST - LOWEST),
            self.ball_x / WIDTH,
            self.ball_y / HEIGHT,
            (self.ball_vx + BALL_SPEED) / (2.0 * BALL_SPEED),
            (self.ball_vy + MAX_VY) / (2.0 * MAX_VY),
            (self.score_l / MAX_SCORE) as f32,
            (self.score_r / MAX_SCORE) as f32,
        ];
    }
}

/// Into 0 to `high`. Where C compares, a negative zero becomes a positive one, which `clamp` would keep.
fn put_back(value: f32, high: f32) -> f32 {
    let above = if value > 0.0 { value } else { 0.0 };
    above.min(high)
}
