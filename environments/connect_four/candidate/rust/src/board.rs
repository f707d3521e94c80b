//! The board: for each player the set of stones, one bit a cell.
//!
//! A column has seven bits, the lowest cell first and one above the top that stays empty, so that a line of four in any
//! direction is the same step four times.

pub const ROWS: usize = 6;
pub const COLUMNS: usize = 7;
/// As the leaf has it: 0 is empty, 1 and 2 are stones of the first and the second player; the top row first.
pub type Cells = [[i8; COLUMNS]; ROWS];
type Planes = [[[i8; 2]; COLUMNS]; ROWS];

const HEIGHT: usize = ROWS + 1;
const COLUMN: u64 = (1 << ROWS) - 1;
const TOP: u64 = 1 << (ROWS - 1);
/// From one cell to the next: up, to the right, and to the right on either diagonal.
const STEPS: [usize; 4] = [1, HEIGHT, HEIGHT - 1, HEIGHT + 1];

/// Stones of both players.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Board([u64; 2]);

impl Board {
    /// A board from its cells.
    pub fn of(cells: &Cells) -> Self {
        let mut stones = [0; 2];
        for (row, line) in cells.iter().enumerate() {
            for (column, cell) in line.iter().enumerate() {
                if let 1 | 2 = cell {
                    stones[*cell as usize - 1] |= 1 << place(row, column);
                }
            }
        }
        Board(stones)
    }

    /// Its cells.
    pub fn cells(&self) -> Cells {
        std::array::from_fn(|row| std::array::from_fn(|column| self.at(0, row, column) + 2 * self.at(1, row, column)))
    }

    /// What each player sees: the own stones, and the other's.
    pub fn planes(&self) -> [Planes; 2] {
        std::array::from_fn(|player| {
            std::array::from_fn(|row| {
                std::array::from_fn(|column| [self.at(player, row, column), self.at(1 - player, row, column)])
            })
        })
    }

    /// Let a stone fall into the lowest empty cell of a column, also under another stone; whether the move is legal.
    pub fn drop(&mut self, column: i64, player: usize) -> bool {
        let Some(column) = usize::try_from(column).ok().filter(|column| *column < COLUMNS) else { return false };
        let taken = self.column(column);
        if taken & TOP != 0 {
            return false;
        }
        self.0[player] |= ((taken + 1) & !taken) << (column * HEIGHT);
        true
    }

    /// Which columns have room at their top.
    pub fn legal(&self) -> [bool; COLUMNS] {
        std::array::from_fn(|column| self.column(column) & TOP == 0)
    }

    /// Whether no cell is empty.
    pub fn is_full(&self) -> bool {
        (0..COLUMNS).all(|column| self.column(column) == COLUMN)
    }

    /// Whether a player has four in a line, anywhere.
    pub fn has_four(&self, player: usize) -> bool {
        let stones = self.0[player];
        STEPS.iter().any(|step| {
            let pairs = stones & (stones >> step);
            pairs & (pairs >> (2 * step)) != 0
        })
    }

    fn column(&self, column: usize) -> u64 {
        ((self.0[0] | self.0[1]) >> (column * HEIGHT)) & COLUMN
    }

    fn at(&self, player: usize, row: usize, column: usize) -> i8 {
        ((self.0[player] >> place(row, column)) & 1) as i8
    }
}

fn place(row: usize, column: usize) -> usize {
    column * HEIGHT + (ROWS - 1 - row)
}
