//! HalfCheetah-v5 of Gymnasium 1.4.0 on MuJoCo 4.0.0 with its time limit of 1000 steps.
//!
//! A step is five of MuJoCo's. What decides the next one: positions, velocities, and the accelerations of the last one, from
//! which the solver starts.

mod blocks;
mod constraints;
mod model;
mod physics;
mod probes;
mod solver;

use lockstep_env::{Draw, Draws, Environment, Options, Probe, Random, Refused, Rng, Step, leaves};

use blocks::{Matrix, plus};
use constraints::Constraints;
use model::{DAMPING, DOFS, Dofs, JOINTS, TIME_STEP};
use physics::{Pose, actuation, bias, mass_matrix, passive};
use solver::Problem;

lockstep_env::environment!(HalfCheetah);

leaves! {
    /// Positions, velocities, accelerations to start the solver from, and steps taken.
    #[derive(Copy)]
    pub struct State {
        pub warmstart: [f64; 9],
        pub qvel: [f64; 9],
        pub qpos: [f64; 9],
        pub steps: i32,
    }
}

leaves! {
    /// Positions without x, then velocities.
    pub struct Seen {
        pub observation: [f64; 17],
    }
}

leaves! {
    /// Torques, of the most that each motor has.
    pub struct Torques {
        pub action: [f32; 6],
    }
}

const POSITION: Draw<[f64; DOFS]> = Draw::new("position");
const VELOCITY: Draw<[f64; DOFS]> = Draw::new("velocity");
const NOISE: f64 = 0.1;
const SUBSTEPS: usize = 5;
const STEP_LIMIT: i32 = 1000;
const CONTROL_COST: f32 = 0.1;

/// One cheetah.
#[derive(Clone, Copy, Debug)]
pub struct HalfCheetah(State);

impl Environment for HalfCheetah {
    type Observation = Seen;
    type Action = Torques;
    type State = State;
    type Reward = f64;

    const PROBES: &'static [Probe] = probes::PROBES;

    fn new(options: &Options) -> Result<Self, Refused> {
        options.only(&[])?;
        Ok(HalfCheetah(State { warmstart: [0.0; DOFS], qvel: [0.0; DOFS], qpos: [0.0; DOFS], steps: 0 }))
    }

    fn reset<D: Draws>(&mut self, draws: &mut D) {
        let qpos = draws.draw(&POSITION, |random| std::array::from_fn(|_| NOISE * (2.0 * uniform(random) - 1.0)));
        let normal = draws.draw(&VELOCITY, |random| std::array::from_fn(|_| normal(random)));
        self.0 = State { warmstart: [0.0; DOFS], qvel: normal.map(|part| NOISE * part), qpos, steps: 0 };
    }

    fn step<D: Draws>(&mut self, action: &Torques, _draws: &mut D) -> Step<f64> {
        let state = &mut self.0;
        let before = state.qpos[0];
        for _ in 0..SUBSTEPS {
            (state.qpos, state.qvel, state.warmstart) =
                advance(&state.qpos, &state.qvel, &action.action, &state.warmstart);
        }
        state.steps += 1;
        let x_velocity = (state.qpos[0] - before) / (TIME_STEP * SUBSTEPS as f64);
        let reward = rewarded(x_velocity, &action.action);
        Step { reward, terminated: false, truncated: state.steps >= STEP_LIMIT }
    }

    fn observe(&self) -> Seen {
        let mut observation = [0.0; 2 * DOFS - 1];
        observation[..DOFS - 1].copy_from_slice(&self.0.qpos[1..]);
        observation[DOFS - 1..].copy_from_slice(&self.0.qvel);
        Seen { observation }
    }

    fn encode(&self) -> State {
        self.0
    }

    fn decode(&mut self, state: &State) -> Result<(), Refused> {
        self.0 = *state;
        Ok(())
    }
}

/// A hundredth of a second, the damping of the velocities after it included (Euler's method, implicit in damping).
pub fn advance(qpos: &Dofs, qvel: &Dofs, action: &[f32; JOINTS], warmstart: &Dofs) -> (Dofs, Dofs, Dofs) {
    let found = solved(qpos, qvel, action, warmstart);
    let mut damped = found.inertia;
    for joint in 0..JOINTS {
        damped.leg[joint % 3][joint % 3][joint / 3] += TIME_STEP * DAMPING[3 + joint];
    }
    let qvel = plus(qvel, TIME_STEP, &damped.divided(&plus(&found.smooth_force, 1.0, &found.pushed)));
    (plus(qpos, TIME_STEP, &qvel), qvel, found.qacc)
}

/// What the solver found, and what it was asked.
pub struct Solved {
    pub inertia: Matrix,
    pub smooth_force: Dofs,
    pub qacc: Dofs,
    pub pushed: Dofs,
}

pub fn solved(qpos: &Dofs, qvel: &Dofs, action: &[f32; JOINTS], warmstart: &Dofs) -> Solved {
    let pose = Pose::of(qpos);
    let inertia = mass_matrix(&pose);
    let forces = plus(&passive(qpos, qvel), -1.0, &bias(&pose, qvel));
    let smooth_force = plus(&forces, 1.0, &actuation(action));
    let smooth = inertia.divided(&smooth_force);
    let rows = Constraints::of(&pose, qpos, qvel);
    let problem = Problem { inertia: &inertia, smooth_force: &smooth_force, smooth: &smooth, rows: &rows };
    let (qacc, pushed) = problem.solve(warmstart);
    Solved { inertia, smooth_force, qacc, pushed }
}

/// Speed forwards less the control's cost, which is computed in float32 like the action.
pub fn rewarded(x_velocity: f64, action: &[f32; JOINTS]) -> f64 {
    let mut total = action[0] * action[0];
    for part in &action[1..] {
        total += part * part;
    }
    x_velocity - f64::from(CONTROL_COST * total)
}

/// At least 0 and less than 1.
fn uniform(random: &mut Random) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Of the normal law, by the method of Box and Muller.
fn normal(random: &mut Random) -> f64 {
    let (radius, angle) = (1.0 - uniform(random), std::f64::consts::TAU * uniform(random));
    (-2.0 * radius.ln()).sqrt() * angle.cos()
}
