//! The rules one by one, as task.toml asks for them.

use lockstep_env::{Probe, leaves, probe};

use crate::board::{Board, Cells};

leaves! { struct Drop { board: Cells, mover: i32, action: i64 } }
leaves! { struct Dropped { board: Cells } }
leaves! { struct Asked { board: Cells, mover: i32 } }
leaves! { struct Found { four: bool } }

pub const PROBES: &[Probe] = &[probe!("drop", Drop => Dropped, drop), probe!("four", Asked => Found, four)];

fn drop(given: Drop) -> Dropped {
    let mut board = Board::of(&given.board);
    board.drop(given.action, usize::from(given.mover != 0));
    Dropped { board: board.cells() }
}

fn four(given: Asked) -> Found {
    Found { four: Board::of(&given.board).has_four(usize::from(given.mover != 0)) }
}
