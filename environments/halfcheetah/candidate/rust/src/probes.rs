//! The parts of a step one by one, as task.toml asks for them.

use lockstep_env::{Probe, leaves, probe};

use crate::constraints::{Constraints, ROWS};
use crate::model::{BODIES, DOFS, Dofs, ENDS, JOINTS, Vector};
use crate::physics::Pose;
use crate::{advance, physics, rewarded, solved};

leaves! { struct Placed { qpos: Dofs } }
leaves! { struct Moving { qpos: Dofs, qvel: Dofs } }
leaves! { struct Driven { action: [f32; JOINTS] } }
leaves! { struct Whole { qpos: Dofs, qvel: Dofs, action: [f32; JOINTS], warmstart: Dofs } }
leaves! { struct Paid { x_velocity: f64, action: [f32; JOINTS] } }

leaves! {
    struct Places {
        cos: [f64; BODIES],
        sin: [f64; BODIES],
        hinge: [Vector; BODIES],
        center: [Vector; BODIES],
        end: [Vector; ENDS],
    }
}
leaves! { struct Inertia { matrix: [Dofs; DOFS] } }
leaves! { struct Force { force: Dofs } }
leaves! { struct Limits { distance: [f64; JOINTS], towards: [f64; JOINTS] } }
leaves! { struct Contacts { touches: [bool; ENDS], distance: [f64; ENDS], x: [f64; ENDS] } }
leaves! { struct Wanted { jacobian: [Dofs; ROWS], wanted: [f64; ROWS], strength: [f64; ROWS] } }
leaves! { struct Found { qacc: Dofs, force: Dofs } }
leaves! { struct Advanced { qpos: Dofs, qvel: Dofs, warmstart: Dofs } }
leaves! { struct Reward { reward: f64 } }

pub const PROBES: &[Probe] = &[
    probe!("kinematics", Placed => Places, kinematics),
    probe!("mass_matrix", Placed => Inertia, mass_matrix),
    probe!("bias", Moving => Force, bias),
    probe!("passive", Moving => Force, passive),
    probe!("actuation", Driven => Force, actuation),
    probe!("limits", Placed => Limits, limits),
    probe!("contacts", Placed => Contacts, contacts),
    probe!("constraints", Moving => Wanted, constraints),
    probe!("solver", Whole => Found, solver),
    probe!("advance", Whole => Advanced, advanced),
    probe!("reward", Paid => Reward, reward),
];

fn kinematics(given: Placed) -> Places {
    let Pose { cos, sin, hinge, center, end } = Pose::of(&given.qpos);
    let there = |[x, z]: Vector| [given.qpos[0] + x, z];
    Places { cos, sin, hinge: hinge.map(there), center: center.map(there), end: end.map(there) }
}

fn mass_matrix(given: Placed) -> Inertia {
    Inertia { matrix: physics::mass_matrix(&Pose::of(&given.qpos)).whole() }
}

fn bias(given: Moving) -> Force {
    Force { force: physics::bias(&Pose::of(&given.qpos), &given.qvel) }
}

fn passive(given: Moving) -> Force {
    Force { force: physics::passive(&given.qpos, &given.qvel) }
}

fn actuation(given: Driven) -> Force {
    Force { force: physics::actuation(&given.action) }
}

fn limits(given: Placed) -> Limits {
    let mut found = Limits { distance: [0.0; JOINTS], towards: [0.0; JOINTS] };
    for joint in 0..JOINTS {
        let (distance, towards) = physics::limit(&given.qpos, joint);
        if distance < 0.0 {
            (found.distance[joint], found.towards[joint]) = (distance, towards);
        }
    }
    found
}

fn contacts(given: Placed) -> Contacts {
    let pose = Pose::of(&given.qpos);
    let mut found = Contacts { touches: [false; ENDS], distance: [0.0; ENDS], x: [0.0; ENDS] };
    for end in 0..ENDS {
        let distance = physics::height(&pose, end);
        if distance < 0.0 {
            found.touches[end] = true;
            (found.distance[end], found.x[end]) = (distance, given.qpos[0] + pose.end[end][0]);
        }
    }
    found
}

fn constraints(given: Moving) -> Wanted {
    let mut found = Wanted { jacobian: [[0.0; DOFS]; ROWS], wanted: [0.0; ROWS], strength: [0.0; ROWS] };
    let rows = Constraints::of(&Pose::of(&given.qpos), &given.qpos, &given.qvel);
    for (place, row, wanted, strength) in rows.placed() {
        found.jacobian[place] = row;
        (found.wanted[place], found.strength[place]) = (wanted, strength);
    }
    found
}

fn solver(given: Whole) -> Found {
    let found = solved(&given.qpos, &given.qvel, &given.action, &given.warmstart);
    Found { qacc: found.qacc, force: found.pushed }
}

fn advanced(given: Whole) -> Advanced {
    let (qpos, qvel, warmstart) = advance(&given.qpos, &given.qvel, &given.action, &given.warmstart);
    Advanced { qpos, qvel, warmstart }
}

fn reward(given: Paid) -> Reward {
    Reward { reward: rewarded(given.x_velocity, &given.action) }
}
