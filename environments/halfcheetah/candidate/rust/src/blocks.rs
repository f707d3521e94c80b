//! Vectors and matrices of nine degrees of freedom in blocks of three: the torso and the two legs.
//!
//! The legs hang on the torso and not on each other, so nothing of what is computed here has a term between them, and both are
//! worked out at once.

use crate::model::{DOFS, Dofs};

pub type Three = [f64; 3];

pub const LEGS: usize = 2;
/// The first degree of freedom of each leg.
pub const FIRST: [usize; LEGS] = [3, 6];
/// One number of each leg: both are worked out at once.
pub type Both = Lanes<LEGS>;
type Lanes<const N: usize> = [f64; N];
type Square<const N: usize> = [[Lanes<N>; 3]; 3];

/// A symmetric matrix.
#[derive(Clone, Copy, Debug)]
pub struct Matrix {
    pub torso: [Three; 3],
    pub leg: [[Both; 3]; 3],
    /// Between a leg (rows) and the torso.
    pub cross: [[Both; 3]; 3],
}

impl Matrix {
    pub const ZERO: Matrix = Matrix { torso: [[0.0; 3]; 3], leg: [[[0.0; LEGS]; 3]; 3], cross: [[[0.0; LEGS]; 3]; 3] };

    pub fn trace(&self) -> f64 {
        (0..3).map(|i| self.torso[i][i] + self.leg[i][i][0] + self.leg[i][i][1]).sum()
    }

    pub fn times(&self, vector: &Dofs) -> Dofs {
        let (torso, legs) = parts(vector);
        let (mut of_torso, mut of_legs, mut carried) = ([0.0; 3], [[0.0; LEGS]; 3], [[0.0; LEGS]; 3]);
        for i in 0..3 {
            for j in 0..3 {
                of_torso[i] += self.torso[i][j] * torso[j];
                for leg in 0..LEGS {
                    of_legs[i][leg] += self.leg[i][j][leg] * legs[j][leg] + self.cross[i][j][leg] * torso[j];
                    carried[j][leg] += self.cross[i][j][leg] * legs[i][leg];
                }
            }
        }
        for i in 0..3 {
            of_torso[i] += carried[i][0] + carried[i][1];
        }
        joined(of_torso, of_legs)
    }

    /// The inverse times a vector: the legs are solved for the torso, then the torso, then the legs.
    pub fn divided(&self, vector: &Dofs) -> Dofs {
        let (mut right, legs) = parts(vector);
        let factor = Factor::of(&self.leg);
        let half = factor.halved(legs);
        let carried: [[Both; 3]; 3] =
            std::array::from_fn(|r| factor.halved([self.cross[0][r], self.cross[1][r], self.cross[2][r]]));
        let mut torso = self.torso;
        for r in 0..3 {
            let part = std::array::from_fn(|i| times(carried[r][i], factor.inverse[i]));
            right[r] -= product(&part, &half);
            for s in 0..=r {
                torso[r][s] -= product(&part, &carried[s]);
            }
        }
        let of_torso =
            Factor::of(&torso.map(|row| row.map(|one| [one]))).divided(right.map(|one| [one])).map(|[one]| one);
        let mut rest = half;
        for i in 0..3 {
            for r in 0..3 {
                rest[i] = less(rest[i], carried[r][i], [of_torso[r]; LEGS]);
            }
        }
        joined(of_torso, factor.other_half(rest))
    }

    /// All of it, row by row.
    pub fn whole(&self) -> [Dofs; DOFS] {
        let mut whole = [[0.0; DOFS]; DOFS];
        for i in 0..3 {
            whole[i][..3].copy_from_slice(&self.torso[i]);
            for (leg, first) in FIRST.into_iter().enumerate() {
                for r in 0..3 {
                    whole[first + i][first + r] = self.leg[i][r][leg];
                    whole[first + i][r] = self.cross[i][r][leg];
                    whole[r][first + i] = self.cross[i][r][leg];
                }
            }
        }
        whole
    }
}

/// The torso's part of a vector, and those of the legs.
fn parts(vector: &Dofs) -> (Three, [Both; 3]) {
    ([vector[0], vector[1], vector[2]], std::array::from_fn(|i| FIRST.map(|first| vector[first + i])))
}

/// The inverse of `parts`.
fn joined(torso: Three, legs: [Both; 3]) -> Dofs {
    let [x, z, pitch] = torso;
    let [thigh, shin, foot] = legs;
    [x, z, pitch, thigh[0], shin[0], foot[0], thigh[1], shin[1], foot[1]]
}

/// Symmetric blocks, each as the product of a triangle, a diagonal (here its inverse) and the triangle again.
struct Factor<const N: usize> {
    low: [Lanes<N>; 3],
    inverse: [Lanes<N>; 3],
}

impl<const N: usize> Factor<N> {
    /// Of blocks whose lower triangles are given.
    #[inline(always)]
    fn of(block: &Square<N>) -> Self {
        let first = block[0][0].map(f64::recip);
        let (l10, l20) = (times(block[1][0], first), times(block[2][0], first));
        let second = less(block[1][1], l10, block[1][0]).map(f64::recip);
        let rest = less(block[2][1], l20, block[1][0]);
        let l21 = times(rest, second);
        let third = less(less(block[2][2], l20, block[2][0]), l21, rest).map(f64::recip);
        Factor { low: [l10, l20, l21], inverse: [first, second, third] }
    }

    /// The inverse of the triangle times vectors.
    #[inline(always)]
    fn halved(&self, right: [Lanes<N>; 3]) -> [Lanes<N>; 3] {
        let [l10, l20, l21] = self.low;
        let second = less(right[1], l10, right[0]);
        [right[0], second, less(less(right[2], l20, right[0]), l21, second)]
    }

    /// What is left of the way to the inverse times a vector.
    #[inline(always)]
    fn other_half(&self, half: [Lanes<N>; 3]) -> [Lanes<N>; 3] {
        let [l10, l20, l21] = self.low;
        let third = times(half[2], self.inverse[2]);
        let second = less(times(half[1], self.inverse[1]), l21, third);
        [less(less(times(half[0], self.inverse[0]), l10, second), l20, third), second, third]
    }

    #[inline(always)]
    fn divided(&self, right: [Lanes<N>; 3]) -> [Lanes<N>; 3] {
        self.other_half(self.halved(right))
    }
}

fn times<const N: usize>(one: Lanes<N>, other: Lanes<N>) -> Lanes<N> {
    std::array::from_fn(|lane| one[lane] * other[lane])
}

/// `one - factor * other`.
fn less<const N: usize>(one: Lanes<N>, factor: Lanes<N>, other: Lanes<N>) -> Lanes<N> {
    std::array::from_fn(|lane| one[lane] - factor[lane] * other[lane])
}

/// The scalar product of two vectors of both legs.
fn product(one: &[Both; 3], other: &[Both; 3]) -> f64 {
    let [back, front]: Both = std::array::from_fn(|leg| {
        one[0][leg] * other[0][leg] + one[1][leg] * other[1][leg] + one[2][leg] * other[2][leg]
    });
    back + front
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
