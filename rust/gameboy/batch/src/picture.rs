//! What is seen of a screen: shades or greys, perhaps smaller, and the ones before it.

use crate::BatchError;
use gameboy_core::{HEIGHT, WIDTH};

/// PyBoy's greys of the four shades.
const GREYS: [u8; 4] = [255, 153, 85, 0];

/// How a screen becomes an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    grayscale: bool,
    downsample: usize,
    stack: usize,
}

impl Picture {
    /// Pictures of greys (255 white, 0 black) or of shades (0 white, 3 black), `downsample` times smaller in both
    /// directions, the newest `stack` of them together.
    ///
    /// # Errors
    /// The screen is not whole blocks of that size, or blocks of shades are to be averaged, or the stack is empty.
    pub fn new(grayscale: bool, downsample: usize, stack: usize) -> Result<Self, BatchError> {
        if !matches!(downsample, 1 | 2 | 4 | 8 | 16) {
            return Err(BatchError::Downsample(downsample));
        }
        if downsample > 1 && !grayscale {
            return Err(BatchError::Shades);
        }
        if stack == 0 {
            return Err(BatchError::Stack);
        }
        Ok(Self { grayscale, downsample, stack })
    }

    /// Pictures, lines and columns of an observation.
    pub fn shape(&self) -> [usize; 3] {
        [self.stack, HEIGHT / self.downsample, WIDTH / self.downsample]
    }

    /// Bytes of an observation.
    pub fn bytes(&self) -> usize {
        self.shape().iter().product()
    }

    /// Pushes a screen into an observation, oldest picture first.
    pub(crate) fn push(&self, screen: &[u8; WIDTH * HEIGHT], seen: &mut [u8]) {
        let one = seen.len() / self.stack;
        seen.copy_within(one.., 0);
        let newest = seen.len() - one;
        self.draw(screen, &mut seen[newest..]);
    }

    /// Fills an observation with one screen.
    pub(crate) fn fill(&self, screen: &[u8; WIDTH * HEIGHT], seen: &mut [u8]) {
        let one = seen.len() / self.stack;
        self.draw(screen, &mut seen[..one]);
        for place in 1..self.stack {
            seen.copy_within(..one, place * one);
        }
    }

    fn draw(&self, screen: &[u8; WIDTH * HEIGHT], out: &mut [u8]) {
        if !self.grayscale {
            out.copy_from_slice(screen);
        } else if self.downsample == 1 {
            for (pixel, &shade) in out.iter_mut().zip(screen) {
                *pixel = GREYS[usize::from(shade & 3)];
            }
        } else {
            self.average(screen, out);
        }
    }

    /// The mean grey of each block, a half rounded up.
    fn average(&self, screen: &[u8; WIDTH * HEIGHT], out: &mut [u8]) {
        let side = self.downsample;
        let cells = (side * side) as u32;
        for (line, rows) in out.chunks_exact_mut(WIDTH / side).zip(screen.chunks_exact(WIDTH * side)) {
            let mut sums = [0u32; WIDTH];
            for row in rows.chunks_exact(WIDTH) {
                for (sum, block) in sums.iter_mut().zip(row.chunks_exact(side)) {
                    *sum += block.iter().map(|&shade| u32::from(GREYS[usize::from(shade & 3)])).sum::<u32>();
                }
            }
            for (pixel, sum) in line.iter_mut().zip(sums) {
                *pixel = ((sum + cells / 2) / cells) as u8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn striped() -> [u8; WIDTH * HEIGHT] {
        std::array::from_fn(|at| (at % 4) as u8)
    }

    #[test]
    fn shades_and_greys_are_those_of_the_screen() {
        let shades = Picture::new(false, 1, 1).unwrap();
        let mut seen = vec![9; shades.bytes()];
        shades.push(&striped(), &mut seen);
        assert_eq!(seen, striped());
        let greys = Picture::new(true, 1, 1).unwrap();
        greys.push(&striped(), &mut seen);
        assert_eq!(seen[..5], [255, 153, 85, 0, 255]);
    }

    #[test]
    fn a_smaller_picture_has_the_mean_of_each_block() {
        for side in [2, 4, 8, 16] {
            let small = Picture::new(true, side, 1).unwrap();
            assert_eq!(small.shape(), [1, HEIGHT / side, WIDTH / side]);
            let mut seen = vec![9; small.bytes()];
            small.push(&striped(), &mut seen);
            let expected = if side == 2 { [204, 43] } else { [123, 123] };
            assert_eq!(seen[..2], expected, "{side}");
        }
    }

    #[test]
    fn a_stack_keeps_the_newest_pictures_in_order() {
        let stacked = Picture::new(false, 1, 3).unwrap();
        let one = WIDTH * HEIGHT;
        let mut seen = vec![9; stacked.bytes()];
        stacked.fill(&[1; WIDTH * HEIGHT], &mut seen);
        stacked.push(&[2; WIDTH * HEIGHT], &mut seen);
        stacked.push(&[3; WIDTH * HEIGHT], &mut seen);
        assert_eq!([seen[0], seen[one], seen[2 * one], seen[3 * one - 1]], [1, 2, 3, 3]);
    }

    #[test]
    fn what_cannot_be_seen_is_refused() {
        assert_eq!(Picture::new(true, 3, 1), Err(BatchError::Downsample(3)));
        assert_eq!(Picture::new(false, 2, 1), Err(BatchError::Shades));
        assert_eq!(Picture::new(false, 1, 0), Err(BatchError::Stack));
    }
}
