//! Vectors and symmetric matrices of nine degrees of freedom.

use crate::model::{DOFS, Dofs};

pub type Matrix = [Dofs; DOFS];

pub fn dot(one: &Dofs, other: &Dofs) -> f64 {
    let mut sum = 0.0;
    for i in 0..DOFS {
        sum += one[i] * other[i];
    }
    sum
}

pub fn times(matrix: &Matrix, vector: &Dofs) -> Dofs {
    let mut product = [0.0; DOFS];
    for i in 0..DOFS {
        product[i] = dot(&matrix[i], vector);
    }
    product
}

/// `one + factor * other`.
pub fn plus(one: &Dofs, factor: f64, other: &Dofs) -> Dofs {
    let mut sum = *one;
    for i in 0..DOFS {
        sum[i] += factor * other[i];
    }
    sum
}

/// `matrix` plus `factor` times the product of a row with itself.
pub fn add_square(matrix: &mut Matrix, factor: f64, row: &Dofs) {
    for i in 0..DOFS {
        let scaled = factor * row[i];
        for j in 0..DOFS {
            matrix[i][j] += scaled * row[j];
        }
    }
}

/// The inverse of a symmetric positive matrix times a vector.
pub fn divided(matrix: &Matrix, vector: &Dofs) -> Dofs {
    let mut factor = *matrix;
    let mut inverse = [0.0; DOFS];
    for j in 0..DOFS {
        for k in 0..j {
            let scaled = factor[j][k] * inverse[k];
            for i in j..DOFS {
                factor[i][j] -= factor[i][k] * scaled;
            }
        }
        inverse[j] = 1.0 / factor[j][j];
    }
    let mut found = *vector;
    for i in 0..DOFS {
        for k in 0..i {
            found[i] -= factor[i][k] * inverse[k] * found[k];
        }
    }
    for i in 0..DOFS {
        found[i] *= inverse[i];
    }
    for i in (0..DOFS).rev() {
        for k in i + 1..DOFS {
            found[i] -= factor[k][i] * inverse[i] * found[k];
        }
    }
    found
}
