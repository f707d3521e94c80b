//! The constraints that there are: each says that an acceleration along its row is at least so much.

use crate::blocks::{FIRST, Matrix, Three};
use crate::model::*;
use crate::physics::{LEG, Pose, height, limit};

/// How many rows there could be: limits, then friction forwards, backwards and sideways of each end.
pub const ROWS: usize = JOINTS + 3 * ENDS;
/// One number for each row that there is, in the order of the constraints.
pub type OfRows = [f64; ROWS];

#[derive(Clone, Copy)]
struct Limit {
    dof: usize,
    towards: f64,
}

/// An end in the ground: how it moves up and forwards with the torso and with one leg.
#[derive(Clone, Copy)]
struct Contact {
    end: usize,
    leg: Option<usize>,
    up: [Three; 2],
    forwards: [Three; 2],
}

/// All constraints of a pose: first limits, a row each, then contacts, three rows each.
pub struct Constraints {
    limits: [Limit; JOINTS],
    limit_count: usize,
    contacts: [Contact; ENDS],
    contact_count: usize,
    /// The acceleration that each row wants.
    pub wanted: OfRows,
    /// How strongly it resists. Friction sideways moves nothing in the plane, so both of its edges are the ground alone: that
    /// row counts twice.
    pub strength: OfRows,
}

impl Constraints {
    /// The constraints in a pose.
    pub fn of(pose: &Pose, qpos: &Dofs, qvel: &Dofs) -> Self {
        let mut found = Constraints {
            limits: [Limit { dof: 0, towards: 0.0 }; JOINTS],
            limit_count: 0,
            contacts: [Contact { end: 0, leg: None, up: [[0.0; 3]; 2], forwards: [[0.0; 3]; 2] }; ENDS],
            contact_count: 0,
            wanted: [0.0; ROWS],
            strength: [0.0; ROWS],
        };
        let (mut distances, mut depths) = ([0.0; JOINTS], [0.0; ENDS]);
        for joint in 0..JOINTS {
            let (distance, towards) = limit(qpos, joint);
            if distance < 0.0 {
                found.limits[found.limit_count] = Limit { dof: 3 + joint, towards };
                distances[found.limit_count] = distance;
                found.limit_count += 1;
            }
        }
        for end in 0..ENDS {
            let depth = height(pose, end);
            if depth < 0.0 {
                found.contacts[found.contact_count] = contact(pose, end, depth);
                depths[found.contact_count] = depth;
                found.contact_count += 1;
            }
        }
        let mut speeds = [0.0; ROWS];
        found.along(qvel, &mut speeds);
        for number in 0..found.limit_count {
            let weight = JOINT_WEIGHT[found.limits[number].dof - 3];
            let (wanted, strength) = resisting(distances[number], LIMIT_WIDTH, weight);
            found.wanted[number] = wanted - DAMP * speeds[number];
            found.strength[number] = strength;
        }
        for number in 0..found.contact_count {
            let weight = BODY_WEIGHT[END_BODY[found.contacts[number].end]] * (1.0 + FRICTION * FRICTION);
            let (wanted, strength) = resisting(depths[number], CONTACT_WIDTH, weight);
            let strength = strength / (2.0 * FRICTION * FRICTION);
            let first = found.limit_count + 3 * number;
            for edge in 0..3 {
                found.wanted[first + edge] = wanted - DAMP * speeds[first + edge];
                found.strength[first + edge] = if edge == 2 { 2.0 * strength } else { strength };
            }
        }
        found
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.limit_count + 3 * self.contact_count
    }

    /// What a vector is along each row.
    pub fn along(&self, vector: &Dofs, found: &mut OfRows) {
        for number in 0..self.limit_count {
            let limit = &self.limits[number];
            found[number] = limit.towards * vector[limit.dof];
        }
        for number in 0..self.contact_count {
            let contact = &self.contacts[number];
            let (mut up, mut forwards) = (0.0, 0.0);
            for (part, first) in contact.parts() {
                for i in 0..3 {
                    up += contact.up[part][i] * vector[first + i];
                    forwards += contact.forwards[part][i] * vector[first + i];
                }
            }
            let first = self.limit_count + 3 * number;
            found[first] = up + FRICTION * forwards;
            found[first + 1] = up - FRICTION * forwards;
            found[first + 2] = up;
        }
    }

    /// What rows do together that push so much each.
    pub fn pushed(&self, push: impl Fn(usize) -> f64) -> Dofs {
        let mut force = [0.0; DOFS];
        for number in 0..self.limit_count {
            let limit = &self.limits[number];
            force[limit.dof] += limit.towards * push(number);
        }
        for number in 0..self.contact_count {
            let contact = &self.contacts[number];
            let first = self.limit_count + 3 * number;
            let [one, other, alone] = [push(first), push(first + 1), push(first + 2)];
            let (up, forwards) = (one + other + alone, FRICTION * (one - other));
            for (part, first) in contact.parts() {
                for i in 0..3 {
                    force[first + i] += up * contact.up[part][i] + forwards * contact.forwards[part][i];
                }
            }
        }
        force
    }

    /// A matrix plus the square of each row, so many times.
    pub fn added(&self, matrix: &Matrix, times: impl Fn(usize) -> f64) -> Matrix {
        let mut sum = *matrix;
        for number in 0..self.limit_count {
            let dof = self.limits[number].dof - 3;
            sum.leg[dof % 3][dof % 3][dof / 3] += times(number);
        }
        for number in 0..self.contact_count {
            let contact = &self.contacts[number];
            let first = self.limit_count + 3 * number;
            let [one, other, alone] = [times(first), times(first + 1), times(first + 2)];
            let (ups, both) = (one + other + alone, FRICTION * (one - other));
            let forwards = FRICTION * FRICTION * (one + other);
            let mixed = |part: usize, i: usize| {
                let (up, along) = (contact.up[part][i], contact.forwards[part][i]);
                (ups * up + both * along, both * up + forwards * along)
            };
            for i in 0..3 {
                let (up, along) = mixed(0, i);
                for j in 0..3 {
                    sum.torso[i][j] += up * contact.up[0][j] + along * contact.forwards[0][j];
                }
            }
            if let Some(leg) = contact.leg {
                for i in 0..3 {
                    let (up, along) = mixed(1, i);
                    for j in 0..3 {
                        sum.leg[i][j][leg] += up * contact.up[1][j] + along * contact.forwards[1][j];
                        sum.cross[i][j][leg] += up * contact.up[0][j] + along * contact.forwards[0][j];
                    }
                }
            }
        }
        sum
    }

    /// Of each row its place among all that there could be, its row, what it wants, and how strongly, once.
    pub fn placed(&self) -> Vec<(usize, Dofs, f64, f64)> {
        (0..self.count())
            .map(|row| {
                let edge = row.checked_sub(self.limit_count).map(|row| (row / 3, row % 3));
                let place = match edge {
                    None => self.limits[row].dof - 3,
                    Some((number, edge)) => JOINTS + 3 * self.contacts[number].end + edge,
                };
                let times = if matches!(edge, Some((_, 2))) { 2.0 } else { 1.0 };
                (
                    place,
                    self.pushed(|other| f64::from(u8::from(other == row))),
                    self.wanted[row],
                    self.strength[row] / times,
                )
            })
            .collect()
    }
}

impl Contact {
    /// The torso and the leg, if it is one's, each with its first degree of freedom.
    fn parts(&self) -> impl Iterator<Item = (usize, usize)> {
        std::iter::once((0, 0)).chain(self.leg.map(|leg| (1, FIRST[leg])))
    }
}

fn contact(pose: &Pose, end: usize, depth: f64) -> Contact {
    let [x, z] = pose.end[end];
    let ([pitch_x, pitch_z], [hinges_x, hinges_z]) = pose.moves(END_BODY[end], [x, z - (depth * 0.5 + RADIUS)]);
    Contact {
        end,
        leg: LEG[END_BODY[end]].map(|(leg, _)| leg),
        up: [[0.0, 1.0, pitch_z], hinges_z],
        forwards: [[1.0, 0.0, pitch_x], hinges_x],
    }
}

/// What a constraint wants where it is violated by so much and nothing moves, and how strongly.
fn resisting(distance: f64, width: f64, weight: f64) -> (f64, f64) {
    let far = f64::min(distance.abs() / width, 1.0);
    let part = if far <= 0.5 { 2.0 * far * far } else { 1.0 - 2.0 * (1.0 - far) * (1.0 - far) };
    let impedance = LEAST_IMPEDANCE + part * (MOST_IMPEDANCE - LEAST_IMPEDANCE);
    let softness = f64::max(SMALLEST, (1.0 - impedance) * weight / impedance);
    (-STIFF * impedance * distance, 1.0 / softness)
}
