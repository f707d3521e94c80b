//! Where everything is, which forces act, and which constraints there are, for one pose and its velocities.

use crate::linear::{Matrix, dot};
use crate::model::*;

/// Where everything is.
pub struct Pose {
    pub cos: [f64; BODIES],
    pub sin: [f64; BODIES],
    pub hinge: [Vector; BODIES],
    pub center: [Vector; BODIES],
    pub end: [Vector; ENDS],
}

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

    /// How a point of a body moves along x and z with each degree of freedom.
    fn moves(&self, body: usize, point: Vector) -> (Dofs, Dofs) {
        let (mut along_x, mut along_z) = ([0.0; DOFS], [0.0; DOFS]);
        (along_x[0], along_z[1]) = (1.0, 1.0);
        for &hinge in CHAIN[body] {
            along_x[2 + hinge] = point[1] - self.hinge[hinge][1];
            along_z[2 + hinge] = -(point[0] - self.hinge[hinge][0]);
        }
        (along_x, along_z)
    }
}

/// The matrix of inertia, with armature.
pub fn mass_matrix(pose: &Pose) -> Matrix {
    let mut matrix = [[0.0; DOFS]; DOFS];
    for body in 0..BODIES {
        let (mass, center) = (MASS[body], pose.center[body]);
        matrix[0][0] += mass;
        matrix[1][1] += mass;
        for (place, &hinge) in CHAIN[body].iter().enumerate() {
            let [x, z] = [center[0] - pose.hinge[hinge][0], center[1] - pose.hinge[hinge][1]];
            matrix[2 + hinge][0] += mass * z;
            matrix[2 + hinge][1] -= mass * x;
            for &above in &CHAIN[body][..=place] {
                let lever = [center[0] - pose.hinge[above][0], center[1] - pose.hinge[above][1]];
                matrix[2 + hinge][2 + above] += mass * (x * lever[0] + z * lever[1]) + INERTIA[body];
            }
        }
    }
    for joint in 3..DOFS {
        matrix[joint][joint] += ARMATURE;
    }
    for i in 0..DOFS {
        for j in 0..i {
            matrix[j][i] = matrix[i][j];
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
            for axis in 0..2 {
                let arm = pose.hinge[body][axis] - pose.hinge[parent][axis];
                pulled[body][axis] = pulled[parent][axis] - spin[parent] * spin[parent] * arm;
            }
        }
        let center = pose.center[body];
        let mut push = [0.0, GRAVITY];
        for axis in 0..2 {
            let arm = center[axis] - pose.hinge[body][axis];
            push[axis] = MASS[body] * (push[axis] + pulled[body][axis] - spin[body] * spin[body] * arm);
        }
        force[0] += push[0];
        force[1] += push[1];
        for &hinge in CHAIN[body] {
            let [x, z] = [center[0] - pose.hinge[hinge][0], center[1] - pose.hinge[hinge][1]];
            force[2 + hinge] += z * push[0] - x * push[1];
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

/// A constraint: an acceleration along the row is at least `wanted`.
#[derive(Clone, Copy)]
pub struct Row {
    pub jacobian: Dofs,
    pub wanted: f64,
    pub strength: f64,
}

/// Where a row stands among all that there could be: limits, then friction forwards, backwards and sideways of each end.
pub const ROWS: usize = JOINTS + 3 * ENDS;

/// The constraints that there are, each with its place.
pub struct Rows {
    count: usize,
    rows: [Row; ROWS],
    places: [usize; ROWS],
}

impl Rows {
    /// The constraints in a pose.
    pub fn of(pose: &Pose, qpos: &Dofs, qvel: &Dofs) -> Self {
        let none = Row { jacobian: [0.0; DOFS], wanted: 0.0, strength: 0.0 };
        let mut found = Rows { count: 0, rows: [none; ROWS], places: [0; ROWS] };
        for joint in 0..JOINTS {
            let (distance, towards) = limit(qpos, joint);
            if distance < 0.0 {
                let mut jacobian = [0.0; DOFS];
                jacobian[3 + joint] = towards;
                found.add(joint, jacobian, qvel, distance, LIMIT_WIDTH, JOINT_WEIGHT[joint], 1.0);
            }
        }
        for end in 0..ENDS {
            let distance = height(pose, end);
            if distance < 0.0 {
                let body = END_BODY[end];
                let middle = pose.end[end][1] - (distance * 0.5 + RADIUS);
                let (along_x, along_z) = pose.moves(body, [pose.end[end][0], middle]);
                let weight = BODY_WEIGHT[body] * (1.0 + FRICTION * FRICTION);
                for (edge, friction) in [FRICTION, -FRICTION, 0.0].into_iter().enumerate() {
                    let jacobian = std::array::from_fn(|dof| along_z[dof] + friction * along_x[dof]);
                    let (place, cone) = (JOINTS + 3 * end + edge, 2.0 * FRICTION * FRICTION);
                    found.add(place, jacobian, qvel, distance, CONTACT_WIDTH, weight, cone);
                }
            }
        }
        found
    }

    /// The rows that there are.
    pub fn rows(&self) -> &[Row] {
        &self.rows[..self.count]
    }

    /// Each row with its place.
    pub fn placed(&self) -> impl Iterator<Item = (usize, &Row)> {
        self.places[..self.count].iter().copied().zip(self.rows())
    }

    /// How often a row counts: friction sideways moves nothing in the plane, so both of its edges are the ground alone.
    pub fn times(&self, row: usize) -> f64 {
        let place = self.places[row];
        if place >= JOINTS && (place - JOINTS) % 3 == 2 { 2.0 } else { 1.0 }
    }

    #[expect(clippy::too_many_arguments, reason = "each is one number of the row")]
    fn add(&mut self, place: usize, jacobian: Dofs, qvel: &Dofs, distance: f64, width: f64, weight: f64, cone: f64) {
        let impedance = impedance(distance, width);
        let softness = cone * f64::max(SMALLEST, (1.0 - impedance) * weight / impedance);
        let wanted = -DAMP * dot(&jacobian, qvel) - STIFF * impedance * distance;
        self.rows[self.count] = Row { jacobian, wanted, strength: 1.0 / softness };
        self.places[self.count] = place;
        self.count += 1;
    }
}

fn impedance(distance: f64, width: f64) -> f64 {
    let far = f64::min(distance.abs() / width, 1.0);
    let part = if far <= 0.5 { 2.0 * far * far } else { 1.0 - 2.0 * (1.0 - far) * (1.0 - far) };
    LEAST_IMPEDANCE + part * (MOST_IMPEDANCE - LEAST_IMPEDANCE)
}
