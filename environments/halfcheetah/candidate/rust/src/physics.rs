//! Where everything is, and which forces act.

use crate::blocks::{FIRST, Matrix, Three};
use crate::model::*;

/// Where everything is.
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
                pose.hinge[0] = [qpos[0], qpos[1] + OFFSET[0][1]];
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

/// The matrix of inertia, with armature.
pub fn mass_matrix(pose: &Pose) -> Matrix {
    let mut matrix = Matrix::ZERO;
    for body in 0..BODIES {
        let (mass, inertia) = (MASS[body], INERTIA[body]);
        let (pitch, hinges) = pose.moves(body, pose.center[body]);
        matrix.torso[0][0] += mass;
        matrix.torso[1][1] += mass;
        matrix.torso[2][0] += mass * pitch[0];
        matrix.torso[2][1] += mass * pitch[1];
        matrix.torso[2][2] += mass * (pitch[0] * pitch[0] + pitch[1] * pitch[1]) + inertia;
        if let Some((leg, count)) = LEG[body] {
            for i in 0..count {
                let (x, z) = (mass * hinges[0][i], mass * hinges[1][i]);
                matrix.cross[leg][i][0] += x;
                matrix.cross[leg][i][1] += z;
                matrix.cross[leg][i][2] += x * pitch[0] + z * pitch[1] + inertia;
                for j in 0..count {
                    matrix.leg[leg][i][j] += x * hinges[0][j] + z * hinges[1][j] + inertia;
                }
            }
        }
    }
    matrix.torso[0][2] = matrix.torso[2][0];
    matrix.torso[1][2] = matrix.torso[2][1];
    for leg in &mut matrix.leg {
        for i in 0..3 {
            leg[i][i] += ARMATURE;
        }
    }
    matrix
}

/// What gravity and turning take up of the forces.
pub fn bias(pose: &Pose, qvel: &Dofs) -> Dofs {
    let (mut spin, mut pulled, mut force) = ([0.0; BODIES], [[0.0; 2]; BODIES], [0.0; DOFS]);
    for body in 0..BODIES {
        let parent = PARENT[body];
        if body == 0 {
            spin[0] = qvel[2];
        } else {
            spin[body] = spin[parent] + qvel[2 + body];
            let arm = pose.lever(pose.hinge[body], parent);
            for axis in 0..2 {
                pulled[body][axis] = pulled[parent][axis] - spin[parent] * spin[parent] * arm[axis];
            }
        }
        let arm = pose.lever(pose.center[body], body);
        let mut push = [0.0, GRAVITY];
        for axis in 0..2 {
            push[axis] = MASS[body] * (push[axis] + pulled[body][axis] - spin[body] * spin[body] * arm[axis]);
            force[axis] += push[axis];
        }
        let (pitch, hinges) = pose.moves(body, pose.center[body]);
        force[2] += pitch[0] * push[0] + pitch[1] * push[1];
        if let Some((leg, count)) = LEG[body] {
            for number in 0..count {
                force[FIRST[leg] + number] += hinges[0][number] * push[0] + hinges[1][number] * push[1];
            }
        }
    }
    force
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
