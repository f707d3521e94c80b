//! Vectors and matrices of nine degrees of freedom in blocks of three: the torso, the back leg and the front leg.
//!
//! The legs hang on the torso and not on each other, so nothing of what is computed here has a term between them.

use crate::model::{DOFS, Dofs};

pub type Three = [f64; 3];
pub type Square = [Three; 3];

pub const LEGS: usize = 2;
/// The first degree of freedom of each leg.
pub const FIRST: [usize; LEGS] = [3, 6];

/// A symmetric matrix.
#[derive(Clone, Copy, Debug)]
pub struct Matrix {
    pub torso: Square,
    pub leg: [Square; LEGS],
    /// Between a leg (rows) and the torso.
    pub cross: [Square; LEGS],
}

impl Matrix {
    pub const ZERO: Matrix = Matrix { torso: [[0.0; 3]; 3], leg: [[[0.0; 3]; 3]; LEGS], cross: [[[0.0; 3]; 3]; LEGS] };

    pub fn trace(&self) -> f64 {
        (0..3).map(|i| self.torso[i][i] + self.leg[0][i][i] + self.leg[1][i][i]).sum()
    }

    pub fn times(&self, vector: &Dofs) -> Dofs {
        let mut product = [0.0; DOFS];
        for i in 0..3 {
            for j in 0..3 {
                product[i] += self.torso[i][j] * vector[j];
            }
        }
        for (leg, first) in FIRST.into_iter().enumerate() {
            for i in 0..3 {
                for j in 0..3 {
                    product[first + i] += self.leg[leg][i][j] * vector[first + j] + self.cross[leg][i][j] * vector[j];
                    product[j] += self.cross[leg][i][j] * vector[first + i];
                }
            }
        }
        product
    }

    /// The inverse times a vector: each leg is solved for the torso, then the torso, then the legs.
    pub fn divided(&self, vector: &Dofs) -> Dofs {
        let mut torso = self.torso;
        let mut right: Three = [vector[0], vector[1], vector[2]];
        let mut alone = [[0.0; 3]; LEGS];
        let mut carried = [[[0.0; 3]; 3]; LEGS];
        for (leg, first) in FIRST.into_iter().enumerate() {
            let factor = Factor::of(&self.leg[leg]);
            let cross = &self.cross[leg];
            alone[leg] = factor.divided([vector[first], vector[first + 1], vector[first + 2]]);
            for r in 0..3 {
                carried[leg][r] = factor.divided([cross[0][r], cross[1][r], cross[2][r]]);
            }
            for r in 0..3 {
                for i in 0..3 {
                    right[r] -= cross[i][r] * alone[leg][i];
                    for s in 0..3 {
                        torso[r][s] -= cross[i][r] * carried[leg][s][i];
                    }
                }
            }
        }
        let of_torso = Factor::of(&torso).divided(right);
        let mut found = [0.0; DOFS];
        found[..3].copy_from_slice(&of_torso);
        for (leg, first) in FIRST.into_iter().enumerate() {
            for i in 0..3 {
                let mut part = alone[leg][i];
                for r in 0..3 {
                    part -= carried[leg][r][i] * of_torso[r];
                }
                found[first + i] = part;
            }
        }
        found
    }

    /// All of it, row by row.
    pub fn whole(&self) -> [Dofs; DOFS] {
        let mut whole = [[0.0; DOFS]; DOFS];
        for i in 0..3 {
            whole[i][..3].copy_from_slice(&self.torso[i]);
            for (leg, first) in FIRST.into_iter().enumerate() {
                whole[first + i][first..first + 3].copy_from_slice(&self.leg[leg][i]);
                for r in 0..3 {
                    whole[first + i][r] = self.cross[leg][i][r];
                    whole[r][first + i] = self.cross[leg][i][r];
                }
            }
        }
        whole
    }
}

/// A symmetric block as the product of a triangle, a diagonal (here its inverse) and the triangle again.
struct Factor {
    low: Three,
    inverse: Three,
}

impl Factor {
    fn of(block: &Square) -> Self {
        let first = 1.0 / block[0][0];
        let (l10, l20) = (block[1][0] * first, block[2][0] * first);
        let second = 1.0 / (block[1][1] - l10 * block[1][0]);
        let rest = block[2][1] - l20 * block[1][0];
        let l21 = rest * second;
        let third = 1.0 / (block[2][2] - l20 * block[2][0] - l21 * rest);
        Factor { low: [l10, l20, l21], inverse: [first, second, third] }
    }

    fn divided(&self, right: Three) -> Three {
        let [l10, l20, l21] = self.low;
        let second = right[1] - l10 * right[0];
        let third = (right[2] - l20 * right[0] - l21 * second) * self.inverse[2];
        let second = second * self.inverse[1] - l21 * third;
        [right[0] * self.inverse[0] - l10 * second - l20 * third, second, third]
    }
}

pub fn dot(one: &Dofs, other: &Dofs) -> f64 {
    let mut sum = 0.0;
    for i in 0..DOFS {
        sum += one[i] * other[i];
    }
    sum
}

/// `one + factor * other`.
pub fn plus(one: &Dofs, factor: f64, other: &Dofs) -> Dofs {
    std::array::from_fn(|i| one[i] + factor * other[i])
}
