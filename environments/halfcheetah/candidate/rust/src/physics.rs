//! Where everything is, and which forces act.

use crate::blocks::{FIRST, Matrix, Three};
use crate::model::*;

/// Where everything is: along x from the torso's hinge, so that nothing is rounded more the further a cheetah has run.
pub struct Pose {
    pub cos: [f64; BODIES],
    pub sin: [f64; BODIES],
    pub hinge: [Vector; BODIES],
    pub center: [Vector; BODIES],
    pub end: [Vector; ENDS],
}

/// The leg of a body, and how many of its hinges turn it; None for the torso.
pub const LEG: [Option<(usize, usize)>; BODIES] =
    [None, Some((0, 1)), Some((0, 2)), Some((0, 3)), Some((1, 1)), Some((1, 2)), Some((1, 3))];

impl Pose {
    /// Where everything is at these positions.
    pub fn of(qpos: &Dofs) -> Self {
        let mut angle = [0.0; BODIES];
        let mut pose = Pose {
            cos: [0.0; BODIES],
            sin: [0.0; BODIES],
            hinge: [[0.0; 2]; BODIES],
            center: [[0.0; 2]; BODIES],
            end: [[0.0; 2]; ENDS],
        };
        for body in 0..BODIES {
            let parent = PARENT[body];
            if body == 0 {
                angle[0] = qpos[2];
                pose.hinge[0] = [0.0, qpos[1] + OFFSET[0][1]];
            } else {
                angle[body] = angle[parent] + qpos[2 + body];
                pose.hinge[body] = pose.at(parent, OFFSET[body]);
            }
            (pose.sin[body], pose.cos[body]) = angle[body].sin_cos();
            pose.center[body] = pose.at(body, CENTER[body]);
        }
        for end in 0..ENDS {
            pose.end[end] = pose.at(END_BODY[end], END[end]);
        }
        pose
    }

    /// A place in the frame of a body.
    fn at(&self, body: usize, place: Vector) -> Vector {
        let (cos, sin, [x, z]) = (self.cos[body], self.sin[body], self.hinge[body]);
        [x + cos * place[0] + sin * place[1], z + cos * place[1] - sin * place[0]]
    }

    /// How far a point is from a hinge.
    fn lever(&self, point: Vector, hinge: usize) -> Vector {
        [point[0] - self.hinge[hinge][0], point[1] - self.hinge[hinge][1]]
    }

    /// How a point of a body moves along x and z with the pitch of the torso, and with the hinges of the body's leg.
    pub fn moves(&self, body: usize, point: Vector) -> (Vector, [Three; 2]) {
        let [x, z] = self.lever(point, 0);
        let mut hinges = [[0.0; 3]; 2];
        if let Some((leg, count)) = LEG[body] {
            for number in 0..count {
                let [x, z] = self.lever(point, FIRST[leg] - 2 + number);
                (hinges[0][number], hinges[1][number]) = (z, -x);
            }
        }
        ([z, -x], hinges)
    }
}

/// The mass of a link and of those below it.
const HANGING: [f64; BODIES] = {
    let mut sum = MASS;
    let mut body = BODIES - 1;
    while body > 0 {
        sum[PARENT[body]] += sum[body];
        body -= 1;
    }
    sum
};
/// What of a link's moment of inertia about its hinge, with all that is below it, no angle changes.
const MOMENT: [f64; BODIES] = {
    let mut sum = INERTIA;
    let mut body = 0;
    while body < BODIES {
        sum[body] += MASS[body] * square(CENTER[body]);
        if body > 0 {
            sum[PARENT[body]] += HANGING[body] * square(OFFSET[body]);
        }
        body += 1;
    }
    sum
};

const fn square(vector: Vector) -> f64 {
    vector[0] * vector[0] + vector[1] * vector[1]
}

fn scalar(one: Vector, other: Vector) -> f64 {
    one[0] * other[0] + one[1] * other[1]
}

/// The matrix of inertia, with armature: sums from the feet up.
pub fn mass_matrix(pose: &Pose) -> Matrix {
    let mut matrix = Matrix::ZERO;
    // Of all that hangs on a hinge: how far it is from the hinge, each part by its mass, and the moment of inertia.
    let mut torso_far = weighed(pose, 0);
    let mut torso_moment = MOMENT[0];
    for (leg, first) in FIRST.into_iter().enumerate() {
        let (mut far, mut moment) = ([0.0; 2], 0.0);
        for link in (0..3).rev() {
            let body = first - 2 + link;
            if link < 2 {
                let arm = pose.lever(pose.hinge[body + 1], body);
                moment += 2.0 * scalar(arm, far);
                far = [far[0] + HANGING[body + 1] * arm[0], far[1] + HANGING[body + 1] * arm[1]];
            }
            let own = weighed(pose, body);
            far = [far[0] + own[0], far[1] + own[1]];
            moment += MOMENT[body];
            for above in 0..link {
                let both = moment + scalar(pose.lever(pose.hinge[body], first - 2 + above), far);
                matrix.leg[link][above][leg] = both;
                matrix.leg[above][link][leg] = both;
            }
            matrix.leg[link][link][leg] = moment + ARMATURE;
            let with_pitch = moment + scalar(pose.lever(pose.hinge[body], 0), far);
            for (column, part) in [far[1], -far[0], with_pitch].into_iter().enumerate() {
                matrix.cross[link][column][leg] = part;
            }
        }
        let thigh = first - 2;
        let arm = pose.lever(pose.hinge[thigh], 0);
        torso_moment += moment + 2.0 * scalar(arm, far);
        for axis in 0..2 {
            torso_far[axis] += far[axis] + HANGING[thigh] * arm[axis];
        }
    }
    matrix.torso = [
        [HANGING[0], 0.0, torso_far[1]],
        [0.0, HANGING[0], -torso_far[0]],
        [torso_far[1], -torso_far[0], torso_moment],
    ];
    matrix
}

/// How far a body's center of mass is from its hinge, by its mass.
fn weighed(pose: &Pose, body: usize) -> Vector {
    let [x, z] = pose.lever(pose.center[body], body);
    [MASS[body] * x, MASS[body] * z]
}

/// What gravity and turning take up of the forces: pushes on bodies, and their moments about hinges, from the feet up.
pub fn bias(pose: &Pose, qvel: &Dofs) -> Dofs {
    let mut force = [0.0; DOFS];
    let spin = qvel[2];
    let (mut push, mut moment) = pushed(pose, 0, spin, [0.0; 2]);
    for first in FIRST {
        let thigh = first - 2;
        let (mut spins, mut pulled) = ([spin; 4], [[0.0; 2]; 4]);
        for link in 0..3 {
            let parent = PARENT[thigh + link];
            let arm = pose.lever(pose.hinge[thigh + link], parent);
            let turned = spins[link] * spins[link];
            spins[link + 1] = spins[link] + qvel[first + link];
            pulled[link + 1] = [pulled[link][0] - turned * arm[0], pulled[link][1] - turned * arm[1]];
        }
        let (mut below, mut turning) = ([0.0; 2], 0.0);
        for link in (0..3).rev() {
            let body = thigh + link;
            let (own, own_moment) = pushed(pose, body, spins[link + 1], pulled[link + 1]);
            if link < 2 {
                turning += moment_of(pose.lever(pose.hinge[body + 1], body), below);
            }
            turning += own_moment;
            below = [below[0] + own[0], below[1] + own[1]];
            force[first + link] = turning;
        }
        moment += turning + moment_of(pose.lever(pose.hinge[thigh], 0), below);
        push = [push[0] + below[0], push[1] + below[1]];
    }
    force[..3].copy_from_slice(&[push[0], push[1], moment]);
    force
}

/// The push on a body whose hinge is pulled so, and its moment about that hinge.
fn pushed(pose: &Pose, body: usize, spin: f64, pulled: Vector) -> (Vector, f64) {
    let arm = pose.lever(pose.center[body], body);
    let turned = spin * spin;
    let push = [MASS[body] * (pulled[0] - turned * arm[0]), MASS[body] * (GRAVITY + pulled[1] - turned * arm[1])];
    (push, moment_of(arm, push))
}

/// What a push at a lever turns.
fn moment_of(lever: Vector, push: Vector) -> f64 {
    lever[1] * push[0] - lever[0] * push[1]
}

/// Forces of springs and dampers.
pub fn passive(qpos: &Dofs, qvel: &Dofs) -> Dofs {
    std::array::from_fn(|dof| -STIFFNESS[dof] * qpos[dof] - DAMPING[dof] * qvel[dof])
}

/// Forces of the motors.
pub fn actuation(action: &[f32; JOINTS]) -> Dofs {
    let mut force = [0.0; DOFS];
    for joint in 0..JOINTS {
        force[3 + joint] = GEAR[joint] * f64::from(action[joint]).clamp(-1.0, 1.0);
    }
    force
}

/// How far a joint is from the nearer end of its range, less than 0 beyond it, and whereto it is pushed.
pub fn limit(qpos: &Dofs, joint: usize) -> (f64, f64) {
    let (below, above) = (qpos[3 + joint] - LOWEST[joint], HIGHEST[joint] - qpos[3 + joint]);
    if below < above { (below, 1.0) } else { (above, -1.0) }
}

/// How far an end is above the ground, less than 0 in it.
pub fn height(pose: &Pose, end: usize) -> f64 {
    pose.end[end][1] - RADIUS
}
