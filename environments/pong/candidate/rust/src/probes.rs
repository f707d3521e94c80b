//! One rule each, asked from a state that is otherwise at rest.

use lockstep_env::{Probe, leaves, probe};

use crate::State;
use crate::rules::{BALL_SPEED, Edge, Side, WIDTH, direction};

pub const PROBES: &[Probe] = &[
    probe!("observation", Positions => Observed, observation),
    probe!("serve", Serve => Served, serve),
    probe!("paddles", Paddles => Moved, paddles),
    probe!("ball", Ball => Ball, ball),
    probe!("opponent", Left => Bounced, opponent),
    probe!("agent", Right => Bounced, agent),
    probe!("scoring", Scores => Scored, scoring),
];

leaves! {
    struct Positions {
        paddle_yl: f32, paddle_yr: f32, ball_x: f32, ball_y: f32, ball_vx: f32, ball_vy: f32, score_l: u32, score_r: u32,
    }
}
leaves! { struct Observed { observation: [f32; 8] } }
leaves! { struct Serve { serve: i32 } }
leaves! { struct Served { paddle_yl: f32, paddle_yr: f32, ball_x: f32, ball_y: f32, ball_vx: f32, ball_vy: f32 } }
leaves! { struct Paddles { paddle_yl: f32, paddle_yr: f32, ball_y: f32, action: i64 } }
leaves! { struct Moved { paddle_yl: f32, paddle_yr: f32 } }
leaves! { struct Ball { ball_x: f32, ball_y: f32, ball_vx: f32, ball_vy: f32 } }
leaves! { struct Left { ball_x: f32, ball_y: f32, ball_vy: f32, paddle_yl: f32, serve: i32 } }
leaves! { struct Right { ball_x: f32, ball_y: f32, ball_vy: f32, paddle_yr: f32, action: i64, serve: i32 } }
leaves! { struct Bounced { ball_x: f32, ball_y: f32, ball_vx: f32, ball_vy: f32, n_bounces: i32, reward: f32 } }
leaves! { struct Scores { score_l: u32, score_r: u32, agent_scores: bool } }
leaves! { struct Scored { score_l: u32, score_r: u32, win: i32, reward: f32, terminated: bool } }

/// A state in the middle of the field, with the ball at rest.
fn rest() -> State {
    let mut state = State::blank();
    state.new_round(1);
    state.look();
    State { ball_x: WIDTH / 2.0, ball_vx: 0.0, ..state }
}

fn observation(given: Positions) -> Observed {
    let Positions { paddle_yl, paddle_yr, ball_x, ball_y, ball_vx, ball_vy, score_l, score_r } = given;
    let mut state = State { paddle_yl, paddle_yr, ball_x, ball_y, ball_vx, ball_vy, score_l, score_r, ..rest() };
    state.look();
    Observed { observation: state.observation }
}

fn serve(given: Serve) -> Served {
    let mut state = rest();
    state.new_round(given.serve);
    let State { paddle_yl, paddle_yr, ball_x, ball_y, ball_vx, ball_vy, .. } = state;
    Served { paddle_yl, paddle_yr, ball_x, ball_y, ball_vx, ball_vy }
}

fn paddles(given: Paddles) -> Moved {
    let Paddles { paddle_yl, paddle_yr, ball_y, action } = given;
    let mut state = State { paddle_yl, paddle_yr, ball_y, paddle_dir: direction(action), ..rest() };
    state.move_paddles();
    Moved { paddle_yl: state.paddle_yl, paddle_yr: state.paddle_yr }
}

fn ball(given: Ball) -> Ball {
    let Ball { ball_x, ball_y, ball_vx, ball_vy } = given;
    let mut state = State { ball_x, ball_y, ball_vx, ball_vy, ..rest() };
    state.move_ball();
    Ball { ball_x: state.ball_x, ball_y: state.ball_y, ball_vx: state.ball_vx, ball_vy: state.ball_vy }
}

fn opponent(given: Left) -> Bounced {
    let Left { ball_x, ball_y, ball_vy, paddle_yl, serve } = given;
    let mut state = State { ball_x, ball_y, ball_vy, paddle_yl, ball_vx: -BALL_SPEED, ..rest() };
    state.move_ball();
    let point = (state.meet_opponent() == Edge::Missed).then_some(Side::Agent);
    bounced(state, point, false, serve)
}

fn agent(given: Right) -> Bounced {
    let Right { ball_x, ball_y, ball_vy, paddle_yr, action, serve } = given;
    let paddle_dir = direction(action);
    let mut state = State { ball_x, ball_y, ball_vy, paddle_yr, paddle_dir, ball_vx: BALL_SPEED, ..rest() };
    state.move_ball();
    let edge = state.meet_agent();
    bounced(state, (edge == Edge::Missed).then_some(Side::Opponent), edge == Edge::Hit, serve)
}

fn bounced(mut state: State, point: Option<Side>, hit: bool, serve: i32) -> Bounced {
    let reward = match point {
        Some(side) => state.settle(side, serve).reward,
        None => State::reward_of_rally(hit),
    };
    let State { ball_x, ball_y, ball_vx, ball_vy, n_bounces, .. } = state;
    Bounced { ball_x, ball_y, ball_vx, ball_vy, n_bounces, reward }
}

fn scoring(given: Scores) -> Scored {
    let mut state = State { score_l: given.score_l, score_r: given.score_r, ..rest() };
    let step = state.settle(if given.agent_scores { Side::Agent } else { Side::Opponent }, 0);
    let State { score_l, score_r, win, .. } = state;
    Scored { score_l, score_r, win, reward: step.reward, terminated: step.terminated }
}
