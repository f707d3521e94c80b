//! MuJoCo's solver: Newton's method, with its line search, and the three rules by which it ends.

use crate::blocks::{Matrix, dot, plus};
use crate::constraints::{Constraints, OfRows, ROWS};
use crate::model::{DOFS, Dofs, SMALLEST};

const MOST_ITERATIONS: usize = 100;
const TOLERANCE: f64 = 1e-8;
const MOST_SEARCHES: usize = 50;
const SEARCH_TOLERANCE: f64 = 0.01;

/// What is to be solved: accelerations at least cost, the cost being how far they are from those without constraints, and
/// how far rows are from what they want.
pub struct Problem<'a> {
    pub inertia: &'a Matrix,
    pub smooth_force: &'a Dofs,
    pub smooth: &'a Dofs,
    pub rows: &'a Constraints,
}

/// Accelerations, what they are through the matrix of inertia, and what they cost.
struct Place {
    qacc: Dofs,
    moved: Dofs,
    cost: f64,
}

/// Where a line of search leads.
struct Line {
    constant: f64,
    linear: f64,
    square: f64,
}

/// A place on a line: how far along, the cost there, its slope and its curvature.
#[derive(Clone, Copy)]
struct Point {
    along: f64,
    cost: f64,
    slope: f64,
    curve: f64,
}

impl Problem<'_> {
    /// The accelerations, and the forces of the constraints.
    pub fn solve(&self, warmstart: &Dofs) -> (Dofs, Dofs) {
        if self.rows.count() == 0 {
            return (*self.smooth, [0.0; DOFS]);
        }
        let scale = 1.0 / self.inertia.trace();
        // By how much each row has more than it wants, and how that changes on a line.
        let ([mut warm_slack, mut cold_slack], mut slackening) = ([[0.0; ROWS]; 2], [0.0; ROWS]);
        let (warm, cold) = (self.place(warmstart, &mut warm_slack), self.place(self.smooth, &mut cold_slack));
        let (mut at, slack) = if warm.cost <= cold.cost { (warm, &mut warm_slack) } else { (cold, &mut cold_slack) };
        let mut pushed = self.pushed(slack);
        let mut gradient = self.gradient(&at.moved, &pushed);
        if scale * dot(&gradient, &gradient).sqrt() < TOLERANCE {
            return (at.qacc, pushed);
        }
        let mut search = self.search(slack, &gradient);
        for _ in 0..MOST_ITERATIONS {
            let moving = self.inertia.times(&search);
            let line = self.line(&at, &search, &moving, &mut slackening);
            let length = dot(&search, &search).sqrt();
            let flat = TOLERANCE * SEARCH_TOLERANCE * length / scale;
            let far = if length < SMALLEST { 0.0 } else { self.line_search(slack, &slackening, &line, flat) };
            let before = at.cost;
            at.qacc = plus(&at.qacc, far, &search);
            at.moved = plus(&at.moved, far, &moving);
            for row in 0..self.rows.count() {
                slack[row] += far * slackening[row];
            }
            at.cost = self.cost(&at.qacc, &at.moved, slack);
            pushed = self.pushed(slack);
            gradient = self.gradient(&at.moved, &pushed);
            if scale * (before - at.cost) < TOLERANCE || far == 0.0 {
                break;
            }
            search = self.search(slack, &gradient);
            // Half of this product is what the next step would win, if no row came or went on its way.
            if scale * (-0.5 * dot(&gradient, &search)) < TOLERANCE {
                break;
            }
        }
        (at.qacc, pushed)
    }

    fn place(&self, qacc: &Dofs, slack: &mut OfRows) -> Place {
        let moved = self.inertia.times(qacc);
        self.rows.along(qacc, slack);
        for row in 0..self.rows.count() {
            slack[row] -= self.rows.wanted[row];
        }
        Place { qacc: *qacc, moved, cost: self.cost(qacc, &moved, slack) }
    }

    fn cost(&self, qacc: &Dofs, moved: &Dofs, slack: &OfRows) -> f64 {
        let mut pressed = 0.0;
        for row in 0..self.rows.count() {
            if slack[row] < 0.0 {
                pressed += self.rows.strength[row] * slack[row] * slack[row];
            }
        }
        0.5 * pressed + 0.5 * dot(&plus(moved, -1.0, self.smooth_force), &plus(qacc, -1.0, self.smooth))
    }

    fn pushed(&self, slack: &OfRows) -> Dofs {
        self.rows.pushed(|row| if slack[row] < 0.0 { -self.rows.strength[row] * slack[row] } else { 0.0 })
    }

    fn gradient(&self, moved: &Dofs, pushed: &Dofs) -> Dofs {
        plus(&plus(moved, -1.0, self.smooth_force), -1.0, pushed)
    }

    fn search(&self, slack: &OfRows, gradient: &Dofs) -> Dofs {
        let pressed = |row: usize| if slack[row] < 0.0 { self.rows.strength[row] } else { 0.0 };
        self.rows.added(self.inertia, pressed).divided(gradient).map(|part| -part)
    }

    fn line(&self, at: &Place, search: &Dofs, moving: &Dofs, slackening: &mut OfRows) -> Line {
        let pull = plus(&at.moved, -1.0, self.smooth_force);
        self.rows.along(search, slackening);
        Line {
            constant: 0.5 * dot(&pull, &plus(&at.qacc, -1.0, self.smooth)),
            linear: dot(search, &pull),
            square: 0.5 * dot(search, moving),
        }
    }

    fn point(&self, slack: &OfRows, slackening: &OfRows, line: &Line, far: f64) -> Point {
        let (mut constant, mut linear, mut square) = (0.0, 0.0, 0.0);
        for row in 0..self.rows.count() {
            let (slack, slackening) = (slack[row], slackening[row]);
            if slack + far * slackening < 0.0 {
                constant += self.rows.strength[row] * slack * slack;
                linear += self.rows.strength[row] * slack * slackening;
                square += self.rows.strength[row] * slackening * slackening;
            }
        }
        let (constant, linear) = (line.constant + 0.5 * constant, line.linear + linear);
        let square = line.square + 0.5 * square;
        Point {
            along: far,
            cost: constant + far * linear + far * far * square,
            slope: linear + 2.0 * far * square,
            curve: 2.0 * square,
        }
    }

    /// How far to go: Newton's steps, then between two places where the slope changes sign.
    fn line_search(&self, slack: &OfRows, slackening: &OfRows, line: &Line, flat: f64) -> f64 {
        let point = |far| self.point(slack, slackening, line, far);
        let newton = |from: &Point| point(from.along - from.slope / from.curve);
        let start = point(0.0);
        let mut near = newton(&start);
        if start.cost < near.cost {
            near = start;
        }
        let side = if near.slope < 0.0 { 1.0 } else { -1.0 };
        let (mut far, mut count) = (near, 0);
        while near.slope * side <= -flat && count < MOST_SEARCHES {
            far = near;
            near = newton(&near);
            count += 1;
        }
        if near.slope.abs() < flat || count == 0 || count >= MOST_SEARCHES {
            return near.along;
        }
        let (mut next_near, mut next_far) = (newton(&near), near);
        while count < MOST_SEARCHES {
            count += 1;
            let middle = point(0.5 * (near.along + far.along));
            let found = [next_near, next_far, middle];
            let mut best: Option<Point> = None;
            for candidate in found {
                if candidate.slope.abs() < flat && best.is_none_or(|best| candidate.cost < best.cost) {
                    best = Some(candidate);
                }
            }
            if let Some(best) = best {
                return best.along;
            }
            let (moved_near, moved_far) = (nearer(&mut near, &found), nearer(&mut far, &found));
            if moved_near {
                next_near = newton(&near);
            }
            if moved_far {
                next_far = newton(&far);
            }
            if !moved_near && !moved_far {
                return middle.along;
            }
        }
        let lower = if near.cost <= far.cost { near } else { far };
        if lower.cost < start.cost { lower.along } else { 0.0 }
    }
}

/// Moves a point to those that lie on its side of the lowest place and are nearer to it.
fn nearer(point: &mut Point, found: &[Point; 3]) -> bool {
    let mut moved = false;
    for other in found {
        let below = point.slope < 0.0 && other.slope < 0.0 && point.slope < other.slope;
        let above = point.slope > 0.0 && other.slope > 0.0 && point.slope > other.slope;
        if below || above {
            *point = *other;
            moved = true;
        }
    }
    moved
}
